"""What an engine takes to hand out parts: parts that are nothing to do, for benchmarks/batch.py.

python benchmarks/batch_dispatch.py ray 2000        # or spark, which carry this file's class to workers
python benchmarks/batch_dispatch.py spark 2000 --task-each  # a task of Spark for each part
"""

from __future__ import annotations

import sys
from pathlib import Path

from numlite.batch import engines
from numlite.batch.job import Job, PartResult
from numlite.batch.parts import Part
from numlite.batch.predictor import Predictor


class Nothing(Job):
    """A part is done when it is asked for."""

    def do(self, part: Part) -> PartResult:
        return PartResult(part.number, part.rows, 0)


def main(engine: str, count: int, *options: str) -> None:
    if "--task-each" in options:
        engines.TASKS_EACH = count
    job = Nothing(Predictor("model.tflite"), Path("done"), "nothing")
    parts = [
        Part(n, Path("pictures"), (f"{n // 10:08}.parquet",), 1000 * n, 1000 * (n + 1)) for n in range(count)
    ]
    done = list(engines.ENGINES[engine](job, parts, 2))
    assert sorted(result.number for result in done) == list(range(count))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
