"""Compares a profile with measurements of a real drive, or fits a profile to the measurements. docs/DRIVES.md has the
details."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from destage import _core, _results
from destage._progress import Progress
from destage._results import Check, Fit
from destage._work import _chosen, _threads

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
    """Repeats the experiments in the file `against` with a simulated drive of `profile` that has fewer blocks, and
    compares measured and modelled values row by row.

    If the file holds several drives, `drive` selects one by its name, or by a part of the name that occurs in no
    other drive's name. For each load, the number `requests` of requests is measured. A plane has at least
    `superblocks` blocks. `settings` override the profile. `threads=0` uses one thread for each core.
    """
    chosen = _chosen(profile, settings, [], [])
    with Progress() as progress:
        text, warnings = _core.drive_check(
            chosen, os.fspath(against), drive, requests, superblocks, _threads(threads), progress.tell
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
    """Fits a profile to the measurements of one drive, and judges the profile by rows that were not used for the fit.
    Each of `files` contains another experiment.

    The search starts from the profile `start`, which `settings` override. A parameter in `settings` keeps its value and
    is not fitted. With `all_rows` all rows are used for the fit, so no row is left to judge the profile. If `output` is given, the profile is written to this `.toml` file.
    The attribute `profile` of the result has the text of the profile. The other arguments have the same meaning as in
    `check`.
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
            _threads(threads),
            progress.tell,
        )
    _results.warn(warnings)
    return Fit(text, profile)
