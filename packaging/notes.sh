#!/usr/bin/env bash
# What CHANGELOG.md says of a version.
#
#   packaging/notes.sh VERSION
set -euo pipefail
cd "$(dirname "$0")/.."
awk -v version="$1" '/^## /{inside = $2 == version; next} inside' CHANGELOG.md
