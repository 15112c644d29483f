"""Reductions over windows: pooling and cumulative sums."""

from __future__ import annotations

import math
from functools import reduce as fold

import numpy as np

from ...kernels.fallback.dtypes import numpy_dtype
from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32
from ..building.movement import spread
from ..building.tensor import Tensor
from ..building.window import Window, pooled, window_parts
from .computation import described, reduction
from .movement import around
from .reduce import JOINS, is_neutral, joined_with, neutral
from .step import Result, Rule, Step

# Windows of so many elements at most are joined element by element.
_MOST_PARTS = 256


def reduce_window(step: Step) -> Result:
    """MAX_POOL_2D, AVERAGE_POOL_2D times the window's size, CUMSUM, or slices joined with each other."""
    if len(step.operands) != 2:
        raise UnsupportedError("windows over several operands at once")
    held, start = step.held(0), step.held(1).tensor
    name = reduction(step.region(0))
    if name is None:
        raise UnsupportedError(f"windows reduced by {described(step.region(0), step.importer.number)[0]}")
    if name not in JOINS and start.type != DT_BOOL:
        raise UnsupportedError(f"windows of numbers by {name}")
    if is_neutral(start, name):
        return _reduced_windows(step, held.whole, name, start)
    # Each window is joined with the start once; what stands around it, or between its elements, is left out.
    made = _reduced_windows(
        step,
        held.whole,
        name,
        step.body.constant(np.array(neutral(name, start.type), numpy_dtype(start.type))),
    )
    return _joined(step, name, made, start)


def _joined(step: Step, name: str, a: Tensor, b: Tensor) -> Tensor:
    """Two elements by the computation."""
    if a.type == DT_BOOL:
        return step.make("LogicalOr" if name in ("or", "add", "maximum") else "LogicalAnd", a, b)
    return joined_with(step, name, a, b)


def _reduced_windows(step: Step, x: Tensor, name: str, start: Tensor) -> Tensor:
    """The windows' results, where the start changes no number."""
    rank = x.rank
    kernel = step.for_each("window_dimensions", rank, 1)
    strides, dilations = (step.for_each(f"window_{what}", rank, 1) for what in ("strides", "dilations"))
    pads = step.pairs("padding", rank)
    for axis, between in enumerate(step.for_each("base_dilations", rank, 1)):
        if between > 1:
            x = spread(x, axis, between - 1, start)
    if not rank:
        return x
    cut = around(x, [(min(low, 0), min(high, 0)) for low, high in pads], start)
    outer = tuple((max(low, 0), max(high, 0)) for low, high in pads)
    window = Window(tuple(kernel), tuple(strides), tuple(dilations), outer)
    running = _running(step, cut, window, name, start)
    return running if running is not None else _windows(step, cut, window, name, start)


def _running(step: Step, x: Tensor, window: Window, name: str, start: Tensor) -> Tensor | None:
    """CUMSUM where each window reaches from one end to its place; None where they do not."""
    axes = [axis for axis, size in enumerate(window.kernel) if size > 1]
    is_plain = max(window.strides) == max(window.dilations) == 1
    if name != "add" or len(axes) != 1 or not is_plain:
        return None
    [axis] = axes
    size = window.kernel[axis]
    others = [pair for place, pair in enumerate(window.pads) if place != axis]
    if (
        x.sizes[axis] != size
        or any(map(any, others))
        or window.pads[axis] not in ((size - 1, 0), (0, size - 1))
    ):
        return None
    backwards = window.pads[axis] == (0, size - 1)
    return step.make("Cumsum", x, step.body.scalar(axis, DT_INT32), exclusive=False, reverse=backwards)


def _windows(step: Step, x: Tensor, window: Window, name: str, start: Tensor) -> Tensor:
    """Windowed axes moved behind the others, reduced, and moved back."""
    body, rank = step.body, x.rank
    inner = [
        axis
        for axis in range(rank)
        if (window.kernel[axis], window.strides[axis], window.pads[axis]) != (1, 1, (0, 0))
    ]
    if not inner:
        return x
    outer = [axis for axis in range(rank) if axis not in inner]
    order = [*outer, *inner]
    moved = body.transposed(x, order)
    sizes = body.sizes_of(moved)
    batch: int | Tensor = math.prod(sizes[: max(len(outer) - 1, 0)]) if len(outer) > 1 else 1
    channels = sizes[len(outer) - 1] if outer else 1
    images = moved if len(outer) == 2 else body.reshaped(moved, [batch, channels, *sizes[len(outer) :]])
    part = Window(*(tuple(each[axis] for axis in inner) for each in _columns(window)))
    made = _reduced(step, images, part, name, start)
    new = body.sizes_of(made)[2:]
    whole = made if len(outer) == 2 else body.reshaped(made, [*sizes[: len(outer)], *new])
    return body.transposed(whole, [int(place) for place in np.argsort(order)])


def _columns(window: Window) -> tuple[tuple, ...]:
    return window.kernel, window.strides, window.dilations, window.pads


def _reduced(step: Step, x: Tensor, window: Window, name: str, start: Tensor) -> Tensor:
    """Of [n, c, ...]; the start, which changes no number, stands around it."""
    if x.type == DT_FLOAT and len(window.kernel) <= 3 and max(window.dilations) == 1:
        if name in ("maximum", "minimum"):
            least = float(np.finfo(np.float32).min)
            made = (
                pooled(x, window, "MaxPool", least)
                if name == "maximum"
                else -pooled(-x, window, "MaxPool", least)
            )
            if not step.keeps_nan:
                return made
            lost = pooled(x.body.cast(x.apply("IsNan"), DT_FLOAT), window, "MaxPool", 0.0)
            return (lost > 0).choose(np.nan, made)
        if name == "add":
            return pooled(x, window, "AvgPool", 0.0) * float(math.prod(window.kernel))
    if math.prod(window.kernel) > _MOST_PARTS:
        raise UnsupportedError(f"windows of more than {_MOST_PARTS} elements by {name}")
    parts = window_parts(around(x, [(0, 0), (0, 0), *window.pads], start), window)
    return fold(lambda a, b: _joined(step, name, a, b), parts)


REGISTRATIONS: dict[str, Rule] = {"reduce_window": reduce_window}
