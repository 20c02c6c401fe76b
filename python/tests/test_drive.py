"""Tests of measured drives. The Python functions must give the same results as the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import destage

RATES = """drive,capacity,rbps,rseqiops,rrandiops,wbps,wseqiops,wrandiops
One,1 GB,100000000,25000,25000,1000000,1000,1000
Two,1 GB,100000000,25000,25000,1000000,1000,1000
"""
SETTINGS = {"flash.blocks_per_plane": 64, "flash.pages_per_block": 64, "flash.dies": 2}


def test_check_is_what_the_command_prints(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rates.csv"
    file.write_text(RATES)
    found = destage.drive.check("tlc", against=file, drive="One", settings=SETTINGS, requests=2000)
    pairs = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    command = ["drive", "check", "tlc", "--against", str(file), "--drive", "One", "--requests", "2000", "--json", *pairs]
    capfd.readouterr()
    assert destage._core.main(["destage", *command]) == 0
    printed = json.loads(capfd.readouterr().out)
    assert [dict(row) for row in found.rows] == printed["rows"]
    assert [dict(row) for row in found.summary] == printed["summary"]
    assert found.drive == "One"
    assert len(found.rows) == 6
    assert all(row["modelled"] > 0 for row in found.rows)
    assert "destage.drive.Check" in repr(found)


def test_fit_is_what_the_command_prints(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rates.csv"
    file.write_text(RATES)
    own, printed_to = tmp_path / "own.toml", tmp_path / "printed.toml"
    options = {"requests": 1000, "superblocks": 16}
    found = destage.drive.fit(file, drive="One", start="tlc", settings=SETTINGS, output=own, **options)
    pairs = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    command = ["drive", "fit", str(file), "--drive", "One", "--start", "tlc", "-o", str(printed_to), "--json", *pairs]
    command += ["--requests", "1000", "--superblocks", "16"]
    capfd.readouterr()
    assert destage._core.main(["destage", *command]) == 0
    printed = json.loads(capfd.readouterr().out)
    assert [dict(row) for row in found.rows] == printed["rows"]
    assert {key: dict(of) for key, of in found.parameters.items()} == printed["parameters"]
    assert found.profile == own.read_text() == printed_to.read_text()
    assert [row["what"] for row in found.rows if row["use"] == "judge"] == ["wrandiops"]
    assert "destage.drive.Fit" in repr(found)


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    file = tmp_path / "rates.csv"
    file.write_text(RATES)
    with pytest.raises(destage.InputError, match="One.*Two"):
        destage.drive.check("tlc", against=file, settings=SETTINGS)
    with pytest.raises(destage.Error, match="none.csv"):
        destage.drive.check("tlc", against=tmp_path / "none.csv", settings=SETTINGS)
