"""Tests that the type stubs match the module."""

from __future__ import annotations

import subprocess
import sys

from conftest import ROOT


def run(*words: str) -> None:
    done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_are_as_the_module() -> None:
    run("mypy.stubtest", "destage._core", "--ignore-disjoint-bases", "--mypy-config-file", "pyproject.toml")


def test_the_package_is_typed() -> None:
    run("mypy", "python/destage")
