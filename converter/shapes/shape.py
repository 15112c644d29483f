"""Shapes as values."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction
from .dimensions import ANY


def shape(c: ShapeContext) -> Results:
    """Shape, ShapeN: a size for each axis of each input."""
    return [(ANY if shape is None else len(shape),) for shape in c.inputs[: max(len(c.given), 1)]]


def variable_shape(c: ShapeContext) -> Results:
    held = c.held[0][0].shape if c.held[0] else None
    return [(ANY if held is None else len(held),)]


REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(("Shape", "ShapeN"), shape),
    "VariableShape": variable_shape,
}
