"""Tests of the recorded traces in the folder that `DESTAGE_SHARED` names, if there are any.

Each trace must give a result without any setting. Other files must give an error of one line.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import destage
import pytest
from conftest import ROOT

FOLDER = Path(os.environ.get("DESTAGE_SHARED", ROOT / "../shared")) / "traces"
TRACES = sorted(FOLDER.glob("*.zst"))


@pytest.mark.skipif(not TRACES, reason=f"no recorded traces in {FOLDER}")
@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.name)
def test_a_trace_as_it_is(trace: Path) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = destage.simulate(trace)
    assert result.metrics["host.requests"] > 500
    assert result.metrics["response.mean_ms"] > 0
    # Each warning has one line.
    assert [str(warning.message) for warning in said if "\n" in str(warning.message)] == []


@pytest.mark.skipif(not TRACES, reason=f"no recorded traces in {FOLDER}")
def test_all_of_them_are_here() -> None:
    assert len(TRACES) >= 17


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no requests"),
        ("1 2 3\nnothing that is known\n", "--format"),
        ("0 0 0 8 0\n1 0 x 8 0\n", "line 2"),
    ],
)
def test_other_files_give_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "strange"
    path.write_text(text)
    with pytest.raises(destage.Error) as error:
        destage.simulate(path)
    print(error.value)
    assert "strange" in str(error.value) and "\n" not in str(error.value) and "expected" in str(error.value)
