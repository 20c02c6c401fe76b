"""Inputs: a trace in a file, requests in memory, or a workload."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Literal

from destage import _text
from destage._core import Error, Input, InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from destage._results import TraceInfo


class Trace:
    """A trace: in a file (`Trace.open`), in arrays (`Trace.from_arrays`) or in a table (`Trace.from_table`)."""

    __slots__ = ("_input", "_name", "_opened", "_settings")

    _input: Input
    _name: str
    _settings: list[str]
    #: The arguments of `Trace.open`, or None if the requests are in memory.
    _opened: tuple[Any, ...] | None

    def __init__(self) -> None:
        raise InputError("Trace: expected Trace.open, Trace.from_arrays or Trace.from_table")

    @classmethod
    def _of(cls, given: Input, name: str, settings: list[str], opened: tuple[Any, ...] | None = None) -> Trace:
        trace = object.__new__(cls)
        trace._input, trace._name, trace._settings, trace._opened = given, name, settings, opened
        return trace

    def __reduce__(self) -> tuple[Callable[..., Trace], tuple[Any, ...]]:
        if self._opened is None:
            raise TypeError(f"trace {self._name!r} is in memory, and cannot be pickled or deep-copied; expected a trace of a file")
        return _opened_again, self._opened

    def __copy__(self) -> Trace:
        # A trace never changes, so it can be its own copy, also if it is in memory.
        return self

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        limit: int | None = None,
        skip: int = 0,
        writes_only: bool = False,
        on_bad_line: Literal["stop", "skip"] = "stop",
        **reading: Any,
    ) -> Trace:
        """The trace in a file, plain or compressed. The file is read when the trace is simulated.

        `limit`, `skip`, `writes_only` and `on_bad_line` are those of the command line. Other names are parameters
        `trace.*`: `time_unit="us"` is `trace.time_unit=us`.
        """
        settings = list(_text.pairs(reading, "trace."))
        name = os.fspath(path)
        given = _read(Input.trace(name), format, limit, skip, writes_only, on_bad_line)
        opened = (name, format, limit, skip, writes_only, on_bad_line, dict(reading))
        return cls._of(given, name, settings, opened)

    @classmethod
    def from_arrays(
        cls,
        time_ns: ArrayLike,
        op: ArrayLike,
        offset: ArrayLike,
        bytes: ArrayLike,
        volume: ArrayLike | None = None,
        *,
        name: str = "arrays",
    ) -> Trace:
        """Requests in arrays: time in ns; op 0 read, 1 write, 2 flush, 3 trim; offset in bytes; length in bytes.

        Requests need not be in order of time. Times since 1970 become relative to the first request. `name` is the name
        of the trace in results and errors. Different traces of one comparison need different names.
        """
        _require_name(name)
        columns = {"time_ns": time_ns, "op": op, "offset": offset, "bytes": bytes}
        return cls._of(_columns(name, columns, volume), name, [])

    @classmethod
    def from_table(cls, obj: Any, *, name: str = "table") -> Trace:
        """Requests in a table of pandas, polars or pyarrow, or in a dict of columns, with the names of `from_arrays`.

        `op` may also be words: read, write, flush, trim. `time_ns` may be dates or durations. Dates with a time zone
        are converted to UTC. `name` is the name of the trace in results and errors.
        """
        _require_name(name)
        names = _names(obj)
        missing = [column for column in _TYPES if column not in names and column != "volume"]
        if missing:
            raise InputError(
                f"{name}: no column {missing[0]!r} among {', '.join(map(str, names))}; "
                "expected columns time_ns, op, offset, bytes and, if there are several volumes, volume"
            )
        columns = {column: obj[column] for column in _TYPES if column in names}
        volume = columns.pop("volume", None)
        return cls._of(_columns(name, columns, volume), name, [])

    def info(self) -> TraceInfo:
        """Statistics of the input: sizes, load, distances. `destage.info` accepts settings too."""
        return _info(self)

    def __repr__(self) -> str:
        return f"<destage.Trace {self._name}>"

    def _repr_html_(self) -> str:
        try:
            is_small = self._opened is None or os.path.getsize(self._name) <= _SMALL_BYTES
        except OSError:
            # The file cannot be read. The display shows the error.
            is_small = True
        return _shown(self, f"Trace {self._name}", is_small)


class Workload:
    """A synthetic workload by its name and parameters: `Workload("zipf", requests=100_000)`. The name may also be the
    path of a job file of fio, or of a fitted workload.

    `destage list workloads` lists the names, `destage show workload zipf` the parameters.
    """

    __slots__ = ("_input", "_name")

    def __init__(self, name: str | os.PathLike[str], **parameters: Any) -> None:
        if isinstance(name, os.PathLike):
            name = os.fspath(name)
        if not isinstance(name, str):
            raise InputError(f"name: {name!r}: expected the name of a workload, such as 'zipf', or the path of a file")
        given = ",".join(_text.pairs(parameters))
        # The name may contain parameters already, as on the command line.
        joint = "," if ":" in name else ":"
        self._name = f"{name}{joint}{given}" if given else name
        self._input = Input.workload(self._name, [])

    def __reduce__(self) -> tuple[type[Workload], tuple[str]]:
        return type(self), (self._name,)

    def info(self) -> TraceInfo:
        """Statistics of the input: sizes, load, distances. `destage.info` accepts settings too."""
        return _info(self)

    def __repr__(self) -> str:
        return f"<destage.Workload {self._name}>"

    def _repr_html_(self) -> str:
        requests = re.search(r"requests=(\d+)", self._name)
        return _shown(self, f"Workload {self._name}", requests is None or int(requests[1]) <= _SMALL_REQUESTS)


#: The size limits for the display of an input in a notebook: bytes of a trace, requests of a workload. A larger input
#: is not read for its display.
_SMALL_BYTES = 64 << 20
_SMALL_REQUESTS = 1_000_000


def _info(of: Trace | Workload) -> TraceInfo:
    from destage import _work

    return _work.info(of)


def _shown(of: Trace | Workload, title: str, is_small: bool) -> str:
    """The display of `of` in a notebook."""
    from destage import _show

    if not is_small:
        return _show.card(title, notes=["It is large: .info() reads it and returns its statistics."])
    try:
        return _info(of)._repr_html_()
    except Error as error:
        return _show.card(title, [str(error)])


def _opened_again(path: str, format: Any, limit: Any, skip: Any, writes_only: Any, on_bad_line: Any, reading: Any) -> Trace:
    """The trace of a file, from what `Trace.open` got."""
    return Trace.open(
        path, format, limit=limit, skip=skip, writes_only=writes_only, on_bad_line=on_bad_line, **reading
    )


def _require_name(name: Any) -> None:
    if not isinstance(name, str) or not name:
        raise InputError(f"name: {name!r}: expected a name for the trace, at least one character long")


def require_different_names(traces: list[Any]) -> None:
    """Raises an error if two different inputs have the same name. Results would not distinguish them."""
    seen: dict[str, Any] = {}
    for trace in traces:
        if isinstance(trace, (str, os.PathLike)):
            trace = Trace.open(trace)
        # Requests in memory have no arguments to compare, so each object is a trace of its own.
        what = (trace._opened or id(trace)) if isinstance(trace, Trace) else None
        if seen.setdefault(trace._name, what) == what:
            continue
        if isinstance(what, tuple) and isinstance(seen[trace._name], tuple):
            raise InputError(
                f"traces: {trace._name!r}: read in two different ways under one name; expected one way, or a comparison for each"
            )
        raise InputError(
            f"traces: {trace._name!r}: two different traces have this name; "
            "expected a name for each, such as Trace.from_arrays(..., name='first')"
        )


def is_table(given: Any) -> bool:
    """Whether `given` is a table, or a dict of columns."""
    return isinstance(given, Mapping) or any(hasattr(given, attribute) for attribute in ("column_names", "columns"))


def table_refused(argument: str, given: Any) -> InputError:
    """The error for a table in place of a trace."""
    return InputError(
        f"{argument}: {type(given).__name__}: expected a path, a destage.Trace or a destage.Workload; "
        "destage.Trace.from_table(...) makes a trace of a table"
    )


def of(trace: Any) -> tuple[Input, list[str]]:
    """The input for the library, and the settings that are needed to read it."""
    if isinstance(trace, (str, os.PathLike)):
        trace = Trace.open(trace)
    if isinstance(trace, Workload):
        return trace._input, []
    if isinstance(trace, Trace):
        return trace._input, trace._settings
    if is_table(trace):
        raise table_refused("trace", trace)
    raise InputError(f"trace: {trace!r}: expected a path, a destage.Trace or a destage.Workload")


def _read(
    given: Input, format: str | None, limit: int | None, skip: int, writes_only: bool, on_bad_line: str
) -> Input:
    if on_bad_line not in ("stop", "skip"):
        raise InputError(f"on_bad_line: {on_bad_line!r}: expected 'stop' or 'skip'")
    first = _text.count("skip", skip, "a number of requests", _MOST_REQUESTS)
    most = None if limit is None else _text.count("limit", limit, "a number of requests", _MOST_REQUESTS)
    return given.read(format, most, first, writes_only, on_bad_line == "skip")


def _names(obj: Any) -> list[Any]:
    """The names of a table's columns."""
    for attribute in ("column_names", "columns"):
        names = getattr(obj, attribute, None)
        if names is not None:
            return list(names)
    if isinstance(obj, Mapping):
        return list(obj)
    raise InputError(
        f"table: {type(obj).__name__}: expected a table of pandas, polars or pyarrow, or a dict of columns"
    )


#: The largest number of requests that the library counts.
_MOST_REQUESTS = 2**64 - 1
_TYPES = {"time_ns": "i8", "op": "u1", "offset": "u8", "bytes": "u8", "volume": "u4"}
_WORDS = {
    "read": 0, "r": 0, "write": 1, "w": 1, "flush": 2, "f": 2, "trim": 3, "discard": 3, "unmap": 3, "t": 3, "d": 3,
    "0": 0, "1": 1, "2": 2, "3": 3,
}  # fmt: skip


def _columns(name: str, given: Mapping[str, Any], volume: Any) -> Input:
    columns = {column: _column(name, column, values) for column, values in given.items()}
    volumes = None if volume is None else _column(name, "volume", volume)
    lengths = {column: len(values) for column, values in columns.items()}
    if volumes is not None:
        lengths["volume"] = len(volumes)
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"{column} has {length}" for column, length in lengths.items())
        raise InputError(f"{name}: columns of different lengths: {text}; expected one length")
    return Input.columns(
        name, columns["time_ns"], columns["op"], columns["offset"], columns["bytes"], volumes
    )


def _column(of: str, name: str, given: Any) -> np.ndarray:
    """A column with the type that the library needs; the array itself if it has this type already."""
    import numpy as np

    wanted = np.dtype(_TYPES[name])
    to_numpy = getattr(given, "to_numpy", None)
    dtype: Any = getattr(given, "dtype", None)
    if to_numpy is not None and getattr(dtype, "tz", None) is not None:
        # pandas would make an object of each date with a time zone. With this type it converts the dates to UTC.
        array = np.asarray(to_numpy(dtype=f"datetime64[{dtype.unit}]"))
    else:
        array = np.asarray(given if to_numpy is None else to_numpy())

    def refused(expected: str) -> InputError:
        return InputError(f"{of}: {name}: {array.dtype} of {array.ndim} dimensions; expected {expected}")

    if array.ndim != 1:
        raise refused("one dimension")
    if name == "time_ns" and array.dtype.kind == "O" and len(array) > 0:
        array = _moments(of, array)
    if name == "time_ns" and array.dtype.kind in "mM":
        if np.isnat(array).any():
            raise InputError(f"{of}: {name}: a time is missing; expected one in each row")
        unit = "datetime64[ns]" if array.dtype.kind == "M" else "timedelta64[ns]"
        in_ns = array.astype(unit)
        # A time beyond the range of nanoseconds wraps around.
        if in_ns.dtype != array.dtype and (in_ns.astype(array.dtype) != array).any():
            wrong = array[in_ns.astype(array.dtype) != array][0]
            raise InputError(f"{of}: {name}: {wrong}: expected times that 64 bits hold in ns, such as dates from 1678 to 2261")
        array = in_ns.view("i8")
    if name == "op" and array.dtype.kind in "OUT":
        words, places = np.unique(array.astype(str), return_inverse=True)
        unknown = [str(word) for word in words if word.lower() not in _WORDS]
        if unknown:
            raise InputError(
                f"{of}: op: {unknown[0]!r}: expected read, write, flush or trim, or the numbers 0 to 3 for them"
            )
        array = np.array([_WORDS[word.lower()] for word in words], dtype=wanted)[places]
    if array.dtype.kind == "b" or array.dtype.kind not in "iuf":
        raise refused("whole numbers")
    if array.dtype != wanted and len(array) > 0:
        if array.dtype.kind == "f" and not (np.isfinite(array).all() and (array == np.floor(array)).all()):
            raise refused("whole numbers")
        least, most = array.min(), array.max()
        limits = np.iinfo(wanted)
        if int(least) < limits.min or int(most) > limits.max:
            wrong = least if int(least) < limits.min else most
            raise InputError(f"{of}: {name}: {wrong}: expected whole numbers from {limits.min} to {limits.max}")
    return np.ascontiguousarray(array, dtype=wanted)


def _moments(of: str, objects: np.ndarray) -> np.ndarray:
    """Dates or durations that are objects of Python or pandas, as an array of numpy. Dates with a time zone are
    converted to UTC, and nanoseconds are kept. Other objects are returned unchanged."""
    import numpy as np

    moments: list[Any] = []
    zones = set()
    for moment in objects:
        # A missing time differs from itself.
        if moment is None or (isinstance(moment, (datetime, np.generic, float)) and moment != moment):
            raise InputError(f"{of}: time_ns: a time is missing; expected one in each row")
        if isinstance(moment, datetime):
            zones.add(moment.tzinfo is not None)
            if moment.tzinfo is not None:
                moment = moment.astimezone(timezone.utc).replace(tzinfo=None)
            exact = getattr(moment, "to_datetime64", None)
            moments.append(np.datetime64(moment, "us") if exact is None else exact())
        elif isinstance(moment, timedelta):
            exact = getattr(moment, "to_timedelta64", None)
            moments.append(np.timedelta64(moment, "us") if exact is None else exact())
        elif isinstance(moment, (np.datetime64, np.timedelta64)):
            moments.append(moment)
        else:
            return objects
    if len(zones) > 1:
        raise InputError(f"{of}: time_ns: some dates have a time zone, others have none; expected dates of one kind")
    for moment in moments:
        # Together, times take the finest of their units, in which others may not fit.
        in_ns = moment.astype("datetime64[ns]" if isinstance(moment, np.datetime64) else "timedelta64[ns]")
        if in_ns.astype(moment.dtype) != moment and not np.isnat(moment):
            raise InputError(f"{of}: time_ns: {moment}: expected times that 64 bits hold in ns, such as dates from 1678 to 2261")
    kinds = {type(moment) for moment in moments}
    if len(kinds) > 1:
        raise InputError(f"{of}: time_ns: dates and durations; expected times of one kind")
    return np.array(moments)
