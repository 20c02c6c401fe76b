"""Results, as the command line would have printed them."""

from __future__ import annotations

import importlib
import io
import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from destage import _core

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
    import pyarrow


class DestageWarning(UserWarning):
    """Something that the user should know of an input, though the simulation went on."""


def warn(texts: Iterable[str]) -> None:
    """Says `texts` to whoever called the function that was called."""
    for text in texts:
        warnings.warn(text, DestageWarning, stacklevel=4)


class Metrics(Mapping[str, int | float]):
    """Metrics by their dotted names. One without a meaning in the run is not there; a name that no run has is a `ConfigError`."""

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
    """What the library said, as text and as values."""

    def __init__(self, text: str) -> None:
        self._text = text

    def to_json(self) -> str:
        """What the command prints with `--json`; only the manifest differs."""
        return self._text

    def report(self, path: str | os.PathLike[str], title: str | None = None) -> None:
        """Writes a page to explore in any browser, one file that needs nothing but itself: what `-o FILE.html` writes.

        `title` stands in place of the usual one. The file appears whole or not at all.
        """
        page = _core.report(self._text, title)
        _core.write_file(path, page.encode())

    @cached_property
    def _document(self) -> dict[str, Any]:
        return json.loads(self._text)

    @property
    def manifest(self) -> Mapping[str, Any]:
        """How the result came to be. Metrics never depend on it."""
        return MappingProxyType(self._document["manifest"])

    @property
    def warnings(self) -> list[str]:
        """What a reader of the numbers has to know, of inputs and of runs; a sentence each."""
        return [*self._document["manifest"].get("warnings", []), *self._document.get("warnings", [])]


class Result(Document):
    """What came of one run."""

    def __init__(self, text: str, responses: np.ndarray | None) -> None:
        super().__init__(text)
        self._responses = responses

    @property
    def metrics(self) -> Mapping[str, int | float]:
        """Every metric that has a meaning in this run, by its dotted name."""
        return Metrics(self._document["metrics"])

    @property
    def parameters(self) -> Mapping[str, int | float | bool | str]:
        """Every parameter, by its dotted name."""
        return MappingProxyType(self._document["parameters"])

    @property
    def responses(self) -> np.ndarray | None:
        """A row a request, in the order of the trace: index, arrival_ms, response_ms, op. None if not asked for.

        `response_ms` is NaN if the run ended before the request was complete.
        """
        return self._responses

    @property
    def explained(self) -> Mapping[str, Any] | None:
        """Where the time went: `words`, `response`, `series`, `destages`, `wear`, `worst`, `scheme`, as docs/EXPLAIN.md says.

        None if not asked for (`series=True`).
        """
        explained = self._document.get("explained")
        return None if explained is None else MappingProxyType(explained)

    @cached_property
    def series(self) -> Series | None:
        """The course of the run, a row an interval. None if not asked for, and of a run without a clock."""
        explained = self._document.get("explained", {})
        return Series(explained["series"]) if "series" in explained else None

    def __repr__(self) -> str:
        chosen = self.parameters
        return (
            f"<destage.Result {self.manifest['trace']} on {chosen['buffer.kind']}, "
            f"FTL {chosen['ftl.kind']}: {len(self.metrics)} metrics>"
        )


class Columns:
    """A table. A library for tables is imported when it is asked for, and not before."""

    def _table(self) -> dict[str, list[Any]]:
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """A table of pandas, a row a run (a point, a claim, an interval). Counts with gaps are `Int64`."""
        pandas = library("pandas", "to_pandas")

        def column(values: list[Any]) -> Any:
            is_count = {type(value) for value in values} == {int, type(None)}
            return pandas.array(values, dtype="Int64") if is_count else values

        return pandas.DataFrame({name: column(values) for name, values in self._table().items()})

    def to_polars(self) -> polars.DataFrame:
        """A table of polars, a row a run (a point, a claim, an interval)."""
        return library("polars", "to_polars").DataFrame(self._table())

    def to_arrow(self) -> pyarrow.Table:
        """A table of pyarrow, a row a run (a point, a claim, an interval)."""
        return library("pyarrow", "to_arrow").table(self._table())

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes the table as Parquet, by pyarrow. The file appears whole or not at all."""
        table = self.to_arrow()
        parquet = importlib.import_module("pyarrow.parquet")
        content = io.BytesIO()
        parquet.write_table(table, content)
        _core.write_file(path, content.getvalue())


class Table(Document, Columns):
    """A document that is also a table."""


class Series(Columns, Mapping[str, list[Any]]):
    """The course of a run: a list for each column of docs/EXPLAIN.md, with a value an interval."""

    def __init__(self, series: dict[str, Any]) -> None:
        self._series = series

    @property
    def start_ms(self) -> float:
        """When the first interval begins, in simulated time."""
        return self._series["start_ms"]

    @property
    def interval_ms(self) -> float:
        """How long an interval is. The run may have ended before the last one was over."""
        return self._series["interval_ms"]

    def _table(self) -> dict[str, list[Any]]:
        return self._series["columns"]

    def __getitem__(self, name: str) -> list[Any]:
        return self._series["columns"][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._series["columns"])

    def __len__(self) -> int:
        return len(self._series["columns"])

    def __repr__(self) -> str:
        return f"<destage.Series {len(self['time_ms'])} intervals of {self.interval_ms:g} ms, {len(self)} columns>"


def library(name: str, method: str) -> Any:
    """The library `name`, which `method` needs."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{method} needs {name}, which is not installed: pip install {name}", name=name) from error


def by_column(rows: Iterable[Mapping[str, Any]], order: Iterable[str] | None = None) -> dict[str, list[Any]]:
    """A list for each column; what a row does not have is None. Columns that no row has are left out."""
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
            # A parameter that is a number in one run and a word in another.
            values = [None if value is None else str(value) for value in values]
        columns[name] = values
    return columns


class Run:
    """One run of several."""

    __slots__ = ("_fields",)

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    @property
    def trace(self) -> str:
        """The trace or workload, as given."""
        return self._fields["trace"] if "trace" in self._fields else self._fields["input"]

    @property
    def labels(self) -> Mapping[str, str]:
        """What a study calls this run; empty in a comparison."""
        return MappingProxyType(self._fields.get("labels", {}))

    @property
    def parameters(self) -> Mapping[str, int | float | bool | str]:
        """Every parameter, by its dotted name."""
        return MappingProxyType(self._fields.get("parameters", {}))

    @property
    def metrics(self) -> Mapping[str, int | float]:
        """Every metric that has a meaning in this run; none if it failed."""
        return Metrics(self._fields.get("metrics", {}))

    @property
    def warnings(self) -> list[str]:
        """What a reader of its numbers has to know; a sentence each."""
        return self._fields.get("warnings", [])

    @property
    def error(self) -> str | None:
        """Why it failed; None if it did not."""
        return self._fields.get("error")

    def __repr__(self) -> str:
        name = ", ".join(self.labels.values()) or self.parameters.get("buffer.kind", "")
        what = f"failed: {self.error}" if self.error else f"{len(self.metrics)} metrics"
        return f"<destage.Run {self.trace}, {name}: {what}>"


class Results(Table, Sequence[Run]):
    """What came of many runs, in the order of the traces, and for each of them by layer, buffer and size."""

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

    @property
    def failed(self) -> list[Run]:
        """The runs that failed."""
        return [run for run in self.runs if run.error is not None]

    @property
    def figures(self) -> list[Any]:
        """What a study shows; nothing of a comparison."""
        return self._document.get("figures", [])

    def _table(self) -> dict[str, list[Any]]:
        # Of a parameter and a metric of one name, the metric has it.
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

    def _table(self) -> dict[str, list[Any]]:
        # What was sampled has its interval beside it.
        def flat(point: Mapping[str, Any]) -> dict[str, Any]:
            row: dict[str, Any] = {}
            for name, value in point.items():
                if isinstance(value, Mapping):
                    row |= {name: value["estimate"], f"{name}.low": value["low"], f"{name}.high": value["high"]}
                else:
                    row[name] = value
            return row

        return by_column(
            {"buffer": curve["buffer"], "ftl": curve["ftl"], **flat(point), **curve["host"]}
            for curve in self.curves
            for point in curve["points"]
        )


class Fleet(Table):
    """Buffers of many volumes over the bytes in all: `own`, one `shared`, and the best `split`. The table has a row for each."""

    @property
    def curves(self) -> list[Mapping[str, Any]]:
        """A curve for each scheme: `buffer` and `points` with `each_bytes`, `bytes`, `own`, `shared`, `split`."""
        return [MappingProxyType(curve) for curve in self._document["fleet"]]

    @property
    def volumes(self) -> list[Mapping[str, Any]]:
        """A row for each volume: `volume`, `requests`, `digest` and `curves`, whose `split_bytes` are its part of the best split."""
        return [MappingProxyType(volume) for volume in self._document["volumes"]]

    def _table(self) -> dict[str, list[Any]]:
        return by_column(
            {"buffer": curve["buffer"], "way": way, "each_bytes": point["each_bytes"], "bytes": point["bytes"], **point[way]}
            for curve in self.curves
            for point in curve["points"]
            for way in ("own", "shared", "split")
        )


class Answers(Table):
    """The smallest buffers that reach goals, best first."""

    @property
    def answers(self) -> list[Mapping[str, Any]]:
        """A row for each scheme that reaches them: `buffer`, `bytes`, `metrics`, `confirmed`."""
        return [MappingProxyType(answer) for answer in self._document["answers"]]

    def _table(self) -> dict[str, list[Any]]:
        return by_column(
            {**{name: value for name, value in answer.items() if name != "metrics"}, **answer["metrics"]}
            for answer in self.answers
        )


class Check(Columns):
    """A profile held against measurements of a drive. The table has a row for each measured value."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._document: dict[str, Any] = json.loads(text)

    def to_json(self) -> str:
        """What `destage drive check --json` prints; only the manifest differs."""
        return self._text

    @property
    def manifest(self) -> Mapping[str, Any]:
        """How the result came to be. The model's values never depend on it."""
        return MappingProxyType(self._document["manifest"])

    @property
    def drive(self) -> str:
        """The drive that was measured."""
        return self._document["drive"]

    @property
    def rows(self) -> list[Mapping[str, Any]]:
        """A row for each measured value: the columns of the file, `what`, `measured`, `modelled`, `error`, `counts`.

        `error` is a share of the measured value, 0 within the range of its repetitions; it and `modelled` are None where there is no model.
        """
        return [MappingProxyType(row) for row in self._document["rows"]]

    @property
    def summary(self) -> list[Mapping[str, Any]]:
        """For each thing that was measured: `what`, `rows`, and the `median` and `p90` of the errors' sizes over rows that count."""
        return [MappingProxyType(of) for of in self._document["summary"]]

    def _table(self) -> dict[str, list[Any]]:
        return by_column(self.rows)

    def __repr__(self) -> str:
        return f"<destage.drive.Check of {self.drive}: {len(self._document['rows'])} rows>"


class Reproduction(Table):
    """The claims of the papers, with their verdicts."""

    @property
    def claims(self) -> list[Mapping[str, Any]]:
        """A row a claim."""
        return [MappingProxyType(claim) for claim in self._document["claims"]]

    def _table(self) -> dict[str, list[Any]]:
        simple = (str, int, float, bool, type(None))
        return by_column(
            {name: value if isinstance(value, simple) else json.dumps(value) for name, value in claim.items()}
            for claim in self.claims
        )
