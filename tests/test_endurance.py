"""What is done very often takes no more memory, descriptors or mappings than what was done a few times."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the system has no /proc")

LIMIT_S = 600
# malloc keeps what it has taken in pieces, Python in arenas of 1 MiB. A leak of 5 bytes an invoke shows.
MOST_GROWTH_KIB = 4 << 10
MOST_NEW_MAPS = 40

START = """
import gc, os, sys
import numpy as np
from numlite.interpreter import Interpreter, InterpreterWithCustomOps
from tests.delegates.numpy_delegate import NumpyDelegate
from tests.kernels.test_resources import accumulator
from tests.small_models import Op, chain, custom
count = int(sys.argv[1])
X = np.ones((1, 4), np.float32)

class Twice:
    def prepare(self, context, node):
        context.resize_tensor(context.output(node, 0), context.input(node, 0).shape)
    def invoke(self, context, node):
        context.output(node, 0).array()[...] = 2 * context.input(node, 0).array()

def plain(threads=1):
    return Interpreter(model_content=chain((Op.ABS, Op.NEG)), num_threads=threads)
def delegated():
    return Interpreter(model_content=chain((Op.ABS, Op.NEG)), experimental_delegates=[NumpyDelegate("NEG")])
def resources():
    return Interpreter(model_content=accumulator())
def custom_ops():
    return InterpreterWithCustomOps([("Twice", Twice())], model_content=custom())

def used():
    gc.collect()
    with open("/proc/self/statm") as file:
        kib = int(file.read().split()[1]) * (os.sysconf("SC_PAGE_SIZE") >> 10)
    with open("/proc/self/maps") as file:
        maps = len(file.readlines())
    return np.array([kib, len(os.listdir("/proc/self/fd")), maps])

def measure(step, count):
    for _ in range(max(20, count // 10)):
        step()
    before = used()
    for _ in range(count):
        step()
    print(*(used() - before))
"""

INVOKES = """
interpreter = {make}
interpreter.allocate_tensors()
measure(interpreter.invoke, count)
"""

INTERPRETERS = """
def step():
    interpreter = {make}
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], np.ones(detail["shape"], np.float32))
    interpreter.invoke()
    for detail in interpreter.get_output_details():
        interpreter.get_tensor(detail["index"])
measure(step, count)
"""

MAKERS = {
    "plain": "plain()",
    "threads": "plain(2)",
    "delegate": "delegated()",
    "resources": "resources()",
    "custom": "custom_ops()",
}


def check_flat(script: str, count: int) -> None:
    folder = Path(__file__).parent.parent
    command = [sys.executable, "-c", START + script, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, cwd=folder)
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    kib, descriptors, maps = map(int, done.stdout.split())
    assert kib < MOST_GROWTH_KIB and descriptors == 0 and maps < MOST_NEW_MAPS


@pytest.mark.long
def test_a_million_invokes() -> None:
    check_flat(INVOKES.format(make="plain()"), 1_000_000)


@pytest.mark.long
@pytest.mark.parametrize("make", ["delegated()", "resources()", "custom_ops()"])
def test_many_invokes_of_python_and_resources(make: str) -> None:
    check_flat(INVOKES.format(make=make), 30_000)


@pytest.mark.long
@pytest.mark.parametrize("kind", MAKERS)
def test_a_thousand_interpreters(kind: str) -> None:
    check_flat(INTERPRETERS.format(make=MAKERS[kind]), 1000)


def test_some_interpreters() -> None:
    check_flat(INTERPRETERS.format(make="delegated()"), 100)
