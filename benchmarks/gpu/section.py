"""The sections: how much of the time each may have, and each in a process of its own.

python -m numlite.benchmarks.gpu.section JOB
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from math import inf
from pathlib import Path
from typing import NamedTuple, TextIO

from numlite.benchmarks.gpu.job import Job
from numlite.tests.delegates.cuda import gpu_checks
from numlite.tests.delegates.cuda.driver_stand_in import stand_in

_GRACE_SECONDS = 4.0  # from the end of a section's time until its process is ended
_MOST_PROCESSES = 25  # of a section


class Section(NamedTuple):
    """A function of a module here, and the most seconds that it may take from later ones."""

    work: str
    most: float


SECTIONS = {
    "compile": Section("ahead.measure", 150),
    "ceilings": Section("ceilings.measure", 60),
    "correctness": Section("correctness.measure", 110),
    "models": Section("times.models", 110),
    "layers": Section("times.layers", 70),
    "peers": Section("torch_programs.peers", inf),
}


def run_section(job: Job) -> None:
    """One process after another, as long as each has begun something and lost its device."""
    start, begun = time.time(), job.units("begin")
    command = [sys.executable, "-m", "numlite.benchmarks.gpu.section", job.text()]
    path = Path(job.out, "run.log")
    for _ in range(_MOST_PROCESSES):
        with path.open("a", encoding="utf-8") as log:
            status = run_process(command, log, job.left() + _GRACE_SECONDS)
        before, begun = begun, job.units("begin")
        if status == 0:
            break
        said = path.read_text(encoding="utf-8", errors="replace").splitlines()
        job.add("ended", status=status, why=said[-1] if said else "")
        if begun == before or job.left() < 5:
            break
    job.add("section", seconds=time.time() - start)


def run_process(command: Sequence[str], log: TextIO, seconds: float) -> int:
    """Its status, when it or its time ends. Its output goes to the log; what it has started ends with it."""
    process = subprocess.Popen(
        command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True
    )
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def measure(job: Job) -> None:
    """The section's own work, in this process; a rehearsal's on the driver's stand-in."""
    module, function = SECTIONS[job.section].work.split(".")
    try:
        work = getattr(import_module(f"numlite.benchmarks.gpu.{module}"), function)
    except ModuleNotFoundError as error:
        return job.add("absent", what=job.section, why=str(error))
    if not job.rehearses:
        return work(job)
    driver = stand_in()
    driver.configure()
    driver.computes &= job.section == "correctness"  # others take no time of it that means anything
    gpu_checks.compares = driver.computes
    with driver.watch():
        work(job)
    for fault in filter(None, (*driver.failures, driver.complaint)):
        job.add("error", unit="the driver's stand-in", error=fault[-500:])


if __name__ == "__main__":
    measure(Job.from_text(sys.argv[1]))
