"""Section "compile": models, CPU kernels and machine code of all variants, ahead and side by side."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from numlite.benchmarks.gpu import correctness_cases
from numlite.benchmarks.gpu.ceilings import MATMUL, SMALL_MATMUL, matmul_model
from numlite.benchmarks.gpu.correctness import RESOLVERS, WATCHED_BATCH
from numlite.benchmarks.gpu.job import Job
from numlite.benchmarks.gpu.lowered import ARCH, LoweredModel, file_type
from numlite.benchmarks.gpu.network_model import model_file
from numlite.benchmarks.gpu.networks import Size
from numlite.benchmarks.gpu.single_layers import single_layers
from numlite.delegates.cuda.compile import CubinStore
from numlite.delegates.cuda.launch import Kernel
from numlite.interpreter import OpResolverType


@dataclass(frozen=True)
class Outcome:
    """What a process did: what for, in how many seconds, the kernels that it found, and what went wrong."""

    name: str
    seconds: float
    kernels: tuple[Kernel, ...] = ()
    fault: str = ""


def measure(job: Job) -> None:
    """Everything that later sections would have to wait for."""
    job.folder.mkdir(parents=True, exist_ok=True)
    workers = max(1, len(os.sched_getaffinity(0)))
    start = time.perf_counter()
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        found = _lower(job, pool)
        job.records.add("lowered", variants=len(found), seconds=time.perf_counter() - start)
        _compile(job, pool, found, workers)
        pool.shutdown(wait=job.left() > 0, cancel_futures=True)


def _lower(job: Job, pool: ProcessPoolExecutor) -> list[Kernel]:
    """Write the models, then find which kernels they need, the networks' first.

    The CPU's kernels are compiled on the way.
    """
    types = [file_type(mode) for mode in job.modes] + ["uint8"]
    files = [
        pool.submit(_write, job.folder, name, type_, job.size, watched)
        for name in job.models
        for type_ in dict.fromkeys(types)
        for watched in (False, True)
    ]
    _gather(job, files)
    lowerings = [
        pool.submit(_network_kernels, job, name, mode)
        for name in job.models
        for mode in (*job.modes, "uint8")
    ]
    lowerings += [pool.submit(_matmul_kernels, mode, job.small) for mode in job.modes]
    lowerings += [pool.submit(_precision_kernels, mode) for mode in job.modes if mode != "int8"]
    lowerings += [pool.submit(_case_kernels, stem) for stem in (() if job.small else correctness_cases.STEMS)]
    return list(dict.fromkeys(kernel for outcome in _gather(job, lowerings) for kernel in outcome.kernels))


def _gather(job: Job, futures: Sequence[Future[Outcome]]) -> list[Outcome]:
    """What came out, in order; faults are recorded, and that something goes on."""
    for done, future in enumerate(as_completed(futures), 1):
        outcome = future.result()
        job.records.add("progress", unit=outcome.name, done=done, seconds=outcome.seconds)
        if outcome.fault:
            job.records.add("error", unit=outcome.name, error=outcome.fault)
    return [future.result() for future in futures]


def _compile(job: Job, pool: ProcessPoolExecutor, kernels: list[Kernel], workers: int) -> None:
    """All variants; on a simulated device a few, to see that it can be done."""
    wanted = kernels if job.device == "cuda" else kernels[:2]
    start, done, worked, failed = time.perf_counter(), 0, 0.0, 0
    futures = [pool.submit(_cubin, kernel) for kernel in wanted]
    for future in as_completed(futures):
        outcome = future.result()
        done, worked = done + 1, worked + outcome.seconds
        if outcome.fault:
            failed += 1
            job.records.add("error", unit=outcome.name, error=outcome.fault)
        if done % 20 == 0:
            job.records.add("progress", unit="compile", done=done, seconds=time.perf_counter() - start)
        if job.left() < 0:
            break
    job.records.add(
        "compiled",
        variants=done,
        of=len(wanted),
        failed=failed,
        seconds=time.perf_counter() - start,
        processor_seconds=worked,
        processes=workers,
    )


def _outcome(name: str, work: Callable[[], Iterable[Kernel]]) -> Outcome:
    """What a process tells of its work; nothing that it raises stops the others."""
    start = time.perf_counter()
    try:
        kernels = tuple(dict.fromkeys(work()))
    except Exception as error:
        return Outcome(name, time.perf_counter() - start, (), f"{type(error).__name__}: {error}"[:500])
    return Outcome(name, time.perf_counter() - start, kernels)


def _write(folder: Path, name: str, type_: str, size: Size, watched: bool) -> Outcome:
    def work() -> Iterable[Kernel]:
        model_file(folder, name, type_, size, watched)
        return ()

    return _outcome(f"write {name} {type_}", work)


def _network_kernels(job: Job, name: str, mode: str) -> Outcome:
    """Of each batch, and of what is compared."""

    def work() -> Iterable[Kernel]:
        if mode in job.modes:
            path = model_file(job.folder, name, file_type(mode), job.size)
            for batch in job.batches:
                yield from LoweredModel(path, mode, batch).kernels
        watched = model_file(job.folder, name, file_type(mode), job.size, watched=True)
        for resolver in RESOLVERS.values() if mode in ("int8", "uint8") else (OpResolverType.AUTO,):
            yield from LoweredModel(watched, mode, WATCHED_BATCH, resolver=resolver).kernels

    return _outcome(f"lower {name} {mode}", work)


def _matmul_kernels(mode: str, small: bool) -> Outcome:
    sizes = SMALL_MATMUL if small else MATMUL
    return _outcome(
        f"lower matmul {mode}", lambda: LoweredModel(matmul_model(mode, sizes), mode, sizes.rows).kernels
    )


def _precision_kernels(mode: str) -> Outcome:
    def work() -> Iterable[Kernel]:
        for layer in single_layers():
            yield from LoweredModel(layer.content("float32"), mode, WATCHED_BATCH).kernels

    return _outcome(f"lower single layers {mode}", work)


def _case_kernels(stem: str) -> Outcome:
    return _outcome(f"lower {stem}", lambda: correctness_cases.kernels_of_stem(stem, RESOLVERS))


def _cubin(kernel: Kernel) -> Outcome:
    """Compiled by this process, and in the cache on disk."""

    def work() -> Iterable[Kernel]:
        CubinStore(ARCH).cubin(kernel)
        return ()

    return _outcome(str(kernel), work)
