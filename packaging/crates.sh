#!/usr/bin/env bash
# Packs the crates as a registry would have them, builds them from the packages, and installs the program from
# these.
#
#   packaging/crates.sh FOLDER [sample]
#
# FOLDER is the cargo target folder to use. With `sample` the script packs the crates and checks their files, but
# builds nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
folder=$(realpath "$1")
mode=${2:-whole}
skip=$(cargo metadata --no-deps --format-version 1 --locked |
    python3 -c 'import json, sys; [print("--exclude", p["name"]) for p in json.load(sys.stdin)["packages"] if p["publish"] == []]')
# Files that are not committed are packed, too, so that the script tests the work tree.
pack=(cargo package --workspace --locked --allow-dirty --target-dir "$folder")
rm -rf "$folder/package"
# shellcheck disable=SC2086
if [ "$mode" = sample ]; then "${pack[@]}" $skip --no-verify --quiet; else "${pack[@]}" $skip --quiet; fi

unpacked=$folder/unpacked
rm -rf "$unpacked" && mkdir -p "$unpacked"
for crate in "$folder"/package/*.crate; do tar xzf "$crate" -C "$unpacked"; done
for crate in "$unpacked"/*; do
    for needed in LICENSE-APACHE LICENSE-MIT README.md; do
        test -s "$crate/$needed" || { echo "packaging/crates.sh: $crate has no $needed"; exit 1; }
    done
done
echo "packed: $(cd "$unpacked" && echo *)"
if [ "$mode" = sample ]; then exit; fi

# Does what `cargo install destage-cli` would do with published crates: each dependency is the packed one.
patches=()
for crate in "$unpacked"/*; do
    name=$(basename "$crate" | sed 's/-[0-9].*$//')
    [ "$name" = destage-cli ] || patches+=(--config "patch.crates-io.$name.path=\"$crate\"")
done
cli=$(echo "$unpacked"/destage-cli-*)
cargo install --quiet --path "$cli" --root "$folder/installed" --target-dir "$folder/install" "${patches[@]}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$folder/installed/bin/destage" demo --quiet >demo.txt
head -3 demo.txt
test -s report.html
echo "installed from the packed crates: $("$folder/installed/bin/destage" --version)"
