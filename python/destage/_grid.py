"""Runs as an array with labelled dimensions, one for each setting in which the runs differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from destage._core import InputError
from destage._registries import metrics

if TYPE_CHECKING:
    import xarray

#: The position of a row: a value for each axis. A row without a value for an axis is at all positions of this axis,
#: as a run without a buffer is at every size.
Place = Mapping[str, Any]


def dataset(xarray: Any, rows: Sequence[tuple[Place, Mapping[str, Any]]], about: Mapping[str, str]) -> xarray.Dataset:
    """The values of `rows` as a dataset; a missing value is NaN. An axis with a single value becomes a coordinate
    without a dimension.

    `about` becomes the attributes of the dataset. Two rows at the same position raise an `InputError`.
    """
    import numpy as np

    axes: dict[str, dict[Any, int]] = {}
    for place, _ in rows:
        for axis, value in place.items():
            known = axes.setdefault(axis, {})
            known.setdefault(value, len(known))
    for axis, known in axes.items():
        # If all values of an axis are numbers, they are sorted. Words stay in the order of the runs.
        if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known):
            axes[axis] = {value: index for index, value in enumerate(sorted(known))}
    shape = tuple(len(known) for known in axes.values())
    taken = np.zeros(shape, dtype=bool)
    arrays: dict[str, Any] = {}
    for place, values in rows:
        at = tuple(known[place[axis]] if axis in place else slice(None) for axis, known in axes.items())
        if taken[at].any():
            raise InputError(f"runs that differ in nothing that is an axis: {', '.join(f'{axis}={value}' for axis, value in place.items())}")
        taken[at] = True
        for name, value in values.items():
            arrays.setdefault(name, np.full(shape, np.nan))[at] = value
    rows_of_metrics = metrics()

    def variable(name: str) -> tuple[list[str], Any, dict[str, str]]:
        # A row of the registry may describe several metrics: `response.*_ms` includes response.p99_ms.
        row = rows_of_metrics.get(name) or next((rows_of_metrics[of] for of in rows_of_metrics if "*" in of and fnmatchcase(name, of)), None)
        known = {} if row is None else {"long_name": row.about, "units": str(row.fields.get("unit", ""))}
        return list(axes), arrays[name], known

    coordinates = {axis: list(known) for axis, known in axes.items()}
    return xarray.Dataset({name: variable(name) for name in arrays}, coords=coordinates, attrs=dict(about)).squeeze()


def number(label: str) -> Any:
    """A label of a study as a number, if it is one."""
    for kind in (int, float):
        try:
            return kind(label)
        except ValueError:
            pass
    return label


#: The settings that always identify a run of a comparison.
_ALWAYS = ("trace", "buffer.kind", "buffer.capacity_bytes", "ftl.kind")


def places(runs: Sequence[tuple[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The coordinates of each run of a comparison: trace, buffer, size and layer. If runs have the same values of
    these four, the further parameters in which the runs differ are added."""
    everything = [{"trace": trace, **parameters} for trace, parameters in runs]

    def at(of: Mapping[str, Any], axes: Sequence[str]) -> tuple[Any, ...]:
        return tuple(of.get(axis) for axis in axes)

    axes = list(_ALWAYS)
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for of in everything:
        groups.setdefault(at(of, axes), []).append(of)
    for group in groups.values():
        names = dict.fromkeys(name for of in group for name in of)
        axes += [name for name in names if name not in axes and len({of.get(name) for of in group}) > 1]
    return [{axis: of[axis] for axis in axes if axis in of} for of in everything]
