#!/usr/bin/env bash
# Checks that the version is the same in Cargo.toml (also where crates depend on each other), CITATION.cff,
# CHANGELOG.md, and TAG if it is given.
#
#   packaging/version.sh [TAG]
#
# Prints the version, or the first place that has another one.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
wrong() { echo "$1; expected $version, as in Cargo.toml"; exit 1; }
others=$(sed -n 's/^destage.* version = "=\(.*\)" }$/\1/p' Cargo.toml | grep -vxF "$version" || true)
[ -z "$others" ] || wrong "Cargo.toml: a crate of the project is asked for in version $others"
grep -qxF "version: $version" CITATION.cff || wrong "CITATION.cff: $(grep '^version:' CITATION.cff)"
heading=$(awk -v version="$version" '/^## / && ($2 == version || $2 == version ",")' CHANGELOG.md)
[ -n "$heading" ] || wrong "CHANGELOG.md: has no section ## $version"
if [ -n "${1:-}" ]; then
    [ "$1" = "v$version" ] || wrong "tag $1"
    case $heading in *"not yet released"*) echo "CHANGELOG.md: $heading; expected a date, as there is a tag"; exit 1 ;; esac
fi
echo "$version"
