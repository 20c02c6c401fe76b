"""Tests that requests in memory give the same results as requests from a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import destage
import numpy as np
import pandas
import polars
import pyarrow
import pytest
from conftest import WORDS, Rows, body, command, requests

NAMES = ["time_ns", "op", "offset", "bytes", "volume"]


def columns(rows: Rows) -> dict[str, list[int]]:
    return {name: list(values) for name, values in zip(NAMES, zip(*rows))}


def figures(text: str) -> Any:
    document = json.loads(text)
    return document["parameters"], document["metrics"]


@pytest.mark.parametrize("volumes", ["separate", "concatenate"])
@pytest.mark.parametrize("further", [{}, {"trace.lba_shift": -64}, {"trace.flush_every_writes": 50}])
def test_arrays_are_as_a_file(
    table: Callable[[Rows], Path], volumes: str, further: dict[str, object]
) -> None:
    rows = requests(3000)
    settings = {"trace.volumes": volumes, **further}
    pairs = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    typed = command("run", table(rows), "--buffer", "lru", "--size", "1MiB", "--json", *pairs)
    held = destage.simulate(destage.Trace.from_arrays(**columns(rows)), size="1MiB", settings=settings)
    assert figures(held.to_json()) == figures(typed)
    assert body(held.to_json()) == body(typed)


def test_order_and_days_of_the_calendar(table: Callable[[Rows], Path]) -> None:
    rows = [(1_700_000_000_000_000_000 + time, *rest) for time, *rest in requests(500)]
    shuffled = [rows[0], *sorted(rows[1:], key=lambda row: row[2])]
    settings = {"trace.volumes": "separate"}
    file = destage.simulate(table(rows), settings=settings)
    held = destage.simulate(destage.Trace.from_arrays(**columns(shuffled)), settings=settings)
    # Requests with equal times could have different orders in the two traces, so all times must be different.
    assert len({row[0] for row in rows}) == len(rows)
    assert held.metrics == file.metrics


def test_tables_of_every_kind() -> None:
    given = columns(requests(1000))
    plain = destage.simulate(destage.Trace.from_arrays(**given))
    words = {**given, "op": [WORDS[op] for op in given["op"]]}
    dates = {**given, "time_ns": np.array(given["time_ns"], dtype="datetime64[ns]")}
    for name, obj in {
        "pandas": pandas.DataFrame(given),
        "pandas words": pandas.DataFrame(words),
        "pandas dates": pandas.DataFrame(dates),
        "polars": polars.DataFrame(given),
        "polars words": polars.DataFrame(words),
        "pyarrow": pyarrow.table(given),
        "pyarrow words": pyarrow.table(words),
        "dict": given,
        "floats": {**given, "offset": np.array(given["offset"], dtype=float)},
    }.items():
        trace = destage.Trace.from_table(obj)
        assert destage.simulate(trace).metrics == plain.metrics, name


def test_a_column_that_fits_is_not_copied() -> None:
    from destage._inputs import _column

    array = np.arange(10, dtype="u8")
    assert _column("arrays", "offset", array) is array
    series = pandas.Series(array)
    assert np.shares_memory(_column("table", "offset", series), series.to_numpy())


def test_what_is_given_twice_runs_twice() -> None:
    trace = destage.Trace.from_arrays(**columns(requests(500)))
    assert destage.simulate(trace).metrics == destage.simulate(trace).metrics
    results = destage.compare([trace, destage.Workload("zipf", requests=500)], buffers=["lru", "fab"], sizes=["1MiB"])
    assert [run.trace for run in results] == ["arrays", "arrays", "zipf:requests=500", "zipf:requests=500"]


def test_values_are_written_as_they_would_be_typed() -> None:
    given = destage.Workload("zipf", requests=np.int64(400), footprint_pages=1e4, skew=0.5)
    assert repr(given) == "<destage.Workload zipf:requests=400,footprint_pages=10000,skew=0.5>"
    result = destage.simulate(given, size=np.float64(1 << 20), settings={"flash": {"copy_back": np.True_}})
    assert result.parameters["workload.requests"] == 400
    assert result.parameters["buffer.capacity_bytes"] == 1 << 20
    assert result.parameters["flash.copy_back"] is True


def test_tables_have_gaps_where_runs_have_none() -> None:
    results = destage.compare(destage.Workload("zipf", requests=500), buffers=["nocache", "lru"], sizes="1MiB")
    frame = results.to_pandas()
    assert str(frame["buffer.write_hits"].dtype) == "Int64" and frame["buffer.write_hits"].isna().tolist() == [True, False]
    assert str(frame["host.requests"].dtype) == "int64" and str(frame["response.mean_ms"].dtype) == "float64"
    assert results.to_polars()["buffer.write_hits"].to_list() == results.to_arrow()["buffer.write_hits"].to_pylist()
    assert results.to_polars()["buffer.write_hits"][0] is None


def test_runs_stand_on_axes() -> None:
    work = destage.Workload("zipf", requests=2000, footprint_pages=2000)
    results = destage.compare(work, buffers=["nocache", "lru", "fifo"], sizes=["1MiB", "512KiB"])
    grid = results.to_xarray()
    assert dict(grid.sizes) == {"buffer.kind": 3, "buffer.capacity_bytes": 2}
    assert grid["buffer.capacity_bytes"].values.tolist() == [512 << 10, 1 << 20] and str(grid["ftl.kind"].values) == "page"
    for run in results:
        of = {"buffer.kind": run.parameters["buffer.kind"]}
        if "buffer.capacity_bytes" in run.parameters:
            of["buffer.capacity_bytes"] = run.parameters["buffer.capacity_bytes"]
        assert (grid["waf.host"].sel(of) == run.metrics["waf.host"]).all()
    # Runs without a buffer have the same metrics at every size, and have no value for hits.
    assert grid["buffer.write_hits"].sel({"buffer.kind": "nocache"}).isnull().all()
    assert grid["response.p99_ms"].attrs["units"] == "ms" and "esponse" in grid["response.p99_ms"].attrs["long_name"]


def test_axes_are_what_tells_runs_apart() -> None:
    work = destage.Workload("zipf", requests=500)
    grid = destage.compare(work, buffers=["bplru", "bplru:pad=false"], sizes="1MiB").to_xarray()
    assert dict(grid.sizes) == {"buffer.pad": 2}
    curves = destage.curve(work, buffers=["lru", "fab"], sizes=["512KiB", "1MiB"]).to_xarray()
    assert curves["buffer.write_hits"].dims == ("buffer", "bytes") and curves["bytes"].values.tolist() == [512 << 10, 1 << 20]


def test_a_study_stands_on_its_labels(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(
        """
title = "Few"
[[input]]
name = "few"
workload = "zipf:requests=500"
[[grid]]
buffers = ["lru", "fab"]
sizes = ["1MiB"]
seeds = [1, 2]
vary = { "flash.dies" = [2, 4] }
"""
    )
    grid = destage.study(file, results=tmp_path / "kept").to_xarray()
    assert dict(grid.sizes) == {"buffer": 2, "flash.dies": 2, "seed": 2} and grid["seed"].values.tolist() == [1, 2]
    assert not grid["waf.host"].isnull().any() and int(grid["size"]) == 1 << 20


def test_a_job_file_says_how_the_host_asks(tmp_path: Path) -> None:
    file = tmp_path / "four.fio"
    file.write_text("[global]\nioengine=libaio\niodepth=2\nsize=1m\n[w]\nrw=randwrite\nnumjobs=2\n")
    work = destage.Workload(str(file))
    result = destage.simulate(work)
    assert result.metrics["host.requests"] == 512
    assert (result.parameters["host.replay"], result.parameters["host.queue_depth"]) == ("closed", 4)
    assert destage.simulate(work, settings={"host.queue_depth": 1}).parameters["host.queue_depth"] == 1
    assert destage.compare(work, buffers="lru", sizes="1MiB")[0].parameters["host.replay"] == "closed"
    file.write_text("[w]\nrw=randwrite\nsize=1m\nthinktime=5\n")
    with pytest.raises(destage.InputError, match="four.fio: line 4: .thinktime=5.: expected"):
        destage.Workload(str(file))


@pytest.mark.parametrize(("method", "name"), [("to_pandas", "pandas"), ("to_polars", "polars"), ("to_arrow", "pyarrow"), ("to_xarray", "xarray")])
def test_a_library_that_is_not_there(monkeypatch: pytest.MonkeyPatch, method: str, name: str) -> None:
    results = destage.compare(destage.Workload("zipf", requests=200), buffers="lru", sizes="1MiB")
    # If `sys.modules` has the value None for a library, its import fails.
    monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(ImportError, match=f"{method} needs {name}, which is not installed: pip install {name}"):
        getattr(results, method)()
