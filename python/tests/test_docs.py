"""The examples of the documentation run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT


def blocks(name: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(), flags=re.M | re.S)


@pytest.mark.parametrize("name", ["docs/PYTHON.md", "README.md"])
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.trace").write_text("time,op,offset,bytes\n0,write,0,4096\n10,write,4096,4096\n")
    found = blocks(name)
    assert found
    names: dict[str, Any] = {}
    for number, text in enumerate(found, 1):
        exec(compile(text, f"{name}, block {number}", "exec"), names)


def test_the_tutorial_is_short() -> None:
    text = next(text for text in blocks("docs/PYTHON.md") if "destage.Scheme" in text)
    assert len(text.splitlines()) < 40
