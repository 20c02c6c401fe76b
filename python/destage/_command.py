"""The command line, as a script of the package."""

import sys

from destage import _core


def main() -> int:
    """Runs the command that was typed. Returns its exit status."""
    return _core.main(["destage", *sys.argv[1:]])
