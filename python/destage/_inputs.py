"""Inputs: a trace in a file, requests in memory, or a workload."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from destage import _text
from destage._core import Error, Input, InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from destage._results import TraceInfo


class Trace:
    """A trace: in a file (`Trace.open`), in arrays (`Trace.from_arrays`) or in a table (`Trace.from_table`)."""

    __slots__ = ("_input", "_name", "_settings")

    _input: Input
    _name: str
    _settings: list[str]

    def __init__(self) -> None:
        raise InputError("Trace: expected Trace.open, Trace.from_arrays or Trace.from_table")

    @classmethod
    def _of(cls, given: Input, name: str, settings: list[str]) -> Trace:
        trace = object.__new__(cls)
        trace._input, trace._name, trace._settings = given, name, settings
        return trace

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
        given = Input.trace(os.fspath(path))
        given = _read(given, format, limit, skip, writes_only, on_bad_line)
        return cls._of(given, os.fspath(path), settings)

    @classmethod
    def from_arrays(
        cls,
        time_ns: ArrayLike,
        op: ArrayLike,
        offset: ArrayLike,
        bytes: ArrayLike,
        volume: ArrayLike | None = None,
    ) -> Trace:
        """Requests in arrays: time in ns; op 0 read, 1 write, 2 flush, 3 trim; offset in bytes; length in bytes.

        Requests need not be in order of time. Times since 1970 become relative to the first request.
        """
        columns = {"time_ns": time_ns, "op": op, "offset": offset, "bytes": bytes}
        return cls._of(_columns("arrays", columns, volume), "arrays", [])

    @classmethod
    def from_table(cls, obj: Any) -> Trace:
        """Requests in a table of pandas, polars or pyarrow, or in a dict of columns, with the names of `from_arrays`.

        `op` may also be words: read, write, flush, trim. `time_ns` may be dates or durations.
        """
        names = _names(obj)
        missing = [name for name in _TYPES if name not in names and name != "volume"]
        if missing:
            raise InputError(
                f"table: no column {missing[0]!r} among {', '.join(map(str, names))}; "
                "expected columns time_ns, op, offset, bytes and, if there are several volumes, volume"
            )
        columns = {name: obj[name] for name in _TYPES if name in names}
        volume = columns.pop("volume", None)
        return cls._of(_columns("table", columns, volume), "table", [])

    def info(self) -> TraceInfo:
        """Statistics of the input: sizes, load, distances. `destage.info` accepts settings too."""
        return _info(self)

    def __repr__(self) -> str:
        return f"<destage.Trace {self._name}>"

    def _repr_html_(self) -> str:
        try:
            is_small = os.path.getsize(self._name) <= _SMALL_BYTES
        except OSError:
            # The input is in memory, or the file cannot be read. In the second case the display shows the error.
            is_small = True
        return _shown(self, f"Trace {self._name}", is_small)


class Workload:
    """A synthetic workload by its name and parameters: `Workload("zipf", requests=100_000)`.

    `destage list workloads` lists the names, `destage show workload zipf` the parameters.
    """

    __slots__ = ("_input", "_name")

    def __init__(self, name: str, **parameters: Any) -> None:
        given = ",".join(_text.pairs(parameters))
        # The name may contain parameters already, as on the command line.
        joint = "," if ":" in name else ":"
        self._name = f"{name}{joint}{given}" if given else name
        self._input = Input.workload(self._name, [])

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


def of(trace: Any) -> tuple[Input, list[str]]:
    """The input for the library, and the settings that are needed to read it."""
    if isinstance(trace, (str, os.PathLike)):
        trace = Trace.open(trace)
    if isinstance(trace, Workload):
        return trace._input, []
    if isinstance(trace, Trace):
        return trace._input, trace._settings
    raise InputError(f"trace: {trace!r}: expected a path, a destage.Trace or a destage.Workload")


def _read(
    given: Input, format: str | None, limit: int | None, skip: int, writes_only: bool, on_bad_line: str
) -> Input:
    if on_bad_line not in ("stop", "skip"):
        raise InputError(f"on_bad_line: {on_bad_line!r}: expected 'stop' or 'skip'")
    for name, number in (("limit", limit), ("skip", skip)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 0):
            raise InputError(f"{name}: {number!r}: expected a number of requests from 0")
    return given.read(format, limit, skip, writes_only, on_bad_line == "skip")


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


_TYPES = {"time_ns": "i8", "op": "u1", "offset": "u8", "bytes": "u8", "volume": "u4"}
_WORDS = {"read": 0, "r": 0, "write": 1, "w": 1, "flush": 2, "f": 2, "trim": 3, "discard": 3, "unmap": 3, "t": 3, "d": 3}


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
    array = np.asarray(given if to_numpy is None else to_numpy())

    def refused(expected: str) -> InputError:
        return InputError(f"{of}: {name}: {array.dtype} of {array.ndim} dimensions; expected {expected}")

    if array.ndim != 1:
        raise refused("one dimension")
    if name == "time_ns" and array.dtype.kind in "mM":
        if np.isnat(array).any():
            raise InputError(f"{of}: {name}: a time is missing; expected one in each row")
        unit = "datetime64[ns]" if array.dtype.kind == "M" else "timedelta64[ns]"
        array = array.astype(unit).view("i8")
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
