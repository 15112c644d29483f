"""What an invoke costs beside its kernels: plans of trivial rows, and rows cut into chunks.

    python benchmarks/executor.py

Pin it to one CPU for the first table, to as many CPUs as threads for the second.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numlite.kernels.compiled.driver.compile import CompiledKernel, compile_kernel
from numlite.kernels.compiled.driver.kernel_source import KernelSource
from numlite.kernels.compiled.driver.library import Library
from numlite.lite.native_plan import NativePlan
from numlite.lite.thread_pool import shared_pool

BLOCK = np.dtype([("state", np.uint64, 64), ("rounds", np.int64)])
CHUNKS = 8


def nothing(a, chunk, chunks):
    return 0


def work(a, chunk, chunks):
    value = a.state[chunk * 8]
    for _ in range(a.rounds * chunk // chunks, a.rounds * (chunk + 1) // chunks):
        value ^= value << np.uint64(13)
        value ^= value >> np.uint64(7)
        value ^= value << np.uint64(17)
    a.state[chunk * 8] = value
    return 0


def plan_of(kernel: CompiledKernel, block: np.ndarray, rows: int, chunks: int, threads: int) -> NativePlan:
    row = np.array([kernel.address, block.ctypes.data, chunks], np.int64)
    library = Library()
    return NativePlan(np.tile(row, (rows, 1)), library, shared_pool(threads, library))


def fastest(call: Callable[[], object], calls: int, rounds: int = 50) -> float:
    """Seconds of one call, in the fastest of many rounds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls)
    return min(times)


def main() -> None:
    block = np.ones(1, BLOCK)
    kernel = compile_kernel(KernelSource(nothing, BLOCK))
    print("| rows | ns per invoke |\n|---|---|")
    for rows in (0, 1, 10, 100):
        plan = plan_of(kernel, block, rows, 1, 1)
        print(f"| {rows} | {1e9 * fastest(plan.invoke, 5000):.0f} |")
    kernel = compile_kernel(KernelSource(work, BLOCK))
    print(f"\n| one row, {CHUNKS} chunks | 1 thread, us | 2 threads | 2, one asleep | 4 threads |")
    print("|---|---|---|---|---|")
    for rounds in (0, 10_000, 100_000):
        block["rounds"] = rounds
        calls = 200 if rounds < 100_000 else 20
        times = [fastest(plan_of(kernel, block, 1, CHUNKS, threads).invoke, calls) for threads in (1, 2, 4)]
        rested = asleep(plan_of(kernel, block, 1, CHUNKS, 2))
        row = " | ".join(f"{1e6 * value:.1f}" for value in (*times[:2], rested, times[2]))
        print(f"| {rounds} rounds | {row} |")


def asleep(plan: NativePlan) -> float:
    """Seconds of an invoke that finds the pool's threads asleep."""
    times = []
    for _ in range(100):
        time.sleep(0.002)
        times.append(fastest(plan.invoke, 1, 1))
    return float(np.percentile(times, 25))


if __name__ == "__main__":
    main()
