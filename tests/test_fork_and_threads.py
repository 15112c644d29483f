"""Interpreters in forked children and in many threads give what they give alone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from numlite.interpreter import Interpreter

from .small_models import Op, chain

LIMIT_S = 120
SHAPE = (8, 4096)
CODES = (Op.ABS, Op.EXP, Op.NEG, Op.TANH)

FORK = """
import os, sys
import numpy as np
from tests.test_fork_and_threads import result, started
interpreters = [started(threads) for threads in (1, 2, 3)]
expected = [[result(i, seed) for seed in range(3)] for i in interpreters]
def all_equal():
    fresh = started(2)
    return all(
        np.array_equal(result(i, seed), values[seed])
        for i, values in zip((*interpreters, fresh), (*expected, expected[0])) for seed in range(3)
    )
def forked(depth):
    child = os.fork()
    if child == 0:
        right = all_equal() and (depth == 0 or forked(depth - 1))
        os._exit(0 if right and all_equal() else 1)
    right = all_equal()  # while the child runs
    return os.waitpid(child, 0)[1] == 0 and right
print([forked(1) for _ in range(int(sys.argv[1]))].count(True))
"""


def started(num_threads: int) -> Interpreter:
    interpreter = Interpreter(model_content=chain(CODES, SHAPE), num_threads=num_threads)
    interpreter.allocate_tensors()
    return interpreter


def result(interpreter: Interpreter, seed: int) -> np.ndarray:
    interpreter.set_tensor(0, np.random.default_rng(seed).normal(size=SHAPE).astype(np.float32))
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def check_forks(count: int) -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORK, str(count)]
    folder = Path(__file__).parent.parent
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, cwd=folder)
    assert (done.stdout, done.stderr) == (f"{count}\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_children_of_children_run() -> None:
    check_forks(2)


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_many_forks() -> None:
    check_forks(20)


def check_threads(turns: int) -> None:
    """8 threads take turns by their own order on 8 interpreters each."""
    seeds = range(4)
    alone = started(1)
    expected = [result(alone, seed) for seed in seeds]
    wrong: list[object] = []
    begin = threading.Barrier(8)

    def work(number: int) -> None:
        try:
            own = [started(1 + n % 3) for n in range(8)]
            begin.wait(LIMIT_S)
            for turn in range(turns):
                seed = (number + turn) % len(seeds)
                if not all(np.array_equal(result(interpreter, seed), expected[seed]) for interpreter in own):
                    wrong.append((number, turn))
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_eight_threads_by_eight_interpreters() -> None:
    check_threads(3)


@pytest.mark.long
def test_eight_threads_for_long() -> None:
    check_threads(50)
