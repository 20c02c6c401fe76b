"""Tests of schemes that are written in Python."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import destage
import pytest
from conftest import Rows, command, requests


class Lru(destage.Scheme):
    """A scheme that makes the same decisions as `lru`."""

    name = "python-lru"

    def __init__(self) -> None:
        self.pages: OrderedDict[int, None] = OrderedDict()

    def insert(self, page: int, access: destage.Access) -> None:
        self.pages[page] = None

    def touch(self, page: int, access: destage.Access) -> None:
        if access.write:
            self.pages.move_to_end(page)

    def remove(self, page: int) -> None:
        del self.pages[page]

    def evict(self, need: destage.Need, access: destage.Access) -> Iterable[int]:
        if need.kind == "flush_page":
            assert need.page is not None
            del self.pages[need.page]
            return [need.page]
        page, _ = self.pages.popitem(last=False)
        return [page]


class Keeping(Lru):
    """LRU that also records its answers. The class has the records, because a run uses a copy of the instance."""

    kept: list[list[int]] = []

    def evict(self, need: destage.Need, access: destage.Access) -> Iterable[int]:
        answer = super().evict(need, access)
        self.kept.append(list(answer))
        return answer


def test_a_python_lru_is_lru_record_for_record(table: Callable[[Rows], Path], tmp_path: Path) -> None:
    path, log = table(requests(5000)), tmp_path / "destages.csv"
    settings = {"trace.volumes": "separate", "trace.fua_every_writes": 97, "sim.drain": True}
    typed = [word for name, value in settings.items() for word in ("--set", f"{name}={value}".lower())]
    command("run", path, "--buffer", "lru", "--size", "1MiB", "--destage-log", log, *typed)
    lines = [line.split(",") for line in log.read_text().splitlines()[1:]]
    Keeping.kept.clear()
    mine = destage.simulate(path, buffer=Keeping(), size="1MiB", settings=settings, responses=True)
    assert [[int(page) for page in line[2].split()] for line in lines] == Keeping.kept
    assert {line[1] for line in lines} >= {"evict", "flush", "fua", "drain"}
    lru = destage.simulate(path, buffer="lru", size="1MiB", settings=settings, responses=True)
    assert mine.metrics == lru.metrics
    assert mine.responses is not None and lru.responses is not None
    assert (mine.responses == lru.responses).all()
    assert mine.parameters["buffer.kind"] == "python-lru"


def test_it_stands_beside_others() -> None:
    work = destage.Workload("zipf", requests=4000, footprint_pages=4000)
    scheme = Lru()
    results = destage.compare(work, buffers=["lru", scheme, scheme], sizes=["256KiB", "1MiB"], threads=2)
    lru, mine = results[:2], results[2:]
    assert [run.metrics for run in lru] == [run.metrics for run in mine]
    # The runs used copies of the given instance, so the instance itself has no pages.
    assert len(scheme.pages) == 0
    curves = destage.curve(work, buffers=["lru", scheme], sizes="256KiB..1MiB")
    hits = [[point["buffer.write_hits"] for point in curve["points"]] for curve in curves.curves]
    assert hits[0] == hits[1]


def test_it_knows_what_is_around_it() -> None:
    seen: dict[str, Any] = {}

    class Curious(Lru):
        def insert(self, page: int, access: destage.Access) -> None:
            super().insert(page, access)
            seen.update(pages=self.capacity_pages, cluster=self.cluster_pages, dies=self.dies, seed=self.seed)
            seen.update(write=access.write, request=access.request, request_pages=access.request_pages)
            seen.update(now_ms=access.now_ms, virtual_time=access.virtual_time)

    trace = destage.Trace.from_arrays([0, 1_000_000], [1, 1], [0, 81920], [4096, 8192])
    destage.simulate(trace, buffer=Curious(), size="1MiB", settings={"sim.seed": 5, "flash.dies": 4})
    assert (seen["pages"], seen["dies"], seen["seed"]) == (256, 4, 5)
    assert (seen["write"], seen["request_pages"], seen["virtual_time"]) == (True, 2, 3)
    assert seen["request"] == 2 and seen["now_ms"] >= 1.0


def test_reads_enter_if_it_wants_them() -> None:
    class Reading(Lru):
        allocates_reads = True

    trace = destage.Trace.from_arrays([0, 10**9], [0, 0], [0, 0], [4096, 4096])
    assert destage.simulate(trace, buffer=Lru()).metrics["buffer.read_hits"] == 0
    assert destage.simulate(trace, buffer=Reading()).metrics["buffer.read_hits"] == 1


def answering(answer: Callable[[Lru, destage.Need], Any]) -> destage.Scheme:
    class Wrong(Lru):
        def evict(self, need: destage.Need, access: destage.Access) -> Any:
            return answer(self, need)

    return Wrong()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda own, need: [], "nothing leaves, although 64 pages are resident"),
        (lambda own, need: [10**9], "answered [1000000000]: page 1000000000 is not resident"),
        (lambda own, need: [next(iter(own.pages))] * 2, "is named twice"),
        (lambda own, need: 7, "answered 7: expected pages, such as [7]"),
        (lambda own, need: None, "answered None: expected pages"),
        (lambda own, need: ["first"], "first is no page"),
        (lambda own, need: [-1], "-1 is no page"),
    ],
)
def test_a_broken_contract_is_told(answer: Callable[[Lru, destage.Need], Any], said: str) -> None:
    with pytest.raises(destage.InputError) as caught:
        destage.simulate(destage.Workload("uniform", requests=50_000), buffer=answering(answer), size="256KiB")
    assert said in str(caught.value)
    assert str(caught.value).startswith('scheme "python-lru": evict(need=evict, page ')


def test_a_page_that_has_to_leave_and_does_not() -> None:
    def other(own: Lru, need: destage.Need) -> list[int]:
        return [own.pages.popitem(last=False)[0]]

    with pytest.raises(destage.InputError, match="the page that has to reach the flash is not among the returned pages"):
        destage.simulate(
            destage.Workload("uniform", requests=500), buffer=answering(other), settings={"trace.fua_every_writes": 50}
        )


def test_what_it_raises_comes_through() -> None:
    class Failing(Lru):
        def insert(self, page: int, access: destage.Access) -> None:
            if len(self.pages) == 40:
                raise ZeroDivisionError("mine")
            super().insert(page, access)

    with pytest.raises(ZeroDivisionError, match="mine"):
        destage.simulate(destage.Workload("uniform", requests=100), buffer=Failing())
    with pytest.raises(ZeroDivisionError, match="mine"):
        destage.compare(destage.Workload("uniform", requests=10**7), buffers=["lru", Failing()], sizes=["1MiB", "2MiB"])
    with pytest.raises(NotImplementedError, match="Scheme.insert"):
        destage.simulate(destage.Workload("uniform", requests=100), buffer=destage.Scheme())


def test_names() -> None:
    class Named(Lru):
        name = ""

    work = destage.Workload("uniform", requests=100)
    assert destage.simulate(work, buffer=Named()).parameters["buffer.kind"] == "named"
    for name, said in [("lru", "a built-in scheme has this name; expected a name of its own"), ("all", "this word selects"), ("a:b", "expected a word"), ("a b", "expected a word")]:
        scheme = Lru()
        scheme.name = name
        with pytest.raises(destage.InputError, match=said):
            destage.simulate(work, buffer=scheme)
    with pytest.raises(destage.InputError, match=r"two schemes have this name; .*\(self\.name = \.\.\.\)"):
        destage.compare(work, buffers=[Lru(), Lru()])


def test_a_version_may_be_any_value() -> None:
    class Second(Lru):
        version = 2

    assert destage.simulate(destage.Workload("uniform", requests=100), buffer=Second()).parameters["buffer.kind"] == "python-lru"


def test_it_is_let_go() -> None:
    import gc
    import weakref

    scheme = Lru()
    seen = weakref.ref(scheme)
    destage.simulate(destage.Workload("uniform", requests=100), buffer=scheme)
    del scheme
    gc.collect()
    # The run released its reference to the scheme while it did not hold the interpreter lock. The package drops this
    # reference in the next call of one of its functions.
    destage.buffers()
    gc.collect()
    assert seen() is None


def test_its_speed() -> None:
    # The test uses processor time. The required speed is far below the speed of a release build (docs/PYTHON.md), so
    # that the test passes on a slow and busy machine.
    work = destage.Workload("uniform", requests=30_000)
    begin = time.process_time()
    result = destage.simulate(work, buffer=Lru())
    seconds = time.process_time() - begin
    assert result.metrics["host.page_writes"] / seconds > 10_000
