"""`numlite map` over many pictures with each engine, against as many plain processes.

    python benchmarks/batch.py                        # 100 000 pictures; needs numlite[ray,spark] and Java
    python benchmarks/batch.py --rows 20000 --engines local --folder /tmp/batch

A MobileNetV2 (0.35, 96 x 96 or --size) reads JPEG files out of parquet files and writes its 1000 scores. The
plain processes (benchmarks/batch_plain.py) have a share of the files each. An engine runs between two runs of
them, whose mean it is compared with, and once more, over a fifth of the pictures, with one of its workers
killed (-9) when a third of these parts is there. The scores of both are compared with those of the plain
processes, bit by bit.
Throughput against plain is by seconds of the processor, of all processes of a run, so that a busy machine
spoils less; seconds of the clock stand beside it. "steady" leaves out what the engine takes for one row.
The end is what 1 000 machines would do, from what handing out a part was measured to take.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from subprocess import Popen

import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent))

from batch_data import mobilenet_v2, write_pictures
from batch_plain import BATCH, PART_ROWS
from killing import kill_one
from numlite.batch.engines import TASKS_EACH
from processor_time import Cost, Counted

_MACHINES, _WORKERS = 1000, 2
_HERE = Path(__file__).parent


class Comparison:
    """One set of pictures, through plain processes and engines; prints as it goes."""

    def __init__(self, folder: Path, done: Path, rows: int, size: int, workers: int) -> None:
        folder = folder / f"{size}"
        folder.mkdir(parents=True, exist_ok=True)
        self._model, self._pictures, self._one = folder / "model.tflite", folder / f"{rows}", folder / "1"
        self._done, self._rows, self._workers = done, rows, workers
        self._model.write_bytes(mobilenet_v2(0.35, size))
        write_pictures(self._pictures, rows, size, workers)
        write_pictures(self._one, 1, size, 1)
        self._fifth = folder / f"{rows // 5}"
        write_pictures(self._fifth, rows // 5, size, workers)
        self._beside: Cost | None = None  # the last run of the plain processes
        self.ms = 0.0  # of the processor, a picture in the last engine

    def engine(self, engine: str) -> None:
        """The engine's row of the table, and that of the plain processes before the first and after each."""
        plain = self._done / "plain"
        before = self._beside or self._plain(plain)
        start = self._map(engine, self._one, f"{engine}_one")
        taken = self._map(engine, self._pictures, engine)
        self.ms = 1e3 * (taken - start).cpu / self._rows
        self._beside = self._plain(plain)
        beside = (before.cpu + self._beside.cpu) / 2
        same = "equal" if self._is_same(engine, plain, self._rows) else "DIFFERENT"
        self._map(engine, self._fifth, f"{engine}_killed", kill_at=-(-self._rows // PART_ROWS) // 15)
        whole = "nothing lost" if self._is_same(f"{engine}_killed", plain, self._rows // 5) else "LOST"
        ratios = f"{beside / taken.cpu:.3f} | {beside / (taken - start).cpu:.3f}"
        print(f"| {engine} | {self._cells(taken)} | {ratios} | {same} | {whole} | {_load()} |", flush=True)

    def _plain(self, output: Path) -> Cost:
        files = sorted(map(str, self._pictures.glob("*.parquet")))
        command = [sys.executable, str(_HERE / "batch_plain.py"), str(self._model), str(output)]
        counted = Counted()
        shares = [files[n :: self._workers] for n in range(self._workers)]
        for process in [counted.start([*command, *share]) for share in shares]:
            _finish(process)
        cost = counted.cost()
        print(f"| plain | {self._cells(cost)} | | | | | {_load()} |", flush=True)
        return cost

    def _map(self, engine: str, source: Path, name: str, kill_at: int | None = None) -> Cost:
        output = self._done / name
        command = [sys.executable, "-m", "numlite", "map", str(self._model), "--input", str(source)]
        command += ["--output", str(output), "--engine", engine, "--workers", str(self._workers)]
        command += ["--part-rows", str(PART_ROWS), "--batch", str(BATCH), "--json"]
        counted = Counted()
        process = counted.start(command)
        if kill_at is not None:
            killed = kill_one(process, self._model, output, kill_at)
            print(f"  {engine}: process {killed} killed (-9) at {kill_at} parts", file=sys.stderr, flush=True)
        if json.loads(_finish(process))["failed"]:
            sys.exit(f"batch.py: rows have failed in {output}")
        return counted.cost()

    def _is_same(self, name: str, plain: Path, rows: int) -> bool:
        """Whether there are so many scores, and all those of the plain processes, bit by bit, row by row."""
        found = sorted((self._done / name).glob("*.parquet"))
        wanted = sorted(plain.glob("*.parquet"))[: len(found)]
        counted = 0
        for ours, theirs in zip(found, wanted, strict=True):
            table = pq.read_table(ours, columns=["id", "scores"])
            counted += table.num_rows
            if not table.equals(pq.read_table(theirs)):
                return False
        return counted == rows

    def _cells(self, cost: Cost) -> str:
        return f"{cost.wall:.0f} | {cost.cpu:.1f} | {1e3 * cost.cpu / self._rows:.3f}"


def many_machines(engine: str, ms: float) -> None:
    """What handing out leaves of the time of many machines; all of it counts as one process's."""
    # A task of Spark does many parts, which alone take next to nothing.
    part = _handing_out(engine, 400, 40_400 if engine == "spark" else 2400)
    workers, shares = _MACHINES * _WORKERS, []
    for rows in (1024, 4096, 16384):
        asked = workers / (rows * ms / 1e3)
        shares.append(f"{min(1.0, 1 / (asked * part)):.0%} of {rows:,} rows ({asked:,.0f} parts a second)")
    print(f"{engine}: handing out a part takes {1e3 * part:.2f} ms, so that {1 / part:,.0f} a second can be.")
    print(f"  {_MACHINES:,} machines of {_WORKERS} workers compute all the time with parts of", end=" ")
    print(f"{workers * part / (ms / 1e3):,.0f} rows and more; the share of their time with parts", end=" ")
    print(", ".join(shares))
    if engine == "spark":
        task = _handing_out(engine, 100, 1100, "--task-each")
        print(
            f"  A task takes {1e3 * task:.2f} ms. {TASKS_EACH} for each worker, whatever the parts, take",
            end=" ",
        )
        print(f"{TASKS_EACH * workers * task:.0f} s for all: what a run must last.", flush=True)


def _handing_out(engine: str, few: int, many: int, *options: str) -> float:
    """Seconds of the processor that each more takes."""
    seconds = []
    for parts in (few, many):
        counted = Counted()
        command = [sys.executable, str(_HERE / "batch_dispatch.py"), engine, str(parts), *options]
        _finish(counted.start(command))
        seconds.append(counted.cost().cpu)
    return (seconds[1] - seconds[0]) / (many - few)


def _finish(process: Popen[str]) -> str:
    out, err = process.communicate()
    if process.returncode:
        sys.exit(f"batch.py: {process.args} has failed\n{err}")
    return out


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=96, help="height and width of the pictures")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--engines", nargs="*", default=["local", "ray", "spark"])
    parser.add_argument("--folder", type=Path, help="keeps the model and the pictures there for another run")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder and given.folder.parent) as made:
        folder = given.folder or Path(made) / "given"
        folder.mkdir(parents=True, exist_ok=True)
        found = Comparison(folder, Path(made), given.rows, given.size, given.workers)
        print(f"{given.rows:,} pictures, {given.workers} workers, load {_load()}\n")
        print("| | seconds | CPU s | CPU ms a picture | of plain | steady | scores | killed -9 | load |")
        print("|---|---|---|---|---|---|---|---|---|", flush=True)
        taken = {}
        for engine in given.engines:
            found.engine(engine)
            taken[engine] = found.ms
        print(flush=True)
        for engine in taken.keys() - {"local"}:
            many_machines(engine, taken[engine])


if __name__ == "__main__":
    main()
