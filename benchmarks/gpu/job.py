"""Job: what a section is told, its results on disk, and how it goes through its units of work."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Container
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from numlite.benchmarks.gpu.networks import FULL, SMALL, model_file
from numlite.delegates.cuda.device import DeviceLostError

Record = dict[str, Any]  # as JSON

RESULTS = "results.jsonl"
LOST = 3  # exit status of a process whose device is gone: what is left runs in another one


class Configuration(NamedTuple):
    """What is measured: a network in one mode, for a batch."""

    model: str
    mode: str
    batch: int


@dataclass(frozen=True)
class Job:
    """Results go to the folder out, networks' files are in the folder files.

    rehearses: on the driver's stand-in, for which all is small. deadline is of time.time(), in seconds.
    """

    section: str
    out: str
    files: str
    run: str
    rehearses: bool
    models: tuple[str, ...]
    modes: tuple[str, ...]
    batches: tuple[int, ...]
    deadline: float
    seed: int

    def text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Job:
        fields = json.loads(text)
        return cls(**fields | {name: tuple(fields[name]) for name in ("models", "modes", "batches")})

    def model(self, name: str, mode: str, watched: bool = False) -> Path:
        """A network's file."""
        return model_file(self.files, name, mode, SMALL if self.rehearses else FULL, watched)

    def left(self) -> float:
        """Seconds."""
        return self.deadline - time.time()

    def each(
        self, work: Callable[[Configuration], object], modes: Container[str], seconds: float, prefix: str = ""
    ) -> None:
        """Do the work of each configuration of these modes, in the order of how much it is wanted."""
        batches = sorted(self.batches, key=lambda batch: ({256: 0, 1: 1, 32: 2}.get(batch, 3), batch))
        for mode, batch, model in product(self.modes, batches, self.models):
            if mode in modes:
                wanted = Configuration(model, mode, batch)
                self.do(f"{prefix}{model} {mode} {batch}", partial(work, wanted), seconds)

    def add(self, kind: str, **values: Any) -> None:
        """A result: one line, on disk when this returns; it is printed, too."""
        line = json.dumps({"run": self.run, "section": self.section, "kind": kind, **values})
        with Path(self.out, RESULTS).open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        print(line, flush=True)

    def records(self) -> list[Record]:
        """What is in the folder, of all runs."""
        return read_records(Path(self.out, RESULTS))

    def units(self, *kinds: str) -> set[str]:
        """Units of this section that are done, in whatever run, or (kind "begin") begun in this one."""
        mine = (r for r in self.records() if r["section"] == self.section and r["kind"] in kinds)
        return {r["unit"] for r in mine if r["kind"] == "done" or r["run"] == self.run}

    def do(self, unit: str, work: Callable[[], object], seconds: float = 1.0) -> None:
        """Do the work of a unit, unless it is done, was begun by this run, or the time is too short for it.

        Whatever it raises is recorded, and the next unit may go on; when the device is lost the process ends.
        """
        if unit in self.units("done", "begin"):
            return
        if self.left() < seconds:
            self.add("skipped", unit=unit, why="the section's time is over")
            return
        self.add("begin", unit=unit)
        try:
            work()
            self.add("done", unit=unit)
        except Exception as error:
            trace = traceback.format_exc().splitlines()[-30:]
            self.add("error", unit=unit, error=f"{type(error).__name__}: {error}"[:500], trace=trace)
            if is_loss(error):
                sys.exit(LOST)
        gc.collect()  # what an interpreter has on the device goes with it


def read_records(path: Path) -> list[Record]:
    """All lines but a last one that was cut short; none of a file that is not there."""
    records = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records


def is_loss(error: BaseException) -> bool:
    """Whether a device is gone for this process, whatever error came of it; PyTorch says so in words."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, DeviceLostError) or "CUDA error" in str(cause):
            return True
        cause = cause.__cause__ or cause.__context__
    return False
