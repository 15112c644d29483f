"""The thread pool: every chunk runs once, whoever else is using the pool, also after a fork and at exit."""

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest
from numlite import Interpreter
from numlite.kernels.compiled.driver.executor import FIRST_AGAIN, RUNS, TRIALS
from numlite.lite import runtime, thread_pool
from numlite.lite.native_plan import NativePlan
from numlite.lite.thread_pool import shared_pool
from numlite.tests.small_models import chain

from .native_kernels import LIBRARY, Work


def run(work: Work, times: int, num_threads: int) -> bool:
    plan = NativePlan(work.rows, LIBRARY, shared_pool(num_threads, LIBRARY))
    return all(plan.invoke() == 0 for _ in range(times)) and work.done(times)


def test_one_thread_needs_no_pool() -> None:
    assert shared_pool(1, LIBRARY) is None


@pytest.mark.parametrize("num_threads", [2, 3, 16])
@pytest.mark.parametrize("rounds", [0, 20_000])
def test_every_chunk_runs_once(num_threads: int, rounds: int) -> None:
    assert run(Work([2, 1, 8, 64, 3], rounds), 20, num_threads)


def test_a_failing_chunk_fails_its_row() -> None:
    work = Work([8, 8], fail=5)
    plan = NativePlan(work.rows, LIBRARY, shared_pool(2, LIBRARY))
    assert (plan.invoke(), plan.failed_row) == (7, 0)
    assert not work.counters[1].any()


def test_threads_that_sleep_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = shared_pool(3, LIBRARY)
    assert pool is not None
    for _ in range(20):
        assert run(Work([8], 50_000), 1, 3)
        wait_until_asleep(2)


def wait_until_asleep(count: int) -> None:
    block = thread_pool._workers.block  # type: ignore[union-attr]
    for _ in range(10_000_000):
        if block["asleep"][0] >= count:
            return
    raise AssertionError("the pool's threads do not sleep")


class PythonRow:
    """A row of so many chunks, each of which calls a Python function with its number."""

    def __init__(self, chunks: int, function: Callable[[int], None]) -> None:
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)

        def kernel(args: int, chunk: int, chunks: int) -> int:
            function(chunk)
            return 0

        self.kernel = kind(kernel)
        address = ctypes.cast(self.kernel, ctypes.c_void_p).value
        self.rows = np.array([[address, 0, chunks, 1]], np.int64)

    def invoke(self, num_threads: int) -> None:
        assert NativePlan(self.rows, LIBRARY, shared_pool(num_threads, LIBRARY)).invoke() == 0


@pytest.mark.parametrize("others", [2, 40])
def test_each_thread_begins_with_its_own_share(others: int) -> None:
    """Also where the pool has more threads than the plan may use, all asleep: the right one wakes up."""
    shared_pool(others, LIBRARY)
    wait_until_asleep(others - 1)
    both = threading.Barrier(2, timeout=60)
    row = PythonRow(4, lambda chunk: both.wait() and None if chunk in (0, 2) else None)
    row.invoke(2)


def test_what_a_thread_has_not_begun_others_run() -> None:
    ended = threading.Event()

    def run(chunk: int) -> None:
        if chunk == 0:
            assert ended.wait(60)
        if chunk == 1:
            ended.set()

    PythonRow(4, run).invoke(2)


def test_python_threads_share_the_pool() -> None:
    right: dict[int, bool] = {}

    def go(k: int) -> None:
        right[k] = run(Work([4, 1, 8, 2]), 500, 2)

    threads = [threading.Thread(target=go, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == {0: True, 1: True, 2: True}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
def test_a_forked_child_has_a_pool_of_its_own() -> None:
    assert run(Work([8]), 10, 2)
    child = os.fork()
    if child == 0:
        os._exit(0 if run(Work([8, 3], 1000), 200, 2) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert run(Work([8]), 10, 2)


EXIT = """
import sys, threading
sys.path.insert(0, {path!r})
from native_kernels import LIBRARY, Work
from numlite.lite.native_plan import NativePlan
from numlite.lite.thread_pool import shared_pool
from numlite.tests.small_models import chain
work = Work([8] * 20, 1000)
plan = NativePlan(work.rows, LIBRARY, shared_pool(4, LIBRARY))
def forever():
    while True:
        plan.invoke()
threading.Thread(target=forever, daemon={daemon}).start() if {daemon} else plan.invoke()
print("done")
"""


@pytest.mark.parametrize("daemon", [False, True], ids=["idle", "busy"])
def test_python_exits_while_the_pool_lives(daemon: bool) -> None:
    script = EXIT.format(path=os.path.dirname(__file__), daemon=daemon)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


NO_FUTEX = """
import sys
sys.path.insert(0, {path!r})
from numlite.lite import runtime, thread_pool
thread_pool._FUTEX_CALLS.clear()
from native_kernels import LIBRARY, Work
from numlite.lite.native_plan import NativePlan
work = Work([8] * 4, 20000)
plan = NativePlan(work.rows, LIBRARY, thread_pool.shared_pool(3, LIBRARY))
for _ in range(50):
    assert plan.invoke() == 0
assert work.done(50)
"""


def test_the_pool_works_without_futexes() -> None:
    script = NO_FUTEX.format(path=os.path.dirname(__file__))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def choices(plan: NativePlan) -> np.ndarray:
    assert plan._choices is not None
    return plan._choices


def test_a_row_is_tried_both_ways_and_then_runs_the_faster_one() -> None:
    work = Work([8, 1], 2000)
    plan = NativePlan(work.rows, LIBRARY, shared_pool(2, LIBRARY))
    for _ in range(TRIALS):
        assert plan.invoke() == 0
    cut, whole = choices(plan)
    assert cut["runs"] == TRIALS and cut["alone"] > 0 and cut["shared"] > 0
    assert whole.tolist() == (0, 0, 0, 0)
    block = thread_pool._workers.block  # type: ignore[union-attr]
    for alone, shared, is_shared in ((1000, 100, True), (1000, 990, False), (100, 1000, False)):
        cut["alone"], cut["shared"], cut["runs"], cut["wait"] = alone, shared, TRIALS, FIRST_AGAIN
        epoch = int(block["ticket"][0]) >> 32
        for _ in range(5):
            assert plan.invoke() == 0
        assert (int(block["ticket"][0]) >> 32 != epoch) == is_shared
    assert work.done(TRIALS + 15)


def test_a_row_whose_helpers_are_taken_away_runs_alone_a_few_runs_later() -> None:
    work = Work([8], 2000)
    plan = NativePlan(work.rows, LIBRARY, shared_pool(2, LIBRARY))
    block = thread_pool._workers.block  # type: ignore[union-attr]
    (choice,) = choices(plan)
    # ns; a run takes some thousand.
    choice["alone"], choice["shared"], choice["runs"], choice["wait"] = 10, 5, TRIALS, RUNS
    epoch = int(block["ticket"][0]) >> 32
    for _ in range(FIRST_AGAIN - TRIALS):
        assert plan.invoke() == 0
    assert 0 < (int(block["ticket"][0]) >> 32) - epoch < FIRST_AGAIN - TRIALS
    assert 9 < choice["shared"] <= 20 and choice["wait"] == FIRST_AGAIN


def test_trials_of_a_row_that_runs_alone_come_again_soon_and_then_more_rarely() -> None:
    work = Work([1, 8], 2000)
    plan = NativePlan(work.rows, LIBRARY, shared_pool(2, LIBRARY))
    choice, tried = choices(plan)[1:], []
    for run in range(RUNS):
        choice["shared"] = 1 << 40
        assert plan.invoke() == 0
        if choice["shared"] != 1 << 40:
            tried.append(run)
        choice["alone"] = 1
    assert [run for run in tried if run - 2 not in tried] == [0, 16, 32, 64, 128, 256]
    assert choice["wait"] == RUNS


def test_trials_come_again() -> None:
    work = Work([3])
    plan = NativePlan(work.rows, LIBRARY, shared_pool(2, LIBRARY))
    for n in range(RUNS + 2):
        assert plan.invoke() == 0
        if n == TRIALS:
            choices(plan)["alone"] = choices(plan)["shared"] = -1
    assert choices(plan)["runs"] == 2 and choices(plan)["alone"] > 0 and choices(plan)["shared"] > 0
    assert work.done(RUNS + 2)


def test_a_row_by_itself_has_its_own_choice() -> None:
    work = Work([2, 3])
    plan = NativePlan(work.rows, LIBRARY, shared_pool(2, LIBRARY))
    assert plan.run_row(1) == 0
    assert choices(plan)["runs"].tolist() == [0, 1]


@pytest.mark.parametrize("num_threads", [8, 64])
def test_more_threads_than_processors_run_each_chunk_once(num_threads: int) -> None:
    chunks = [1, 2, 7, 64, 100, 4 * num_threads]
    work = Work(chunks, 500)
    plan = NativePlan(work.rows, LIBRARY, shared_pool(num_threads, LIBRARY))
    for n in range(30):
        choices(plan)["shared"] = 0 if n % 3 else 1 << 40
        assert plan.invoke() == 0
    assert work.done(30)


@pytest.mark.parametrize(("asked", "processors", "wanted"), [(8, 2, [2]), (2, 8, [2]), (64, 1, [])])
def test_no_more_threads_run_than_there_are_processors(
    asked: int, processors: int, wanted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would wait for each other; kernels are cut for as many as were asked for all the same."""
    found: list[int] = []
    monkeypatch.setattr(thread_pool, "shared_pool", lambda count, library: found.append(count))
    monkeypatch.setattr(runtime, "processors", lambda: processors)
    interpreter = Interpreter(model_content=chain(), num_threads=asked)
    interpreter.allocate_tensors()
    assert found == wanted
