#!/usr/bin/env bash
# The version stands in Cargo.toml, for each crate that depends on another, in CITATION.cff and in CHANGELOG.md; a tag names it too.
#
#   packaging/version.sh [TAG]
#
# Says which it is, or which place has another one.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
wrong() { echo "$1; expected $version, as in Cargo.toml"; exit 1; }
others=$(sed -n 's/^destage.* version = "=\(.*\)" }$/\1/p' Cargo.toml | grep -vxF "$version" || true)
[ -z "$others" ] || wrong "Cargo.toml: a crate of the project is asked for in version $others"
grep -qxF "version: $version" CITATION.cff || wrong "CITATION.cff: $(grep '^version:' CITATION.cff)"
grep -q "^## $version" CHANGELOG.md || wrong "CHANGELOG.md: has no section ## $version"
if [ -n "${1:-}" ] && [ "$1" != "v$version" ]; then wrong "tag $1"; fi
echo "$version"
