"""Tests that the examples of the documentation run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, WORDS, command, requests

GUIDES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs/guides").glob("*.md"))
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]
#: The tests of the command line (readme.rs, guides.rs) run the shell blocks of these pages, because the blocks need
#: programs that those tests build.
BY_THE_COMMAND_LINE = {"README.md", "docs/CURVES.md", "docs/DRIVES.md", "docs/EXPLAIN.md", "docs/FLEETS.md", "docs/LIVE.md", "docs/PROTOTYPE.md", "docs/REPORT.md", "docs/TOUR.md", "docs/WATCH.md"}


def blocks(name: str, language: str = "python") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / name).read_text(), flags=re.M | re.S)


def shell(name: str, folder: Path) -> None:
    """Runs all shell blocks of the page `name` in one shell, in `folder`."""
    script = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + "\n".join(blocks(name, "sh"))
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euxo", "pipefail", "-c", script],
        cwd=folder, env={**os.environ, "PATH": places}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def prepare(folder: Path) -> None:
    """Writes the files that the examples in the pages on traces read."""
    lines = [
        f"{20 * time},{WORDS[op]},{offset},{size},{volume}"
        for time, op, offset, size, volume in requests(2000)
        if op != 2
    ]
    (folder / "my.trace").write_text("time,op,offset,bytes,volume\n" + "\n".join(lines) + "\n")
    for name in ("my.blktrace", "a.compact", "b.compact", "my.trace.zst"):
        # The program detects a format from the content of a file and not from its name.
        kind = "csv.zst" if name.endswith(".zst") else "compact"
        command("trace", "convert", folder / "my.trace", "-o", folder / f"made.{kind}")
        (folder / f"made.{kind}").rename(folder / name)
    for number in (0, 1):
        shutil.copy(ROOT / "fuzz/corpus/blktrace-sound", folder / f"sda.blktrace.{number}")


@pytest.mark.parametrize("name", ["docs/TRACES.md", "docs/workloads.md"])
def test_tools_for_traces(name: str, tmp_path: Path) -> None:
    prepare(tmp_path)
    shell(name, tmp_path)


@pytest.mark.parametrize("name", ["docs/PYTHON.md", "README.md", *GUIDES])
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    # The shell blocks run first, because Python blocks may use the files that they write.
    if name in GUIDES:
        shell(name, tmp_path)
    else:
        (tmp_path / "my.trace").write_text("time,op,offset,bytes\n0,write,0,4096\n10,write,4096,4096\n")
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, text in enumerate(blocks(name), 1):
        exec(compile(text, f"{name}, block {number}", "exec"), names)


def test_every_block_of_a_page_is_run() -> None:
    run = {*GUIDES, *BY_THE_COMMAND_LINE, "docs/TRACES.md", "docs/workloads.md"}
    assert [name for name in PAGES if name not in run and blocks(name, "sh")] == []
    assert [name for name in PAGES if name not in {*GUIDES, "docs/PYTHON.md", "README.md"} and blocks(name)] == []
    assert len(GUIDES) > 10 and sum(len(blocks(name, "sh")) + len(blocks(name)) for name in GUIDES) > 30


def test_the_tutorial_is_short() -> None:
    text = next(text for text in blocks("docs/PYTHON.md") if "destage.Scheme" in text)
    assert len(text.splitlines()) < 40
