"""Values as text, as they would be typed on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from destage._core import InputError


def value(name: str, given: Any) -> str:
    """`given`, the value of `name`, as text."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, (str, int)):
        return str(given)
    if isinstance(given, float):
        # A whole number of bytes or pages may be a float, as the result of a computation.
        return str(int(given)) if given.is_integer() else repr(given)
    if hasattr(given, "item"):
        # A number of numpy.
        return value(name, given.item())
    raise InputError(f"{name}: {given!r}: expected a string, a number, True or False")


def pairs(given: Mapping[str, Any], prefix: str = "") -> Iterable[str]:
    """The pairs `KEY=VALUE` of a mapping of dotted names, in which tables may be nested."""
    for name, inner in given.items():
        if not isinstance(name, str):
            raise InputError(f"{name!r}: expected the name of a parameter")
        if isinstance(inner, Mapping):
            yield from pairs(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}={value(prefix + name, inner)}"
