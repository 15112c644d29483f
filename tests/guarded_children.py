"""Numbered trials in child processes: one that crashes or hangs is a finding, and the rest goes on."""

from __future__ import annotations

import collections
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Command = Callable[[int, int], Sequence[str]]
_REPORT = re.compile(rb"(begin|peak|end) (\d+) ?(.*)")
_START = 6  # times as long as a trial may be silent, a child may be before its first one
_IDLE = 10  # times as long as a child that works, one may be silent that gets no processor


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
    """For the child: one line before the trial and one after it, for the parent to see where it stands.

    What the trial itself prints stays on lines of its own.
    """
    print(f"\nbegin {number}", flush=True)
    outcome = " ".join(trial().split())
    if peak_bytes is not None:
        print(f"\npeak {peak_bytes()}", flush=True)
    print(f"\nend {number} {outcome}", flush=True)


def limit_memory(nbytes: int) -> None:
    """No more address space than that for this process, and no core dumps."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (nbytes, nbytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def processor_seconds(pid: int) -> float:
    """What a process and its threads took of the processor; where no system tells it, the clock's time."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Child:
    """A process that works through a range of trials."""

    def __init__(self, command: Command, first: int, last: int) -> None:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 (stop closes it)
        self.process = subprocess.Popen(command(first, last), stdout=subprocess.PIPE, stderr=self.errors)
        self.next, self.last = first, last
        self.begun: int | None = None  # the last trial that it told of
        self.waiting = b""
        self.heard, self.taken = time.monotonic(), 0.0
        self.closed = False

    def read(self, findings: Findings) -> None:
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        self.closed = not data
        self.heard, self.taken = time.monotonic(), processor_seconds(self.process.pid)
        *lines, self.waiting = (self.waiting + data).split(b"\n")
        for line in lines:
            word = _REPORT.fullmatch(line)
            if word is None:
                continue  # what a trial prints is no report
            number, outcome = int(word[2]), word[3].decode(errors="replace")
            if word[1] == b"begin":
                self.begun = number
            elif word[1] == b"peak":
                findings.peak_bytes = max(findings.peak_bytes, number)
            else:
                findings.add(number, outcome)
                self.next = number + 1

    def ended(self, timeout: float) -> str | None:
        """None while it works, else how it ended ("" for well)."""
        if self.hangs(timeout if self.begun is not None else _START * timeout):
            return f"hang: silent for {timeout:.0f} s"
        if not self.closed:
            return None
        status = self.process.wait()
        if status < 0:
            return f"crash: {signal.Signals(-status).name}"
        return "" if status == 0 else f"ended early: status {status}, {self.said()}"

    def hangs(self, timeout: float) -> bool:
        """Silent for that many seconds of the processor, or for much longer without it.

        On a busy machine a child is silent because others run.
        """
        silent = time.monotonic() - self.heard
        if silent <= timeout:
            return False
        return silent > _IDLE * timeout or processor_seconds(self.process.pid) - self.taken > timeout

    def said(self) -> str:
        """The last line that it wrote for people."""
        self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, self.errors.tell() - 4096))
        lines = self.errors.read().decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "without a word")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.errors.close()


def settle(child: Child, fault: str, findings: Findings) -> list[tuple[int, int]]:
    """Note how a child ended; the trials that are left for another one, if any.

    The trial at fault is the one that it had begun. What comes behind its last trial counts as that one's;
    where it had begun none, no trial is at fault: RuntimeError.
    """
    if child.begun is None:
        raise RuntimeError(
            f"trials {child.next} to {child.last - 1}: none was begun, {fault or 'ended early: no word'}"
        )
    if child.next == child.last:
        if fault:
            findings.add(child.begun, f"{fault} (behind the last trial)")
        return []
    where = "" if child.begun == child.next else " (between trials)"
    findings.add(child.next, f"{fault or 'ended early: no word'}{where}")
    return [(child.next + 1, child.last)] if child.next + 1 < child.last else []


def run_trials(
    command: Command,
    findings: Findings,
    first: int,
    count: int,
    children: int,
    timeout: float,
    batch: int = 250,
) -> None:
    """Runs all trials; a child that dies or falls silent is replaced by one that goes on behind.

    RuntimeError when a child ends before it has begun a trial: its program does not start.
    """
    ranges = [(start, min(start + batch, first + count)) for start in range(first, first + count, batch)]
    ranges.reverse()
    running: list[Child] = []
    shown = time.monotonic()
    try:
        while ranges or running:
            while ranges and len(running) < children:
                running.append(Child(command, *ranges.pop()))
            ready, _, _ = select.select([child.process.stdout for child in running], [], [], 0.2)
            for child in list(running):
                if child.process.stdout in ready:
                    child.read(findings)
                fault = child.ended(timeout)
                if fault is not None:
                    ranges += settle(child, fault, findings)
                    child.stop()
                    running.remove(child)
            if sys.stdout.isatty() and time.monotonic() - shown > 1:
                shown = time.monotonic()
                told = f"{findings.outcomes.total()} of {count}, {len(findings.faults)} faults"
                print(f"\r{told}", end="", flush=True)
    finally:
        for child in running:
            child.stop()
