"""Tests of studies on a cluster. Each run of a study must be made only once, and its result must be saved, even if processes die."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import destage
import pytest
from conftest import body
from destage import _cluster, _core
from distributed import Client, KilledWorker, LocalCluster

STUDY = """
title = "Many short runs"
[[input]]
name = "zipf"
workload = "zipf:requests=REQUESTS,footprint_pages=4000"
[[grid]]
buffers = ["lru", "fab", "bplru", "fifo", "bpac"]
sizes = ["256KiB", "512KiB", "1MiB", "2MiB"]
seeds = SEEDS
[[figure]]
id = "hits"
title = "Hits"
x = "size"
x_title = "buffer"
series = "buffer"
y = 'm("buffer.write_hits")'
y_title = "page writes"
kind = "line"
"""


def study_file(folder: Path, *, seeds: int, requests: int) -> Path:
    path = folder / "many.toml"
    path.write_text(STUDY.replace("SEEDS", str(list(range(1, seeds + 1)))).replace("REQUESTS", str(requests)))
    return path


@contextlib.contextmanager
def cluster() -> Iterator[Client]:
    """A cluster of two workers. It starts a worker again when the worker dies."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as local,
        Client(local, set_as_default=False) as client,
    ):
        yield client


def kept(results: Path) -> dict[str, bytes]:
    """The contents of all result files in a folder, by name."""
    return {path.name: path.read_bytes() for path in (results / "runs").glob("*.json")}


def made(results: Path) -> dict[str, tuple[int, int]]:
    """The inode and the modification time of each result file. If a run is made again, its file has another inode or time."""
    found = {}
    for path in (results / "runs").glob("*.json"):
        status = path.stat()
        found[path.name] = (status.st_ino, status.st_mtime_ns)
    return found


def test_a_worker_that_is_killed_again_and_again_changes_no_byte(tmp_path: Path) -> None:
    path = study_file(tmp_path, seeds=8, requests=3000)
    alone = destage.study(path, results=tmp_path / "alone")
    killed: list[dict[str, tuple[int, int]]] = []
    over = threading.Event()

    def kill(client: Client) -> None:
        while not over.wait(0.01):
            there = made(tmp_path / "together")
            if len(there) < 16 * (len(killed) + 1):
                continue
            with contextlib.suppress(Exception):
                # Always kill the first of the two workers, in the process in which this worker runs now.
                of_worker = client.cluster.workers[0].process.process.pid
                os.kill(of_worker, signal.SIGKILL)
                killed.append(there)

    with cluster() as client:
        killer = threading.Thread(target=kill, args=(client,))
        killer.start()
        try:
            together = destage.study(path, results=tmp_path / "together", client=client)
        finally:
            over.set()
            killer.join()
    assert len(killed) >= 3
    assert body(together.to_json()) == body(alone.to_json())
    assert kept(tmp_path / "together") == kept(tmp_path / "alone")
    assert len(kept(tmp_path / "alone")) == 160
    left = [sorted(path.name for path in (tmp_path / who).glob("*/*") if path.parent.name not in ("runs", "plans")) for who in ("together", "alone")]
    assert left[0] == left[1] and "report.html" in left[0]
    # Runs whose results were saved when a worker died were not made again.
    last = made(tmp_path / "together")
    for before in killed:
        assert {name: last[name] for name in before} == before


# This program has the scheduler and its workers. It kills all of them when 20 runs are made.
LOST = """
import os, pathlib, signal, sys, threading, time, destage
from distributed import Client, LocalCluster

def kill():
    while len(list(pathlib.Path(sys.argv[2]).glob("runs/*.json"))) < 20:
        time.sleep(0.01)
    os.killpg(0, signal.SIGKILL)

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as local, Client(local) as client:
        threading.Thread(target=kill, daemon=True).start()
        destage.study(sys.argv[1], results=sys.argv[2], client=client)
"""


def test_a_lost_scheduler_loses_nothing(tmp_path: Path) -> None:
    path = study_file(tmp_path, seeds=8, requests=3000)
    script = tmp_path / "begin.py"
    script.write_text(LOST)
    # On a busy machine the kill may happen after the last run. In this case the test tries again.
    for attempt in range(10):
        results = tmp_path / f"kept{attempt}"
        subprocess.run([sys.executable, script, path, results], start_new_session=True, timeout=300)
        before = made(results)
        if len(before) < 160:
            break
    assert 20 <= len(before) < 160
    with cluster() as client:
        after = destage.study(path, results=results, client=client)
    assert len(after) == 160 and {name: made(results)[name] for name in before} == before


def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    path = study_file(tmp_path, seeds=2, requests=300)
    with cluster() as client:
        first = destage.study(path, results=tmp_path / "kept", client=client)
        before = made(tmp_path / "kept")
        # After a change of the study file, all workers read the file again, even if they have read it before.
        study_file(tmp_path, seeds=3, requests=300)
        more = destage.study(path, results=tmp_path / "kept", client=client)
    assert len(first) == 40 and len(more) == 60
    after = made(tmp_path / "kept")
    assert {name: after[name] for name in before} == before and len(after) == 60
    # Apart from the results, `destage study merge` needs only this file.
    assert (tmp_path / "kept/plans/many.json").is_file()


def test_an_error_of_a_run_is_the_users(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text('title = "x"\n[[input]]\nname = "a"\nworkload = "zipf"\n[[grid]]\nbuffers = ["lrru"]\n')
    with cluster() as client:
        with pytest.raises(destage.Error) as of_cluster:
            destage.study(path, results=tmp_path / "kept", client=client)
    with pytest.raises(destage.Error) as alone:
        destage.study(path, results=tmp_path / "kept")
    assert str(of_cluster.value) == str(alone.value) and type(of_cluster.value) is type(alone.value)


def test_a_client_is_one_of_dask(tmp_path: Path) -> None:
    with pytest.raises(destage.InputError, match=r"client: 'tcp://x': expected a distributed.Client"):
        destage.study(study_file(tmp_path, seeds=1, requests=10), results=tmp_path, client="tcp://x")  # type: ignore[arg-type]


class Future:
    """Stands for the future of a part of a study that was submitted to the cluster."""

    def __init__(self, error: BaseException | None, value: tuple[int, int] = (0, 0)) -> None:
        self.error, self.value = error, value

    def exception(self) -> BaseException | None:
        return self.error

    def result(self) -> tuple[int, int]:
        return self.value


class Distributed:
    """Imitates those members of the library `distributed` that the package uses. Its workers die."""

    KilledWorker = KilledWorker

    loop = None

    class as_completed(list[Future]):
        add = list.append

        def __init__(self, futures: list[Future], loop: None) -> None:
            super().__init__(futures)

    def __init__(self, answer: Callable[[int], Future]) -> None:
        self.answer, self.handed_out, self.cancelled = answer, 0, 0

    def submit(self, _: object, __: object, index: int, ___: int, **____: object) -> Future:
        self.handed_out += 1
        return self.answer(index)

    def cancel(self, futures: list[Future]) -> None:
        self.cancelled += len(futures)


def hand_out(tmp_path: Path, answer: Callable[[int], Future]) -> Distributed:
    path = study_file(tmp_path, seeds=1, requests=10)
    prepared = _core.Study.prepare(path, tmp_path / "kept", [], None, False)
    task = _cluster.Task(_core.__version__, str(path), str(tmp_path / "kept"), [], None, False, 1, "")
    cluster = Distributed(answer)
    with _cluster.Progress() as progress:
        _cluster._hand_out(cluster, cluster, task, prepared, 2, progress)
    return cluster


def died() -> Future:
    return Future(KilledWorker("part", None, 3))


def test_a_part_that_kills_its_workers_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(destage.Error, match=r"part 1 of 2: its workers died again and again, 10 of its runs are missing"):
        hand_out(tmp_path, lambda index: died() if index == 1 else Future(None))


def test_a_part_that_gets_on_is_handed_out_again(tmp_path: Path) -> None:
    path = study_file(tmp_path, seeds=1, requests=10)
    prepared = _core.Study.prepare(path, tmp_path / "kept", [], None, False)
    deaths = iter(range(1, 9))

    def answer(index: int) -> Future:
        step = next(deaths, None) if index == 1 else None
        if step is None:
            return Future(None)
        # The worker makes one more run of the part and then dies.
        prepared.part(step, 20, 1)
        return died()

    assert hand_out(tmp_path, answer).handed_out == 2 + 8


def test_a_worker_of_another_version_is_refused() -> None:
    task = _cluster.Task("0.0.0", "", "", [], None, False, 1, "")
    with pytest.raises(destage.InputError, match=r"a worker has destage .*; expected 0.0.0, as here"):
        _cluster.part(task, 1, 1)


def test_without_dask_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"client needs distributed, which is not installed: pip install distributed"):
        destage.study(study_file(tmp_path, seeds=1, requests=10), results=tmp_path, client=object())  # type: ignore[arg-type]

