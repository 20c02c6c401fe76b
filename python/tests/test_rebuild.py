"""After a change of a Rust file, the next import must use the changed code. `make python-rebuild` runs this test, which builds a copy of the project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def built(copy: Path) -> str:
    """Builds `copy` with `maturin develop`, as `make python` does. Returns the version that the built package reports."""
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET), "VIRTUAL_ENV": sys.prefix}
    maturin = Path(sys.executable).parent / "maturin"
    subprocess.run([maturin, "develop", "--quiet", "--skip-install"], cwd=copy, env=environment, check=True)
    program = "import destage; print(destage.__file__, destage.__version__)"
    said = subprocess.check_output(
        [sys.executable, "-c", program], cwd=copy, env={**os.environ, "PYTHONPATH": str(copy / "python")}, text=True
    )
    path, version = said.split()
    assert Path(path).is_relative_to(copy)
    return version


@pytest.mark.skipif("DESTAGE_REBUILD" not in os.environ, reason="builds a copy of the project: make python-rebuild")
def test_a_rust_file_that_is_edited_is_built_again(tmp_path: Path) -> None:
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    for name in filter(None, listed):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, tmp_path / name)
    before = built(tmp_path)
    source = tmp_path / "crates/python/src/lib.rs"
    text = source.read_text()
    edited = text.replace('module.add("__version__", destage::version())', 'module.add("__version__", "0.0.0-edited")')
    assert edited != text
    source.write_text(edited)
    assert before != built(tmp_path) == "0.0.0-edited"
