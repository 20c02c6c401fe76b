"""Tests that errors have the same text as on the command line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import destage
import numpy as np
import pytest
from conftest import command

WORK = "zipf:requests=1000"


def same(error: Exception, *typed: object) -> None:
    """Compares `error` with the error of the command line. They may differ only where `error` names arguments instead of options, and functions instead of commands."""
    said = [line for line in command(*typed, code=2).splitlines() if line.startswith("destage: error: ")]
    text = said[0].removeprefix("destage: error: ")
    assert not re.search(r"(^|\s)--[a-z]", str(error)), error
    text = re.sub(r"`destage list (\w+)`", r"destage.\1()", text).replace("`destage show`", "destage.parameters()")
    assert str(error) == text.replace("--set ", "setting ", 1).removeprefix("--")


@pytest.mark.parametrize(
    ("arguments", "typed", "kind"),
    [
        ({"buffer": "lur"}, ["--buffer", "lur"], destage.ConfigError),
        ({"buffer": "lru:pda=true"}, ["--buffer", "lru:pda=true"], destage.ConfigError),
        ({"size": "8 potatoes"}, ["--size", "8 potatoes"], destage.ConfigError),
        ({"ftl": "pages"}, ["--ftl", "pages"], destage.ConfigError),
        ({"profile": "disksim"}, ["--profile", "disksim"], destage.ConfigError),
        ({"settings": {"flash.deis": 4}}, ["--set", "flash.deis=4"], destage.ConfigError),
        ({"settings": "missing.toml"}, ["--config", "missing.toml"], destage.ConfigError),
        (
            {"settings": {"flash.blocks_per_plane": 2, "flash.pages_per_block": 4, "trace.lba_shift": 0}},
            ["--set", "flash.blocks_per_plane=2", "--set", "flash.pages_per_block=4"],
            destage.Error,
        ),
    ],
)
def test_settings(arguments: dict[str, Any], typed: list[str], kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        destage.simulate(destage.Workload(WORK), **arguments)
    same(caught.value, "run", "--workload", WORK, *typed)


def test_traces(tmp_path: Path) -> None:
    missing = tmp_path / "missing.csv"
    with pytest.raises(destage.TraceError) as caught:
        destage.simulate(missing)
    same(caught.value, "run", missing)
    broken = tmp_path / "broken.csv"
    broken.write_text("time,op,offset,bytes\n0,write,0,4096\n1,write,zero,4096\n")
    with pytest.raises(destage.TraceError, match="broken.csv:3: .*zero") as caught:
        destage.simulate(str(broken))
    same(caught.value, "run", broken)
    with pytest.warns(destage.DestageWarning, match="bad lines skipped: 1"):
        result = destage.simulate(destage.Trace.open(broken, on_bad_line="skip"))
    assert result.metrics["host.requests"] == 1
    with pytest.raises(destage.InputError) as caught:
        destage.simulate(destage.Trace.open(broken, format="cvs"))
    same(caught.value, "run", broken, "--format", "cvs")


def test_a_device_that_is_full() -> None:
    settings = {"flash.blocks_per_plane": 16, "flash.dies": 1, "flash.planes_per_die": 1}
    work = "sequential:requests=100000"
    with pytest.raises(destage.DeviceFull) as caught:
        destage.simulate(destage.Workload(work), settings=settings)
    typed = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    same(caught.value, "run", "--workload", work, "--buffer", "lru", "--size", "8MiB", *typed)


def test_workloads() -> None:
    with pytest.raises(destage.InputError) as caught:
        destage.Workload("zip")
    same(caught.value, "run", "--workload", "zip")
    with pytest.raises(destage.InputError) as caught:
        destage.Workload("zipf", request=5)
    same(caught.value, "run", "--workload", "zipf:request=5")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: destage.simulate(5), "trace: 5: expected a path"),
        (lambda: destage.simulate(destage.Workload(WORK), buffer=5), "buffer: 5: expected a name"),
        (lambda: destage.simulate(destage.Workload(WORK), size=[1]), "size: [1]: expected a string"),
        (lambda: destage.simulate(destage.Workload(WORK), settings={"sim.seed": None}), "sim.seed: None"),
        (lambda: destage.compare([], buffers="lru", sizes="1MiB"), "expected at least one input"),
        (lambda: destage.compare(destage.Workload(WORK), buffers=[], sizes="1MiB"), "expected at least one of each"),
        (lambda: destage.Trace(), "expected Trace.open"),
        (lambda: destage.Trace.open("x", on_bad_line="no"), "on_bad_line: 'no'"),
        (lambda: destage.Trace.open("x", limit=-1), "limit: -1"),
        (lambda: destage.Trace.open("x", limit=2**64), "limit: 18446744073709551616: expected a number of requests from 0 to 18446744073709551615"),
        (lambda: destage.Trace.from_arrays([0], [1], [0], [1], name=""), "name: '': expected a name for the trace"),
        (lambda: destage.Workload(5), "name: 5: expected the name of a workload"),
        (lambda: destage.compare({"time_ns": [0]}), "traces: dict: expected a path, a destage.Trace or a destage.Workload; destage.Trace.from_table(...)"),
        (lambda: destage.simulate({"time_ns": [0]}), "trace: dict: expected a path, a destage.Trace or a destage.Workload; destage.Trace.from_table(...)"),
        (lambda: destage.simulate(destage.Workload(WORK), settings={"flash.dies": np.array([1, 2])}), "flash.dies: array([1, 2]): expected a string, a number"),
        (lambda: destage.compare(destage.Workload(WORK), threads=-1), "threads: -1: expected a number of threads from 0"),
        (lambda: destage.curve(destage.Workload(WORK), sample=0.5, salts=-1), "salts: -1: expected a number of samples from 1 to 64"),
        (lambda: destage.curve(destage.Workload(WORK), metric="buffer.write_hits"), "metric: 'buffer.write_hits': expected error with it; the curves have all metrics"),
        (
            lambda: destage.compare(destage.Workload(WORK), buffers="lru", settings={"buffer": {"kind": "fab"}}),
            "setting buffer.kind=fab: the list buffers gives the values of buffer.kind; expected a value there",
        ),
        (
            lambda: destage.curve(destage.Workload(WORK), settings={"buffer.capacity_bytes": 4096}),
            "setting buffer.capacity_bytes=4096: the list sizes gives the values",
        ),
        (
            lambda: destage.size(destage.Workload(WORK), goals="waf.host<1", settings={"buffer.kind": "fab"}),
            "setting buffer.kind=fab: the list buffers gives the values",
        ),
        (
            lambda: destage.compare(destage.Workload(WORK), ftls="page", settings={"ftl.kind": "none"}),
            "setting ftl.kind=none: the list ftls gives the values",
        ),
        (lambda: destage.reproduce(results="x", scale="half"), "scale: 'half'"),
        (lambda: destage.curve(destage.Workload(WORK), salts=4), "salts: 4: expected sample or error with it"),
        (lambda: destage.curve(destage.Workload(WORK), sample=0.5, error=5.0), "sample: 0.5, error: 5.0: both are given; expected one of them"),
        (
            lambda: destage.simulate(destage.Workload(WORK), responses=True, settings={"sim.costing": "op_count"}),
            "responses: this run has no response times",
        ),
        (
            lambda: destage.compare(
                [destage.Trace.open("x", time_unit="us"), "x"], buffers="lru", sizes="1MiB"
            ),
            "different trace.* parameters",
        ),
    ],
)
def test_what_the_package_itself_refuses(call: Any, said: str) -> None:
    with pytest.raises(destage.InputError) as caught:
        call()
    assert said in str(caught.value)


def test_names_that_do_not_exist() -> None:
    with pytest.raises(destage.ConfigError, match='unknown metric "nonsense"'):
        destage.curve(destage.Workload(WORK), metric="nonsense")
    with pytest.raises(destage.InputError, match=r"\(destage\.buffers\(\), destage\.metrics\(\), destage\.parameters\(\) and so on\)"):
        destage.explain("nonsense")


def test_exceptions_are_a_tree() -> None:
    for kind in (destage.InputError, destage.TraceError, destage.ConfigError, destage.DeviceFull):
        assert issubclass(kind, destage.Error)
    assert issubclass(destage.Error, Exception)


def test_a_comparison_in_which_some_runs_fail() -> None:
    settings = {"flash.blocks_per_plane": 64, "flash.dies": 2, "flash.planes_per_die": 1}
    work = destage.Workload("uniform", requests=20_000, footprint_pages=5000)
    results = None
    with pytest.warns(destage.DestageWarning, match="FTL"):
        results = destage.compare(work, buffers="lru", sizes="1MiB", ftls=["page", "bast:log_blocks=120"], settings=settings)
    assert len(results.failed) == 1 and len(results.failed[0].metrics) == 0
    assert results.to_pandas()["error"].notna().sum() == 1
    with pytest.raises(destage.Error):
        destage.compare(work, buffers="lru", sizes="1MiB", ftls="bast:log_blocks=120", settings=settings)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"time_ns": [-1, 0]}, 'request 1: time_ns is negative: "-1"'),
        ({"op": [1, 4]}, 'request 2: op is unknown: "4"'),
        ({"op": ["write", "erase"]}, "op: 'erase': expected read, write, flush or trim"),
        ({"bytes": [4096, 0]}, "request 2: the request has length 0"),
        ({"bytes": [4096]}, "time_ns has 2, op has 2, offset has 2, bytes has 1"),
        ({"offset": [0, -4096]}, "offset: -4096: expected whole numbers from 0"),
        ({"offset": [0, 0.5]}, "offset: float64 of 1 dimensions; expected whole numbers"),
        ({"offset": [0, float("nan")]}, "offset: float64 of 1 dimensions; expected whole numbers"),
        ({"offset": [[0], [1]]}, "offset: int64 of 2 dimensions; expected one dimension"),
        ({"offset": np.array([2**64 - 1, 0], dtype="u8")}, "request 1: "),
        ({"volume": [0, -1]}, "volume: -1: expected whole numbers from 0"),
    ],
)
def test_arrays(changed: dict[str, Any], said: str) -> None:
    columns = {"time_ns": [0, 1], "op": [1, 1], "offset": [0, 4096], "bytes": [4096, 4096]}
    with pytest.raises(destage.Error) as caught:
        destage.Trace.from_arrays(**{**columns, **changed})
    assert said in str(caught.value)


def test_no_requests() -> None:
    with pytest.raises(destage.TraceError, match="holds no requests"):
        destage.Trace.from_arrays([], [], [], [])
    with pytest.raises(destage.InputError, match="no column 'bytes' among time_ns, op, offset"):
        destage.Trace.from_table({"time_ns": [1], "op": [1], "offset": [0]})
    with pytest.raises(destage.InputError, match="expected a table of pandas"):
        destage.Trace.from_table([1, 2])
