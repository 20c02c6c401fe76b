"""Measures a drive, compares a profile with measurements, or fits a profile to measurements. docs/DRIVES.md has the
details."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from destage import _core, _results, _text
from destage._progress import Progress
from destage._results import Check, Fit, Measured, MeasuredTable
from destage._work import _chosen, _several, _threads

__all__ = ["Check", "Fit", "Measured", "MeasuredTable", "check", "fit", "measure"]

#: The prefix of the name of a simulated drive. The name of the profile follows the prefix.
_MODEL = "model:"


def measure(
    drive: str | os.PathLike[str],
    *,
    output: str | os.PathLike[str],
    what: str | Iterable[str] | None = None,
    name: str | None = None,
    bytes: str | int | None = None,
    passes: int = 3,
    seconds: float = 60.0,
    requests: int | None = None,
    seed: int = 1,
    overwrite: bool = False,
    dry_run: bool = False,
    control: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> Measured:
    """Measures `drive`, and writes tables that `check` and `fit` read to the folder `output`. **All data on the drive
    are lost.**

    `drive` is a block device or a file; an NBD server, `"nbd+unix:///EXPORT?socket=PATH"` or `"nbd://HOST:PORT/EXPORT"`;
    or `"model:PROFILE"`, the simulated drive of a profile in virtual time, which `settings` override. `control` is the
    control socket of the `destage serve` behind the URI, which counts programmed bytes for the experiment `waf`.

    `what` are the experiments: `rates`, `latency`, `depth`, `waf`, `parts`; None does all. `name` is the name of the
    drive in the tables (default: `drive`). `bytes` is the size of the measured part, which begins at the first byte:
    `"64GiB"` or a number of bytes; None measures the whole drive. This part is overwritten `passes` times (0 to 100) at
    random before the steady state is measured. Each load is measured for `seconds` (0.01 to 86,400) or for `requests`
    (1,000 to 1,000,000,000), whichever ends first; None stands for 10,000,000 requests, and for 400,000 of a simulated
    drive. `seed` determines addresses and arrival times.

    With `dry_run` nothing is written, and the result has only its `cost`: how much a measurement would write, and how
    long it would take. If a call is interrupted, the same call continues the measurement. A real drive that holds data
    is an `InputError` unless `overwrite` is True, and so is a folder with another measurement. An unknown experiment is a
    `ConfigError`.

        small = {"flash.dies": 4, "flash.blocks_per_plane": 64, "flash.pages_per_block": 96}
        found = destage.drive.measure("model:tlc", output="found", what="rates", requests=10_000, settings=small)
        found.tables["rates"].rows[0]["rrandiops"]           # random reads of 4 KiB a second
        destage.drive.check("tlc", against=found.tables["rates"], requests=10_000, settings=small)
    """
    given, folder = os.fspath(drive), os.fspath(output)
    names = None if what is None else _several(what)
    if names is not None and (not names or not all(isinstance(each, str) for each in names)):
        raise _core.InputError(f"what: {what!r}: expected the name of an experiment, or a list of at least one name")
    is_model = given.startswith(_MODEL)
    if not is_model and settings is not None:
        raise _core.InputError(
            f"settings: {given} is no simulated drive, so its parameters cannot be set; expected model:PROFILE with settings"
        )
    if is_model and control is not None:
        raise _core.InputError(
            f"control {os.fspath(control)}: {given} counts its programmed bytes by itself; "
            "expected the URI of an NBD server with control"
        )
    size = None if bytes is None else _text.value("bytes", bytes)
    if requests is not None:
        requests = _text.count("requests", requests, "a number of requests", 10**9, 1000)
    passes = _text.count("passes", passes, "a number of passes", 100)
    seed = _text.count("seed", seed, "a number", 2**64 - 1)
    chosen = _chosen(given.removeprefix(_MODEL) if is_model else None, settings, [], [])
    with Progress() as progress:
        text, cost, left_out = _core.drive_measure(
            chosen,
            given,
            folder,
            names,
            name,
            size,
            passes,
            _seconds(seconds),
            requests,
            seed,
            overwrite,
            dry_run,
            control,
            progress.tell,
        )
    _results.warn(left_out)
    return Measured(folder, text, cost)


def _seconds(given: Any) -> float:
    try:
        seconds = float(given)
    except (TypeError, ValueError):
        seconds = 0.0
    if isinstance(given, (bool, str)) or not 0.01 <= seconds <= 86_400:
        raise _core.InputError(f"seconds: {given!r}: expected 0.01 to 86400 seconds")
    return seconds


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
    compares measured and modelled values row by row. `against` may also be a table of `measure`.

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
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Measured,
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
    Each of `files` contains another experiment. The result of `measure` stands for all of its tables.

    The search starts from the profile `start`, which `settings` override. A parameter in `settings` keeps its value and
    is not fitted. With `all_rows` all rows are used for the fit, so no row is left to judge the profile. If `output` is
    given, the profile is written to this `.toml` file. If this file cannot be written, the call fails before the search.
    The attribute `profile` of the result has the text of the profile. The other arguments have the same meaning as in
    `check`.
    """
    chosen = _chosen(start, settings, [], [])
    paths: Sequence[str | os.PathLike[str]]
    if isinstance(files, Measured):
        paths = list(files.tables.values())
    else:
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
