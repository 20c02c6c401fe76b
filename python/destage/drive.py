"""Measured drives: a profile held against what a real drive did. docs/DRIVES.md says how."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from destage import _core, _results
from destage._progress import Progress
from destage._results import Check
from destage._work import _chosen

__all__ = ["Check", "check"]


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
