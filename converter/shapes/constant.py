"""Constants, feeds, sequences, switches, and calls, whose nodes say their results' shapes."""

from __future__ import annotations

import math

from ..ir.attributes import DenseAttr, ShapeAttr, TensorProtoAttr
from .context import Results, ShapeContext, ShapeFunction
from .dimensions import ANY


def const(c: ShapeContext) -> Results:
    value = c.attributes.get("value")
    if not isinstance(value, DenseAttr | TensorProtoAttr):
        raise c.fault("attribute 'value' must be a tensor")
    return [value.type.shape]


def placeholder(c: ShapeContext) -> Results:
    """Placeholder and its kin: what the shape attribute says, if it is there."""
    return [c.shape("shape") if "shape" in c.attributes else None]


def with_default(c: ShapeContext) -> Results:
    """PlaceholderWithDefault: the fed value may be of any shape that the attribute allows."""
    return [c.shape("shape")]


def argument(c: ShapeContext) -> Results:
    """_Arg, an argument of a function as a graph of its own: as its caller has noted it."""
    noted = c.attributes.get("_output_shapes")
    if isinstance(noted, tuple) and len(noted) == 1 and isinstance(noted[0], ShapeAttr):
        sizes = noted[0].sizes
        return [None if sizes is None else tuple(ANY if n is None or n < 0 else n for n in sizes)]
    return placeholder(c)


def range_(c: ShapeContext) -> Results:
    start, limit, delta = (c.value(i) for i in range(3) if c.ranked(i, 0) == ())
    if start is None or limit is None or delta is None:
        return [(ANY,)]
    first, last, step = (x.reshape(-1)[0].item() for x in (start, limit, delta))
    if step == 0 or (last - first) * step < 0:
        raise c.fault(f"delta must lead from start to limit, got {first}, {last} and {step}")
    if isinstance(first, int) and isinstance(last, int) and isinstance(step, int):
        return [(len(range(first, last, step)),)]
    return [(math.ceil(abs((last - first) / step)),)]


def linspace(c: ShapeContext) -> Results:
    count = c.number(2)
    return [(ANY if count is None else count,)]


def switch(c: ShapeContext) -> Results:
    c.ranked(1, 0)
    return [c.shape_of(0)] * max(len(c.given), 1)


def called(c: ShapeContext) -> Results:
    """If, Case, While: as `output_shapes` says, when it says something of all results."""
    if "output_shapes" not in c.attributes:
        return [None] * len(c.given)
    shapes = c.shapes("output_shapes")
    return shapes if len(shapes) == len(c.given) else [None] * len(c.given)


def split_as_noted(c: ShapeContext) -> Results:
    """_ScopedAllocatorSplit: what the attribute says."""
    return c.shapes("shapes")


REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(("Switch", "RefSwitch", "_SwitchN"), switch),
    **dict.fromkeys(("If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile"), called),
    **dict.fromkeys(("Const", "HostConst"), const),
    **dict.fromkeys(("Placeholder", "PlaceholderV2"), placeholder),
    "PlaceholderWithDefault": with_default,
    "_Arg": argument,
    "Range": range_,
    "LinSpace": linspace,
    **dict.fromkeys(("ImmutableConst", "_ScopedAllocator", "_ScopedAllocatorConcat"), placeholder),
    "_ScopedAllocatorSplit": split_as_noted,
}
