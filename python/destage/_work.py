"""What can be done."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from destage import _core, _inputs, _results, _text
from destage._progress import Progress
from destage._results import Result
from destage._scheme import Scheme


def simulate(
    trace: Any,
    *,
    buffer: str | Scheme | None = "lru",
    size: str | int | None = "8MiB",
    ftl: str | None = "page",
    profile: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    responses: bool = False,
    series: bool = False,
) -> Result:
    """One run: `trace` (a path, a `Trace` or a `Workload`) on one buffer over one translation layer.

    Names are those of the command line: `buffer="bplru:pad=false"`, `settings={"flash.dies": 4}`. What is None is as the
    profile has it. `settings` win over everything else; a path is a file of them, which the other arguments win over.
    """
    given, of_trace = _inputs.of(trace)
    chosen = _chosen(profile, settings, of_trace, [buffer], lambda settings: _one(settings, buffer, size, ftl))
    with Progress() as progress:
        text, warnings, columns = _core.simulate(given, chosen, responses, progress.tell)
    _results.warn(warnings)
    return Result(text, _structured(columns), series)


def _one(settings: _core.Settings, buffer: Any, size: Any, ftl: Any) -> None:
    """One buffer, size and layer, said before anything in particular is set."""
    if buffer is not None:
        settings.set_kind("buffer", _name(buffer))
    if size is not None:
        settings.set_by("size", "buffer.capacity_bytes", _text.value("size", size))
    if ftl is not None:
        settings.set_kind("ftl", _text.value("ftl", ftl))


def _chosen(profile: Any, settings: Any, of_trace: list[str], buffers: list[Any], between: Any) -> _core.Settings:
    """Settings in the order in which they win."""
    chosen = _core.Settings()
    for scheme in buffers:
        if isinstance(scheme, Scheme):
            chosen.add_scheme(_name(scheme), scheme)
    if profile is not None:
        chosen.load_profile(os.fspath(profile))
    if settings is not None and not isinstance(settings, Mapping):
        chosen.load_file(os.fspath(settings))
        settings = None
    between(chosen)
    for pair in (*of_trace, *_text.pairs(settings or {})):
        chosen.set_pair(pair)
    return chosen


def _name(buffer: Any) -> str:
    """What goes where a buffer's name goes."""
    if isinstance(buffer, Scheme):
        name = buffer.name or type(buffer).__name__.lower()
        if not isinstance(name, str) or any(sign in name for sign in ":,= "):
            raise _core.InputError(f"scheme name {name!r}: expected a word without : , = and spaces")
        return name
    if isinstance(buffer, str):
        return buffer
    raise _core.InputError(f"buffer: {buffer!r}: expected a name such as 'lru', or an instance of destage.Scheme")


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
