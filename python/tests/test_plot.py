"""Figures: what is drawn, and the files they become."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zlib
from pathlib import Path

import destage
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
    # Without a buffer there is no size: one level line.
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


def test_what_a_scheme_learnt() -> None:
    result = destage.simulate(destage.Workload("mixed", requests=20_000), buffer="bpac", size="1MiB", series=True)
    figure = plot.series(result)
    assert [axes.get_ylabel() for axes in figure.axes] == ["alpha", "bird threshold", "pird threshold"]
    line = figure.axes[0].lines[0]
    assert list(line.get_ydata()) == result.series["scheme.alpha"]
    assert list(line.get_xdata()) == result.series["scheme.period_end"]
    assert len(plot.series(result, names=["scheme.alpha"]).axes) == 1


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_equal_results_give_equal_files(results: destage.Results, tmp_path: Path, ending: str) -> None:
    program = (
        "import sys, destage; from destage import plot\n"
        "results = destage.Results(open('results.json').read())\n"
        "plot.save(plot.over_size(results, metric='waf.host'), sys.argv[1])\n"
    )
    (tmp_path / "results.json").write_text(results.to_json())
    files = []
    for name, zone in (("one", "UTC"), ("other", "Asia/Tokyo")):
        path = tmp_path / f"{name}.{ending}"
        # Another process, with other hashes and another time of day.
        subprocess.run([sys.executable, "-c", program, path], check=True, cwd=tmp_path, env={"TZ": zone, "HOME": str(tmp_path)})
        files.append(path.read_bytes())
    assert files[0] == files[1]
    assert b"matplotlib.org" not in files[0] and b"20" + b"26-" not in files[0]


def test_files_open(results: destage.Results, tmp_path: Path) -> None:
    figure = plot.over_size(results)
    for ending in ("png", "svg", "pdf"):
        plot.save(figure, tmp_path / f"figure.{ending}")
    import matplotlib.image

    pixels = matplotlib.image.imread(tmp_path / "figure.png")
    # 85 mm at 300 dpi, and not blank.
    assert pixels.shape[1] == pytest.approx(85 / 25.4 * 300, abs=1)
    assert pixels[..., :3].min() < 0.3
    assert "response mean (ms)" in (tmp_path / "figure.svg").read_text()
    pdf = (tmp_path / "figure.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-") and pdf.rstrip().endswith(b"%%EOF")
    drawn = [zlib.decompress(part) for part in re.findall(rb"/FlateDecode >>\nstream\n(.*?)\nendstream", pdf, flags=re.S)]
    assert any(b" l\n" in part for part in drawn)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure.pdf", "figure.png", "figure.svg"]


def test_axes_of_ones_own(results: destage.Results) -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert plot.over_size(results, ax=left) is figure
    plot.over_size(results, metric="waf.host", ax=right)
    assert len(left.lines) == len(right.lines) == 3


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
        (lambda: plot.over_size(results, metric="waf.hots"), "metric: 'waf.hots' is in none of 7 runs"),
        (lambda: plot.latencies(plain), r"lru: no responses were kept; expected simulate\(..., responses=True\)"),
        (lambda: plot.series(plain), r"none was kept; expected simulate\(..., series=True\)"),
        (lambda: plot.series(destage.simulate(WORK, series=True)), "lru learns nothing"),
        (lambda: plot.latencies(destage.simulate(WORK, responses=True), operation="trim"), "lru: no trim was answered"),
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
