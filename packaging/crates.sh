#!/usr/bin/env bash
# The crates as a registry would have them: packed, built from what was packed, and the program installed from that.
#
#   packaging/crates.sh FOLDER [sample]
#
# FOLDER is the cargo target folder to use. `sample` packs and looks at the files, and builds nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
mode=${2:-whole}
skip=$(cargo metadata --no-deps --format-version 1 --locked |
    python3 -c 'import json, sys; [print("--exclude", p["name"]) for p in json.load(sys.stdin)["packages"] if p["publish"] == []]')
# Files that are not committed yet are packed too: what is tried is what lies here.
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

# As `cargo install destage-cli` would, had the crates been published: each dependency is the packed one.
patches=()
for crate in "$unpacked"/*; do
    name=$(basename "$crate" | sed 's/-[0-9][^-]*$//')
    [ "$name" = destage-cli ] || patches+=(--config "patch.crates-io.$name.path=\"$(realpath "$crate")\"")
done
cli=$(echo "$unpacked"/destage-cli-*)
cargo install --quiet --path "$cli" --root "$folder/installed" --target-dir "$folder/install" "${patches[@]}"
cd "$(mktemp -d)"
"$(realpath "$folder")/installed/bin/destage" demo --quiet | head -3
test -s report.html
echo "installed from the packed crates: $("$folder/installed/bin/destage" --version)"
