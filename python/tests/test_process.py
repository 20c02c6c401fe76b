"""Tests of the effects that the package has on the process that imports it."""

from __future__ import annotations

import hashlib
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import destage
import numpy as np
import pytest
from conftest import ROOT, command

HEAVY = ["numpy", "pandas", "polars", "pyarrow", "matplotlib", "distributed", "dask", "asyncio", "importlib.metadata"]


def test_import_is_quick_and_takes_nothing_heavy_along() -> None:
    program = (
        "import sys, time; begin = time.process_time(); import destage; taken = time.process_time() - begin\n"
        f"print(taken, [name for name in {HEAVY} if name in sys.modules])"
    )
    lines = [subprocess.check_output([sys.executable, "-c", program], text=True) for _ in range(5)]
    assert {line.split(" ", 1)[1] for line in lines} == {"[]\n"}
    # The machine may be busy. So the test uses processor times, and takes the shortest time of five imports.
    assert min(float(line.split()[0]) for line in lines) < 0.3


def test_a_run_takes_no_tables_along() -> None:
    program = (
        "import sys, destage; destage.simulate(destage.Workload('zipf', requests=100));"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "[]\n"


LONG = "destage.Workload('zipf', requests=10**9)"


@pytest.mark.parametrize(
    "work",
    [
        f"destage.simulate({LONG})",
        f"destage.simulate({LONG}, settings={{'sim.costing': 'op_count'}})",
        f"destage.compare({LONG}, buffers=['lru', 'fab'], sizes=['1MiB', '2MiB'])",
        f"destage.curve({LONG}, buffers='lru')",
        f"destage.size({LONG}, goals='waf.host<1', buffers='lru')",
        "destage.study('long.toml', results='kept')",
        "destage.drive.measure('model:tlc', output='kept', requests=10**9, seconds=86400, what='rates')",
        "destage.simulate('-', settings={})",
    ],
)
def test_ctrl_c_is_heard_long_before_the_end(work: str, tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(
        'title = "long"\n[[input]]\nname = "a"\nworkload = "zipf:requests=1000000000"\n[[grid]]\nbuffers = ["lru"]\n'
    )
    program = f"import destage\nprint('ready', flush=True)\ntry:\n    {work}\nexcept KeyboardInterrupt:\n    print('heard', flush=True)"
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    # Without the signal, the work would take many minutes or would never end.
    killer = threading.Timer(60, child.kill)
    killer.start()
    assert child.stdout.readline() == "heard\n"
    killer.cancel()
    child.kill()
    child.communicate()


def test_ctrl_c_during_a_slow_scheme_leaves_the_interpreter_whole() -> None:
    program = (
        "import time, destage\n"
        "class Slow(destage.Scheme):\n"
        "    def insert(self, page, access): time.sleep(0.01)\n"
        "    def touch(self, page, access): time.sleep(0.01)\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    destage.simulate(destage.Workload('uniform', requests=10**6), buffer=Slow(), size='1GiB')\n"
        "except KeyboardInterrupt:\n"
        "    print('heard', flush=True)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    killer = threading.Timer(60, child.kill)
    killer.start()
    said, complaint = child.communicate()
    killer.cancel()
    # The thread of the run would end the process with a signal if it called the scheme while the interpreter ends.
    assert (said, complaint, child.returncode) == ("heard\n", "", 0)


def counted_meanwhile(work: Callable[[], object]) -> float:
    """How often per second another thread can run while `work` runs."""
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.perf_counter()
    work()
    seconds = time.perf_counter() - begin
    done.set()
    thread.join()
    return counted / seconds


def test_others_go_on_meanwhile() -> None:
    # The test compares a simulation with a Python function that releases the interpreter lock. A busy machine slows
    # down both.
    beside = counted_meanwhile(lambda: hashlib.pbkdf2_hmac("sha256", b"secret", b"salt", 1_000_000))
    assert counted_meanwhile(lambda: destage.simulate(destage.Workload("zipf", requests=500_000))) > beside / 10


def test_a_thread_that_is_not_the_first_may_simulate() -> None:
    results: list[int | float] = []

    def run() -> None:
        results.append(destage.simulate(destage.Workload("zipf", requests=1000)).metrics["host.requests"])

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [1000] * 4


def test_progress_is_shown_on_a_terminal_and_gone_at_the_end() -> None:
    program = "import destage; destage.simulate(destage.Workload('zipf', requests=10**9))"
    outer, inner = pty.openpty()
    child = subprocess.Popen([sys.executable, "-c", program], stderr=inner, stdout=subprocess.PIPE)
    os.close(inner)
    text = b""
    begin = time.perf_counter()
    while b"requests" not in text and time.perf_counter() - begin < 60:
        text += os.read(outer, 4096)
    assert time.perf_counter() - begin > 2.0
    assert re.search(rb"\r(first pass: )?\d+ s \[=* *\] [\d,]+ of 1,000,000,000 requests", text), text
    child.send_signal(signal.SIGINT)
    text = b""
    try:
        while more := os.read(outer, 65536):
            text += more
    except OSError:
        # The child has closed its end of the terminal.
        pass
    child.wait(60)
    os.close(outer)
    # The package overwrites the line of progress with blanks before Python prints the traceback.
    assert re.search(rb"\r +\rTraceback", text), text


def test_nothing_is_shown_elsewhere() -> None:
    from destage._progress import Progress, line

    assert Progress().tell is None
    assert line("simulation", 50, 200, 3.0) == "3 s [=======                       ] 50 of 200 requests, 9 s left"
    assert line("first pass", 60, None, 3.0) == "first pass: 3 s, 60 requests, 20/s"
    assert line("runs", 1, 2, 3.0).endswith("1 of 2 runs, 3 s left")


def test_the_console_script_is_the_command_line() -> None:
    assert command("--version").split()[1] == destage.__version__
    module = subprocess.run([sys.executable, "-m", "destage", "list", "ftls"], capture_output=True, text=True, check=True)
    assert module.stdout == command("list", "ftls")
    said = command("run", "--workload", "zipf", "--memory-limit", "1KiB", code=2)
    assert "beyond the limit of 1 KiB" in said
    assert "unexpected argument" in command("run", "--sise", "1MiB", code=2)


def test_a_rust_file_that_changes_is_built_again() -> None:
    """uv builds the package again if a watched file changes. The watched files must include all source files of the package."""
    text = (ROOT / "pyproject.toml").read_text()
    globs = re.findall(r'\{ file = "(.+)" \}', text)
    watched = {path for pattern in globs for path in ROOT.glob(pattern)}
    made_of = [path for pattern in ("crates/*/src/**/*.rs", "crates/*/build.rs", "profiles/*.toml") for path in ROOT.glob(pattern)]
    assert len(made_of) > 200
    assert [path for path in made_of if path not in watched] == []


def test_no_file_names_a_registry() -> None:
    files = [ROOT / "pyproject.toml", ROOT / "Makefile", *ROOT.glob("python/**/*.txt"), *ROOT.glob("python/**/*.py")]
    host = re.compile("https?://" + r"[\w.-]*(pypi|pythonhosted|crates)")
    assert [path for path in files if host.search(Path(path).read_text())] == []


# A run whose table of pages grows with each write. The table exceeds a limit of 64 MiB within a second.
GROWS = "destage.simulate(destage.Workload('uniform', requests=10**8, footprint_pages=10**8), buffer='infinite', settings={'device.capacity_bytes': '1TiB'})"
# A run with one write of 100 GiB. All pages of the write enter the buffer at once.
AT_ONCE = "destage.simulate(destage.Trace.from_arrays([0], [1], [0], [100 * 2**30]), buffer='lru', settings={'flash.dies': 64, 'flash.blocks_per_plane': 8192})"


@pytest.mark.parametrize(("limit", "work"), [("64MiB", GROWS), ("64MiB", "destage.Trace.from_arrays(many, many, many, many)")])
def test_what_exceeds_the_memory_limit_raises_and_the_interpreter_lives_on(limit: str, work: str) -> None:
    program = (
        "import destage, numpy as np\n"
        "many = np.ones(3_000_000, dtype='u1')\n"
        "small = destage.Workload('zipf', requests=1000)\n"
        "before = destage.simulate(small).to_json()\n"
        f"destage.set_memory_limit({limit!r})\n"
        "for _ in range(3):\n"
        "    try:\n"
        f"        {work}\n"
        "    except destage.Error as error:\n"
        "        print(type(error).__name__, error)\n"
        # The package has released the memory of the failed call, so another run succeeds with the same limit.
        "    after = destage.simulate(small).to_json()\n"
        "import json\n"
        "print(json.loads(before)['metrics'] == json.loads(after)['metrics'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    *errors, is_equal = done.stdout.splitlines()
    assert is_equal == "True" and len(errors) == 3
    for error in errors:
        assert re.search(r"^Error .+: .+ of memory in use, beyond the limit of 64 MiB; expected less to do, or a larger limit \(destage\.set_memory_limit\)$", error), error


def test_what_one_step_asks_for_beyond_the_limit_raises_and_the_interpreter_lives_on() -> None:
    program = (
        "import destage\n"
        "destage.set_memory_limit('64MiB')\n"
        "try:\n"
        f"    {AT_ONCE}\n"
        "except destage.Error as error:\n"
        "    print(type(error).__name__, error)\n"
        # The package does not release the memory of this failed call, so the next run needs a larger limit.
        "destage.set_memory_limit('1GiB')\n"
        "print(destage.simulate(destage.Workload('zipf', requests=1000)).metrics['host.requests'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    error, requests = done.stdout.splitlines()
    assert requests == "1000"
    assert re.search(r"^Error lru over page for arrays: needs .+ of memory besides the .+ in use, beyond twice the limit of 64 MiB; expected less to do, or a larger limit \(destage\.set_memory_limit\)$", error), error


@pytest.mark.parametrize("limit", ["much", 0, -1, "1.5.5GiB", True])
def test_a_memory_limit_is_a_size(limit: object) -> None:
    with pytest.raises(destage.InputError, match=r"limit: .*expected a size in bytes"):
        destage.set_memory_limit(limit)  # type: ignore[arg-type]


def test_arrays_that_change_during_a_run_change_nothing() -> None:
    count = 200_000
    columns = {
        "time_ns": np.arange(count) * 50_000,
        "op": np.ones(count, dtype="u1"),
        "offset": np.arange(count, dtype="u8") * 7919 % 5000 * 4096,
        "bytes": np.full(count, 4096, dtype="u8"),
    }
    expected = destage.simulate(destage.Trace.from_arrays(**{name: array.copy() for name, array in columns.items()})).metrics
    trace = destage.Trace.from_arrays(**columns)
    done, changed = threading.Event(), threading.Event()

    def change() -> None:
        while not done.is_set():
            for array in columns.values():
                array[:] = array[::-1] // 2
            changed.set()

    thread = threading.Thread(target=change)
    thread.start()
    # The run begins only after all arrays have changed.
    assert changed.wait(60)
    found = destage.simulate(trace).metrics
    done.set()
    thread.join()
    assert found == expected


def test_a_parameter_that_decides_nothing_is_a_warning() -> None:
    work = destage.Workload("zipf", requests=100)
    with pytest.warns(destage.DestageWarning, match="host.queue_depth was set, but has no effect"):
        result = destage.simulate(work, ftl="none", settings={"host.queue_depth": 3})
    assert "host.queue_depth was set" in result.to_json()
    with pytest.warns(destage.DestageWarning, match="host.queue_depth was set, but has no effect"):
        destage.compare(work, buffers="lru", ftls="none", settings={"host.queue_depth": 3})


@pytest.mark.parametrize("call", ["simulate", "compare", "study", "info"])
def test_a_warning_names_the_line_that_asked(tmp_path: Path, call: str) -> None:
    study = tmp_path / "s.toml"
    study.write_text("""title = "Wide"
[settings]
"host.queue_depth" = 3
[[input]]
name = "u"
workload = "uniform:requests=100"
[[grid]]
buffers = ["lru"]
sizes = ["64KiB"]
ftls = ["none"]
""")
    lines = {
        "simulate": "destage.simulate(work, ftl='none', settings={'host.queue_depth': 3})",
        "compare": "destage.compare(work, buffers='lru', ftls='none', settings={'host.queue_depth': 3})",
        "study": "destage.study('s.toml', results='kept')",
        "info": "destage.info(destage.Trace.open('odd.csv', on_bad_line='skip'))",
    }
    (tmp_path / "odd.csv").write_text("time,op,offset,bytes\n0,write,0,4096\nx\n1,write,0,4096\n")
    program = tmp_path / "mine.py"
    program.write_text(f"import destage\n\nwork = destage.Workload('zipf', requests=100)\n{lines[call]}\n")
    said = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True, check=True).stderr
    assert f"{program}:4: DestageWarning: " in said, said


def test_what_runs_are_warned_of_stands_in_results_and_their_tables(tmp_path: Path) -> None:
    work = destage.Workload("uniform", requests=2000, footprint_pages=64, mean_interarrival_ms=0.001)
    said = "overload: a request takes "
    with pytest.warns(destage.DestageWarning, match=said):
        result = destage.simulate(work, size="64KiB")
    assert [said in text for text in result.warnings] == [True]
    with pytest.warns(destage.DestageWarning, match=said):
        results = destage.compare(work, buffers="lru", sizes="64KiB", ftls=["page", "none"])
    study = tmp_path / "s.toml"
    study.write_text("""title = "Fast"
[[input]]
name = "u"
workload = "uniform:requests=2000,footprint_pages=64,mean_interarrival_ms=0.001"
[[grid]]
buffers = ["lru"]
sizes = ["64KiB"]
ftls = ["page", "none"]
""")
    with pytest.warns(destage.DestageWarning, match=said):
        of_study = destage.study(study, results=tmp_path / "kept")
    for many in (results, of_study):
        assert [run.warnings[0].startswith(said) for run in many if run.warnings] == [True]
        assert [said in text for text in many.warnings] == [True]
        first, second = many.to_arrow()["warnings"].to_pylist()
        assert first.startswith(said) and second is None
    calm = destage.Workload("uniform", requests=100, mean_interarrival_ms=5)
    assert "warnings" not in destage.compare(calm, buffers="lru", sizes="1MiB").to_arrow().column_names


def test_an_error_of_a_trace_speaks_of_no_command_line() -> None:
    with pytest.raises(destage.TraceError, match="there-is-no-such.trace: cannot be opened: .*; expected a trace file$"):
        destage.simulate("there-is-no-such.trace")
