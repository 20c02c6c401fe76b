"""Values as text, as they would be typed on the command line."""

from __future__ import annotations

import operator
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
        # A number of numpy, or an array, which has this method too but no single value.
        try:
            inner = given.item()
        except ValueError:
            inner = given
        if isinstance(inner, (str, int, float)):
            return value(name, inner)
    raise InputError(f"{name}: {given!r}: expected a string, a number, True or False")


def count(name: str, given: Any, what: str, most: int, least: int = 0) -> int:
    """`given`, the value of `name`, as a whole number from `least` to `most`. The error for other values says `what` is
    expected."""
    try:
        number = operator.index(given)
    except TypeError:
        number = -1
    if isinstance(given, bool) or not least <= number <= most:
        raise InputError(f"{name}: {given!r}: expected {what} from {least} to {most}")
    return number


def pairs(given: Mapping[str, Any], prefix: str = "") -> Iterable[str]:
    """The pairs `KEY=VALUE` of a mapping of dotted names, in which tables may be nested."""
    for name, inner in given.items():
        if not isinstance(name, str):
            raise InputError(f"{name!r}: expected the name of a parameter")
        if isinstance(inner, Mapping):
            yield from pairs(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}={value(prefix + name, inner)}"
