#!/usr/bin/env bash
# Prints the section of CHANGELOG.md for a version, without its heading. Fails if there is none.
#
#   packaging/notes.sh VERSION
set -euo pipefail
cd "$(dirname "$0")/.."
notes=$(awk -v version="$1" '/^## /{sub(/,$/, "", $2); inside = $2 == version; next} inside' CHANGELOG.md)
[ -n "$notes" ] || { echo "CHANGELOG.md: has no section ## $1, or an empty one" >&2; exit 1; }
echo "$notes"
