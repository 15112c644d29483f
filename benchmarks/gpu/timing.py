"""Times of a device's work: medians, and how far they spread."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numlite.delegates.cuda.device import Device, Graph

_WARM_UP_SECONDS = 0.05


@dataclass(frozen=True)
class Timing:
    """Microseconds: the median, and the tenth and ninetieth percentile."""

    us: float
    low: float
    high: float
    rounds: int

    def fields(self, prefix: str = "") -> dict[str, float]:
        return {f"{prefix}us": self.us, f"{prefix}low": self.low, f"{prefix}high": self.high}


def timing(values: list[float]) -> Timing:
    low, median, high = np.percentile(values, (10, 50, 90))
    return Timing(float(median), float(low), float(high), len(values))


def time_graph(
    device: Device, graph: Graph, seconds: float = 0.3, most_rounds: int = 50, per_launch: int = 1
) -> Timing:
    """The device's time for one of per_launch equal parts of the graph, warm, over about so many seconds."""
    first = time.perf_counter()
    while True:
        once = device.time_us(graph.launch)
        if time.perf_counter() - first >= min(_WARM_UP_SECONDS, seconds / 4):
            break
    rounds = max(min(3, most_rounds), min(most_rounds, int(seconds * 1e6 / max(once, 1.0))))
    return timing([device.time_us(graph.launch) / per_launch for _ in range(rounds)])


def time_queue(device: Device, graph: Graph, once_us: float, seconds: float = 0.1) -> float:
    """Microseconds for each of many launches that wait for each other on the device."""
    count = max(1, min(200, int(seconds * 1e6 / max(once_us, 1.0))))

    def work() -> None:
        for _ in range(count):
            graph.launch()

    return device.time_us(work) / count


def time_calls(call: Callable[[], object], seconds: float = 0.5, most_rounds: int = 30) -> Timing:
    """The host's time for a call, warm."""
    call()
    values: list[float] = []
    end = time.perf_counter() + seconds
    while len(values) < most_rounds and (len(values) < min(3, most_rounds) or time.perf_counter() < end):
        start = time.perf_counter()
        call()
        values.append((time.perf_counter() - start) * 1e6)
    return timing(values)
