"""The functions that run commands."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from destage import _core, _inputs, _registries, _results, _text
from destage._progress import Progress
from destage._registries import Explanations
from destage._results import Answers, Curves, Fleet, Reproduction, Result, Results, TraceInfo
from destage._scheme import Scheme

if TYPE_CHECKING:
    import distributed


def simulate(
    trace: Any,
    *,
    buffer: str | Scheme | None = None,
    size: str | int | None = None,
    ftl: str | None = None,
    profile: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    responses: bool = False,
    series: bool = False,
    watch: str | os.PathLike[str] | None = None,
    cut: str | None = None,
) -> Result:
    """Makes one run: simulates `trace` (a path, a `Trace` or a `Workload`) with one buffer over one translation layer.

    Names are the same as on the command line: `buffer="bplru:pad=false"`, `settings={"flash.dies": 4}`. An argument
    that is None has the profile's value, or without a profile the default in `destage.parameters()`. `settings`
    override everything else. If `settings` is the path of a file of settings, the other arguments override the file.
    With `responses` the result has `Result.responses`. With `series` it has `Result.series` and `Result.explained`.
    `watch="FILE.html"` writes a page that shows the work of the device step by step. `watch="FILE.json"` writes a
    timeline for Perfetto. If this file cannot be written, the call fails before the run.

    With `cut` the run stores the bytes of every page and loses its power at that moment: `"write 300"` (when the device
    accepts the 300th write), `"flush 3"`, `"program 150"` (while the 150th page program runs) or `"40 ms"`. `sim.seed`
    decides the rest. Then the device is mounted, and `Result.power` says whether it holds what it promised.
    """
    given, of_trace = _inputs.of(trace)
    chosen = _chosen(profile, settings, of_trace, [buffer], buffer=buffer, size=size, ftl=ftl)
    if series:
        chosen.explain()
    shown = None
    if watch is not None:
        ending = os.path.splitext(os.fspath(watch))[1].lower()
        if ending not in (".html", ".json"):
            raise _core.InputError(f"watch: {os.fspath(watch)!r}: the ending names no form of a run to watch; expected .html or .json")
        shown = (watch, ending == ".json")
    with Progress() as progress:
        text, warnings, columns = _core.simulate(given, chosen, responses, shown, cut, progress.tell)
    _results.warn(warnings)
    return Result(text, _structured(columns))


def compare(
    traces: Any,
    *,
    buffers: str | Scheme | Iterable[str | Scheme] | None = None,
    sizes: str | int | Iterable[str | int] | None = None,
    ftls: str | Iterable[str] | None = None,
    profile: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    threads: int = 0,
) -> Results:
    """Simulates every buffer at every size over every layer, with every trace. Each trace is read once.

    `buffers="all"` selects every scheme. `sizes="1MiB..16MiB"` selects sizes of which each is twice the previous one.
    An argument that is None has the profile's value. A list may not be given together with a mapping of settings that
    sets the same parameter. Different traces need different names (`Trace.from_arrays(..., name="first")`). A run that
    fails has an `error` in its row. `threads=0` uses one thread for each core.
    """
    if _inputs.is_table(traces):
        raise _inputs.table_refused("traces", traces)
    given, of_traces, several = [], [], _several(traces)
    for trace in several:
        one, of_trace = _inputs.of(trace)
        given.append(one)
        of_traces.append(of_trace)
    if any(of_trace != of_traces[0] for of_trace in of_traces):
        raise _core.InputError("traces: read with different trace.* parameters; expected one way, or a comparison for each")
    _inputs.require_different_names(several)
    schemes = None if buffers is None else _several(buffers)
    chosen = _chosen(profile, settings, of_traces[0] if of_traces else [], schemes or [])
    with Progress() as progress:
        text, warnings, columns = _core.compare(
            given, chosen, _names(schemes), _sizes(sizes), _layers(ftls), _threads(threads), progress.tell
        )
    results = Results(text, columns)
    failed = (f"{run.parameters['buffer.kind']} of {run.parameters['buffer.capacity_bytes']} bytes, "
              f"FTL {run.parameters['ftl.kind']}: {run.error}" for run in results.failed)
    _results.warn([*warnings, *failed])
    return results


def curve(
    trace: Any,
    *,
    buffers: str | Scheme | Iterable[str | Scheme] | None = None,
    sizes: str | int | Iterable[str | int] | None = None,
    ftl: str | None = None,
    sample: float | None = None,
    error: float | None = None,
    metric: str | None = None,
    salts: int | None = None,
    profile: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    threads: int = 0,
) -> Curves:
    """Computes metrics over the size of the buffer. Without `ftl` only the buffer is simulated. See docs/CURVES.md.

    If `buffers` is None, there is one curve: of the scheme that settings or the profile set, or else of the default in
    `destage.parameters()`. If `sizes` is None, there are at most 24 sizes from 64 pages on. A mapping of settings may not
    set the size.

    With `sample`, values are estimated from `salts` samples (default 8), and have intervals. Each sample contains the
    share `sample` of the erase blocks (such as 0.01). With `error`, the samples are as small as possible. At every
    size, half the width of the interval of `metric` (default `buffer.destaged_pages`) is at most `error` percent of the
    curve's largest value. Without `error` there is no `metric`: the curves have all metrics.
    """
    if sample is not None and error is not None:
        raise _core.InputError(f"sample: {sample!r}, error: {error!r}: both are given; expected one of them")
    if salts is not None and sample is None and error is None:
        raise _core.InputError(f"salts: {salts!r}: expected sample or error with it")
    if metric is not None:
        _core.require_metric(metric)
        if error is None:
            raise _core.InputError(f"metric: {metric!r}: expected error with it; the curves have all metrics")
    if salts is not None:
        salts = _text.count("salts", salts, "a number of samples", _MOST_SALTS, 1)
    given, of_trace = _inputs.of(trace)
    schemes = None if buffers is None else _several(buffers)
    chosen = _chosen(profile, settings, of_trace, schemes or [], ftl=ftl)
    with Progress() as progress:
        wanted = None if error is None else (error, metric or "buffer.destaged_pages")
        text, warnings = _core.curve(
            given, chosen, _names(schemes), _sizes(sizes), sample, wanted, salts, _threads(threads), progress.tell
        )
    _results.warn(warnings)
    return Curves(text)


def fleet(
    folder: str | os.PathLike[str],
    *,
    results: str | os.PathLike[str],
    buffers: str | Scheme | Iterable[str | Scheme] | None = None,
    sizes: str | int | Iterable[str | int] | None = None,
    profile: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    threads: int = 0,
) -> Fleet:
    """Compares a buffer for each volume in `folder` with one buffer that all volumes share. `destage trace partition`
    makes such a folder.

    Curves are stored in the folder `results`, and curves that are in the folder already are not computed again.
    `sizes` are the sizes of the buffer of one volume. The shared buffer has such a size times the number of volumes.
    See docs/FLEETS.md.
    """
    schemes = None if buffers is None else _several(buffers)
    chosen = _chosen(profile, settings, [], schemes or [])
    with Progress() as progress:
        text, warnings = _core.fleet(
            folder, chosen, _names(schemes), _sizes(sizes), results, _threads(threads), progress.tell
        )
    _results.warn(warnings)
    return Fleet(text)


def size(
    trace: Any,
    *,
    goals: str | Iterable[str],
    buffers: str | Scheme | Iterable[str | Scheme] | None = None,
    sizes: str | int | Iterable[str | int] | None = None,
    ftl: str | None = None,
    profile: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    threads: int = 0,
) -> Answers:
    """Finds the smallest buffers that reach all `goals`, each `METRIC<VALUE` or `METRIC>VALUE`.

    If `buffers` is None, the schemes of the papers and the usual baselines are compared: lru, block-lru, fab, bplru,
    clc, bpac, epo and apu-lru. The scheme and the size of the profile, or of a file of settings, are not used. A mapping
    of settings may not set them.
    """
    given, of_trace = _inputs.of(trace)
    schemes = None if buffers is None else _several(buffers)
    chosen = _chosen(profile, settings, of_trace, schemes or [], ftl=ftl)
    with Progress() as progress:
        text, warnings = _core.size(
            given, chosen, _several(goals), _names(schemes), _sizes(sizes), _threads(threads), progress.tell
        )
    _results.warn(warnings)
    return Answers(text)


def study(
    path: str | os.PathLike[str],
    *,
    results: str | os.PathLike[str],
    client: distributed.Client | None = None,
    traces: Mapping[str, str | os.PathLike[str]] | str | os.PathLike[str] | None = None,
    scale: Literal["reduced", "full"] = "reduced",
    threads: int = 0,
) -> Results:
    """Carries out the runs of a study file (docs/STUDIES.md). Runs whose results are in the folder `results` are not
    repeated.

    The same report is written as by the command: `report.html` and the data, in a folder of `results` with the name
    of the study. `traces` are the paths of the papers' traces by name, or a folder that is searched for them. With a
    Dask `client`, the workers of the client carry out the runs. The study file, the traces and the folder must then
    have the same paths on all workers. `threads` is then the number of threads of each part of the study, and 0 means
    1.
    """
    if client is not None:
        from destage import _cluster

        of_study = Results(_cluster.study(client, path, results, _kept(traces, scale), _threads(threads)))
        _results.warn(of_study.warnings)
        return of_study
    with Progress() as progress:
        text, warnings = _core.study(path, results, *_kept(traces, scale), _threads(threads), progress.tell)
    _results.warn(warnings)
    return Results(text)


def reproduce(
    what: str | None = None,
    *,
    results: str | os.PathLike[str],
    traces: Mapping[str, str | os.PathLike[str]] | str | os.PathLike[str] | None = None,
    scale: Literal["reduced", "full"] = "reduced",
    threads: int = 0,
) -> Reproduction:
    """Runs the experiments of the papers (`"bplru"`, `"bplru/w4"`, or all), and gives a verdict for each claim.

    The same report is written as by the command: `report.html`, `verdicts.json` and a folder for each paper, in
    `results`.
    """
    with Progress() as progress:
        text, warnings = _core.reproduce(what, results, *_kept(traces, scale), _threads(threads), progress.tell)
    _results.warn(warnings)
    return Reproduction(text)


def info(
    trace: Any,
    *,
    profile: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> TraceInfo:
    """Computes statistics of `trace` (a path, a `Trace` or a `Workload`) as a run with these settings would see it:
    sizes, load, distances."""
    given, of_trace = _inputs.of(trace)
    chosen = _chosen(profile, settings, of_trace, [])
    with Progress() as progress:
        text, warnings = _core.inspect(given, chosen, progress.tell)
    _results.warn(warnings)
    return TraceInfo(text)


def explain(name: str) -> Explanations:
    """Explains `name`, which is a parameter, metric, buffer, layer, profile, workload or format. `name` may also be a
    message of the program. Then the explanation gives the cause of the message and what to do."""
    return Explanations(json.loads(_core.explain(name)))


def set_memory_limit(limit: str | int | None = None) -> None:
    """Limits the memory of all calls of this process together to `limit`: `"8GiB"`, or a number of bytes.

    None sets the default, which is half of the machine's memory. A call that exceeds the limit fails with an `Error`.
    Arrays, tables and other objects of Python are not counted.
    """
    _core.set_memory_limit(None if limit is None else _text.value("limit", limit))


def _kept(traces: Any, scale: str) -> tuple[list[str], Any, bool]:
    """The arguments `traces` and `scale` for the library: traces as `NAME=FILE`, the folder to search, and whether all
    runs are made."""
    if scale not in ("reduced", "full"):
        raise _core.InputError(f"scale: {scale!r}: expected 'reduced' or 'full'")
    if traces is None or isinstance(traces, Mapping):
        return [f"{name}={os.fspath(path)}" for name, path in (traces or {}).items()], None, scale == "full"
    return [], traces, scale == "full"


def _several(given: Any) -> list[Any]:
    """`given` as a list; a single item becomes a list of one."""
    alone = isinstance(given, (str, os.PathLike, int, float, Scheme, _inputs.Trace, _inputs.Workload))
    # A number of numpy has no dimensions.
    return [given] if alone or getattr(given, "ndim", None) == 0 else list(given)


#: The largest number of threads that is passed to the library, and the largest number of samples that it takes.
_MOST_THREADS, _MOST_SALTS = 2**32 - 1, 64


def _threads(threads: Any) -> int:
    return _text.count("threads", threads, "a number of threads", _MOST_THREADS)


def _names(buffers: list[Any] | None) -> list[str] | None:
    return None if buffers is None else [_name(buffer) for buffer in buffers]


def _sizes(sizes: Any) -> list[str] | None:
    return None if sizes is None else [_text.value("sizes", size) for size in _several(sizes)]


def _layers(ftls: Any) -> list[str] | None:
    return None if ftls is None else [_text.value("ftls", ftl) for ftl in _several(ftls)]


def _chosen(
    profile: Any,
    settings: Any,
    of_trace: list[str],
    schemes: list[Any],
    *,
    buffer: Any = None,
    size: Any = None,
    ftl: Any = None,
) -> _core.Settings:
    """The settings of a call. Later settings override earlier ones."""
    chosen = _core.Settings()
    # A scheme may be in the list more than once.
    own = list({id(scheme): scheme for scheme in schemes if isinstance(scheme, Scheme)}.values())
    _require_own_names([_name(scheme) for scheme in own])
    for scheme in own:
        chosen.add_scheme(_name(scheme), scheme, None if scheme.version is None else str(scheme.version))
    if profile is not None:
        chosen.load_profile(os.fspath(profile))
    if settings is not None and not isinstance(settings, Mapping):
        chosen.load_file(settings)
        settings = None
    if buffer is not None:
        chosen.set_kind("buffer", _name(buffer))
    if size is not None:
        chosen.set_by("size", "buffer.capacity_bytes", _text.value("size", size))
    if ftl is not None:
        chosen.set_kind("ftl", _text.value("ftl", ftl))
    for pair in (*of_trace, *_text.pairs(settings or {})):
        chosen.set_pair(pair)
    return chosen


def _name(buffer: Any) -> str:
    """The name of a buffer, which may be given as a scheme."""
    if isinstance(buffer, Scheme):
        name = buffer.name or type(buffer).__name__.lower()
        if not isinstance(name, str) or any(sign in name for sign in ":,= "):
            raise _core.InputError(f"scheme name {name!r}: expected a word without : , = and spaces")
        return name
    if isinstance(buffer, str):
        return buffer
    raise _core.InputError(f"buffer: {buffer!r}: expected a name such as 'lru', or an instance of destage.Scheme")


def _require_own_names(names: list[str]) -> None:
    """Raises an error if schemes written in Python cannot be distinguished by these names."""
    if not names:
        return
    built_in = _registries.buffers()
    for place, name in enumerate(names):
        if name == "all":
            taken = "this word selects every built-in scheme"
        elif name in built_in:
            taken = "a built-in scheme has this name"
        elif name in names[:place]:
            taken = "two schemes have this name"
        else:
            continue
        raise _core.InputError(f"scheme name {name!r}: {taken}; expected a name of its own for each instance (self.name = ...)")


def _structured(columns: Any) -> Any:
    if columns is None:
        return None
    import numpy as np

    arrival, response, op = columns
    fields = [("index", "<u8"), ("arrival_ms", "<f8"), ("response_ms", "<f8"), ("op", "u1")]
    table = np.empty(len(op), dtype=fields)
    table["index"] = np.arange(len(op), dtype="<u8")
    table["arrival_ms"], table["response_ms"], table["op"] = arrival, response, op
    return table
