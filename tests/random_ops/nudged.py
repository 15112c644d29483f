"""Whether two results are apart by a rounding alone: one of them moves as far where inputs do by a bit.

Recurrent operators with int8 weights quantize what they computed a step before. Where that lies between two
integers, the last bit of a hyperbolic tangent says which, and all later steps follow; so results change in
the third digit when an input does in the seventh. All others are alike to some 4e-7.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numlite import interpreter as numlite_api

from .litert_process import LiteRT, Outcome, run
from .one_op import Trial

_TRIES = 12


def moves_as_far(litert: LiteRT, trial: Trial, resolver: str, ours: Outcome, theirs: Outcome) -> bool:
    """Whether inputs nudged in the last bit move either's results at least half as far as they are apart."""
    far = _apart(ours, theirs)
    if far == 0:
        return False
    random = np.random.default_rng(7)
    for _ in range(_TRIES):
        runs = tuple(tuple(_nudged(random, x) for x in arrays) for arrays in trial.runs)
        nudged = replace(trial, runs=runs)
        moved = _apart(run(numlite_api, nudged, resolver), ours), _apart(litert.run(nudged, resolver), theirs)
        if max(moved) >= far / 2:
            return True
    return False


def _nudged(random: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """Floats of which each is its neighbour, below or above, or itself."""
    if x.dtype != np.float32:
        return x
    ends = np.array([-np.inf, np.inf], np.float32)[random.integers(0, 2, x.shape)]
    return np.where(random.random(x.shape) < 0.7, np.nextafter(x, ends), x)


def _apart(some: Outcome, others: Outcome) -> float:
    """The largest difference of two elements; 0 where runs or shapes are others."""
    pairs = [
        (x, y) for a, b in zip(some.outputs, others.outputs, strict=False) for x, y in zip(a, b, strict=True)
    ]
    if len(some.outputs) != len(others.outputs) or any(x.shape != y.shape for x, y in pairs):
        return 0.0
    return max((float(np.abs(x.astype(np.float64) - y).max(initial=0)) for x, y in pairs), default=0.0)
