"""Signals while native code runs: Ctrl-C, the program's own handlers, other threads."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="the system has no signals")

NAMES = ("nothing", "sum", "large", "nested", "python")  # of endless_models
LIMIT_S = 120  # a child that has not ended by then is killed

START = """
import os, signal, sys, threading
import numpy as np
from numlite.interpreter import Interpreter
from tests.endless_models import MODELS, once_model
from tests.running import once_running
from tests.test_cancellation import check_usable, endless, ready
from numlite.lite.errors import CancelledError
signal.signal(signal.SIGINT, signal.default_int_handler)
NUMBERS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM}
def send(name="SIGINT"):
    os.kill(os.getpid(), NUMBERS[name])
"""

CTRL_C = """
for name in MODELS:
    for num_threads in (1, 2):
        interpreter = endless(name, num_threads)
        for _ in range(2):
            with once_running(interpreter, send):
                try:
                    interpreter.invoke()
                except KeyboardInterrupt:
                    print(name)
        check_usable(interpreter)
interpreter = endless("sum", 2)
with once_running(interpreter, send):
    interpreter.invoke()
"""

OWN_HANDLERS = """
class Mine(Exception):
    pass
def raises(number, frame):
    raise Mine
calls = []
def counts(number, frame):
    calls.append(number)
    if len(calls) < 3:
        threading.Thread(target=send).start()
    else:
        interpreter.cancel()
interpreter = endless("sum", 2)
signal.signal(signal.SIGTERM, raises)
with once_running(interpreter, lambda: send("SIGTERM")):
    try:
        interpreter.invoke()
    except Mine:
        print("mine")
signal.signal(signal.SIGINT, counts)
with once_running(interpreter, send):
    try:
        interpreter.invoke()
    except CancelledError:
        print("cancelled", len(calls))
signal.signal(signal.SIGINT, signal.SIG_IGN)
with once_running(interpreter, lambda: (send(), interpreter.cancel())):
    try:
        interpreter.invoke()
    except CancelledError:
        print("ignored")
check_usable(interpreter)
"""

OTHER_THREAD = """
interpreter, ended, over = endless("nested"), [], threading.Event()
def run():
    try:
        interpreter.invoke()
    except BaseException as error:
        ended.append(type(error).__name__)
    over.set()
thread = threading.Thread(target=run)
with once_running(interpreter, send):
    try:
        thread.start()
        over.wait()
    except KeyboardInterrupt:
        print("main", ended, interpreter.core.is_running)
interpreter.cancel()
over.wait()
thread.join()
print(ended)
check_usable(interpreter)
print([t.name for t in threading.enumerate()])
"""

RUNS_OF_CALLS = """
# Signals between and in short calls: nothing stays taken, whichever line they hit.
interpreter = ready(MODELS["nothing"])
done = threading.Event()
def often():
    while not done.wait(0.0005):
        send()
thread = threading.Thread(target=often)
count = 0
try:
    thread.start()
except KeyboardInterrupt:
    pass
while count < 300:
    try:
        while True:
            interpreter.invoke()
    except KeyboardInterrupt:
        count += 1
signal.signal(signal.SIGINT, signal.SIG_IGN)
done.set()
thread.join()
check_usable(interpreter)
print("usable")
"""


def run_child(script: str) -> subprocess.CompletedProcess[str]:
    folder = Path(__file__).parent.parent
    command = [sys.executable, "-c", START + script]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, cwd=folder)


def test_ctrl_c_ends_every_kind_of_run() -> None:
    done = run_child(CTRL_C)
    assert done.stdout.split() == [n for n in NAMES for _ in range(4)]
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")
    assert done.returncode == -signal.SIGINT


def test_own_handlers_run_and_may_raise_what_they_like() -> None:
    done = run_child(OWN_HANDLERS)
    assert (done.stdout.splitlines(), done.stderr) == (["mine", "cancelled 3", "ignored"], "")


def test_other_threads_raise_nothing() -> None:
    done = run_child(OTHER_THREAD)
    expected = ["main [] True", "['CancelledError']", "['MainThread']"]
    assert (done.stdout.splitlines(), done.stderr) == (expected, "")


def test_signals_at_any_time_leave_it_usable() -> None:
    done = run_child(RUNS_OF_CALLS)
    assert (done.stdout, done.stderr) == ("usable\n", "")


def test_ctrl_c_where_invoke_goes_through_ctypes() -> None:
    without_method = "from numlite.lite import native_plan\nnative_plan._payload_offset = lambda: -1\n"
    done = run_child(without_method + CTRL_C)
    assert done.stdout.split() == [n for n in NAMES for _ in range(4)]
    assert done.returncode == -signal.SIGINT
