"""kill_one: what happens to a worker of a run on a bad day, for benchmarks/batch.py."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from subprocess import Popen


def kill_one(process: Popen[str], model: Path, output: Path, parts: int) -> int:
    """SIGKILL for a worker of the run, when output has so many parts.

    Workers are processes that the run has started, itself or through others, and that have the model mapped.
    Returns the worker's number. The program ends where the run does before that, or has no worker.
    """
    while process.poll() is None:
        if len(list(output.glob("part-*.parquet"))) >= parts:
            for number in _mapping(model):
                if process.pid in _ancestors(number):
                    os.kill(number, signal.SIGKILL)
                    return number
        time.sleep(0.02)
    sys.exit(f"killing.py: {process.args} ended before a worker could be killed")


def _mapping(model: Path) -> list[int]:
    """The processes that have the file mapped."""
    found = []
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            if str(model.resolve()) in maps.read_text():
                found.append(int(maps.parent.name))
        except OSError:  # it has ended meanwhile
            continue
    return found


def _ancestors(number: int) -> list[int]:
    """The process that has started it, what has started that, and so on."""
    found: list[int] = []
    while number > 1:
        try:
            stat = Path(f"/proc/{number}/stat").read_text()
        except OSError:  # it has ended meanwhile
            break
        number = int(stat.rpartition(")")[2].split()[1])
        found.append(number)
    return found
