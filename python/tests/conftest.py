"""Functions that several tests use: they run the command line of the package, make requests for traces, and start a browser."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The names of the programs with which systems install Chromium or Chrome.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
QUIET = ("no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason=f"needs one of {', '.join(BROWSERS)}; make tools installs the first")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for all tests. A second browser would fail, because the event loop of the first browser is still running."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=[f"--{word}" for word in QUIET])
        yield chromium
        chromium.close()


def command(*arguments: object, code: int = 0) -> str:
    """Runs the command `destage`, which must exit with `code`. Returns standard output, or standard error if `code` is not 0."""
    script = Path(sys.executable).parent / "destage"
    done = subprocess.run([script, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def body(text: str) -> str:
    """The text of a JSON document without its manifest; all other bytes are unchanged."""
    begin = text.index('\n  "manifest"')
    end = text.index("\n  }", begin)
    return text[:begin] + text[end:]


Rows = list[tuple[int, int, int, int, int]]


def requests(count: int, *, seed: int = 1, pages: int = 3000) -> Rows:
    """Random requests of all kinds. Each has the time in ns, the operation, the offset, the number of bytes and the volume."""
    chosen = random.Random(seed)
    rows, time = [], 0
    for _ in range(count):
        time += chosen.randrange(0, 2_000_000)
        op = chosen.choices([0, 1, 2, 3], [25, 70, 2, 3])[0]
        page = int(pages * chosen.random() ** 3)
        size = 0 if op == 2 else 512 * chosen.randrange(1, 40)
        rows.append((time, op, 0 if op == 2 else 4096 * page, size, chosen.randrange(2)))
    return rows


WORDS = ["read", "write", "flush", "trim"]


@pytest.fixture
def table(tmp_path: Path) -> Callable[[Rows], Path]:
    """A function that writes requests to a CSV trace and returns the path of the trace."""

    def write(rows: Rows) -> Path:
        path = tmp_path / "trace.csv"
        lines = [f"{time},{WORDS[op]},{offset},{size},{volume}" for time, op, offset, size, volume in rows]
        path.write_text("time,op,offset,bytes,volume\n" + "\n".join(lines) + "\n")
        return path

    return write
