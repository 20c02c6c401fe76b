"""What there is to choose from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from destage import _core


class Row:
    """A scheme, a layer, a profile, a format, a workload, a metric or a parameter."""

    def __init__(self, fields: dict[str, Any], page: str | None = None) -> None:
        self._fields = fields
        self._page = page

    @property
    def name(self) -> str:
        """What it is called."""
        return self._fields["name"]

    @property
    def about(self) -> str:
        """What it is, in a sentence."""
        return self._fields["about"]

    @property
    def fields(self) -> Mapping[str, Any]:
        """All that is known of it, as `destage list --json` has it."""
        return MappingProxyType(self._fields)

    @cached_property
    def parameters(self) -> Mapping[str, Row]:
        """Its parameters by their dotted names, each with default, unit, expected, about, source, needs and excludes in its `fields`."""
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


def _rows(fields: list[dict[str, Any]], page: str | None = None) -> Registry:
    return Registry({row["name"]: Row(row, page) for row in fields})


def buffers() -> Registry:
    """The schemes."""
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
    """The metrics. A `*` in a name stands for mean, std, p50, p95, p99, p999 and max."""
    return _rows(json.loads(_core.rows("metrics")))


def experiments() -> Registry:
    """The papers' experiments."""
    return _rows(json.loads(_core.rows("experiments")))


def parameters() -> Registry:
    """The parameters of device, host, trace and run, and those that all buffers have."""
    return _rows(json.loads(_core.page("parameters", ""))["parameters"])
