"""select_and_scatter: what gradients of pooling are."""

from __future__ import annotations

import itertools
import math

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT, DT_INT32
from ..building.movement import spread
from ..building.tensor import Tensor
from ..building.window import Window, window_parts
from .computation import described
from .movement import around
from .step import Result, Rule, Step

# Of each place in the window there is a handful of operators.
_MOST_PARTS = 256
# The computation of a chosen element a and another one b.
_CHOICES = {"GE(a,b)": "GreaterEqual", "GE(b,a)": "LessEqual", "GT(a,b)": "Greater", "GT(b,a)": "Less"}


def select_and_scatter(step: Step) -> Result:
    """Each number of the source comes to the place that its window chooses, where sums of all stand.

    Places of the window are gone through one after the other: where is each one's element the chosen one?
    """
    x, source, start = (step.input(place) for place in range(3))
    choice = described(step.region(0), step.importer.number)
    joined = described(step.region(1), step.importer.number)
    op = _CHOICES.get(choice[0]) if len(choice) == 1 else None
    if op is None or joined != ["add(a,b)"]:
        raise UnsupportedError(f"a choice by {' and '.join(choice)}, joined by {' and '.join(joined)}")
    if x.type != DT_FLOAT or -1 in x.sizes:
        raise UnsupportedError("operands but floats of known sizes")
    rank = x.rank
    ones = (1,) * rank
    kernel = tuple(step.for_each("window_dimensions", rank, 1))
    strides, pads = tuple(step.for_each("window_strides", rank, 1)), step.pairs("padding", rank)
    if math.prod(kernel) > _MOST_PARTS:
        raise UnsupportedError(f"windows of more than {_MOST_PARTS} elements")
    if min(itertools.chain(*pads), default=0) < 0:
        raise ModelError(f"padding must not be negative, got {pads}")
    # What stands around is never chosen.
    lost = step.body.scalar(math.inf if op.startswith("Less") else -math.inf, DT_FLOAT)
    sizes = [size + sum(pair) for size, pair in zip(x.sizes, pads, strict=True)]
    # Parts are of axes behind two.
    wide = step.body.reshaped(around(x, pads, lost), [1, 1, *sizes])
    window = Window(kernel, strides, ones, ((0, 0),) * rank)
    parts = [step.body.reshaped(part, source.sizes) for part in window_parts(wide, window)]
    chosen = _chosen(step, parts, op)
    total: Tensor | None = None
    for number, place in enumerate(itertools.product(*map(range, kernel))):
        taken = chosen.equals(number).choose(source, 0.0)
        put = _put(step, taken, place, strides, sizes)
        total = put if total is None else total + put
    assert total is not None
    cut = around(total, [(-low, -high) for low, high in pads], lost)
    return cut if start.data is not None and not start.data.any() else cut + start


def _chosen(step: Step, parts: list[Tensor], op: str) -> Tensor:
    """The number of the part that each window chooses; the first where the choice stays with it."""
    best, number = parts[0], step.body.cast(parts[0] * 0.0, DT_INT32)
    number = number.apply("ZerosLike")
    for place, part in enumerate(parts[1:], 1):
        stays = step.make(op, best, part)
        best, number = stays.choose(best, part), stays.choose(number, place)
    return number


def _put(
    step: Step, taken: Tensor, place: tuple[int, ...], strides: tuple[int, ...], sizes: list[int]
) -> Tensor:
    """One number for each window, at the window's place in an image of those sizes, among zeros."""
    zero = step.body.scalar(0.0, DT_FLOAT)
    for axis, stride in enumerate(strides):
        if stride > 1:
            taken = spread(taken, axis, stride - 1, zero)
    pads = [(at, size - at - own) for at, size, own in zip(place, sizes, taken.sizes, strict=True)]
    return around(taken, pads, zero)


REGISTRATIONS: dict[str, Rule] = {"select_and_scatter": select_and_scatter}
