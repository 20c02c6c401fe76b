#!/usr/bin/env bash
# Builds an archive of the program to unpack and run: the program, shell completions, man pages, licences; and its
# checksum.
#
#   packaging/archive.sh TARGET
#
# TARGET is the cargo target folder; the archive is left in TARGET/dist. On Linux the program is linked statically, so
# that it runs on any distribution and in an empty container.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1/dist"
target=$(realpath "$1")
host=$(rustc -vV | sed -n 's/^host: //p')
case $host in *-linux-gnu) export RUSTFLAGS="-C target-feature=+crt-static ${RUSTFLAGS:-}" ;; esac
# With an explicit --target, RUSTFLAGS apply to the program only, not to build scripts and procedural macros.
cargo build --quiet --release --locked -p destage-cli --target "$host" --target-dir "$target"
program=$target/$host/release/destage
name=destage-$("$program" --version | cut -d' ' -f2)-$host
folder=$target/archive/$name
rm -rf "$target/archive" && mkdir -p "$folder/completions"
cp "$program" LICENSE LICENSE-APACHE LICENSE-MIT README.md CHANGELOG.md CITATION.cff "$folder"
cp -r crates/report/src/vendored "$folder/licences-of-the-report" && rm "$folder"/licences-of-the-report/*.js
for shell in bash zsh fish elvish powershell; do "$program" completions $shell >"$folder/completions/destage.$shell"; done
"$program" man -o "$folder/man"
strip "$folder/destage"
# Equal timestamps, so that equal contents give an equal archive. `date` and `tar` of macOS have options of their own.
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
stamp=$(date -u -d "@$epoch" +%Y%m%d%H%M.%S 2>/dev/null || date -u -r "$epoch" +%Y%m%d%H%M.%S)
find "$target/archive" -exec env TZ=UTC0 touch -h -t "$stamp" {} +
case $(tar --version) in *bsdtar*) owner=(--uid 0 --gid 0) ;; *) owner=(--owner 0 --group 0) ;; esac
cd "$target/archive"
find "$name" -print0 | LC_ALL=C sort -z |
    COPYFILE_DISABLE=1 tar --create --file - --no-recursion "${owner[@]}" --numeric-owner --null --files-from - | gzip -n9 >"$target/dist/$name.tar.gz"
cd "$target/dist"
if command -v sha256sum >/dev/null; then sha256sum "$name.tar.gz"; else shasum -a 256 "$name.tar.gz"; fi >"$name.tar.gz.sha256"

# Try the program with the files of the archive alone: in a chroot if the user is root on Linux.
trial=$(mktemp -d)
trap 'rm -rf "$trial"' EXIT
tar xzf "$name.tar.gz" -C "$trial" --strip-components 1
if [ "$(uname)-$(id -u)" = Linux-0 ]; then
    chroot "$trial" /destage demo --quiet --threads 2 >"$trial/demo.txt"
else
    (cd "$trial" && ./destage demo --quiet >demo.txt)
fi
grep -q epo "$trial/demo.txt"
test -s "$trial/report.html"
echo "archive: $name.tar.gz, $(du -k "$name.tar.gz" | cut -f1) KiB, runs alone"
