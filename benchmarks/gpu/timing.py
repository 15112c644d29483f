"""Times of a device's work: medians, and how far they spread."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numlite.benchmarks.gpu.job import Job
from numlite.delegates.cuda.device import Device

_LEAST_ROUNDS, _MOST_ROUNDS = 3, 50


class Timing(NamedTuple):
    """Microseconds: the median, and the tenth and ninetieth percentile."""

    us: float
    low: float
    high: float


def timing(once_us: Callable[[], float], seconds: float, parts: int = 1) -> Timing:
    """Of one of so many equal parts of what once_us does and times, over about so many seconds.

    The first time warms up; without any seconds it is all there is.
    """
    values, end = [once_us()], time.perf_counter() + seconds
    while (
        seconds
        and (len(values) <= _LEAST_ROUNDS or time.perf_counter() < end)
        and len(values) <= _MOST_ROUNDS
    ):
        values.append(once_us())
    return Timing(*(float(us) / parts for us in np.percentile(values[1:] or values, (50, 10, 90))))


def device_time(
    job: Job, device: Device, work: Callable[[], object], seconds: float = 0.3, parts: int = 1
) -> Timing:
    """The device's time for work that is put into its queue."""
    return timing(lambda: device.time_us(work), 0.0 if job.rehearses else seconds, parts)
