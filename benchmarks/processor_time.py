"""Counted: processes, and what they and all that they start take of the processor."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

# Control groups of the first version, and of the second.
_ROOTS = Path("/sys/fs/cgroup/cpuacct"), Path("/sys/fs/cgroup")


class Cost(NamedTuple):
    """Seconds of the clock and of the processor."""

    wall: float
    cpu: float

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.wall - other.wall, self.cpu - other.cpu)


class Counted:
    """Processes that are started by it count, and what these start, whoever waits for them in the end.

    That takes a control group, and so a root; without it only what was waited for counts (is_whole is False).
    """

    def __init__(self) -> None:
        self._group = _new_group()
        self.is_whole = self._group is not None
        self._begin, self._waited = time.perf_counter(), _waited()

    def start(self, command: Sequence[str]) -> subprocess.Popen[str]:
        pipe, group = subprocess.PIPE, self._group

        def enter() -> None:
            if group is not None:
                (group / "cgroup.procs").write_text(str(os.getpid()))

        return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=enter)

    def cost(self) -> Cost:
        """When all have ended."""
        wall = time.perf_counter() - self._begin
        if self._group is None:
            return Cost(wall, _waited() - self._waited)
        found = Cost(wall, _used(self._group))
        while (self._group / "cgroup.procs").read_text().strip():  # engines end their helpers by and by
            time.sleep(0.05)
        self._group.rmdir()
        return found


def _waited() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _new_group() -> Path | None:
    for root in _ROOTS:
        group = root / f"numlite_{os.getpid()}_{time.monotonic_ns()}"
        try:
            if (root / "cgroup.procs").exists():
                group.mkdir()
                _used(group)
                return group
        except OSError:
            continue
    return None


def _used(group: Path) -> float:
    """Seconds."""
    first = group / "cpuacct.usage"
    if first.exists():
        return int(first.read_text()) / 1e9
    (line,) = [
        line for line in (group / "cpu.stat").read_text().splitlines() if line.startswith("usage_usec")
    ]
    return int(line.split()[1]) / 1e6
