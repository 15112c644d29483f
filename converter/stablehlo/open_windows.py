"""Windows whose size is known only when the model runs, as running sums of open axes have them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_INT32
from ..building.body import known_numbers
from ..building.tensor import Tensor
from .reduce import OPS, is_neutral, neutral
from .step import Step


def open_windows(step: Step, x: Tensor, start: Tensor, name: str, numbers: Sequence[Tensor]) -> Tensor:
    """Windows along one axis, at each place of it.

    numbers are the windows' sizes, their steps, steps within x and within windows, and amounts around x.
    """
    if x.type == DT_BOOL or name not in OPS:
        raise UnsupportedError(f"windows of open sizes by {name}")
    if not is_neutral(start, name):
        raise UnsupportedError("windows of open sizes that start from another number")
    axis = _axis(numbers)
    body, size = x.body, x.body.element(x.body.as_int32(numbers[0]), axis)
    around = body.scalar(neutral(name, x.type), x.type)
    wide = body.op("PadV2", x, body.as_int32(numbers[4]), around)
    return _sums(wide, axis, size) if name == "add" else _joined(wide, axis, size, name)


def _axis(numbers: Sequence[Tensor]) -> int:
    """The one axis along which windows have more than one element."""
    sizes, *steps, _ = numbers
    if any(each.data is None or (each.data != 1).any() for each in steps):
        raise UnsupportedError("windows of open sizes with steps; give input_shapes")
    known = known_numbers(sizes)
    axes = [] if known is None else np.flatnonzero(known.reshape(-1) != 1).tolist()
    if len(axes) != 1:
        raise UnsupportedError("windows of open sizes along several axes; give input_shapes")
    return int(axes[0])


def _sums(x: Tensor, axis: int, size: Tensor) -> Tensor:
    """The sum up to each window's end without the sum before it."""
    body, rank = x.body, x.rank
    place = body.scalar(axis, DT_INT32)
    ends, befores = (
        body.op("Cumsum", x, place, exclusive=exclusive, reverse=False) for exclusive in (False, True)
    )
    begin = body.vector([size - 1 if each == axis else 0 for each in range(rank)])
    upper = body.op("Slice", ends, begin, body.integers([-1] * rank))
    lower = body.op("Slice", befores, body.integers([0] * rank), body.shape(upper))
    return upper - lower


def _joined(x: Tensor, axis: int, size: Tensor, name: str) -> Tensor:
    """Each window chosen from the whole axis, and joined."""
    body, rank = x.body, x.rank
    order = [*(each for each in range(rank) if each != axis), axis]
    whole = body.size(x, axis)
    zero, one = body.scalar(0, DT_INT32), body.scalar(1, DT_INT32)
    columns = body.op("Range", zero, whole, one)
    rows = body.op("ExpandDims", body.op("Range", zero, whole - size + 1, one), one)
    inside = body.op("LogicalAnd", columns >= rows, columns < rows + size)
    lines = body.op("ExpandDims", body.transposed(x, order), body.scalar(rank - 1, DT_INT32))
    chosen = inside.choose(lines, body.scalar(neutral(name, x.type), x.type))
    made = body.op(OPS[name], chosen, body.integers([rank]), keep_dims=False)
    return body.transposed(made, [int(each) for each in np.argsort(order)])
