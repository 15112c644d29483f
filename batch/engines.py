"""Engines: what runs the parts of a job, on this machine's processes, by Ray or by Spark."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import islice
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any

from ..lite.errors import StateError, UnsupportedError
from .job import Job, PartResult
from .parts import Part

_MOST_DEATHS = 3  # of workers, one after the other without a part done
_LOOK_S = 0.2  # how long results of Spark may lie before they are told
TASKS_EACH = 8  # of Spark, for each that can run at once: handing one out takes longer than a small part
_GROUP = "numlite map"

Engine = Callable[[Job, Sequence[Part], int], Iterator[PartResult]]


def local(job: Job, parts: Sequence[Part], workers: int) -> Iterator[PartResult]:
    """Processes of this machine, which share the model's mapped file.

    A part whose worker dies is done by another one. StateError when workers die again and again.
    """
    left, deaths = {part.number: part for part in parts}, 0
    while left:
        with ProcessPoolExecutor(workers, get_context("spawn"), _end_with_parent) as pool:
            waiting = {pool.submit(job.do, part) for part in left.values()}
            try:
                for result in _as_done(waiting):
                    del left[result.number]
                    deaths = 0
                    yield result
            except BrokenProcessPool as error:
                deaths += 1
                if deaths == _MOST_DEATHS:
                    raise _died(
                        f"{len(left)} parts are not done: workers have died {deaths} times in a row"
                    ) from error
            finally:
                for future in waiting:
                    future.cancel()


def _end_with_parent() -> None:
    """Have this worker end when the process that started it does, which may be killed."""
    parent = parent_process()
    assert parent is not None

    def wait_for_end() -> None:
        parent.join()
        os._exit(1)

    # Workers would wait for work for ever: each holds both ends of the queue that it comes by.
    Thread(target=wait_for_end, daemon=True).start()


def _died(what: str) -> StateError:
    return StateError(f"{what} (killed, or out of memory?). The same command goes on from here")


def _cannot_begin(trace: str) -> StateError:
    """Of what an engine tells of the worker, the line that says why."""
    lines = [line.strip() for line in trace.splitlines() if line.strip()]
    why = next((line for line in reversed(lines) if "No module named" in line), lines[-1])
    return StateError(f"workers cannot begin: {why}. They need numlite and its extras where they run")


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
    """An actor: does the parts that it gets, once it has said that it is there."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def here(self) -> None:
        """Nothing: the answer is that the actor runs."""

    def do(self, part: Part) -> PartResult:
        return self._job.do(part)


def ray(job: Job, parts: Sequence[Part], workers: int) -> Iterator[PartResult]:
    """Actors of Ray: of the cluster that is connected to, else of this machine.

    Parts go to actors that have a place; one that dies starts anew, and does its parts again.
    StateError when that has happened to a part again and again, and where numlite is not what an actor has.
    """
    try:
        import ray as library
    except ImportError as error:
        raise UnsupportedError("--engine ray needs Ray: pip install numlite[ray]") from error
    started = not library.is_initialized()
    if started:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anyone
        with _without_watchers():
            library.init(
                num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="error"
            )
    actors = []
    try:
        lasting = library.remote(num_cpus=1, max_restarts=-1, max_task_retries=_MOST_DEATHS - 1)
        actors = [lasting(_RayWorker).remote(job) for _ in range(workers)]
        yield from _by_actors(library, actors, parts)
    except library.exceptions.RayActorError as error:
        if getattr(error, "actor_init_failed", False):
            raise _cannot_begin(str(error)) from error
        raise _died(f"an actor has died {_MOST_DEATHS} times with the same part") from error
    finally:
        for actor in actors:
            library.kill(actor)
        if started:
            library.shutdown()


@contextmanager
def _without_watchers() -> Iterator[None]:
    """A Ray that is started in the block has neither its scaler of clusters nor its reader of logs.

    They are processes that import Ray and look around all the time. `ray start` leaves them out by
    --no-monitor and --include-log-monitor=False; ray.init has no such arguments, so what it makes of its
    own gets these. Where this Ray has other ones, all of its processes start.
    """
    settings = {"no_monitor": True, "include_log_monitor": False}
    try:
        from ray._private import parameter

        made = parameter.RayParams
        made(**settings)
    except (ImportError, AttributeError, TypeError):
        yield
        return
    parameter.RayParams = partial(made, **settings)
    try:
        yield
    finally:
        parameter.RayParams = made


def _by_actors(library: Any, actors: Sequence[Any], parts: Sequence[Part]) -> Iterator[PartResult]:
    """Each actor has a part to do and the next one at hand."""
    left = iter(parts)
    waiting = {actor.here.remote(): (actor, 2) for actor in actors}
    told = 0
    while told < len(parts):
        for answer in library.wait(list(waiting))[0]:
            actor, wanted = waiting.pop(answer)
            waiting.update({actor.do.remote(part): (actor, 1) for part in islice(left, wanted)})
            result = library.get(answer)
            if result is not None:
                told += 1
                yield result


def spark(job: Job, parts: Sequence[Part], workers: int) -> Iterator[PartResult]:
    """Tasks of Spark: of the session that is active, else of this machine. Needs Java."""
    try:
        from pyspark import SparkConf, SparkContext
    except ImportError as error:
        raise UnsupportedError("--engine spark needs Spark: pip install numlite[spark], and Java") from error
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Tasks of a local Spark are tried once by default: here as often as on a cluster.
    conf = (
        SparkConf()
        .setMaster(f"local[{workers},4]")
        .setAppName("numlite map")
        .set("spark.ui.enabled", "false")
        .set("spark.ui.showConsoleProgress", "false")  # the command has a bar of its own
        .set("spark.log.level", "ERROR")
    )
    # Java only hands out parts here: compiling its own code with all its might takes longer than it gains.
    conf.set("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    started = SparkContext._active_spark_context is None
    context = SparkContext.getOrCreate(conf)
    try:
        yield from _as_told(context, job, parts)
    finally:
        if started:
            context.stop()


def _as_told(context: Any, job: Job, parts: Sequence[Part]) -> Iterator[PartResult]:
    """Results as tasks end, all parts being one job: an accumulator brings them before the job's end does.

    A task that is tried again finds what it has written.
    """
    from py4j.protocol import Py4JJavaError

    done = context.accumulator([], _results_param())
    tasks = min(len(parts), TASKS_EACH * context.defaultParallelism)

    def do(part: Part) -> None:
        done.add([job.do(part)])

    def run() -> None:
        context.setJobGroup(_GROUP, "parts", interruptOnCancel=True)
        context.parallelize(list(parts), tasks).foreach(do)

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
        except Py4JJavaError as error:
            if "worker exited unexpectedly" in str(error):
                raise _died("a worker has died again and again with the same part") from error
            if "ModuleNotFoundError" in str(error):
                raise _cannot_begin(str(error)) from error
            raise
        finally:
            if not running.done():
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
