#!/usr/bin/env bash
# Builds the source distribution and from it the wheel, and tries the wheel in an environment that has nothing
# else.
#
#   packaging/wheel.sh PYTHON TARGET
#
# PYTHON must have maturin; TARGET is the cargo target folder. Both files are left in TARGET/dist.
set -euo pipefail
cd "$(dirname "$0")/.."
# The link itself, as its target would be the Python outside of the environment.
python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
mkdir -p "$2/dist"
target=$(realpath "$2")
dist=$target/dist
rm -f "$dist"/*.whl "$dist"/destage-*.tar.gz
"$python" -m maturin sdist --out "$dist" >"$target/sdist.log" 2>&1 || { cat "$target/sdist.log"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# As pip does if no wheel fits. maturin is the one of PYTHON, and the crates come from cargo's own folder.
PATH="$(dirname "$python"):$PATH" CARGO_TARGET_DIR=$target "$python" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$dist" "$dist"/destage-*.tar.gz

"$python" -m venv "$work/clean"
wheel=$(echo "$dist"/destage-*.whl)
echo "wheel: $(basename "$wheel"), $(du -k "$wheel" | cut -f1) KiB"
(
    cd "$work"
    # No compiler can be found, as the path has only the environment.
    export PATH=$work/clean/bin
    # Elapsed and processor seconds are measured. The limit is on processor seconds, as other programs may keep
    # the machine busy.
    TIMEFORMAT='%R %U %S'
    { time pip install --quiet --disable-pip-version-check "$wheel" 2>&1; } 2>installed.txt
    { time destage demo --quiet >demo.txt; } 2>demonstrated.txt
    python - <<'PYTHON'
from pathlib import Path

import destage

assert "epo" in Path("demo.txt").read_text()
assert Path("report.html").stat().st_size > 100_000
run = destage.simulate(destage.Workload("zipf", requests=2000), buffer="lru", size="1MiB")
assert run.metrics["host.requests"] == 2000
assert len(destage.profiles()) > 10
destage.reproduce("bplru/examples", results="kept")
for name, file in (("pip install", "installed.txt"), ("destage demo", "demonstrated.txt")):
    by, user, system = map(float, Path(file).read_text().split()[-3:])
    print(f"wheel: {name} {by:.1f} s, {user + system:.1f} s of the processor")
    assert user + system < 10, f"{name} took {user + system:.1f} s of the processor; expected less than 10 s"
PYTHON
)
