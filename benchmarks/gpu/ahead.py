"""Section "compile": models, CPU kernels and machine code of all variants, ahead and side by side."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from multiprocessing import get_context

from numlite.benchmarks.gpu.ceilings import matmul_model, matmul_size
from numlite.benchmarks.gpu.correctness import BATCH, check_groups
from numlite.benchmarks.gpu.job import Job
from numlite.benchmarks.gpu.lowered import ARCH, LoweredModel, lowered
from numlite.delegates.cuda.launch import Kernel
from numlite.tests.delegates.cuda import gpu_checks
from numlite.tests.delegates.cuda.simulation import RESOLVERS


def measure(job: Job) -> None:
    """Everything that later sections would have to wait for, networks first."""
    start, variants, failed = time.perf_counter(), 0, 0
    networks = [("network", name, mode) for name in job.models for mode in job.modes]
    networks += [("matmul", mode) for mode in job.modes]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for units in (networks, [("checks", group) for group in check_groups(job)]):
            kernels: dict[Kernel, None] = {}
            for unit, (found, fault) in zip(units, pool.map(partial(_kernels, job), units), strict=True):
                kernels.update(dict.fromkeys(found))
                if fault:
                    job.add("error", unit=" ".join(unit), error=fault)
            broken = gpu_checks.compile_all(ARCH, kernels)
            for name, fault in broken.items():
                job.add("error", unit=name, error=fault[:500])
            variants, failed = variants + len(kernels), failed + len(broken)
    job.add("compiled", variants=variants, failed=failed, seconds=time.perf_counter() - start)


def _kernels(job: Job, unit: Sequence[str]) -> tuple[list[Kernel], str]:
    """A process's part: what the unit launches, or what went wrong. The CPU's kernels are compiled, too."""
    try:
        if unit[0] != "checks":
            launches = chain.from_iterable(made.lowering.launches for made in _lowered(job, *unit))
            return list(dict.fromkeys(launch.kernel for launch in launches)), ""
        checks = check_groups(job)[unit[1]]
        for check in checks:
            gpu_checks.run_on_the_cpu(*check)
        return list(chain.from_iterable(gpu_checks.kernels_of_check(ARCH, *check) for check in checks)), ""
    except Exception as error:
        return [], f"{type(error).__name__}: {error}"[:500]


def _lowered(job: Job, what: str, name: str, mode: str = "") -> Iterator[LoweredModel]:
    if what == "matmul":
        yield lowered(matmul_model(job, name), name, matmul_size(job)[0])
        return
    for batch in job.batches:
        yield lowered(job.model(name, mode), mode, batch)
    for numerics in RESOLVERS if mode == "int8" else ("default",):
        yield lowered(job.model(name, mode, watched=True), mode, BATCH, numerics=numerics)
