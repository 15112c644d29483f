"""Job: what a section is told, and how it goes through its units of work."""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

from numlite.benchmarks.gpu.networks import FULL, SMALL, Size
from numlite.benchmarks.gpu.records import Records
from numlite.delegates.cuda.device import DeviceLostError

LOST = 3  # exit status of a process whose device is gone: what is left runs in another one
_NAMED = 30  # how much of an error's trace is kept, in lines


@dataclass(frozen=True)
class Job:
    """deadline is in seconds of time.time(); directory is for the networks' files."""

    section: str
    out: str
    directory: str
    run: str
    device: str
    models: tuple[str, ...]
    modes: tuple[str, ...]
    batches: tuple[int, ...]
    small: bool
    deadline: float
    seed: int

    def text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Job:
        fields = json.loads(text)
        return cls(**fields | {name: tuple(fields[name]) for name in ("models", "modes", "batches")})

    @property
    def records(self) -> Records:
        return Records(Path(self.out, "results.jsonl"), self.section, self.run)

    @property
    def size(self) -> Size:
        return SMALL if self.small else FULL

    @property
    def folder(self) -> Path:
        return Path(self.directory)

    def left(self) -> float:
        """Seconds."""
        return self.deadline - time.time()

    def configurations(self) -> Iterator[tuple[str, str, int]]:
        """Models, modes and batches, in the order of how much they are wanted."""
        order = {256: 0, 1: 1, 32: 2}
        for mode, batch in product(self.modes, sorted(self.batches, key=lambda b: (order.get(b, 3), b))):
            for model in self.models:
                yield model, mode, batch

    def do(self, unit: str, work: Callable[[], None], seconds: float = 1.0) -> None:
        """Do the work of a unit, unless it was begun before or the time is too short for it.

        Whatever it raises is recorded, and the next unit may go on; when the device is lost the process ends.
        """
        if unit in self.records.begun():
            return
        if self.left() < seconds:
            self.records.add("skipped", unit=unit, why="the section's time is over")
            return
        self.records.add("begin", unit=unit)
        try:
            work()
        except Exception as error:
            trace = traceback.format_exc().splitlines()
            self.records.add(
                "error", unit=unit, error=f"{type(error).__name__}: {error}"[:500], trace=trace[-_NAMED:]
            )
            if is_loss(error):
                sys.exit(LOST)


def is_loss(error: BaseException) -> bool:
    """Whether a device is gone for this process, whatever error came of it; PyTorch says so in words."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, DeviceLostError) or "CUDA error" in str(cause):
            return True
        cause = cause.__cause__ or cause.__context__
    return False
