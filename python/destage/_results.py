"""Results, made from the JSON that the commands print."""

from __future__ import annotations

import csv
import html
import importlib
import io
import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import FrameType, MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from destage import _core, _grid, _show

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
    import pyarrow
    import xarray


class DestageWarning(UserWarning):
    """A warning about an input or a run. The simulation was not stopped."""


def warn(texts: Iterable[str]) -> None:
    """Issues `texts` as warnings at the line that called the package."""
    frame: FrameType | None = sys._getframe()
    level = 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "destage":
        level, frame = level + 1, frame.f_back
    for text in texts:
        warnings.warn(text, DestageWarning, stacklevel=level)


class Metrics(Mapping[str, int | float]):
    """Metrics by their dotted names. A metric without a meaning in the run is left out. A name that is no metric of
    any run raises a `ConfigError`."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, int | float]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> int | float:
        if name not in self._values:
            _core.require_metric(name)
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


class Document:
    """A result of the library, as text and as values."""

    def __init__(self, text: str) -> None:
        self._text = text

    def to_json(self) -> str:
        """The JSON that the command prints with `--json`; only the manifest differs."""
        return self._text

    def report(self, path: str | os.PathLike[str], title: str | None = None) -> None:
        """Writes a page to explore in a browser, as a single file: the same as `-o FILE.html`.

        `title` replaces the usual title. The file appears complete or not at all.
        """
        page = _core.report(self._text, title)
        _core.write_file(path, page.encode())

    @cached_property
    def _document(self) -> dict[str, Any]:
        return json.loads(self._text)

    @property
    def manifest(self) -> Mapping[str, Any]:
        """How the result was made. Metrics never depend on the manifest."""
        return MappingProxyType(self._document["manifest"])

    @property
    def warnings(self) -> list[str]:
        """Warnings about inputs and runs that are needed to understand the numbers, one sentence each."""
        return [*self._document["manifest"].get("warnings", []), *self._document.get("warnings", [])]

    @property
    def conclusions(self) -> list[str]:
        """The conclusions at the top of the page, one sentence each, the most important first."""
        return self._outline["conclusions"]

    @cached_property
    def _outline(self) -> dict[str, Any]:
        return _show.outline(self._text)

    def _body(self) -> str:
        """The part of the notebook's display below the conclusions."""
        return _show.of_table(self._outline["table"]) if "table" in self._outline else ""

    def _repr_html_(self) -> str:
        of = self._outline
        return _show.card(of.get("heading", of["title"]), of["conclusions"], of["notes"], self._body(), lambda: _core.report(self._text, None))

    def __repr__(self) -> str:
        said = next(iter(self.conclusions), self._outline.get("heading", self._outline["title"]))
        return f"<destage.{type(self).__name__}: {said}>"


class Result(Document):
    """The result of one run."""

    def __init__(self, text: str, responses: np.ndarray | None) -> None:
        super().__init__(text)
        self._responses = responses

    @property
    def metrics(self) -> Mapping[str, int | float]:
        """All metrics that have a meaning in this run, by their dotted names."""
        return Metrics(self._document["metrics"])

    @property
    def parameters(self) -> Mapping[str, int | float | bool | str]:
        """All parameters, by their dotted names."""
        return MappingProxyType(self._document["parameters"])

    @property
    def responses(self) -> np.ndarray | None:
        """An array with one row for each request, in the order of the trace: index, arrival_ms, response_ms, op. None
        without `responses=True`.

        `response_ms` is NaN if the run ended before the request was complete.
        """
        return self._responses

    @property
    def explained(self) -> Mapping[str, Any] | None:
        """Where the time went: `words`, `response`, `series`, `destages`, `wear`, `worst`, `scheme`; see
        docs/EXPLAIN.md. None without `series=True`. A run that destaged nothing has no `destages`, and a scheme that
        learns nothing has no `scheme`.
        """
        explained = self._document.get("explained")
        return None if explained is None else MappingProxyType(explained)

    @property
    def power(self) -> Mapping[str, Any] | None:
        """The loss of power: `at`, `time_ms`, `mount_ms`, `ledger`, `bad_sectors`, `lost_answered_sectors` and others, as in
        the output of `destage run --payload --json`. None without `cut`.
        """
        power = self._document.get("power")
        return None if power is None else MappingProxyType(power)

    @cached_property
    def series(self) -> Series | None:
        """Series over the run, with one row for each interval. None without `series=True`, or if the run has no
        clock."""
        explained = self._document.get("explained", {})
        return Series(explained["series"]) if "series" in explained else None

    def _body(self) -> str:
        course = "" if self.series is None else self.series._repr_html_()
        return _show.of_metrics(self.metrics) + course

    def __repr__(self) -> str:
        chosen = self.parameters
        said = [
            f"{name} {_show.number(self.metrics[name])}"
            for name in ("response.mean_ms", "response.p99_ms", "waf.host", "buffer.destaged_pages")
            if name in self.metrics
        ]
        return (
            f"<destage.Result {self.manifest['trace']} on {chosen['buffer.kind']}, "
            f"FTL {chosen['ftl.kind']}: {', '.join(said[:3])} and {len(self.metrics) - len(said[:3])} metrics more>"
        )


class Columns:
    """A table. The library of a kind of table (pandas, polars, pyarrow) is imported only when it is needed."""

    def _table(self) -> dict[str, list[Any]]:
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas table with one row for each run (or point, claim, interval). Counts with missing values are
        `Int64`."""
        pandas = library("pandas", "to_pandas")

        def column(values: list[Any]) -> Any:
            is_count = {type(value) for value in values} == {int, type(None)}
            return pandas.array(values, dtype="Int64") if is_count else values

        return pandas.DataFrame({name: column(values) for name, values in self._table().items()})

    def to_polars(self) -> polars.DataFrame:
        """A polars table with one row for each run (or point, claim, interval)."""
        return library("polars", "to_polars").DataFrame(self._table())

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow table with one row for each run (or point, claim, interval)."""
        pyarrow = library("pyarrow", "to_arrow")

        def column(values: list[Any]) -> Any:
            # pyarrow stores whole numbers with a sign unless it is told the type, and refuses larger ones.
            is_large = any(isinstance(value, int) and value >= 2**63 for value in values)
            return pyarrow.array(values, type=pyarrow.uint64()) if is_large else values

        return pyarrow.table({name: column(values) for name, values in self._table().items()})

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes the table as Parquet, with pyarrow. The file appears complete or not at all."""
        table = self.to_arrow()
        parquet = importlib.import_module("pyarrow.parquet")
        content = io.BytesIO()
        parquet.write_table(table, content)
        _core.write_file(path, content.getvalue())


class Table(Document, Columns):
    """A document that is also a table."""


class Series(Columns, Mapping[str, list[Any]]):
    """Series over a run: a list for each column of docs/EXPLAIN.md, with one value for each interval."""

    def __init__(self, series: dict[str, Any]) -> None:
        self._series = series

    @property
    def start_ms(self) -> float:
        """The start of the first interval, in ms of simulated time."""
        return self._series["start_ms"]

    @property
    def interval_ms(self) -> float:
        """The length of an interval in ms. The run may have ended within the last interval."""
        return self._series["interval_ms"]

    def _table(self) -> dict[str, list[Any]]:
        return self._series["columns"]

    def __getitem__(self, name: str) -> list[Any]:
        return self._series["columns"][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._series["columns"])

    def __len__(self) -> int:
        return len(self._series["columns"])

    def _repr_html_(self) -> str:
        rows = [
            [name, f"{_show.number(values[0])} \N{RIGHTWARDS ARROW} {_show.number(values[-1])}{_show.sparkline(values, name)}"]
            for name, values in self.items()
            if name != "time_ms" and any(value is not None for value in values)
        ]
        return _show.card(
            f"Course of the run in {len(self['time_ms'])} intervals of {_show.number(self.interval_ms)} ms",
            body=_show.table([("column", ""), ("first to last", "")], rows, 1),
        )

    def __repr__(self) -> str:
        return f"<destage.Series {len(self['time_ms'])} intervals of {self.interval_ms:g} ms, {len(self)} columns>"


def library(name: str, method: str) -> Any:
    """Imports the library `name`, which `method` needs."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{method} needs {name}, which is not installed: pip install {name}", name=name) from error


def by_column(rows: Iterable[Mapping[str, Any]], order: Iterable[str] | None = None) -> dict[str, list[Any]]:
    """Converts rows to a list of values for each column. A missing value is None. Columns that no row has are left
    out."""
    rows = list(rows)
    seen = {name: None for row in rows for name in row}
    columns = {}
    for name in dict.fromkeys([*(order or ()), *seen]):
        values = [row.get(name) for row in rows]
        kinds = {type(value) for value in values if value is not None}
        if name not in seen:
            continue
        if kinds == {int, float}:
            values = [None if value is None else float(value) for value in values]
        elif len(kinds) > 1:
            # A parameter may be a number in one run and a word in another.
            values = [None if value is None else str(value) for value in values]
        columns[name] = values
    return columns


class Run:
    """One of several runs."""

    __slots__ = ("_fields",)

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    @property
    def trace(self) -> str:
        """The trace or workload, as it was given."""
        return self._fields["trace"] if "trace" in self._fields else self._fields["input"]

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels by which a study identifies this run; empty in a comparison."""
        return MappingProxyType(self._fields.get("labels", {}))

    @property
    def parameters(self) -> Mapping[str, int | float | bool | str]:
        """All parameters, by their dotted names."""
        return MappingProxyType(self._fields.get("parameters", {}))

    @property
    def metrics(self) -> Mapping[str, int | float]:
        """All metrics that have a meaning in this run; empty if the run failed."""
        return Metrics(self._fields.get("metrics", {}))

    @property
    def warnings(self) -> list[str]:
        """Warnings that are needed to understand the numbers of this run, one sentence each."""
        return self._fields.get("warnings", [])

    @property
    def error(self) -> str | None:
        """The reason why the run failed; None if it did not fail."""
        return self._fields.get("error")

    def __repr__(self) -> str:
        name = ", ".join(self.labels.values()) or self.parameters.get("buffer.kind", "")
        what = f"failed: {self.error}" if self.error else f"{len(self.metrics)} metrics"
        return f"<destage.Run {self.trace}, {name}: {what}>"

    def _repr_html_(self) -> str:
        name = ", ".join(self.labels.values()) or str(self.parameters.get("buffer.kind", ""))
        failed = [self.error] if self.error else []
        return _show.card(f"{self.trace}, {name}", failed, self.warnings, "" if failed else _show.of_metrics(self.metrics))


class Results(Table, Sequence[Run]):
    """The results of many runs, ordered by trace, and for each trace by layer, buffer and size."""

    def __init__(self, text: str, columns: list[str] | None = None) -> None:
        super().__init__(text)
        self._columns = columns

    @cached_property
    def runs(self) -> list[Run]:
        """The runs."""
        return [Run(fields) for fields in self._document["runs"]]

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> list[Run]: ...
    def __getitem__(self, index: int | slice) -> Run | list[Run]:
        return self.runs[index]

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        buffers = dict.fromkeys(str(run.parameters.get("buffer.kind", "")) for run in self.runs)
        sizes = sorted({run.parameters.get("buffer.capacity_bytes", 0) for run in self.runs})
        over = f", {_show.size(sizes[0])} to {_show.size(sizes[-1])}" if len(sizes) > 1 else ""
        failed = f", {len(self.failed)} of them failed" if self.failed else ""
        return f"<destage.Results {len(self)} runs of {', '.join(buffers)}{over}{failed}>"

    @property
    def failed(self) -> list[Run]:
        """The runs that failed."""
        return [run for run in self.runs if run.error is not None]

    def to_xarray(self) -> xarray.Dataset:
        """The metrics as a dataset of xarray, with a dimension for each setting in which the runs differ. A missing
        value is NaN.

        For a comparison the dimensions are `trace`, `buffer.kind`, `buffer.capacity_bytes` (bytes), and `ftl.kind`.
        If runs have the same values of these four, the parameters in which the runs differ are dimensions too. For a
        study the dimensions are its labels: `input`, `variant`, `seed`, `buffer`, `size` (bytes), `ftl` and the
        varied parameters. A value that all runs share is a coordinate without a dimension. A run without a buffer has
        the same value at every size. Units and meanings of the metrics are attributes. Two runs at the same position
        raise an `InputError`.
        """
        places = _grid.places([(run.trace, run.parameters) for run in self.runs])
        if any(run.labels for run in self.runs):
            places = [{axis: _grid.number(label) for axis, label in run.labels.items()} for run in self.runs]
        rows = [(place, run.metrics) for place, run in zip(places, self.runs, strict=True)]
        return _grid.dataset(library("xarray", "to_xarray"), rows, {"version": str(self.manifest["version"])})

    @property
    def figures(self) -> list[Any]:
        """The figures of a study; empty for a comparison."""
        return self._document.get("figures", [])

    def _table(self) -> dict[str, list[Any]]:
        # If a parameter and a metric have the same name, the column of this name contains the metric.
        both = {name for run in self.runs for name in run.metrics} & {name for run in self.runs for name in run.parameters}

        def row(run: Run) -> dict[str, Any]:
            parameters = {f"parameter.{name}" if name in both else name: of for name, of in run.parameters.items()}
            said = {"warnings": "; ".join(run.warnings)} if run.warnings else {}
            failure = {} if run.error is None else {"error": run.error}
            return {"trace": run.trace, **run.labels, **parameters, **run.metrics, **said, **failure}

        rows = [row(run) for run in self.runs]
        order = None if self._columns is None else ["trace", *self._columns, "warnings", "error"]
        return by_column(rows, order)


class Curves(Table):
    """Metrics over the size of the buffer."""

    @property
    def curves(self) -> list[Mapping[str, Any]]:
        """A curve for each scheme: `buffer`, `ftl`, `exact`, `host` and `points`."""
        return [MappingProxyType(curve) for curve in self._document["curves"]]

    def to_xarray(self) -> xarray.Dataset:
        """The metrics as a dataset of xarray over `buffer`, `ftl` and `bytes`. A missing value is NaN. A dimension
        with a single value is only a coordinate. The ends of intervals are `METRIC.low` and `METRIC.high`."""
        axes = ("buffer", "ftl", "bytes")
        rows = [({axis: row[axis] for axis in axes if axis in row}, {name: value for name, value in row.items() if name not in axes}) for row in self._rows()]
        return _grid.dataset(library("xarray", "to_xarray"), rows, {"version": str(self.manifest["version"])})

    def _rows(self) -> list[dict[str, Any]]:
        # A sampled value is followed by its interval.
        def flat(point: Mapping[str, Any]) -> dict[str, Any]:
            row: dict[str, Any] = {}
            for name, value in point.items():
                if isinstance(value, Mapping):
                    row |= {name: value["estimate"], f"{name}.low": value["low"], f"{name}.high": value["high"]}
                else:
                    row[name] = value
            return row

        return [
            {"buffer": curve["buffer"], "ftl": curve["ftl"], **flat(point), **curve["host"]}
            for curve in self.curves
            for point in curve["points"]
        ]

    def _table(self) -> dict[str, list[Any]]:
        return by_column(self._rows())


class Fleet(Table):
    """Three ways to buffer many volumes, compared over the total size of the buffers: `own` buffers of equal size,
    one `shared` buffer, and `own` buffers with the best `split` of the total size. The table has a row for each size
    and way."""

    @property
    def curves(self) -> list[Mapping[str, Any]]:
        """A curve for each scheme: `buffer`, and `points` with `each_bytes`, `bytes`, `own`, `shared`, `split`."""
        return [MappingProxyType(curve) for curve in self._document["fleet"]]

    @property
    def volumes(self) -> list[Mapping[str, Any]]:
        """A row for each volume: `volume`, `requests`, `digest` and `curves`. In `curves`, `split_bytes` is the size
        of the volume's buffer in the best split."""
        return [MappingProxyType(volume) for volume in self._document["volumes"]]

    def _table(self) -> dict[str, list[Any]]:
        return by_column(
            {"buffer": curve["buffer"], "way": way, "each_bytes": point["each_bytes"], "bytes": point["bytes"], **point[way]}
            for curve in self.curves
            for point in curve["points"]
            for way in ("own", "shared", "split")
        )


class Answers(Table):
    """The smallest buffers that reach the goals. The best buffer is first."""

    def _body(self) -> str:
        goals = [goal.split("<")[0].split(">")[0].strip() for goal in self._document.get("goals", [])]
        return _show.of_table(self._outline["table"], goals)

    @property
    def answers(self) -> list[Mapping[str, Any]]:
        """A row for each scheme that reaches the goals: `buffer`, `bytes`, `metrics`, `confirmed`."""
        return [MappingProxyType(answer) for answer in self._document["answers"]]

    def _table(self) -> dict[str, list[Any]]:
        return by_column(
            {**{name: value for name, value in answer.items() if name != "metrics"}, **answer["metrics"]}
            for answer in self.answers
        )


class _Judged(Columns):
    """A profile compared with measurements of a drive. The table has a row for each measured value."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._document: dict[str, Any] = json.loads(text)

    def to_json(self) -> str:
        """The JSON that the command prints with `--json`; only the manifest differs."""
        return self._text

    @property
    def manifest(self) -> Mapping[str, Any]:
        """How the result was made. Modelled values never depend on the manifest."""
        return MappingProxyType(self._document["manifest"])

    @property
    def drive(self) -> str:
        """The drive that was measured."""
        return self._document["drive"]

    @property
    def rows(self) -> list[Mapping[str, Any]]:
        """A row for each measured value: the columns of the file, `what`, `measured`, `modelled`, `error`, `counts`.

        `error` is the difference between the modelled and the measured value, as a share of the measured value. It is
        0 if the modelled value is within the range of the repeated measurements. `error` and `modelled` are None if
        the value cannot be modelled.
        """
        return [MappingProxyType(row) for row in self._document["rows"]]

    @property
    def summary(self) -> list[Mapping[str, Any]]:
        """For each measured quantity: `what`, `rows`, and the `median` and `p90` of the errors of the rows that
        count."""
        return [MappingProxyType(of) for of in self._document["summary"]]

    def _table(self) -> dict[str, list[Any]]:
        return by_column(self.rows)

    def __repr__(self) -> str:
        return f"<destage.drive.{type(self).__name__} of {self.drive}: {len(self._document['rows'])} rows>"

    def _repr_html_(self) -> str:
        def percent(share: Any) -> str:
            return _show.number(None if share is None else 100 * share)

        rows = [
            [html.escape(str(of["what"])), str(of["rows"]), percent(of["median"]), percent(of["p90"])] for of in self.summary
        ]
        heads = [("what", ""), ("rows", ""), ("error, median", "%"), ("error, p90", "%")]
        return _show.card(f"A profile compared with {self.drive}", body=_show.table(heads, rows, 1))


class Check(_Judged):
    """A profile compared with measurements of a drive: the result of `destage drive check`. The table has a row for
    each measured value."""


class Fit(_Judged):
    """A profile fitted to measurements of a drive: the result of `destage drive fit`. Each row also has `use`: `fit`,
    `judge` or `show`. Rows that were used for the fit do not count in the summary."""

    def __init__(self, text: str, profile: str) -> None:
        super().__init__(text)
        self._profile = profile

    @property
    def profile(self) -> str:
        """The profile as the text of a TOML file."""
        return self._profile

    @property
    def parameters(self) -> Mapping[str, Mapping[str, Any]]:
        """The fitted numbers by key. Each has its `value`, and the bounds `low` and `high` within which the rows
        determine the value. `tied` are the keys whose effects the rows cannot distinguish from the effect of this
        key. If a parameter has several numbers, `/1` is appended to the key of the first number, `/2` to the key of
        the second number."""
        return MappingProxyType({key: MappingProxyType(of) for key, of in self._document["parameters"].items()})


class MeasuredTable(Columns):
    """A table of measurements of a drive. It can be given to `drive.check` and `drive.fit` in place of the path of its
    file."""

    def __init__(self, path: str) -> None:
        self._path = path
        with open(path, encoding="utf-8", newline="") as file:
            head, *lines = csv.reader(file)
        cells = {name: [line[place] for line in lines] for place, name in enumerate(head)}
        self._columns: dict[str, list[Any]] = {name: column if name == "drive" else _numbers(column) for name, column in cells.items()}

    def __fspath__(self) -> str:
        return self._path

    @property
    def path(self) -> str:
        """The path of the file."""
        return self._path

    @property
    def rows(self) -> list[Mapping[str, Any]]:
        """The rows of the file; docs/DRIVES.md describes their columns and units. Numbers are int or float, and other
        cells are str."""
        lines = zip(*self._columns.values())
        return [MappingProxyType(dict(zip(self._columns, line))) for line in lines]

    def _table(self) -> dict[str, list[Any]]:
        return {name: list(values) for name, values in self._columns.items()}

    def __repr__(self) -> str:
        return f"<destage.drive.MeasuredTable {self._path}: {len(self.rows)} rows>"

    def _repr_html_(self) -> str:
        # Columns of words are on the left, as in other tables.
        named = [name for name, values in self._columns.items() if any(isinstance(value, str) for value in values)]
        order = [*named, *(name for name in self._columns if name not in named)]
        rows = [[html.escape(_show.number(row[name])) for name in order] for row in self.rows]
        return _show.card(self._path, body=_show.table([(name, "") for name in order], rows, len(named)))


def _numbers(cells: list[str]) -> list[Any]:
    """The cells of a column as numbers, if all cells are numbers."""
    try:
        return [int(cell) for cell in cells]
    except ValueError:
        pass
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        return cells


class Measured:
    """A measured drive: the result of `destage drive measure`. A dry run has only its `cost`, and no tables."""

    #: The experiments, with the names of their files.
    _FILES = {"rates": "rates.csv", "latency": "latency.csv", "depth": "queue-depth.csv", "waf": "waf.csv"}

    def __init__(self, folder: str, text: str, cost: str) -> None:
        self._folder = folder
        self._text = text
        self._document: dict[str, Any] = json.loads(text)
        self._cost: dict[str, Any] = json.loads(cost)
        written = {
            name: MeasuredTable(os.path.join(folder, file))
            for name, file in self._FILES.items()
            if file in self._document["tables"]
        }
        self._tables = MappingProxyType(written)

    def to_json(self) -> str:
        """The JSON that the command prints with `--json`: the content of `measured.json`."""
        return self._text

    @property
    def drive(self) -> str:
        """The name of the drive in the tables."""
        return self._document["drive"]

    @property
    def folder(self) -> str:
        """The folder in which the tables are."""
        return self._folder

    @property
    def tables(self) -> Mapping[str, MeasuredTable]:
        """The tables by the names of the experiments: `rates`, `latency`, `depth`, `waf`. The experiment `parts` has no
        table; its results are `values`."""
        return self._tables

    @property
    def values(self) -> Mapping[str, Mapping[str, Any]]:
        """The numbers that identify the drive, by name. Each has its `value` in its `unit`, the bounds `low` and `high`,
        and the `method` by which it was found. They are found only by the experiment `parts`."""
        return MappingProxyType({name: MappingProxyType(of) for name, of in self._document["values"].items()})

    @property
    def unknown(self) -> list[str]:
        """The numbers of `parts` that could not be found, with the reason; one sentence each."""
        return list(self._document["unknown"])

    @property
    def left_out(self) -> list[str]:
        """The experiments and values that were left out, with the reason; one sentence each. They are warnings, too."""
        return list(self._document["left_out"])

    @property
    def cost(self) -> Mapping[str, Any]:
        """What the measurement needed at most when the call began. Steps that were already in the folder do not count.

        `used_bytes` of the drive are used. They are overwritten `fills` times, which are `fill_bytes` together. The
        `loads` write at most `load_bytes` more, and take at most `load_seconds`. This time is virtual unless `is_real`.
        `is_continued` says whether the drive holds what an earlier part of the measurement has written to it.
        """
        return MappingProxyType(self._cost)

    def _announced(self) -> str:
        cost = self._cost
        return (
            f"The measurement uses {_show.size(cost['used_bytes'])}, whose contents are lost. It overwrites them {cost['fills']} "
            f"times, and its {cost['loads']} loads write at most {_show.size(cost['load_bytes'])} more."
        )

    def __repr__(self) -> str:
        return f"<destage.drive.Measured of {self.drive}: {', '.join(self.tables) or 'no tables'}, {len(self.values)} values>"

    def _repr_html_(self) -> str:
        parts = []
        if self.tables:
            rows = [[name, html.escape(table.path), str(len(table.rows))] for name, table in self.tables.items()]
            parts.append(_show.table([("experiment", ""), ("file", ""), ("rows", "")], rows, 2))
        if self.values:
            rows = [
                [html.escape(name), html.escape(of["unit"]), *(_show.number(of[key]) for key in ("value", "low", "high"))]
                for name, of in self.values.items()
            ]
            parts.append(_show.table([("identified", ""), ("unit", ""), ("value", ""), ("low", ""), ("high", "")], rows, 2, len(rows)))
        return _show.card(f"Measurement of {self.drive}", [self._announced()], [*self.unknown, *self.left_out], "".join(parts))


class Reproduction(Table):
    """The claims of the papers, with their verdicts."""

    def _body(self) -> str:
        papers: dict[str, dict[str, int]] = {}
        for claim in self.claims:
            counts = papers.setdefault(str(claim["paper"]), {})
            counts[claim["verdict"]] = counts.get(claim["verdict"], 0) + 1
        verdicts = dict.fromkeys(verdict for counts in papers.values() for verdict in counts)
        rows = [[paper, *(str(counts.get(verdict, 0)) for verdict in verdicts)] for paper, counts in papers.items()]
        return _show.table([("paper", ""), *((verdict.replace("_", " "), "claims") for verdict in verdicts)], rows, 1)

    @property
    def claims(self) -> list[Mapping[str, Any]]:
        """A row for each claim."""
        return [MappingProxyType(claim) for claim in self._document["claims"]]

    def _table(self) -> dict[str, list[Any]]:
        simple = (str, int, float, bool, type(None))
        return by_column(
            {name: value if isinstance(value, simple) else json.dumps(value) for name, value in claim.items()}
            for claim in self.claims
        )


class TraceInfo(Document):
    """Statistics of a trace: the result of `destage trace info`."""

    @property
    def statistics(self) -> Mapping[str, int | float]:
        """Counts, sizes, shares and distances, by name. Statistics without a meaning for the trace are left out."""
        return MappingProxyType(self._document["statistics"])

    @property
    def shape(self) -> Mapping[str, Any]:
        """The data of the charts: load over time, sizes, gaps, distances, hot pages; see docs/TRACES.md."""
        return MappingProxyType(self._document["shape"])

    def _body(self) -> str:
        load = self.shape["load"]
        course = "".join(
            f"<p>{name}{_show.sparkline(load[column], name)}</p>"
            for column, name in (("bytes_written", "bytes written over time"), ("bytes_read", "bytes read over time"))
            if isinstance(load, Mapping) and column in load and any(load[column])
        )
        rows = [
            [html.escape(name), html.escape(_show.number(value)), html.escape(unit), html.escape(about)]
            for name, value, unit, about in self._outline["statistics"]
        ]
        return course + _show.table([("statistic", ""), ("value", ""), ("unit", ""), ("", "")], rows, 1)
