"""Measured drives: a profile compared with measurements of a real drive, or fitted to them. docs/DRIVES.md has the
details."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from destage import _core, _results
from destage._progress import Progress
from destage._results import Check, Fit
from destage._work import _chosen

__all__ = ["Check", "Fit", "check", "fit"]


def check(
    profile: str | os.PathLike[str],
    *,
    against: str | os.PathLike[str],
    drive: str | None = None,
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    requests: int = 400_000,
    superblocks: int = 256,
    threads: int = 0,
) -> Check:
    """The experiments of the file `against`, done by the drive of `profile`, made small: measured, modelled and the error, row by row.

    Of several drives in the file `drive` names one, by its name or a part that no other has. `requests` are measured for each load; a plane
    has `superblocks` blocks at least. `settings` win over the profile. `threads=0` is one for each core.
    """
    chosen = _chosen(profile, settings, [], [])
    with Progress() as progress:
        text, warnings = _core.drive_check(
            chosen, os.fspath(against), drive, requests, superblocks, threads, progress.tell
        )
    _results.warn(warnings)
    return Check(text)


def fit(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    drive: str | None = None,
    start: str | os.PathLike[str] = "datacenter-tlc",
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    all_rows: bool = False,
    output: str | os.PathLike[str] | None = None,
    requests: int = 200_000,
    superblocks: int = 256,
    threads: int = 0,
) -> Fit:
    """A profile fitted to the measurements of one drive in `files`, which are of one experiment each, and judged by the rows that it was not
    fitted on.

    The search begins from the profile `start`, with `settings` besides. `all_rows` fits on all rows and leaves none to judge by. The profile is written
    to `output`, a `.toml` file, if that is given; it is text as `profile`. The other arguments are those of `check`.
    """
    chosen = _chosen(start, settings, [], [])
    paths = [files] if isinstance(files, str | os.PathLike) else files
    with Progress() as progress:
        text, profile, warnings = _core.drive_fit(
            chosen,
            os.fspath(start),
            [os.fspath(path) for path in paths],
            drive,
            all_rows,
            None if output is None else os.fspath(output),
            requests,
            superblocks,
            threads,
            progress.tell,
        )
    _results.warn(warnings)
    return Fit(text, profile)
