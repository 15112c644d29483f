"""How fast this machine multiplies and reads at best: what a model's speed is held against."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..kernels.compiled.driver.library import Library
from ..kernels.machine_peak import LINE_BYTES, PEAK_ARGS, SUMS, byte_macs, float_macs
from ..lite.available_memory import allocate
from ..lite.native_plan import NativePlan
from ..lite.thread_pool import shared_pool

_ROUNDS = 200_000
_TURNS = 7
# More than the caches of one core hold, so that memory is what is measured.
_READ_BYTES = 128 << 20


@dataclass(frozen=True)
class MachinePeak:
    """Per second, on as many threads as were asked for: seconds-adds by type, bytes read from memory."""

    float32_macs: float
    int8_macs: float
    bytes_read: float


def machine_peak(threads: int) -> MachinePeak:
    """Measured now, the best of some runs of a few ms each; compiles the kernels where no cache has them."""
    data = allocate(_READ_BYTES)
    data[:] = 1  # pages of zeros that nobody has written are all the same one
    seconds = partial(_fastest, threads=threads, data=data)
    return MachinePeak(
        float32_macs=threads * _ROUNDS * float_macs() / seconds("peak_f32"),
        int8_macs=threads * _ROUNDS * byte_macs() / seconds("peak_i8"),
        bytes_read=_READ_BYTES / seconds("peak_read"),
    )


def _fastest(kernel: str, threads: int, data: np.ndarray) -> float:
    """Seconds of the fastest of some calls, cut into a chunk for each thread."""
    values, out = np.ones(SUMS * LINE_BYTES // 4, np.float32), np.zeros(threads * LINE_BYTES, np.uint8)
    block = np.zeros(1, PEAK_ARGS)
    block[0] = values.ctypes.data, _ROUNDS, out.ctypes.data, data.ctypes.data, data.size
    library = Library()
    library.load({"machine_peak": {kernel}, "executor": {"run_plan", "invoke"}})
    row = [library.address("machine_peak", kernel), block.ctypes.data, threads, _ROUNDS]
    plan = NativePlan(np.array([row], np.int64), library, shared_pool(threads, library))
    times = []
    for _ in range(_TURNS):
        begin = time.perf_counter()
        plan.invoke()
        times.append(time.perf_counter() - begin)
    return min(times)
