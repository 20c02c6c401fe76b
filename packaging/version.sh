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
grep -q "^## $version" CHANGELOG.md || wrong "CHANGELOG.md: has no section ## $version"
if [ -n "${1:-}" ] && [ "$1" != "v$version" ]; then wrong "tag $1"; fi
echo "$version"
