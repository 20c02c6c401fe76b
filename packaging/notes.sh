#!/usr/bin/env bash
# Prints the section of CHANGELOG.md for a version.
#
#   packaging/notes.sh VERSION
set -euo pipefail
cd "$(dirname "$0")/.."
awk -v version="$1" '/^## /{inside = $2 == version; next} inside' CHANGELOG.md
