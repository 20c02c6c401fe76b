"""Tests of measured drives. The Python functions must give the same results as the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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


#: A simulated drive whose 32 MiB at the beginning are measured within a second.
SMALL = {**SETTINGS, "buffer.capacity_bytes": "1MiB"}
SHORT: dict[str, Any] = {"bytes": "32MiB", "passes": 1, "requests": 1000}


def test_measure_is_what_the_command_measures(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    what = ["rates", "waf"]
    found, again = (
        destage.drive.measure("model:tlc", output=tmp_path / name, what=what, name="Small", settings=SMALL, **SHORT)
        for name in ("one", "two")
    )
    assert found.to_json() == again.to_json()
    assert [*found.tables] == ["rates", "waf"]
    assert all([*table.rows] == [*again.tables[name].rows] for name, table in found.tables.items())
    pairs = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]
    command = ["drive", "measure", "model:tlc", "-o", str(tmp_path / "three"), "--what", "rates,waf", "--name", "Small", "--json"]
    command += ["--bytes", "32MiB", "--passes", "1", "--requests", "1000", "--quiet", *pairs]
    capfd.readouterr()
    assert destage._core.main(["destage", *command]) == 0
    assert capfd.readouterr().out == found.to_json()
    for table in found.tables.values():
        assert Path(table).read_text() == (tmp_path / "three" / Path(table).name).read_text()
    assert found.drive == "Small" and not found.values and not found.left_out
    assert found.cost["used_bytes"] == 32 << 20 and found.cost["fill_bytes"] == 64 << 20 and not found.cost["is_real"]
    assert "destage.drive.Measured of Small" in repr(found) and "rates.csv" in found._repr_html_()


def test_a_measured_table_is_checked(tmp_path: Path) -> None:
    found = destage.drive.measure("model:tlc", output=tmp_path, what="rates", settings=SMALL, passes=0, requests=1000)
    table = found.tables["rates"]
    (row,) = table.rows
    assert row["drive"] == "model:tlc" and row["rrandiops"] > 0
    assert table.to_pandas().shape == (1, 8)
    assert "rrandiops" in table._repr_html_()
    checked = destage.drive.check("tlc", against=table, settings=SMALL, requests=1000)
    assert [of["what"] for of in checked.rows] == ["rbps", "rseqiops", "rrandiops", "wbps", "wseqiops", "wrandiops"]
    assert [of["measured"] for of in checked.rows] == [row[of["what"]] for of in checked.rows]


def test_a_measurement_can_be_fitted_at_once(tmp_path: Path) -> None:
    found = destage.drive.measure("model:tlc", output=tmp_path / "found", what="rates", settings=SMALL, passes=0, requests=1000)
    options: dict[str, Any] = {"start": "tlc", "settings": SMALL, "requests": 1000, "superblocks": 16}
    assert destage.drive.fit(found, **options).profile == destage.drive.fit(found.tables["rates"], **options).profile


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk.img"
    disk.write_bytes(bytes(16 << 20))
    planned = destage.drive.measure(disk, output=tmp_path / "found", what=["rates", "latency"], passes=1, dry_run=True)
    assert planned.cost["fills"] == 2 and planned.cost["fill_bytes"] == 32 << 20 and planned.cost["is_real"]
    assert not planned.tables and not planned.values
    assert "16 MiB" in planned._repr_html_()
    assert disk.read_bytes() == bytes(16 << 20)
    assert [*tmp_path.iterdir()] == [disk]


def test_data_are_not_overwritten(tmp_path: Path) -> None:
    disk = tmp_path / "disk.img"
    disk.write_bytes(b"data" + bytes((16 << 20) - 4))
    short: dict[str, Any] = {"what": "rates", "passes": 0, "requests": 1000, "seconds": 0.05}
    with pytest.raises(destage.InputError, match=r"disk.img: holds data in its first or last MiB.*or overwrite=True$"):
        destage.drive.measure(disk, output=tmp_path / "found", **short)
    assert disk.read_bytes().startswith(b"data") and [*tmp_path.iterdir()] == [disk]
    destage.drive.measure(disk, output=tmp_path / "found", dry_run=True, **short)
    destage.drive.measure("model:tlc", output=tmp_path / "model", settings=SMALL, what="rates", **SHORT)
    with pytest.raises(destage.InputError, match="is of another measurement"):
        destage.drive.measure("model:tlc", output=tmp_path / "model", settings=SMALL, what="rates", seed=2, **SHORT)


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        ({"what": "rate"}, destage.ConfigError, 'what rate: no such experiment.*expected one of rates, latency, depth, waf, parts'),
        ({"what": ["rates", "speed"]}, destage.ConfigError, "what speed: .*expected one of rates, latency, depth, waf, parts"),
        ({"what": []}, destage.InputError, r"what: \[\]: expected the name of an experiment"),
        ({"what": 5}, destage.InputError, "what: 5: expected the name of an experiment"),
        ({"bytes": "much"}, destage.InputError, "^bytes much: expected a size in bytes"),
        ({"bytes": "1TiB"}, destage.InputError, "^bytes .*expected no more"),
        ({"bytes": 4096}, destage.InputError, "^bytes 4096: too little to measure"),
        ({"passes": 101}, destage.InputError, "passes: 101: expected a number of passes from 0 to 100"),
        ({"requests": 10}, destage.InputError, "requests: 10: expected a number of requests from 1000"),
        ({"seconds": 0}, destage.InputError, "seconds: 0: expected 0.01 to 86400 seconds"),
        ({"seconds": "long"}, destage.InputError, "seconds: 'long': expected"),
        ({"seed": -1}, destage.InputError, "seed: -1: expected a number from 0"),
        ({"control": "c.sock"}, destage.InputError, "counts its programmed bytes by itself"),
        ({"drive": "none.img", "settings": None}, destage.InputError, "none.img: "),
        ({"drive": "none.img"}, destage.InputError, "settings: none.img is no simulated drive.*expected model:PROFILE"),
        ({"drive": "model:none"}, destage.ConfigError, "none"),
        ({"drive": "model:tlc", "settings": {"flash.deis": 4}}, destage.ConfigError, "flash.deis"),
    ],
)
def test_what_cannot_be_measured_is_refused(arguments: dict[str, Any], kind: type[Exception], said: str, tmp_path: Path) -> None:
    with pytest.raises(kind, match=said):
        destage.drive.measure(**{"drive": "model:tlc", "output": tmp_path / "found", "settings": SMALL, **arguments})
    assert [*tmp_path.iterdir()] == []


def test_an_output_of_a_fit_is_checked_before_the_search(tmp_path: Path) -> None:
    file = tmp_path / "rates.csv"
    file.write_text(RATES)
    profile = tmp_path / "own.toml"
    profile.write_text('[profile]\nabout = "own"\ninherits = "tlc"\n')
    # With so many requests the search would take hours.
    options: dict[str, Any] = {"drive": "One", "start": profile, "settings": SETTINGS, "requests": 10**9}
    for output, said in [
        (tmp_path / "no" / "new.toml", "cannot be written"),
        (tmp_path / "new.txt", r"^output .*new.txt: the name of a profile has to end in .toml"),
        (profile, r"^output .*own.toml: is an input of this fit"),
    ]:
        with pytest.raises(destage.InputError, match=said):
            destage.drive.fit(file, output=output, **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own.toml", "rates.csv"]
