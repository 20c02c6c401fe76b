#!/usr/bin/env bash
# The source distribution, the wheel built from it, and the wheel in an environment that has nothing else.
#
#   packaging/wheel.sh PYTHON TARGET
#
# PYTHON has maturin; TARGET is the cargo target folder. Both files are left in TARGET/dist.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(realpath -s "$1")
mkdir -p "$2/dist"
target=$(realpath "$2")
dist=$target/dist
rm -f "$dist"/*.whl "$dist"/destage-*.tar.gz
"$python" -m maturin sdist --quiet --out "$dist"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# As pip does where no wheel fits; maturin is taken from PYTHON, and the crates from cargo's own folder.
PATH="$(dirname "$python"):$PATH" CARGO_TARGET_DIR=$target "$python" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$dist" "$dist"/destage-*.tar.gz

"$python" -m venv "$work/clean"
cd "$work"
# No compiler can be found: the path has the environment and nothing else.
export PATH=$work/clean/bin
begin=$EPOCHREALTIME
pip install --quiet --disable-pip-version-check "$dist"/destage-*.whl
installed=$EPOCHREALTIME
destage demo --quiet >demo.txt
end=$EPOCHREALTIME
python - "$begin" "$installed" "$end" <<'PYTHON'
import sys
from pathlib import Path

import destage

begin, installed, end = map(float, sys.argv[1:])
assert "epo" in Path("demo.txt").read_text()
assert Path("report.html").stat().st_size > 100_000
run = destage.simulate(destage.Workload("zipf", requests=2000), buffer="lru", size="1MiB")
assert run.metrics["host.requests"] == 2000
assert len(destage.profiles()) > 10
destage.reproduce("bplru/examples", results="kept")
print(f"wheel: pip install {installed - begin:.1f} s, destage demo {end - installed:.1f} s")
for name, seconds in (("pip install", installed - begin), ("destage demo", end - installed)):
    assert seconds < 10, f"{name} took {seconds:.1f} s; expected less than 10 s"
PYTHON
