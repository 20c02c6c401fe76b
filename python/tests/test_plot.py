"""Tests of figures: their contents, and the files to which they are saved."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import destage
import matplotlib
import numpy as np
import pytest
from destage import plot
from matplotlib.figure import Figure

WORK = destage.Workload("zipf", requests=3_000, footprint_pages=2_000)


@pytest.fixture(scope="module")
def results() -> destage.Results:
    return destage.compare(WORK, buffers=["nocache", "lru", "fab"], sizes=["512KiB", "1MiB", "2MiB"])


def lines(figure: Figure) -> dict[str, list[float]]:
    return {str(line.get_label()): [float(y) for y in line.get_ydata()] for line in figure.axes[0].lines}


def test_a_metric_over_the_size(results: destage.Results) -> None:
    figure = plot.over_size(results, metric="response.p99_ms")
    drawn = lines(figure)
    assert list(drawn) == ["nocache", "lru", "fab"]
    assert drawn["lru"] == [run.metrics["response.p99_ms"] for run in results if run.parameters["buffer.kind"] == "lru"]
    # Without a buffer there is no size, so the line has the same value at every size.
    assert len(set(drawn["nocache"])) == 1
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("buffer", "response p99 (ms)")
    assert [text.get_text() for text in axes.get_xticklabels()] == ["512 KiB", "1 MiB", "2 MiB"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["nocache", "lru", "fab"]


def test_lines_are_named_by_what_differs() -> None:
    some = destage.compare(WORK, buffers=["lru", "lru:release=issue", "fab"], sizes="1MiB", ftls=["page", "none"])
    drawn = lines(plot.over_size(some, metric="buffer.write_hits"))
    assert sorted(drawn) == [
        "fab, none",
        "fab, page",
        "lru, release=complete, none",
        "lru, release=complete, page",
        "lru, release=issue, none",
        "lru, release=issue, page",
    ]


def test_seeds_are_one_point() -> None:
    parts = [destage.compare(WORK, buffers="lru", sizes="1MiB", settings={"sim.seed": seed}) for seed in (1, 2)]
    runs = [json.loads(part.to_json())["runs"][0] for part in parts]
    results = destage.Results(json.dumps({"manifest": {}, "runs": runs}))
    hits = [run["metrics"]["buffer.write_hits"] for run in runs]
    assert hits[0] != hits[1]
    assert lines(plot.over_size(results, metric="buffer.write_hits")) == {"lru": [sum(hits) / 2]}


def test_all_schemes_are_told_apart() -> None:
    every = destage.compare(WORK, buffers="all", sizes=["512KiB", "1MiB"], ftls="none")
    figure = plot.over_size(every, metric="buffer.destaged_pages")
    looks = {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in figure.axes[0].lines}
    assert len(looks) == len(figure.axes[0].lines) == len(destage.buffers())


def test_a_curve() -> None:
    curves = destage.curve(WORK, buffers=["lru", "fab"], sizes="256KiB..2MiB")
    figure = plot.curve(curves)
    assert lines(figure)["lru"] == [point["buffer.write_hits"] for point in curves.curves[0]["points"]]
    assert figure.axes[0].get_ylabel() == "buffer write hits"


def test_what_was_sampled_has_its_interval() -> None:
    point = '{"pages": 256, "bytes": %d, "waf.host": {"estimate": 2, "low": 1, "high": 4}}'
    text = '{"manifest": {}, "curves": [{"buffer": "lru", "points": [%s, %s]}]}' % (point % 1048576, point % 2097152)
    figure = plot.curve(destage.Curves(text), metric="waf.host")
    assert lines(figure) == {"lru": [2.0, 2.0]}
    assert figure.axes[0].collections[0].get_paths()[0].get_extents().height == 3
    assert figure.axes[0].get_ylabel() == "write amplification, host"


def test_latencies_are_shares_of_requests() -> None:
    result = destage.simulate(WORK, size="512KiB", responses=True)
    for operation, number in ((None, None), ("write", 1)):
        figure = plot.latencies(result, operation=operation)
        line = figure.axes[0].lines[0]
        times = result.responses["response_ms"]
        if number is not None:
            times = times[result.responses["op"] == number]
        for time, share in zip(line.get_xdata(), line.get_ydata(), strict=True):
            assert share == pytest.approx(np.mean(times >= time))
        assert len(line.get_xdata()) == len(np.unique(times))
    assert figure.axes[0].get_xlabel() == "response time (ms)"


@pytest.fixture(scope="module")
def explained() -> dict[str, destage.Result]:
    work = destage.Workload("mixed", requests=20_000)
    return {name: destage.simulate(work, buffer=name, size="1MiB", series=True) for name in ("lru", "fab", "bpac")}


def test_latencies_of_a_histogram_are_near_those_of_requests(explained: dict[str, destage.Result]) -> None:
    exact = destage.simulate(destage.Workload("mixed", requests=20_000), buffer="lru", size="1MiB", responses=True)
    line = plot.latencies(explained["lru"], operation="write").axes[0].lines[0]
    times = exact.responses["response_ms"][exact.responses["op"] == 1]
    for time, share in zip(line.get_xdata(), line.get_ydata(), strict=True):
        # The width of a bucket is at most 1/32 of its values. The figure draws a bucket at its largest value.
        assert np.mean(times >= time) <= share <= np.mean(times >= time * (1 - 1 / 31))


def test_parts_add_up_to_the_mean(explained: dict[str, destage.Result]) -> None:
    for tail in (False, True):
        figure = plot.split(explained, tail=tail)
        ends = {}
        for bar in figure.axes[0].patches:
            ends[bar.get_y()] = max(ends.get(bar.get_y(), 0), bar.get_x() + bar.get_width())
        of = [result.explained["response"]["write"] for result in explained.values()]
        assert [ends[y] for y in sorted(ends)] == pytest.approx([one["tail"]["mean_ms"] if tail else one["mean_ms"] for one in of])
    assert figure.axes[0].get_xlabel() == "mean response of slowest writes (ms)"
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["lru", "fab", "bpac"]


def test_sizes_of_destages(explained: dict[str, destage.Result]) -> None:
    figure = plot.destages(explained)
    line = figure.axes[0].lines[2]
    of = explained["fab"].explained["destages"]
    pages = np.repeat(of["pages"], np.array(of["records"]) * np.array(of["pages"]))
    for size, share in zip(line.get_xdata(), line.get_ydata(), strict=True):
        assert share == pytest.approx(np.mean(pages >= size))


def test_the_course_of_a_run(explained: dict[str, destage.Result]) -> None:
    course = explained["lru"].series
    figure = plot.series(explained["lru"], columns=["write.p99_ms", "buffer.dirty_pages"])
    assert [axes.get_ylabel() for axes in figure.axes] == ["write p99\n(ms)", "buffer\ndirty pages"]
    line = figure.axes[1].lines[0]
    assert list(line.get_ydata()) == course["buffer.dirty_pages"]
    assert line.get_xdata()[1] == pytest.approx(course.interval_ms / 1e3)
    assert len(plot.series(explained["lru"]).axes) == 5
    assert len(plot.series(explained["lru"], columns="write.p99_ms").axes) == 1


def test_what_a_scheme_learnt(explained: dict[str, destage.Result]) -> None:
    figure = plot.learnt(explained["bpac"])
    assert [axes.get_ylabel() for axes in figure.axes] == ["alpha", "bird threshold", "pird threshold"]
    of, line = explained["bpac"].explained["scheme"], figure.axes[0].lines[0]
    assert list(line.get_ydata()) == of["scheme.alpha"] and list(line.get_xdata()) == of["scheme.period_end"]
    assert len(plot.learnt(explained["bpac"], names=["scheme.alpha"]).axes) == 1
    assert len(plot.learnt(explained["bpac"], names="scheme.alpha").axes) == 1


def test_equal_results_give_equal_files(results: destage.Results, tmp_path: Path) -> None:
    endings = ("png", "svg", "pdf")
    program = (
        "import sys, destage; from destage import plot\n"
        "results = destage.Results(open('results.json').read())\n"
        "for path in sys.argv[1:]:\n"
        "    plot.save(plot.over_size(results, metric='waf.host'), path)\n"
    )
    (tmp_path / "results.json").write_text(results.to_json())
    for name, zone in (("one", "UTC"), ("other", "Asia/Tokyo")):
        paths = [tmp_path / f"{name}.{ending}" for ending in endings]
        # The files of each name are saved by a separate process, with different hash values and in a different time zone.
        subprocess.run([sys.executable, "-c", program, *paths], check=True, cwd=tmp_path, env={"TZ": zone, "HOME": str(tmp_path), "MPLCONFIGDIR": matplotlib.get_cachedir()})
    for ending in endings:
        one, other = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("one", "other"))
        assert one == other, ending
        assert b"matplotlib.org" not in one and b"20" + b"26-" not in one


def test_files_open(results: destage.Results, tmp_path: Path) -> None:
    figure = plot.over_size(results)
    for ending in ("png", "svg", "pdf"):
        plot.save(figure, tmp_path / f"figure.{ending}")
    import matplotlib.image

    pixels = matplotlib.image.imread(tmp_path / "figure.png")
    # The figure is 85 mm wide at 300 dpi, and is not blank.
    assert pixels.shape[1] == pytest.approx(85 / 25.4 * 300, abs=1)
    assert pixels[..., :3].min() < 0.3
    assert "response mean (ms)" in (tmp_path / "figure.svg").read_text()
    pdf = (tmp_path / "figure.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-") and pdf.rstrip().endswith(b"%%EOF")
    drawn = [zlib.decompress(part) for part in re.findall(rb"/FlateDecode >>\nstream\n(.*?)\nendstream", pdf, flags=re.S)]
    assert any(b" l\n" in part for part in drawn)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure.pdf", "figure.png", "figure.svg"]


def laid_out(figure: Figure) -> tuple[Any, Any]:
    """The extents of the axes and of the legend in the figure, in pixels."""
    figure.draw_without_rendering()
    [axes] = figure.axes
    legend = axes.get_legend()
    return axes.get_window_extent(), legend.get_window_extent()


@pytest.mark.parametrize("count", [2, 4, 5, 8, 31])
@pytest.mark.parametrize("width", [85, 180])
def test_a_figure_is_as_wide_as_it_was_asked_for(results: destage.Results, tmp_path: Path, count: int, width: int) -> None:
    names = list(destage.buffers())[:count]
    runs = json.loads(results.to_json())["runs"][1:4]
    many = [{**run, "parameters": {**run["parameters"], "buffer.kind": name}} for name in names for run in runs]
    figure = plot.over_size(destage.Results(json.dumps({"manifest": {}, "runs": many})), width_mm=width)
    assert len(figure.axes[0].lines) == count
    for ending, unit in (("pdf", 72), ("png", 300), ("svg", 72)):
        path = tmp_path / f"figure.{ending}"
        plot.save(figure, path)
        if ending == "png":
            import matplotlib.image

            wide = matplotlib.image.imread(path).shape[1]
        elif ending == "pdf":
            wide = float(re.search(rb"/MediaBox \[ 0 0 ([0-9.]+)", path.read_bytes())[1])
        else:
            wide = float(re.search(r'<svg [^>]*width="([0-9.]+)pt"', path.read_text())[1])
        assert wide == pytest.approx(width / 25.4 * unit, abs=1), ending
    axes, legend = laid_out(figure)
    whole = figure.bbox
    # The whole legend is inside the figure. With many lines the legend is above the axes, and the axes are not
    # smaller for this.
    assert whole.x0 <= legend.x0 and legend.x1 <= whole.x1 and legend.y1 <= whole.y1
    if count > 4:
        assert legend.y0 >= axes.y1
    assert axes.height / figure.dpi * 25.4 > 0.5 * width and axes.width > 0.7 * whole.width


def test_what_results_are_called_may_be_long(explained: dict[str, destage.Result], tmp_path: Path) -> None:
    long = {f"{name} with a name that is about as long as a column": result for name, result in explained.items()}
    figure = plot.latencies(long)
    axes, legend = laid_out(figure)
    assert figure.bbox.x0 <= legend.x0 and legend.x1 <= figure.bbox.x1 and legend.y0 >= axes.y1


def test_legends_stand_beside_curves_of_shares(explained: dict[str, destage.Result]) -> None:
    for draw in (plot.latencies, plot.destages, plot.split):
        axes, legend = laid_out(draw(explained))
        assert legend.y0 >= axes.y1, draw.__name__


def test_parts_of_responses_have_words(explained: dict[str, destage.Result]) -> None:
    axes = plot.split(explained).axes[0]
    told = [text.get_text() for text in axes.get_legend().get_texts()]
    assert told == ["in the queue", "waiting for a slot", "waiting for a slot (GC)"]
    # The legend does not name the other parts, because nobody would find them in the bars.
    drawn = {bar.get_label(): max(part.get_width() for part in bar) for bar in axes.containers}
    longest = max(part.get_x() + part.get_width() for bar in axes.containers for part in bar)
    assert all((width >= 0.003 * longest) == (name in told) for name, width in drawn.items()) and len(drawn) == 4
    for parts in (explained["lru"].explained["parts"], ["die_read", "die_program", "die_erase", "channel", "transfer"]):
        assert set(parts) <= set(plot._PARTS)


def test_axes_of_ones_own(results: destage.Results) -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert plot.over_size(results, ax=left) is figure
    plot.over_size(results, metric="waf.host", ax=right)
    assert len(left.lines) == len(right.lines) == 3
    # A legend above axes is as wide as these axes.
    every = destage.compare(WORK, buffers="all", sizes=["512KiB", "1MiB"], ftls="none")
    wide = Figure(figsize=(8, 6), layout="constrained")
    for axes in wide.subplots(1, 2):
        plot.over_size(every, metric="buffer.destaged_pages", ax=axes)
    wide.draw_without_rendering()
    one, other = (axes.get_legend().get_window_extent() for axes in wide.axes)
    assert one.x0 >= 0 and one.x1 <= other.x0 and other.x1 <= wide.bbox.x1


def test_the_style_leaves_no_trace(results: destage.Results) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    plot.over_size(results)
    with plot.style():
        assert matplotlib.rcParams["font.size"] == 8
    assert dict(matplotlib.rcParams) == before


def test_what_cannot_be_drawn_is_said(results: destage.Results, tmp_path: Path) -> None:
    plain = destage.simulate(WORK)
    for draw, said in [
        (lambda: plot.over_size(results, metric="waf.hots"), r"metric: 'waf.hots' is in none of 7 runs: .*did you mean .waf.host..*destage.metrics\(\)"),
        (lambda: plot.over_size(results, metric="ftl.merges.full"), "metric: 'ftl.merges.full' is in none of 7 runs; expected one that has a meaning there"),
        (lambda: plot.curve(destage.curve(WORK, buffers="lru"), metric="buffer.write_hitz"), r"in no curve: .*did you mean .buffer.write_hits..*destage.metrics\(\)"),
        (lambda: plot.over_size(plain), "results: <destage.Result .*>: expected what compare or study gives"),
        (lambda: plot.curve(results), "curves: <destage.Results .*>: expected what destage.curve gives"),
        (lambda: plot.latencies(results), "results: <destage.Results .*>: expected what destage.simulate gives, or a dict of such results by name"),
        (lambda: plot.destages({"lru": results[1]}), "results: <destage.Run .*>: expected what destage.simulate gives"),
        (lambda: plot.split(results), "results: <destage.Results .*>: expected what destage.simulate gives"),
        (lambda: plot.series(results), "result: <destage.Results .*>: expected what destage.simulate gives"),
        (lambda: plot.learnt(results), "result: <destage.Results .*>: expected what destage.simulate gives"),
        (lambda: plot.latencies(plain), r"lru: no responses were kept; expected simulate\(..., responses=True\) or series=True"),
        (lambda: plot.series(plain), r"none was kept; expected simulate\(..., series=True\)"),
        (lambda: plot.split(plain), r"lru: the run was not explained; expected simulate\(..., series=True\)"),
        (lambda: plot.learnt(destage.simulate(WORK, series=True)), "lru learns nothing"),
        (lambda: plot.split(destage.simulate(WORK, series=True), operation="trim"), "'trim' is in no response of lru"),
        (lambda: plot.series(destage.simulate(WORK, series=True), columns=["x"]), "columns: 'x': expected some of time_ms"),
        (lambda: plot.latencies(destage.simulate(WORK, responses=True), operation="trim"), "lru: no trim was answered"),
        (lambda: plot.destages(destage.simulate(destage.Workload("zipf", requests=10), series=True)), "lru: nothing was destaged"),
        (lambda: plot.latencies({}), "results: none; expected at least one"),
        (lambda: plot.save(Figure(), tmp_path / "a.jpg"), "ending '.jpg'; expected .png, .svg or .pdf"),
    ]:
        with pytest.raises(destage.InputError, match=said):
            draw()
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_it_says_so() -> None:
    program = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import destage\n"
        "try:\n    with destage.plot.style(): pass\n"
        "except ImportError as error:\n    print(error)"
    )
    said = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert said == "destage.plot needs matplotlib, which is not installed: pip install matplotlib\n"
