#!/bin/sh
# Checks whether PYTHON can run the package and its tests. If not, prints the reason to standard output.
# usage: usable.sh PYTHON
if ! command -v "$1" >/dev/null; then
    echo "no $1; expected Python 3.10 or newer with venv"
    exit 1
fi
"$1" - <<'PROGRAM'
import sys

version = ".".join(map(str, sys.version_info[:3]))
if sys.version_info < (3, 10):
    sys.exit(print(f"{sys.executable} is Python {version}; expected 3.10 or newer") or 1)
try:
    import ensurepip, venv
except ImportError:
    sys.exit(print(f"{sys.executable} has no venv; expected it to (Debian: apt install python3-venv)") or 1)
PROGRAM
