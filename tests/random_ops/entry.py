"""Entry: how random cases of one operator are made, and how close results have to be."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .draw import Draw
from .litert_process import Outcome
from .one_op import OneOp, Trial

# Fills the model, or returns one that is whole.
Make = Callable[[Draw, OneOp], Trial | None]


@dataclass(frozen=True)
class Entry:
    """make fills the model; rtol is of each element, atol of the largest one, or of 1.

    nan tells whether NaN may stand where LiteRT has a number or the other way round: results of
    instructions that take the first of two operands. hybrid is atol of float operators by int8 weights
    whose large sums cancel. What a fused activation hides, unclamped.py looks at. With nudges results of such
    weights may be farther apart where one moves as far for inputs that differ in the last bit (nudged.py).
    """

    make: Make
    rtol: float = 1e-5
    atol: float = 1e-6
    nan: bool = False
    hybrid: float = 0.0
    nudges: bool = False
    random: bool = False  # results are drawn: only shapes and types are compared

    def of(self, trial: Trial) -> Entry:
        """What holds for one trial."""
        if re.search(r"-hybrid-|^(?=.*float32\[)(?=.*int8\()", trial.told):
            return replace(self, atol=max(self.atol, self.hybrid))
        return replace(self, nudges=False)


@dataclass(frozen=True)
class Known:
    """A difference that docs/operators.md tells of: operator, what the case's description holds, why."""

    operators: str
    told: str
    why: str
    resolver: str = ""


def difference(entry: Entry, ours: Outcome, theirs: Outcome) -> str:
    """What LiteRT ran and numlite refused or computed otherwise; "" for nothing."""
    for number, expected in enumerate(theirs.outputs):
        if number >= len(ours.outputs):
            return f"run {number}: refused: {ours.refusal}"
        for place, (a, b) in enumerate(zip(ours.outputs[number], expected, strict=True)):
            text = _apart(entry, a, b)
            if text:
                return f"run {number}, output {place}: {text}"
    return ""


def _apart(entry: Entry, ours: np.ndarray, theirs: np.ndarray) -> str:
    if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
        return f"{_shown(ours)}, LiteRT {_shown(theirs)}"
    if entry.random or _same(ours, theirs):
        return ""
    if ours.dtype.kind not in "fc":
        places = np.argwhere(ours != theirs)
        place = tuple(places[0])
        what = f"{ours[place]!r}, LiteRT {theirs[place]!r}"
        return f"{len(places)} of {_shown(ours)} differ, at {[int(i) for i in place]} {what}"
    return _floats_apart(entry, ours, theirs)


def _shown(array: np.ndarray) -> str:
    return f"{array.dtype}{list(array.shape)}"


def _same(ours: np.ndarray, theirs: np.ndarray) -> bool:
    return np.array_equal(ours, theirs, equal_nan=ours.dtype.kind in "fc")


def _floats_apart(entry: Entry, ours: np.ndarray, theirs: np.ndarray) -> str:
    wide = np.complex128 if ours.dtype.kind == "c" else np.float64
    a, b = (x.astype(wide).reshape(-1) for x in (ours, theirs))
    parts = [(a.real, b.real), (a.imag, b.imag)] if wide is np.complex128 else [(a, b)]
    coarse = 2e-3 if ours.dtype == np.float16 else 0.0
    for x, y in parts:
        finite = np.isfinite(x) & np.isfinite(y)
        with np.errstate(all="ignore"):
            limit = max(entry.rtol, coarse) * np.abs(y) + max(entry.atol, coarse) * np.abs(y[finite]).max(
                initial=1
            )
            far = np.where(finite, np.abs(x - y) > limit + 1e-37, ~((x == y) | (np.isnan(x) & np.isnan(y))))
            if entry.nan:
                far &= ~(np.isnan(x) | np.isnan(y))
        if far.any():
            place = int(np.argmax(far))
            return f"{far.sum()} of {_shown(ours)} differ, at {place} {x[place]!r}, LiteRT {y[place]!r}"
    return ""
