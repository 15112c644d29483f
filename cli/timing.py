"""Timing of calls against each other: short rounds, taken in turns in one process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

WARMUP_NS = 100_000_000
ROUND_NS = 10_000_000


@dataclass(frozen=True)
class Spread:
    """Median and the band in which 80 % of the values lie."""

    median: float
    p10: float
    p90: float

    @classmethod
    def of(cls, values: np.ndarray) -> Spread:
        p10, median, p90 = np.percentile(values, [10, 50, 90])
        return cls(float(median), float(p10), float(p90))


def time_in_turns(
    calls: Sequence[Callable[[], object]],
    seconds: float,
    on_progress: Callable[[float], None] = lambda fraction: None,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> np.ndarray:
    """Times in ns of one call by the clock, as an array of [rounds, len(calls)].

    In each round every function runs for about 10 ms (at least once), the order turning from
    round to round, so that what slows the machine down slows all of them. Takes about the
    given seconds; at least three rounds.
    """
    repeats = [_repeats(call) for call in calls]
    rounds: list[list[float]] = []
    begin = time.perf_counter()
    while len(rounds) < 3 or time.perf_counter() - begin < seconds:
        turn = range(len(calls)) if len(rounds) % 2 == 0 else reversed(range(len(calls)))
        row = [0.0] * len(calls)
        for k in turn:
            row[k] = _time(calls[k], repeats[k], clock)
        rounds.append(row)
        on_progress(min(1.0, (time.perf_counter() - begin) / seconds))
    return np.array(rounds)


def median_of_runs(
    call: Callable[[], object], seconds: float, clock: Callable[[], int] = time.perf_counter_ns
) -> float:
    """The median in ns of single runs, of as many as fill the seconds, three at least.

    Runs that the machine has held up do not move it, as they would the mean of a round.
    """
    times = [_time(call, 1, clock)]
    end = clock() + seconds * 1e9
    while len(times) < 3 or clock() < end:
        times.append(_time(call, 1, clock))
    return float(np.median(times))


def _time(call: Callable[[], object], repeats: int, clock: Callable[[], int] = time.perf_counter_ns) -> float:
    begin = clock()
    for _ in range(repeats):
        call()
    return (clock() - begin) / repeats


def _repeats(call: Callable[[], object]) -> int:
    """Warms up, and says how many calls fill a round."""
    begin = time.perf_counter_ns()
    fastest = float("inf")
    for _ in range(10_000):
        fastest = min(fastest, _time(call, 1))
        if time.perf_counter_ns() - begin > WARMUP_NS:
            break
    return max(1, round(ROUND_NS / max(fastest, 1)))


def in_words(ns: float) -> str:
    """A time in the unit that suits it: 812 ns, 3.45 us, 12.3 ms, 1.23 s."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns < 100 * size else f"{ns / size:.0f} {unit}"
    return f"{ns:.0f} ns"
