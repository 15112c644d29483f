"""Numbered trials in child processes: one that crashes or hangs is a finding, and the rest goes on."""

from __future__ import annotations

import collections
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

Command = Callable[[int, int], Sequence[str]]


@dataclass
class Findings:
    """What came of the trials: how many ended how, and what is wrong, by number."""

    good: Collection[str]
    name: Callable[[int], str] = "mutant {}".format
    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    faults: list[tuple[int, str]] = field(default_factory=list)
    peak_bytes: int = 0  # of the children's memory, where they tell it

    def add(self, number: int, outcome: str) -> None:
        kind = outcome.split(":")[0]
        self.outcomes[kind] += 1
        if kind not in self.good:
            self.faults.append((number, outcome))
            print(f"{self.name(number)}: {outcome}", flush=True)


def report(number: int, trial: Callable[[], str], peak_bytes: Callable[[], int] | None = None) -> None:
    """For the child: one line before the trial and one after it, for the parent to see where it stands."""
    print(f"begin {number}", flush=True)
    outcome = " ".join(trial().split())
    if peak_bytes is not None:
        print(f"peak {peak_bytes()}", flush=True)
    print(f"end {number} {outcome}", flush=True)


def limit_memory(nbytes: int) -> None:
    """No more address space than that for this process, and no core dumps."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (nbytes, nbytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Child:
    """A process that works through a range of trials."""

    def __init__(self, command: Command, first: int, last: int) -> None:
        words = command(first, last)
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.next, self.last = first, last
        self.waiting = b""
        self.heard = time.monotonic()
        self.closed = False

    def read(self, findings: Findings) -> None:
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        self.closed = not data
        self.heard = time.monotonic()
        *lines, self.waiting = (self.waiting + data).split(b"\n")
        for line in lines:
            word, number, *rest = line.decode(errors="replace").split(" ", 2)
            if word == "peak":
                findings.peak_bytes = max(findings.peak_bytes, int(number))
            elif word == "end":
                findings.add(int(number), rest[0])
                self.next = int(number) + 1

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def run_trials(
    command: Command,
    findings: Findings,
    first: int,
    count: int,
    children: int,
    timeout: float,
    batch: int = 250,
) -> None:
    """Runs all trials; a child that dies or falls silent is replaced by one that goes on behind."""
    ranges = [(start, min(start + batch, first + count)) for start in range(first, first + count, batch)]
    ranges.reverse()
    running: list[Child] = []
    shown = time.monotonic()
    while ranges or running:
        while ranges and len(running) < children:
            running.append(Child(command, *ranges.pop()))
        ready, _, _ = select.select([child.process.stdout for child in running], [], [], 0.2)
        for child in list(running):
            if child.process.stdout in ready:
                child.read(findings)
            fault = how_it_ended(child, timeout)
            if fault is None:
                continue
            child.stop()
            running.remove(child)
            if child.next < child.last:
                findings.add(child.next, fault or "ended early: no word")
                ranges.append((child.next + 1, child.last))
        if sys.stdout.isatty() and time.monotonic() - shown > 1:
            shown = time.monotonic()
            print(
                f"\r{findings.outcomes.total()} of {count}, {len(findings.faults)} faults", end="", flush=True
            )


def how_it_ended(child: Child, timeout: float) -> str | None:
    """None while the child works, else how it ended ("" for well)."""
    if time.monotonic() - child.heard > timeout:
        return f"hang: silent for {timeout:.0f} s"
    if not child.closed:
        return None
    status = child.process.wait()
    if status < 0:
        return f"crash: {signal.Signals(-status).name}"
    return "" if status == 0 else f"ended early: status {status}"
