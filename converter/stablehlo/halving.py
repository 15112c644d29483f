"""Reductions by any computation of two elements: halves of what is reduced, joined as whole tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...lite.errors import UnsupportedError
from ..building.tensor import Tensor
from .held import Held
from .map import takes_whole, widened
from .program import UNKNOWN, Block
from .step import Step


def joined(step: Step, block: Block, values: Sequence[Tensor]) -> list[Tensor]:
    """The computation of elements, done to whole tensors of one shape."""
    held = [Held(x, x.sizes) for x in values]
    return [each.whole for each in step.importer.inner(step.body).run(widened(block, values[0].sizes), held)]


def reduced_by_halves(step: Step, block: Block, axes: Sequence[int]) -> list[Tensor]:
    """The reduction along axes of known sizes, of as many operands as there are starts behind them.

    In which order elements are joined is open, as in StableHLO. UnsupportedError for computations with other
    operations than those on elements.
    """
    takes_whole(block)
    count = len(step.operands) // 2
    inputs, starts = step.inputs()[:count], step.inputs()[count:]
    rows = math.prod(inputs[0].sizes[axis] for axis in axes)
    if any(inputs[0].sizes[axis] == UNKNOWN for axis in axes):
        raise UnsupportedError("such a reduction along an axis of unknown size")
    state = [_rows(x, axes, rows) for x in inputs]
    like = [_rows_of(x, 0, 1) if rows else None for x in state]
    while rows > 1:
        half = rows // 2
        parts = [[_rows_of(x, first, half) for x in state] for first in (0, half)]
        made = joined(step, block, [*parts[0], *parts[1]])
        if rows % 2:
            zero = step.body.integers([0])
            ends = [_rows_of(x, 2 * half, 1) for x in state]
            made = [step.body.op("ConcatV2", *pair, _axis(zero)) for pair in zip(made, ends, strict=True)]
        state, rows = made, half + rows % 2
    if not rows:
        raise UnsupportedError("such a reduction of no elements")
    begins = [
        step.body.op("BroadcastTo", start, step.body.vector(step.body.sizes_of(x)))
        for start, x in zip(starts, like, strict=True)
        if x is not None
    ]
    return [_without_first(x) for x in joined(step, block, [*begins, *state])]


def _axis(vector: Tensor) -> Tensor:
    return vector.body.op("Reshape", vector, vector.body.integers([]))


def _rows(x: Tensor, axes: Sequence[int], rows: int) -> Tensor:
    """What is reduced along one first axis."""
    others = [axis for axis in range(x.rank) if axis not in axes]
    sizes = x.body.sizes_of(x)
    return x.body.reshaped(x.body.transposed(x, [*axes, *others]), [rows, *(sizes[axis] for axis in others)])


def _rows_of(x: Tensor, first: int, count: int) -> Tensor:
    rest = x.rank - 1
    begin, size = [first, *[0] * rest], [count, *[-1] * rest]
    return x.body.op("Slice", x, x.body.integers(begin), x.body.integers(size))


def _without_first(x: Tensor) -> Tensor:
    return x.body.reshaped(x, x.body.sizes_of(x)[1:])
