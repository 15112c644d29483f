"""Engines: what runs the parts of a job, on this machine's processes, by Ray or by Spark."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

from ..lite.errors import StateError, UnsupportedError
from .job import Job, PartResult
from .parts import Part

_MOST_DEATHS = 3  # of workers, one after the other without a part done
_LOOK_S = 0.2  # how long results of Spark may lie before they are told
_GROUP = "numlite map"

Engine = Callable[[Job, Sequence[Part], int], Iterator[PartResult]]


def local(job: Job, parts: Sequence[Part], workers: int) -> Iterator[PartResult]:
    """Processes of this machine, which share the model's mapped file.

    A part whose worker dies is done by another one. StateError when workers die again and again.
    """
    left, deaths = {part.number: part for part in parts}, 0
    while left:
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            waiting = {pool.submit(job.do, part) for part in left.values()}
            try:
                for result in _as_done(waiting):
                    del left[result.number]
                    deaths = 0
                    yield result
            except BrokenProcessPool as error:
                deaths += 1
                if deaths == _MOST_DEATHS:
                    raise StateError(
                        f"{len(left)} parts are not done, since workers have died {deaths} times in a row "
                        "(killed, or out of memory?). The same command goes on from here"
                    ) from error
            finally:
                for future in waiting:
                    future.cancel()


def _as_done(waiting: set[Future[PartResult]]) -> Iterator[PartResult]:
    """Results as they come; what has come before a worker died comes before its error."""
    left = set(waiting)
    while left:
        done, left = wait(left, return_when=FIRST_COMPLETED)
        broken: BaseException | None = None
        for future in done:
            error = future.exception()
            if error is None:
                yield future.result()
            elif not isinstance(broken, BrokenProcessPool):
                broken = error
        if broken is not None:
            raise broken


class _RayWorker:
    """An actor: does the parts whose numbers it gets."""

    def __init__(self, job: Job, parts: Sequence[Part]) -> None:
        self._job = job
        self._parts = {part.number: part for part in parts}

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[int]]:
        done = [self._job.do(self._parts[int(number)]) for number in batch["part"]]
        return {name: [getattr(result, name) for result in done] for name in PartResult._fields}


def ray(job: Job, parts: Sequence[Part], workers: int) -> Iterator[PartResult]:
    """Actors of Ray Data: of the cluster that is connected to, else of this machine."""
    try:
        import ray as library
    except ImportError as error:
        raise UnsupportedError("--engine ray needs Ray: pip install numlite[ray]") from error
    started = not library.is_initialized()
    if started:
        library.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        context = library.data.DataContext.get_current()
        context.enable_progress_bars = False
        numbers = [{"part": part.number} for part in parts]
        done = library.data.from_items(numbers, override_num_blocks=len(parts)).map_batches(
            _RayWorker,
            fn_constructor_args=(job, list(parts)),
            batch_size=1,
            compute=library.data.ActorPoolStrategy(size=workers),
        )
        if started:  # Ray sets it when the first data set is made
            logging.getLogger("ray.data").setLevel(logging.ERROR)
        for row in done.iter_rows():
            yield PartResult(**{name: int(row[name]) for name in PartResult._fields})
    finally:
        if started:
            library.shutdown()


def spark(job: Job, parts: Sequence[Part], workers: int) -> Iterator[PartResult]:
    """Tasks of Spark: of the session that is active, else of this machine. Needs Java."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise UnsupportedError("--engine spark needs Spark: pip install numlite[spark], and Java") from error
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    active = SparkSession.getActiveSession()
    # Tasks of a local Spark are tried once by default: here as often as on a cluster.
    builder = SparkSession.builder.master(f"local[{workers},4]").config("spark.ui.enabled", "false")
    session = active or builder.appName("numlite map").getOrCreate()
    try:
        yield from _as_told(session.sparkContext, job, parts)
    finally:
        if active is None:
            session.stop()


def _as_told(context: Any, job: Job, parts: Sequence[Part]) -> Iterator[PartResult]:
    """Results as tasks end, all parts being one job: an accumulator brings them before the job's end does."""
    done = context.accumulator([], _results_param())

    def do(part: Part) -> None:
        done.add([job.do(part)])

    def run() -> None:
        context.setJobGroup(_GROUP, "parts", interruptOnCancel=True)
        context.parallelize(list(parts), len(parts)).foreach(do)

    with ThreadPoolExecutor(1) as pool:
        running, told = pool.submit(run), 0
        try:
            while told < len(parts):
                ended = bool(wait([running], _LOOK_S).done)
                come = done.value[told:]
                told += len(come)
                yield from map(PartResult._make, come)
                if ended:
                    running.result()
                    break
        finally:
            context.cancelJobGroup(_GROUP)


def _results_param() -> Any:
    from pyspark.accumulators import AccumulatorParam

    class Results(AccumulatorParam[list[PartResult]]):
        def zero(self, value: list[PartResult]) -> list[PartResult]:
            return []

        def addInPlace(self, value1: list[PartResult], value2: list[PartResult]) -> list[PartResult]:
            value1 += value2
            return value1

    return Results()


ENGINES: dict[str, Engine] = {"local": local, "ray": ray, "spark": spark}
