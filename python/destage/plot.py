"""Figures for papers, with matplotlib.

    from destage import plot

    plot.save(plot.over_size(results, metric="response.p99_ms"), "p99.pdf")

Each function draws into `ax`, or into a new figure, and returns the figure. All figures have one style. Equal results
give equal files, byte for byte. docs/guides/figures.md shows the figures.
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from destage import _core, _registries, _results
from destage._core import ConfigError, InputError
from destage._results import Curves, Result, Results, Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["curve", "destages", "latencies", "learnt", "over_size", "save", "series", "split", "style"]

#: The number of millimetres in an inch.
_INCH = 25.4
#: Colours that people with colour-vision deficiency can distinguish (Okabe and Ito). In greyscale, marks and dashes
#: distinguish the lines.
_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"]
_MARKS = ["o", "s", "^", "D", "v", "P", "X", "<", ">"]
_DASHES = ["-", "--", "-.", ":"]
#: The operations by their numbers in `Result.responses`.
_OPERATIONS = ["read", "write", "flush", "trim"]
#: The parts of a response: words, colour and hatch. Waiting is blue or grey, and pink for a channel. Garbage collection
#: is hatched. Work is orange or green.
_PARTS = {
    "queue": ("in the queue", "#999999", ""),
    "bus": ("on the host bus", "#e69f00", ""),
    "slot": ("waiting for a slot", "#56b4e9", ""),
    "slot_gc": ("waiting for a slot (GC)", "#56b4e9", "/////"),
    "die": ("waiting for a die", "#0072b2", ""),
    "die_gc": ("waiting for a die (GC)", "#0072b2", "/////"),
    "flash": ("in flash", "#009e73", ""),
    "die_read": ("behind reads", "#0072b2", "...."),
    "die_program": ("behind programs", "#0072b2", "xxxx"),
    "die_erase": ("behind erases", "#0072b2", "++++"),
    "channel": ("waiting for a channel", "#cc79a7", ""),
    "transfer": ("on a channel", "#e69f00", "/////"),
}
#: The columns of a run's series that are drawn by default.
_COURSE = ["write.p99_ms", "queue.mean", "buffer.dirty_pages", "gc.time_ms", "utilization.mean"]
#: The largest number of lines with a legend inside the axes. With more lines, the legend is above the axes.
_INSIDE = 4
#: The shortest part of a bar that the legend names, as a fraction of the longest bar.
_VISIBLE = 0.003
#: The height of a row of a legend above the axes, in mm.
_ROW_MM = 3.4
#: The width of a legend's column without the name, and the width of the free margins of a figure, in points.
_HANDLE_PT, _SIDES_PT = 29, 12
_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "legend.framealpha": 0.85,
    "legend.edgecolor": "none",
    "legend.borderpad": 0.2,
    "legend.handlelength": 2.4,
    "legend.labelspacing": 0.3,
    "legend.columnspacing": 1.0,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#d9d9d9",
    "grid.linewidth": 0.5,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "figure.dpi": 150,
    "savefig.dpi": 300,
    # Text in a file remains text, and the names of elements in a file are not random.
    "svg.fonttype": "none",
    "svg.hashsalt": "destage",
    "pdf.fonttype": 42,
}
#: The metadata that are left out, because with them files would differ from day to day, or between versions of
#: matplotlib.
_METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


_Arguments = ParamSpec("_Arguments")
_Given = TypeVar("_Given")


@contextlib.contextmanager
def style() -> Iterator[None]:
    """The style of these figures, as a context for other drawings."""
    _results.library("matplotlib", "destage.plot")
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        # The type is Any, because the type of the keys is known only for one version of matplotlib.
        chosen: Any = matplotlib.rcParams
        chosen.update(_STYLE)
        yield


def _styled(draw: Callable[_Arguments, _Given]) -> Callable[_Arguments, _Given]:
    """Makes `draw` use the style of all figures."""

    @functools.wraps(draw)
    def drawing(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Given:
        with style():
            return draw(*arguments, **named)

    return drawing


@_styled
def over_size(
    results: Results, *, metric: str = "response.mean_ms", ax: Axes | None = None, width_mm: float = 85
) -> Figure:
    """`metric` over the size of the buffer: a line for each scheme. Runs of a scheme that differ in the layer, the
    trace or a parameter have separate lines.

    A scheme without a buffer is a horizontal line. Failed runs and runs without this metric are left out.
    """
    _expect("results", results, Results, "what compare or study gives")
    runs = [run for run in results if metric in run.metrics and "buffer.capacity_bytes" in run.parameters]
    if not runs:
        raise _lacking(metric, f"in none of {len(results)} runs")
    lines: dict[str, dict[int, list[float]]] = {}
    for run, name in zip(runs, _names(runs), strict=True):
        size = int(run.parameters["buffer.capacity_bytes"])
        lines.setdefault(name, {}).setdefault(size, []).append(run.metrics[metric])
    # Runs of a study that differ only in the seed are drawn as one point, at the mean of their values.
    means = {name: {size: sum(of) / len(of) for size, of in sorted(sizes.items())} for name, sizes in lines.items()}
    unbuffered = {name for run, name in zip(runs, _names(runs), strict=True) if "buffer.write_hits" not in run.metrics}
    return _over_size(means, unbuffered, metric, ax, width_mm)


@_styled
def curve(
    curves: Curves, *, metric: str = "buffer.write_hits", ax: Axes | None = None, width_mm: float = 85
) -> Figure:
    """`metric` over the size of the buffer: a line for each scheme of `destage.curve`. Estimates are drawn with their
    intervals."""
    _expect("curves", curves, Curves, "what destage.curve gives")
    lines: dict[str, dict[int, float]] = {}
    spans: dict[str, dict[int, tuple[float, float]]] = {}
    for of in curves.curves:
        for point in of["points"]:
            value = point.get(metric)
            if isinstance(value, Mapping):
                spans.setdefault(of["buffer"], {})[point["bytes"]] = (value["low"], value["high"])
                value = value["estimate"]
            if value is not None:
                lines.setdefault(of["buffer"], {})[point["bytes"]] = value
    if not lines:
        raise _lacking(metric, "in no curve")
    figure = _over_size(lines, set(), metric, ax, width_mm)
    axes = ax or figure.axes[0]
    for number, name in enumerate(lines):
        if name in spans:
            sizes = sorted(spans[name])
            low, high = zip(*(spans[name][size] for size in sizes), strict=True)
            axes.fill_between(sizes, low, high, color=_COLOURS[number % len(_COLOURS)], alpha=0.2, linewidth=0)
    return figure


@_styled
def latencies(
    results: Result | Mapping[str, Result],
    *,
    operation: str | None = None,
    ax: Axes | None = None,
    width_mm: float = 85,
) -> Figure:
    """For each response time, the share of requests that took this time or longer. Both axes are logarithmic, so that
    p99 and p99.9 can be read.

    `results` are one result, or several by name. For results of `simulate(..., responses=True)` each response is
    drawn, for `series=True` the buckets of a histogram. `operation` is read, write, flush or trim; None is all of
    them. Requests that were never answered are left out.
    """
    curves = {name: _shares(name, result, operation) for name, result in _several(results).items()}
    # The lines may pass through any corner of the axes, so the legend is above the axes.
    figure, axes = _axes(ax, width_mm, above=list(curves))
    for number, (name, (times, shares, _)) in enumerate(curves.items()):
        axes.plot(times, shares, drawstyle="steps-pre", label=name, **_look(number, marks=False))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(0.5 / max(count for _, _, count in curves.values()), 1.2)
    axes.set_xlabel("response time (ms)")
    axes.set_ylabel("share this slow or slower")
    _legend(axes, list(curves), is_above=True)
    return figure


def _shares(name: str, result: Result, operation: str | None) -> tuple[list[float], list[float], int]:
    """Response times in ascending order, the share of requests that took each time or longer, and the number of
    requests."""
    if operation is not None and operation not in _OPERATIONS:
        raise InputError(f"operation: {operation!r}: expected one of {', '.join(_OPERATIONS)}, or None")
    counts: dict[float, int] = {}
    if result.responses is not None:
        known = result.responses["response_ms"]
        if operation is not None:
            known = known[result.responses["op"] == _OPERATIONS.index(operation)]
        for time in known[known == known].tolist():
            counts[time] = counts.get(time, 0) + 1
    elif "response" in (result.explained or {}):
        for word, of in _explained(name, result)["response"].items():
            if operation in (None, word):
                # All requests of a bucket count with its upper bound, because their exact times are not recorded.
                for time, requests in zip(of["histogram"]["to_ms"], of["histogram"]["requests"], strict=True):
                    counts[time] = counts.get(time, 0) + requests
    else:
        raise InputError(f"{name}: no responses were kept; expected simulate(..., responses=True) or series=True")
    if not counts:
        raise InputError(f"{name}: no {operation or 'request'} was answered")
    times, count = sorted(counts), sum(counts.values())
    shares, left = [], count
    for time in times:
        shares.append(left / count)
        left -= counts[time]
    return times, shares, count


@_styled
def split(
    results: Result | Mapping[str, Result],
    *,
    operation: str = "write",
    tail: bool = False,
    ax: Axes | None = None,
    width_mm: float = 85,
) -> Figure:
    """The parts of the mean response time, such as waiting, bus and flash. There is a bar for each result of
    `simulate(..., series=True)`. See docs/EXPLAIN.md.

    With `tail=True` only the slowest requests count, from the 99th percentile on.
    """
    bars: dict[str, Mapping[str, float]] = {}
    for name, result in _several(results).items():
        responses = _explained(name, result).get("response", {})
        if operation not in responses:
            raise InputError(f"operation: {operation!r} is in no response of {name}; expected one of {', '.join(responses)}")
        of = responses[operation]
        bars[name] = of["tail"]["split_ms"] if tail else of["split_ms"]
    parts = [part for part in next(iter(bars.values())) if any(bar[part] for bar in bars.values())]
    told = {part: _PARTS.get(part, (_words(part), "#bbbbbb", "")) for part in parts}
    # A part that is too short to be seen in any bar has no place in the legend.
    longest = max(sum(bar.values()) for bar in bars.values())
    seen = {part for part in parts if any(bar[part] >= _VISIBLE * longest for bar in bars.values())}
    labels = [words for part, (words, _, _) in told.items() if part in seen]
    figure, axes = _axes(ax, width_mm, 10 + 6 * len(bars), above=labels)
    left = [0.0] * len(bars)
    for part in parts:
        widths = [bar[part] for bar in bars.values()]
        words, colour, hatch = told[part]
        label = words if part in seen else None
        axes.barh(list(bars), widths, left=left, label=label, color=colour, hatch=hatch, height=0.7, edgecolor="white", linewidth=0.3)
        left = [begin + width for begin, width in zip(left, widths, strict=True)]
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    slowest = "slowest " if tail else ""
    axes.set_xlabel(f"mean response of {slowest}{operation}s (ms)")
    _legend(axes, labels, is_above=True)
    return figure


@_styled
def destages(
    results: Result | Mapping[str, Result], *, ax: Axes | None = None, width_mm: float = 85
) -> Figure:
    """For each length of a record, the share of destaged pages in records of at least that length. The results come
    from `simulate(..., series=True)`."""
    curves: dict[str, tuple[list[int], list[float]]] = {}
    for name, result in _several(results).items():
        of = _explained(name, result).get("destages", {"pages": [], "records": []})
        weights = [pages * records for pages, records in zip(of["pages"], of["records"], strict=True)]
        if not sum(weights):
            raise InputError(f"{name}: nothing was destaged")
        curves[name] = of["pages"], [sum(weights[number:]) / sum(weights) for number in range(len(weights))]
    figure, axes = _axes(ax, width_mm, above=list(curves))
    for number, (name, (pages, shares)) in enumerate(curves.items()):
        axes.plot([1, *pages], [1.0, *shares], drawstyle="steps-pre", label=name, **_look(number, marks=False))
        # The curve falls to 0 after the largest record.
        axes.plot([pages[-1]] * 2, [shares[-1], 0], **_look(number, marks=False))
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_ylim(0, 1.05)
    axes.set_xlabel("pages of a destage")
    axes.set_ylabel("share of pages in records at least this large")
    _legend(axes, list(curves), is_above=True)
    return figure


@_styled
def series(
    result: Result, *, columns: str | Iterable[str] | None = None, ax: Axes | None = None, width_mm: float = 85
) -> Figure:
    """Series over a run of `simulate(..., series=True)`: a panel for each of `columns` (docs/EXPLAIN.md), over time. A
    string is a single column."""
    _expect("result", result, Result, "what destage.simulate gives")
    course = result.series
    if course is None:
        raise InputError("series: none was kept; expected simulate(..., series=True) of a run with a clock")
    chosen = [name for name in _COURSE if name in course] if columns is None else _listed(columns)
    times = [(time - course.start_ms) / 1e3 for time in course["time_ms"]]
    return _stacked("columns", course, chosen, times, "time (s)", ax, width_mm)


@_styled
def learnt(
    result: Result, *, names: str | Iterable[str] | None = None, ax: Axes | None = None, width_mm: float = 85
) -> Figure:
    """The values that the scheme has learnt at the end of each of its periods, in a run of `simulate(...,
    series=True)`. There is a panel for each of `names`; a string is a single name."""
    _expect("result", result, Result, "what destage.simulate gives")
    of = _explained(str(result.parameters["buffer.kind"]), result).get("scheme", {})
    ends = next((values for name, values in of.items() if name.endswith(".period_end")), None)
    chosen = [name for name in of if not name.endswith(".period_end")] if names is None else _listed(names)
    if ends is None:
        raise InputError(f"series: {result.parameters['buffer.kind']} learns nothing; expected a scheme that does, such as bpac")
    return _stacked("names", of, chosen, ends, "page writes", ax, width_mm)


def _stacked(
    argument: str,
    of: Mapping[str, Sequence[float | None]],
    chosen: list[str],
    places: Sequence[float],
    along: str,
    ax: Axes | None,
    width_mm: float,
) -> Figure:
    """A panel for each name in `chosen`, one above the other."""
    from matplotlib import ticker

    unknown = [name for name in chosen if name not in of]
    if unknown or not chosen:
        raise InputError(f"{argument}: {unknown[0] if unknown else 'none'!r}: expected some of {', '.join(of)}")
    if ax is not None and len(chosen) > 1:
        raise InputError(f"ax: {len(chosen)} panels; expected {argument} with one name, or no ax")
    figure, panels = _panels(ax, width_mm, len(chosen))
    for axes, name in zip(panels, chosen, strict=True):
        values = [math.nan if value is None else value for value in of[name]]
        axes.plot(places[: len(values)], values, **_look(0, marks=len(values) <= 32))
        known = [value for value in values if not math.isnan(value)] or [0]
        axes.set_ylim(min(0, 1.05 * min(known)), 1.05 * max(known) or 1)
        axes.xaxis.set_major_locator(ticker.MaxNLocator(5))
        axes.yaxis.set_major_locator(ticker.MaxNLocator(4))
        axes.set_ylabel(_folded(_label(name.removeprefix("scheme."))))
        axes.set_xlabel(along)
        axes.label_outer()
    figure.align_ylabels()
    return figure


def _folded(label: str) -> str:
    """Splits a label into two lines, because a panel is not high."""
    words, _, unit = label.partition(" (")
    if unit:
        return f"{words}\n({unit}"
    return words if len(words) <= 15 else words.replace(" ", "\n", 1)


def _listed(names: str | Iterable[str]) -> list[str]:
    """`names` as a list; a single name becomes a list of one."""
    return [names] if isinstance(names, str) else list(names)


def _several(results: Result | Mapping[str, Result]) -> Mapping[str, Result]:
    """Results by name. A single result has the name of its scheme."""
    if isinstance(results, Result):
        return {str(results.parameters["buffer.kind"]): results}
    single = "what destage.simulate gives, or a dict of such results by name"
    _expect("results", results, Mapping, single)
    for result in results.values():
        _expect("results", result, Result, single)
    if not results:
        raise InputError("results: none; expected at least one")
    return results


def _expect(argument: str, given: object, kind: type, what: str) -> None:
    """Raises an error if `given`, the value of `argument`, is not of this `kind`."""
    if not isinstance(given, kind):
        raise InputError(f"{argument}: {given!r}: expected {what}")


def _lacking(metric: str, where: str) -> InputError:
    """The error that `metric` is missing, with the name that may have been meant."""
    try:
        _core.require_metric(metric)
    except ConfigError as error:
        return InputError(f"metric: {metric!r} is {where}: {error}")
    return InputError(f"metric: {metric!r} is {where}; expected one that has a meaning there")


def _explained(name: str, result: Result) -> Mapping[str, Any]:
    if result.explained is None:
        raise InputError(f"{name}: the run was not explained; expected simulate(..., series=True)")
    return result.explained


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Writes `figure` to a file. The extension decides the format: .png (300 dpi), .svg or .pdf. The file appears
    complete or not at all."""
    name = os.fspath(path)
    ending = os.path.splitext(name)[1].lower()
    if ending not in _METADATA:
        raise InputError(f"{name}: ending {ending!r}; expected .png, .svg or .pdf")
    content = io.BytesIO()
    with style():
        figure.savefig(content, format=ending[1:], metadata=_METADATA[ending])
    _core.write_file(path, content.getvalue())


def _axes(
    ax: Axes | None, width_mm: float, height_mm: float | None = None, *, above: Sequence[str] = ()
) -> tuple[Figure, Axes]:
    """The axes to draw into, and their figure. A new figure has the height `height_mm`, by default 0.68 times the
    width, plus the height of a legend with the names `above`."""
    if ax is not None:
        figure = ax.get_figure(root=True)
        if figure is None:
            raise InputError("ax: axes of no figure; expected axes of a figure")
        return figure, ax
    rows = math.ceil(len(above) / _columns(above, width_mm / _INCH * 72)) if len(above) > 1 else 0
    height_mm = 0.68 * width_mm if height_mm is None else height_mm
    return (figure := _figure(width_mm, height_mm + rows * _ROW_MM)), figure.add_subplot()


def _panels(ax: Axes | None, width_mm: float, panels: int) -> tuple[Figure, list[Axes]]:
    """Axes one above the other, with a common horizontal axis."""
    if ax is not None:
        figure, axes = _axes(ax, width_mm)
        return figure, [axes]
    figure = _figure(width_mm, width_mm * (0.15 + 0.25 * panels))
    return figure, list(figure.subplots(panels, sharex=True, squeeze=False)[:, 0])


@functools.cache
def _shown() -> type[Figure]:
    from matplotlib.figure import Figure

    class Shown(Figure):
        """A figure that a notebook shows if it is the last value of a cell. A notebook does not show other figures
        that are made without pyplot."""

        def _repr_png_(self) -> bytes:
            content = io.BytesIO()
            with style():
                self.savefig(content, format="png", dpi=160, metadata=_METADATA[".png"])
            return content.getvalue()

    return Shown


def _figure(width_mm: float, height_mm: float) -> Figure:
    return _shown()(figsize=(width_mm / _INCH, height_mm / _INCH), layout="constrained")


def _look(number: int, *, marks: bool = True) -> dict[str, Any]:
    """The colour, dashes and marker of line `number`."""
    look = {
        "color": _COLOURS[number % len(_COLOURS)],
        "linestyle": _DASHES[number // len(_COLOURS) % len(_DASHES)],
    }
    return look | ({"marker": _MARKS[number % len(_MARKS)]} if marks else {})


def _columns(names: Sequence[str], width_pt: float) -> int:
    """The largest number of columns in which a legend of `names` fits the width `width_pt`; 1 if no number fits."""
    from matplotlib.textpath import TextPath

    widths = [TextPath((0, 0), name, size=_STYLE["legend.fontsize"]).get_extents().width + _HANDLE_PT for name in names]
    for columns in range(len(names), 1, -1):
        # matplotlib fills the columns one after the other. If the names do not divide evenly, the first columns have
        # one row more.
        rows, longer = divmod(len(names), columns)
        ends = [column * rows + min(column, longer) for column in range(columns + 1)]
        if sum(max(widths[begin:end]) for begin, end in itertools.pairwise(ends)) <= width_pt - _SIDES_PT:
            return columns
    return 1


def _legend(axes: Axes, names: Sequence[str], *, is_above: bool) -> None:
    """Adds the legend of lines with these `names`, above the axes, or inside the axes where the lines leave room. One
    line needs no legend."""
    if len(names) < 2:
        return
    if not is_above:
        axes.legend()
        return
    figure = axes.get_figure(root=True)
    place = axes.get_subplotspec()
    share = axes.get_position().width if place is None else len(place.colspan) / place.get_gridspec().ncols
    width_pt = 0 if figure is None else 72 * share * figure.get_figwidth()
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=_columns(names, width_pt))


def _over_size(
    lines: Mapping[str, Mapping[int, float]], unbuffered: set[str], metric: str, ax: Axes | None, width_mm: float
) -> Figure:
    is_above = len(lines) > _INSIDE
    figure, axes = _axes(ax, width_mm, above=list(lines) if is_above else ())
    for number, (name, points) in enumerate(lines.items()):
        if name in unbuffered:
            axes.axhline(next(iter(points.values())), label=name, **_look(number, marks=False))
        else:
            axes.plot(list(points), list(points.values()), label=name, **_look(number, marks=len(points) <= 32))
    sizes = sorted({size for name, points in lines.items() if name not in unbuffered for size in points})
    if sizes:
        axes.set_xscale("log", base=2)
        step = math.ceil(len(sizes) / 6)
        axes.set_xticks(sizes[::step], [_size(size) for size in sizes[::step]])
        axes.minorticks_off()
    axes.set_xlabel("buffer")
    axes.set_ylabel(_label(metric))
    values = [value for points in lines.values() for value in points.values()]
    # If the values span more than two decades, the small values would not be visible on a linear axis.
    if 0 < min(values) and max(values) > 100 * min(values):
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, 1.05 * max(values) or 1)
    _legend(axes, list(lines), is_above=is_above)
    return figure


def _names(runs: Sequence[Run]) -> list[str]:
    """Names that distinguish runs, except by size: the scheme, and the settings in which runs of the same scheme
    differ."""

    def facts(run: Run) -> dict[str, str]:
        of = {name: str(value) for name, value in run.parameters.items() if name not in _NOT_TOLD}
        return {**of, "trace": run.trace}

    all_facts = [facts(run) for run in runs]
    values: dict[tuple[str, str], set[str]] = {}
    for of in all_facts:
        for name, value in of.items():
            values.setdefault((of.get("buffer.kind", ""), name), set()).add(value)

    def told(of: dict[str, str]) -> str:
        kind = of.get("buffer.kind", "")
        others = [
            value if name in ("trace", "ftl.kind") else f"{name.split('.')[-1]}={value}"
            for name, value in of.items()
            if name != "buffer.kind" and len(values[kind, name]) > 1
        ]
        return ", ".join([kind, *others])

    return [told(of) for of in all_facts]


#: Settings that do not identify a line: the size, which is the axis, and seeds, over which a mean is taken.
_NOT_TOLD = {"buffer.capacity_bytes", "sim.seed"}


def _size(size: int) -> str:
    """A size in bytes with a binary unit, as it can be typed."""
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size} B"


def _label(metric: str) -> str:
    """The name of a metric in words, with its unit."""
    unit = _unit(metric)
    ending = {"MB/s": ".mb_per_s", "1/s": "_per_s"}.get(unit, f"_{unit}")
    return _words(metric.removesuffix(ending)) + (f" ({unit})" if unit else "")


def _unit(metric: str) -> str:
    row = _registries.metrics().get(metric)
    if row is None:
        # A row of the registry with a star in its name describes several metrics.
        return "ms" if metric.endswith("_ms") else ""
    return str(row.fields["unit"])


def _words(name: str) -> str:
    words = name.replace(".", " ").replace("_", " ")
    return words.replace("waf ", "write amplification, ", 1) if words.startswith("waf ") else words
