"""Tests that the results of the Python functions equal those of the command line, byte for byte."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import destage
import pytest
from conftest import ROOT, Rows, body, command, requests

RUNS = [
    ("zipf:requests=3000", "lru", "8MiB", "page", {}),
    ("zipf:requests=3000,footprint_pages=4000", "bplru:pad=false", "512KiB", "bast", {"sim.seed": 7}),
    ("uniform:requests=3000", "bpac", "256KiB", "page", {"flash.dies": 4, "flash.copy_back": True}),
    ("mixed:requests=3000", "epo", 1 << 20, "page:gc_policy=wear_aware", {"host.time_scale": 0.5}),
    ("sequential:requests=2000", "nocache", "8MiB", "fast", {"sim": {"drain": True}}),
    ("zipf:requests=3000", "lru:lru_unit=request", "128KiB", "none", {"trace.flush_every_writes": 100}),
    ("bursts:requests=2000", "apu-lru-d", "1MiB", "page", {"sim.costing": "op_count"}),
]


@pytest.mark.parametrize(("workload", "buffer", "size", "ftl", "settings"), RUNS)
def test_run_of_a_workload(workload: str, buffer: str, size: str | int, ftl: str, settings: dict[str, object]) -> None:
    name, _, parameters = workload.partition(":")
    pairs = dict(pair.split("=") for pair in parameters.split(","))
    given = destage.Workload(name, **pairs)
    result = destage.simulate(given, buffer=buffer, size=size, ftl=ftl, settings=settings)
    flat = [("sim.drain", "true")] if "sim" in settings else list(settings.items())
    pairs_typed = [word for name, value in flat for word in ("--set", f"{name}={str(value).lower()}")]
    typed = command("run", "--workload", workload, "--buffer", buffer, "--size", size, "--ftl", ftl, *pairs_typed, "--json")
    assert body(result.to_json()) == body(typed)
    document = json.loads(typed)
    assert dict(result.metrics) == document["metrics"]
    assert dict(result.parameters) == document["parameters"]
    for name, number in result.metrics.items():
        assert type(number) is type(document["metrics"][name])
    assert result.manifest["seed"] == result.parameters["sim.seed"]


@pytest.mark.parametrize("moment", ["write 300", "flush 2", "program 150", "40 ms"])
def test_run_that_loses_its_power(moment: str, tmp_path: Path) -> None:
    work = "zipf:requests=1000,footprint_pages=2000"
    settings = {"sim.seed": 7, "trace.flush_every_writes": 100}
    pages = tmp_path / "one.html", tmp_path / "other.html"
    given = destage.Workload(work)
    result = destage.simulate(given, buffer="lru", size="512KiB", settings=settings, cut=moment, series=True, responses=True, watch=pages[0])
    kind, _, last = moment.partition(" ")
    at = ("--cut-at-ms", kind) if last == "ms" else (f"--cut-at-{kind}", last)
    pairs = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    typed = command(
        "run", "--workload", work, "--buffer", "lru", "--size", "512KiB", *pairs, "--payload", *at, "--explain", "--watch", pages[1], "--json"
    )  # fmt: skip
    assert body(result.to_json()) == body(typed)
    assert result.power is not None and result.responses is not None
    assert result.power["at"] == moment and result.power["bad_sectors"] == 0
    assert len(result.responses) == result.metrics["host.requests"]
    assert pages[0].read_text() == pages[1].read_text()
    assert destage.simulate(given, buffer="lru", size="512KiB").power is None


@pytest.mark.parametrize("moment", ["write", "write 0", "read 3", "-1 ms", "3"])
def test_a_moment_that_is_none_is_an_error(moment: str) -> None:
    with pytest.raises(destage.ConfigError, match=f'cut: "{moment}" is no moment of a loss of power; expected "write K"'):
        destage.simulate(destage.Workload("zipf", requests=100), size="512KiB", cut=moment)


@pytest.mark.parametrize("ending", ["csv", "disksim", "compact"])
@pytest.mark.parametrize("reading", [{}, {"limit": 500, "skip": 20}, {"writes_only": True, "volumes": "separate"}])
def test_run_of_a_file(
    table: Callable[[Rows], Path], tmp_path: Path, ending: str, reading: dict[str, object]
) -> None:
    path = table([row for row in requests(1500) if row[1] < 2])
    if ending != "csv":
        converted = tmp_path / f"trace.{ending}"
        command("trace", "convert", path, "-o", converted)
        path = converted
    typed: list[object] = ["run", path, "--buffer", "lru", "--size", "1MiB", "--ftl", "page", "--json"]
    typed += [word for name in ("limit", "skip") if name in reading for word in (f"--{name}", reading[name])]
    typed += ["--writes-only"] if "writes_only" in reading else []
    typed += ["--set", "trace.volumes=separate"] if "volumes" in reading else ["--set", "trace.volumes=concatenate"]
    given = destage.Trace.open(path, **{"volumes": "concatenate", **reading})
    result = destage.simulate(given, size="1MiB")
    assert body(result.to_json()) == body(command(*typed))


def test_a_profile_and_what_it_says_of_the_buffer(tmp_path: Path) -> None:
    settings = tmp_path / "mine.toml"
    settings.write_text("[flash]\ndies = 2\n")
    work = "zipf:requests=2000"
    result = destage.simulate(
        destage.Workload(work), buffer=None, size=None, ftl=None, profile="bplru-mlc", settings=settings
    )
    typed = command("run", "--workload", work, "--profile", "bplru-mlc", "--config", settings, "--json")
    assert body(result.to_json()) == body(typed)


def test_a_comparison() -> None:
    work = "zipf:requests=3000,footprint_pages=4000"
    results = destage.compare(
        destage.Workload(work), buffers=["lru", "bplru:pad=false", "nocache"], sizes=["256KiB..1MiB", 3 << 20],
        ftls=["page", "bast"], threads=2,
    )  # fmt: skip
    typed = command(
        "compare", "--workload", work, "--buffers", "lru,bplru:pad=false,nocache",
        "--sizes", f"256KiB..1MiB,{3 << 20}", "--ftls", "page,bast", "--json",
    )  # fmt: skip
    assert body(results.to_json()) == body(typed)
    assert len(results) == 18
    assert [dict(run.metrics) for run in results] == [run["metrics"] for run in json.loads(typed)["runs"]]


def test_a_table_has_the_columns_of_the_commands() -> None:
    work = "zipf:requests=500"
    results = destage.compare(destage.Workload(work), buffers=["bpac", "nocache"], sizes="1MiB", ftls=["page", "dftl"])
    typed = command(
        "compare", "--workload", work, "--buffers", "bpac,nocache", "--sizes", "1MiB", "--ftls", "page,dftl", "--csv"
    )
    assert ",".join(results.to_arrow().column_names) == typed.splitlines()[0]


def test_a_metric_and_a_parameter_of_one_name_are_two_columns() -> None:
    results = destage.compare(destage.Workload("zipf", requests=500), buffers="lru", sizes="1MiB", ftls="bast")
    names = results[0].parameters.keys() & results[0].metrics.keys()
    table = results.to_arrow()
    for name in names:
        assert table[name].to_pylist() == [results[0].metrics[name]]
        assert table[f"parameter.{name}"].to_pylist() == [results[0].parameters[name]]


def test_two_traces_are_compared(table: Callable[[Rows], Path], tmp_path: Path) -> None:
    first = table(requests(800))
    second = tmp_path / "second.csv"
    second.write_text(first.read_text())
    with pytest.warns(destage.DestageWarning, match="several volumes overlap in one address space"):
        results = destage.compare([first, str(second)], buffers="lru", sizes="1MiB")
    typed = command("compare", first, second, "--buffers", "lru", "--sizes", "1MiB", "--ftls", "page", "--json")
    assert body(results.to_json()) == body(typed)
    assert [run.trace for run in results] == [str(first), str(second)]


def test_curves_sizes_and_their_tables() -> None:
    work = "zipf:requests=6000,footprint_pages=900"
    given = destage.Workload(work)
    curves = destage.curve(given, buffers=["lru", "fab"], sizes="256KiB..2MiB")
    typed = command("curve", "--workload", work, "--buffers", "lru,fab", "--sizes", "256KiB..2MiB", "--json")
    assert body(curves.to_json()) == body(typed)
    frame = curves.to_pandas()
    assert len(frame) == 8 and set(frame["buffer"]) == {"lru", "fab"}
    wide = "zipf:requests=20000,footprint_pages=20000"
    curves = destage.curve(destage.Workload(wide), buffers="fab", sizes="32MiB..64MiB", sample=0.125)
    typed = command("curve", "--workload", wide, "--buffers", "fab", "--sizes", "32MiB..64MiB", "--sample", "0.125", "--json")
    assert body(curves.to_json()) == body(typed)
    frame = curves.to_pandas()
    assert (frame["buffer.write_hits.low"] < frame["buffer.write_hits"]).all()
    with pytest.raises(destage.InputError, match="^error -1: expected percent above 0"):
        destage.curve(destage.Workload(wide), buffers="fab", error=-1.0)
    answers = destage.size(given, goals="waf.bytes<0.9", buffers=["lru", "fab"], ftl="page")
    typed = command("size", "--workload", work, "--goal", "waf.bytes<0.9", "--buffers", "lru,fab", "--ftl", "page", "--json")
    assert body(answers.to_json()) == body(typed)
    assert len(answers.to_pandas()) == len(answers.answers)


def test_a_fleet(tmp_path: Path) -> None:
    folder, trace = tmp_path / "fleet", tmp_path / "all.csv"
    command("trace", "generate", "--workload", "fleet:requests=5000,volumes=6,footprint_pages=512", "-o", trace)
    command("trace", "partition", trace, "-o", folder)
    fleet = destage.fleet(folder, buffers=["lru", "fab"], sizes="16KiB..256KiB", results=tmp_path / "mine")
    typed = command("fleet", folder, "--buffers", "lru,fab", "--sizes", "16KiB..256KiB", "--results", tmp_path / "typed", "--json")
    assert body(fleet.to_json()) == body(typed)
    frame = fleet.to_pandas()
    assert len(frame) == 2 * 5 * 3 and set(frame["way"]) == {"own", "shared", "split"}
    assert (frame["bytes"] == 6 * frame["each_bytes"]).all()
    assert [volume["volume"] for volume in fleet.volumes] == list(range(6))
    fleet.report(tmp_path / "fleet.html")
    with pytest.raises(destage.InputError, match="expected a folder that `destage trace partition"):
        destage.fleet(tmp_path, results=tmp_path / "mine")


def test_a_table_is_written_as_parquet(tmp_path: Path) -> None:
    import pyarrow.parquet

    results = destage.compare(destage.Workload("zipf", requests=300), buffers=["lru", "fab"], sizes="1MiB")
    path = tmp_path / "results.parquet"
    results.to_parquet(path)
    assert pyarrow.parquet.read_table(path).equals(results.to_arrow())
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(destage.InputError, match="cannot be written"):
        results.to_parquet(tmp_path / "no" / "results.parquet")


def test_a_study(tmp_path: Path) -> None:
    path = ROOT / "experiments" / "bplru" / "examples.toml"
    results = destage.study(path, results=tmp_path / "mine")
    typed = command("study", path, "--results", tmp_path / "typed", "--json")
    assert body(results.to_json()) == body(typed)
    assert len(results.to_pandas()) == len(results) > 0
    assert results.figures == json.loads(typed)["figures"]
    # The report and its data are in the folder of the results, with the names that the command gives them.
    ours, theirs = (sorted((tmp_path / who / "examples").iterdir()) for who in ("mine", "typed"))
    assert [path.name for path in ours] == [path.name for path in theirs]
    assert "report.html" in [path.name for path in ours]
    for one, other in zip(ours, theirs, strict=True):
        if one.suffix == ".csv":
            assert one.read_bytes() == other.read_bytes()
    with pytest.raises(destage.InputError, match="client"):
        destage.study(path, results=tmp_path / "mine", client=object())  # type: ignore[arg-type]


def test_the_papers(tmp_path: Path) -> None:
    claims = destage.reproduce("bplru/examples", results=tmp_path / "mine")
    typed = command("reproduce", "bplru/examples", "--results", tmp_path / "typed", "--json")
    assert body(claims.to_json()) == body(typed)
    assert len(claims.to_pandas()) == len(claims.claims) > 0


@pytest.mark.parametrize("name", ["buffers", "ftls", "profiles", "formats", "workloads", "metrics", "experiments"])
def test_registries(name: str) -> None:
    rows = getattr(destage, name)()
    assert [dict(row.fields) for row in rows.values()] == json.loads(command("list", name, "--json"))


def test_rows_have_their_parameters() -> None:
    shown = json.loads(command("show", "buffer", "bplru", "--json"))["parameters"]
    assert [dict(row.fields) for row in destage.buffers()["bplru"].parameters.values()] == shown
    shown = json.loads(command("show", "profile", "tlc", "--json"))["parameters"]
    assert [dict(row.fields) for row in destage.profiles()["tlc"].parameters.values()] == shown
    shown = json.loads(command("show", "--json"))["parameters"]
    assert [dict(row.fields) for row in destage.parameters().values()] == shown


def test_responses_are_those_of_the_log(tmp_path: Path) -> None:
    work = "zipf:requests=3000"
    log = tmp_path / "responses.csv"
    command("run", "--workload", work, "--buffer", "lru", "--size", "256KiB", "--response-log", log)
    table = destage.simulate(destage.Workload(work), size="256KiB", responses=True).responses
    lines = [line.split(",") for line in log.read_text().splitlines()[1:]]
    assert table is not None and len(table) == len(lines) == 3000
    for row, (index, arrival, response, _, _, op) in zip(table, lines):
        assert row["index"] == int(index)
        assert (row["arrival_ms"], row["response_ms"]) == (float(arrival), float(response))
        assert ["read", "write", "flush", "trim"][row["op"]] == op
    assert destage.simulate(destage.Workload(work)).responses is None


def test_a_run_is_explained_if_asked_for() -> None:
    work = "mixed:requests=5000"
    plain = destage.simulate(destage.Workload(work), size="256KiB")
    assert plain.series is None and plain.explained is None
    result = destage.simulate(destage.Workload(work), size="256KiB", series=True)
    assert result.metrics == plain.metrics
    said = json.loads(command("run", "--workload", work, "--buffer", "lru", "--size", "256KiB", "--explain", "--json"))
    assert dict(result.explained) == said["explained"]
    assert any("slowest" in sentence for sentence in result.explained["words"])

    series = result.series
    assert dict(series) == said["explained"]["series"]["columns"]
    assert sum(series["requests"]) == 5000
    assert series.interval_ms * (len(series["time_ms"]) - 1) < 1e3 * 5000
    assert "interval" in repr(series)
    write = result.explained["response"]["write"]
    assert write["mean_ms"] == pytest.approx(sum(write["split_ms"].values()))
    assert write["percentiles_ms"]["max"] == result.metrics["response.write.max_ms"]

    learnt = destage.simulate(destage.Workload(work), buffer="bpac:bpac_period=500", size="256KiB", series=True)
    assert learnt.explained["scheme"]["scheme.period_end"][0] == 500
    counted = destage.simulate(destage.Workload(work), ftl="none", series=True)
    assert counted.series is None and set(counted.explained) == {"words", "destages"}


def test_the_course_of_a_run_is_a_table() -> None:
    pandas = pytest.importorskip("pandas")
    series = destage.simulate(destage.Workload("mixed", requests=2000), size="256KiB", series=True).series
    table = series.to_pandas()
    assert list(table.columns) == list(series) and len(table) == len(series["time_ms"])
    assert pandas.api.types.is_integer_dtype(table["requests"])


@pytest.mark.parametrize("profile", sorted(destage.profiles()))
def test_a_profile_is_the_same_device_as_on_the_command_line(profile: str) -> None:
    """If a call does not name the layer, the buffer or the size, the call uses that of the profile."""
    typed = ["--workload", "zipf:requests=1500,footprint_pages=4000", "--profile", profile, "--json"]
    work = destage.Workload("zipf", requests=1500, footprint_pages=4000)
    assert body(destage.simulate(work, profile=profile).to_json()) == body(command("run", *typed))
    results = destage.compare(work, buffers=["lru", "nocache"], profile=profile)
    assert body(results.to_json()) == body(command("compare", "--buffers", "lru,nocache", *typed))
    curves = destage.curve(work, buffers="lru", sizes="32MiB", profile=profile)
    assert body(curves.to_json()) == body(command("curve", "--buffers", "lru", "--sizes", "32MiB", *typed))


def test_nothing_named_is_what_the_command_line_does_by_default() -> None:
    work = destage.Workload("zipf", requests=1500)
    assert body(destage.simulate(work).to_json()) == body(command("run", "--workload", "zipf:requests=1500", "--json"))


def test_a_misspelt_metric_is_an_error() -> None:
    result = destage.simulate(destage.Workload("zipf", requests=500))
    assert result.metrics["response.p99_ms"] == result.metrics.get("response.p99_ms")
    assert result.metrics.get("ftl.merges.full") is None
    assert "response.p99ms" not in result.metrics
    for ask in (result.metrics.__getitem__, result.metrics.get):
        with pytest.raises(destage.ConfigError, match="did you mean"):
            ask("response.p99ms")


def test_files_are_written_into_what_is_there(tmp_path: Path) -> None:
    """The package writes to the target of a symbolic link, and writes into a pipe without replacing it by a file."""
    result = destage.simulate(destage.Workload("zipf", requests=500))
    (tmp_path / "link.html").symlink_to("target.html")
    result.report(tmp_path / "link.html")
    assert (tmp_path / "link.html").is_symlink()
    page = (tmp_path / "target.html").read_bytes()
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor() as pool:
        reader = pool.submit((tmp_path / "pipe").read_bytes)
        result.report(tmp_path / "pipe")
        assert reader.result() == page
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.html", "pipe", "target.html"]
    with pytest.raises(destage.InputError, match="cannot be written: No such file"):
        result.report(tmp_path / "no" / "such" / "page.html")
