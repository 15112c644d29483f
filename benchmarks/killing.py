"""kill_one: what happens to a worker of a run on a bad day, for benchmarks/batch.py."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from subprocess import Popen


def kill_one(process: Popen[str], model: Path, output: Path, parts: int) -> int:
    """SIGKILL for a process that has the model mapped, not the first, when output has so many parts.

    Returns its number. The program ends where the run does before that, or has no such process.
    """
    while process.poll() is None:
        if len(list(output.glob("part-*.parquet"))) >= parts:
            for number in _mapping(model):
                if number != process.pid:
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
