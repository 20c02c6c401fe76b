"""Studies on a Dask cluster. Dask distributes parts of a study; the results are in a folder that all workers share."""

from __future__ import annotations

import math
import os
import threading
import uuid
from typing import Any, NamedTuple

from destage import _core, _results
from destage._progress import Progress

#: The largest number of runs of a part. Each part costs the scheduler about 1 ms, so parts should be large. In a
#: smaller part, fewer runs wait behind a long run.
_RUNS = 64
#: The least number of parts for each thread of the cluster, so that all threads end at about the same time.
_PARTS = 8
#: A study fails if the workers of a part die again this many times in a row, and none of them has completed a run of
#: the part.
_PATIENCE = 3


class Task(NamedTuple):
    """The description of the study that each worker gets."""

    version: str
    path: str
    results: str
    pairs: list[str]
    folder: str | None
    is_full: bool
    threads: int
    #: Identifies the call, so that a worker reads the files again for the next call.
    call: str


def study(client: Any, path: Any, results: Any, kept: tuple[list[str], Any, bool], threads: int) -> str:
    """Carries out the missing runs of a study on the workers of `client`. Returns the results of all runs as JSON."""
    distributed = _results.library("distributed", "client")
    if not isinstance(client, distributed.Client):
        raise _core.InputError(f"client: {client!r}: expected a distributed.Client")
    pairs, folder, is_full = kept
    # The current folder of a worker may be another one, so paths are made absolute.
    pairs = [name + "=" + os.path.abspath(file) for name, _, file in (pair.partition("=") for pair in pairs)]
    folder = None if folder is None else os.path.abspath(folder)
    task = Task(
        _core.__version__, os.path.abspath(path), os.path.abspath(results), pairs, folder, is_full, threads or 1, uuid.uuid4().hex
    )
    prepared = _core.Study.prepare(task.path, task.results, pairs, folder, is_full)
    prepared.keep_plan()
    slots = sum(client.nthreads().values()) or 1
    parts = min(prepared.runs, max(_PARTS * slots, math.ceil(prepared.runs / _RUNS)))
    with Progress() as progress:
        _hand_out(distributed, client, task, prepared, parts, progress)
    return prepared.report()


def _hand_out(distributed: Any, client: Any, task: Task, prepared: _core.Study, parts: int, progress: Progress) -> None:
    def submit(index: int) -> Any:
        name = f"destage-{task.call}-{index}-{uuid.uuid4().hex}"
        return client.submit(part, task, index, parts, key=name, pure=False)

    indices = {(future := submit(index)): index for index in range(1, parts + 1)}
    # For each part, the number of missing runs when its workers last died. Then how many times in a row this number
    # did not fall.
    lacked: dict[int, int] = {}
    in_vain: dict[int, int] = {}
    done = 0
    completed = distributed.as_completed(list(indices), loop=client.loop)
    try:
        for future in completed:
            index = indices.pop(future)
            error = future.exception()
            if error is None:
                done += future.result()[1]
                if progress.tell is not None:
                    progress.tell("runs", done, prepared.runs)
                continue
            if not isinstance(error, distributed.KilledWorker):
                raise error
            lacks = prepared.missing(index, parts)
            in_vain[index] = in_vain.get(index, 0) + 1 if lacks >= lacked.get(index, lacks + 1) else 0
            lacked[index] = lacks
            if in_vain[index] >= _PATIENCE:
                raise _core.Error(
                    f"part {index} of {parts}: its workers died again and again, {lacks} of its runs are missing; "
                    "expected them to live as long as one run takes (is there enough memory?)"
                ) from error
            again = submit(index)
            indices[again] = index
            completed.add(again)
    finally:
        # Parts that have not started are cancelled. Runs that have started continue to their end, and their results
        # are stored.
        client.cancel(list(indices))


_lock = threading.Lock()
_known: tuple[str, _core.Study] | None = None


def part(task: Task, index: int, of: int) -> tuple[int, int]:
    """Carries out the missing runs of one part. Dask calls this function on a worker. Returns the number of these
    runs, and the number of all runs of the part."""
    global _known
    if task.version != _core.__version__:
        raise _core.InputError(f"a worker has destage {_core.__version__}; expected {task.version}, as here")
    with _lock:
        if _known is None or _known[0] != task.call:
            _known = task.call, _core.Study.prepare(task.path, task.results, task.pairs, task.folder, task.is_full)
        study = _known[1]
    return study.part(index, of, task.threads)
