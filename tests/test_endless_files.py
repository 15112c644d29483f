"""Damaged models that gave no answer in 10 s: each ends, with a result, an error or at its time limit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .hostile_files import HOSTILE, hostile_file

FILES = sorted(path.name for path in (HOSTILE / "endless").glob("*.tflite"))
REPOSITORY = Path(__file__).parent.parent

# A file that is not stopped ends the process after a while, which the last line tells.
RUN = """
import faulthandler, sys
import numpy as np
from numlite.interpreter import Interpreter

def run(path):
    interpreter = Interpreter(path)
    generator = np.random.default_rng(0)
    with interpreter.core.limited(0.2):
        interpreter.allocate_tensors()
        for detail in interpreter.get_input_details():
            value = generator.integers(0, 2, detail["shape"])
            interpreter.set_tensor(detail["index"], value.astype(detail["dtype"]))
        interpreter.invoke()

for path in sys.argv[1:]:
    faulthandler.dump_traceback_later(60, exit=True)
    try:
        run(path)
        outcome = "ended"
    except Exception as error:
        outcome = type(error).__name__
    print(path, outcome, flush=True)
"""

ENDS = {
    "ended",
    "TimedOutError",
    "ModelError",
    "PrepareError",
    "UnsupportedError",
    "InvokeError",
    "StateError",
}


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    """What became of each file; nothing of those that had to be killed."""
    if not FILES:
        hostile_file("endless")
    waiting, found = [str(hostile_file(f"endless/{name}")) for name in FILES], {}
    while waiting:
        command = [sys.executable, "-c", RUN, *waiting]
        done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY)
        lines = [line.rsplit(" ", 1) for line in done.stdout.splitlines()]
        found.update({Path(path).name: outcome for path, outcome in lines})
        waiting = waiting[len(lines) + 1 :]
    return found


@pytest.mark.parametrize("name", FILES or ["none"])
def test_the_file_ends(name: str, outcomes: dict[str, str]) -> None:
    assert outcomes.get(name, "killed") in ENDS


def test_some_are_stopped(outcomes: dict[str, str]) -> None:
    assert "TimedOutError" in outcomes.values()
