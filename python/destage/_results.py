"""Results, as the command line would have printed them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


class DestageWarning(UserWarning):
    """Something that the user should know of an input, though the simulation went on."""


def warn(texts: Iterable[str]) -> None:
    """Says `texts` to whoever called the function that was called."""
    for text in texts:
        warnings.warn(text, DestageWarning, stacklevel=4)


class Result:
    """What came of one run."""

    def __init__(self, text: str, responses: np.ndarray | None, series: bool) -> None:
        self._text = text
        self._responses = responses
        self._has_series = series

    def to_json(self) -> str:
        """What `destage run --json` prints."""
        return self._text

    @cached_property
    def _document(self) -> dict[str, Any]:
        return json.loads(self._text)

    @property
    def metrics(self) -> Mapping[str, int | float]:
        """Every metric that has a meaning in this run, by its dotted name."""
        return MappingProxyType(self._document["metrics"])

    @property
    def parameters(self) -> Mapping[str, int | float | bool | str]:
        """Every parameter, by its dotted name."""
        return MappingProxyType(self._document["parameters"])

    @property
    def manifest(self) -> Mapping[str, Any]:
        """How the result came to be. Metrics never depend on it."""
        return MappingProxyType(self._document["manifest"])

    @property
    def responses(self) -> np.ndarray | None:
        """A row a request, in the order of the trace: index, arrival_ms, response_ms, op. None if not asked for.

        `response_ms` is NaN if the run ended before the request was complete.
        """
        return self._responses

    @property
    def series(self) -> Mapping[str, Any] | None:
        """What the scheme learnt in the course of time, by dotted name. None if not asked for."""
        if not self._has_series:
            return None
        return MappingProxyType(self._document.get("series", {}))

    def __repr__(self) -> str:
        chosen = self.parameters
        return (
            f"<destage.Result {self.manifest['trace']} on {chosen['buffer.kind']}, "
            f"FTL {chosen['ftl.kind']}: {len(self.metrics)} metrics>"
        )
