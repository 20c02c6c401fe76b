"""Tests that requests in memory give the same results as requests from a file."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
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


def test_dates_with_a_time_zone_and_objects() -> None:
    from destage._inputs import _column

    zone = timezone(timedelta(hours=9))
    plain, placed = datetime(2024, 1, 1, microsecond=5), datetime(2024, 1, 1, 9, microsecond=5, tzinfo=zone)
    ns = 1_704_067_200_000_005_000
    stamp = pandas.Timestamp(ns + 1, unit="ns", tz="Asia/Tokyo")
    for given, expected in [
        ([plain], ns),
        ([placed], ns),
        (pandas.Series([placed]), ns),
        (polars.Series([placed]), ns),
        (pyarrow.array([placed]), ns),
        # Nanoseconds are kept.
        ([stamp], ns + 1),
        (pandas.Series([stamp]).astype("datetime64[ns, Asia/Tokyo]"), ns + 1),
        ([timedelta(microseconds=3)], 3000),
        ([pandas.Timedelta(7, "ns")], 7),
    ]:
        assert _column("table", "time_ns", given).tolist() == [expected], given


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ([datetime(2024, 1, 1), None], "time_ns: a time is missing"),
        ([datetime(2024, 1, 1), pandas.NaT], "time_ns: a time is missing"),
        (pandas.Series([pandas.Timestamp("2024", tz="UTC"), pandas.NaT]), "time_ns: a time is missing"),
        ([datetime(2024, 1, 1), datetime(2024, 1, 1, tzinfo=timezone.utc)], "some dates have a time zone, others have none"),
        ([datetime(2024, 1, 1), timedelta(1)], "dates and durations; expected times of one kind"),
        ([pandas.Timestamp(1, unit="ns"), datetime(3000, 1, 1)], "3000-01-01T00:00:00.000000: expected times that 64 bits"),
        ([datetime(2024, 1, 1), datetime(3000, 1, 1)], "3000-01-01T00:00:00.000000: expected times that 64 bits hold in ns"),
    ],
)
def test_times_that_are_refused(times: Any, said: str) -> None:
    with pytest.raises(destage.InputError, match=said):
        destage.Trace.from_table({"time_ns": times, "op": [1, 1], "offset": [0, 0], "bytes": [512, 512]})


def test_operations_that_are_objects() -> None:
    from destage._inputs import _column

    for given in (np.array([0, 3], dtype=object), ["0", "3"], np.array(["read", 3], dtype=object)):
        assert _column("table", "op", given).tolist() == [0, 3]


def test_traces_of_one_comparison_have_names(table: Callable[[Rows], Path]) -> None:
    one, other = columns(requests(100)), columns(requests(100, seed=2))
    given = [destage.Trace.from_arrays(**one, name="one"), destage.Trace.from_table(other, name="other")]
    apart = {"trace.volumes": "separate"}
    assert [run.trace for run in destage.compare(given, buffers="lru", settings=apart)] == ["one", "other"]
    nameless = [destage.Trace.from_arrays(**one), destage.Trace.from_arrays(**other)]
    with pytest.raises(destage.InputError, match=r"'arrays': two different traces have this name; .*name='first'"):
        destage.compare(nameless, buffers="lru")
    path = table(requests(100))
    with pytest.raises(destage.InputError, match="read in two different ways under one name"):
        destage.compare([path, destage.Trace.open(path, limit=5)], buffers="lru")
    # An input that is given twice is no different one.
    assert len(destage.compare([nameless[0], nameless[0], path, str(path)], buffers="lru", settings=apart)) == 4


def test_inputs_are_copied_and_pickled(table: Callable[[Rows], Path]) -> None:
    work = destage.Workload("zipf", requests=500)
    trace = destage.Trace.open(table(requests(100)), limit=np.int64(50), volumes="separate")
    for given in (work, trace):
        for other in (copy.copy(given), copy.deepcopy(given), pickle.loads(pickle.dumps(given))):
            assert repr(other) == repr(given)
            assert destage.info(other).statistics == destage.info(given).statistics
    held = destage.Trace.from_arrays(**columns(requests(100)))
    assert copy.copy(held) is held
    for refused in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="'arrays' is in memory, and cannot be pickled or deep-copied"):
            refused(held)


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


def test_large_counts_fit_into_every_table() -> None:
    from destage._results import Columns

    class Large(Columns):
        def _table(self) -> dict[str, list[Any]]:
            return {"count": [1, None, 2**64 - 1], "word": ["a", None, "b"]}

    assert Large().to_arrow().to_pydict() == Large()._table()


def test_one_size_may_be_a_number() -> None:
    work = destage.Workload("zipf", requests=500)
    for given in (1 << 20, np.int64(1 << 20), np.float64(1 << 20), float(1 << 20), np.array(1 << 20)):
        [run] = destage.compare(work, buffers="lru", sizes=given)
        assert run.parameters["buffer.capacity_bytes"] == 1 << 20


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
    work = destage.Workload(file)
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
