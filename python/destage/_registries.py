"""The registries: the names of schemes, layers, profiles and so on, from which a user can choose."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, overload

from destage import _core


class Row:
    """A scheme, a layer, a profile, a format, a workload, a metric or a parameter."""

    def __init__(self, fields: dict[str, Any], page: str | None = None) -> None:
        self._fields = fields
        self._page = page

    @property
    def name(self) -> str:
        """The name."""
        return self._fields["name"]

    @property
    def about(self) -> str:
        """A description in one sentence."""
        return self._fields["about"]

    @property
    def fields(self) -> Mapping[str, Any]:
        """All known facts, in the form of `destage list --json`."""
        return MappingProxyType(self._fields)

    @cached_property
    def parameters(self) -> Mapping[str, Row]:
        """The parameters of the row, by their dotted names. The `fields` of a parameter have default, unit, expected,
        about, source, needs and excludes."""
        if self._page is None:
            return MappingProxyType({})
        return _rows(json.loads(_core.page(self._page, self.name))["parameters"])

    def __repr__(self) -> str:
        return f"<{self.name}: {self.about}>"


class Registry(Mapping[str, Row]):
    """Rows by name."""

    def __init__(self, rows: Mapping[str, Row]) -> None:
        self._rows = rows

    def __getitem__(self, name: str) -> Row:
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return "\n".join(f"{row.name}: {row.about}" for row in self.values())

    def _repr_html_(self) -> str:
        from destage import _show

        rows = [[html.escape(row.name), html.escape(str(row.fields.get("unit", ""))), html.escape(row.about)] for row in self.values()]
        return _show.card(f"{len(self)} to choose from", body=_show.table([("name", ""), ("unit", ""), ("", "")], rows, 3, most=400))


class Explanations(Sequence[Mapping[str, str]]):
    """The explanations of a name or a message. Each is a mapping with `name`, `kind`, `about`, and further facts."""

    def __init__(self, found: list[dict[str, str]]) -> None:
        self._found = found

    @overload
    def __getitem__(self, index: int) -> Mapping[str, str]: ...
    @overload
    def __getitem__(self, index: slice) -> list[Mapping[str, str]]: ...
    def __getitem__(self, index: int | slice) -> Mapping[str, str] | list[Mapping[str, str]]:
        if isinstance(index, slice):
            return list(self._found[index])
        return MappingProxyType(self._found[index])

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        def text(of: Mapping[str, str]) -> str:
            facts = [f"    {name.capitalize()}: {fact}" for name, fact in of.items() if name not in ("name", "kind", "about")]
            return "\n".join([f"{of['name']} ({of['kind']})", f"    {of['about']}", *facts])

        return "\n".join(map(text, self._found))

    def _repr_html_(self) -> str:
        from destage import _show

        def shown(of: Mapping[str, str]) -> str:
            rows = [[html.escape(name), html.escape(fact)] for name, fact in of.items() if name not in ("name", "kind", "about")]
            return _show.card(f"{of['name']} ({of['kind']})", [of["about"]], body=_show.table([("", ""), ("", "")], rows, 2))

        return "".join(map(shown, self._found))


def _rows(fields: list[dict[str, Any]], page: str | None = None) -> Registry:
    return Registry({row["name"]: Row(row, page) for row in fields})


def buffers() -> Registry:
    """The buffer schemes."""
    return _rows(json.loads(_core.rows("buffers")), "buffer")


def ftls() -> Registry:
    """The translation layers."""
    return _rows(json.loads(_core.rows("ftls")), "ftl")


def profiles() -> Registry:
    """The device profiles."""
    return _rows(json.loads(_core.rows("profiles")), "profile")


def formats() -> Registry:
    """The formats of traces."""
    return _rows(json.loads(_core.rows("formats")))


def workloads() -> Registry:
    """The synthetic workloads."""
    return _rows(json.loads(_core.rows("workloads")), "workload")


def metrics() -> Registry:
    """The metrics. A `*` in a name is any of mean, std, p50, p95, p99, p999 and max."""
    return _rows(json.loads(_core.rows("metrics")))


def experiments() -> Registry:
    """The papers' experiments."""
    return _rows(json.loads(_core.rows("experiments")))


def parameters() -> Registry:
    """The parameters of device, host, trace and run, and the parameters that all buffers have."""
    return _rows(json.loads(_core.page("parameters", ""))["parameters"])
