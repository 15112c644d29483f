"""Variables, and other things that live behind a handle."""

from __future__ import annotations

from collections.abc import Callable

from ..ir.types import ElementType, TensorType
from .context import Results, ShapeContext, ShapeFunction


def handle(c: ShapeContext) -> Results:
    """A handle is a scalar."""
    return [()] * max(len(c.given), 1)


def variable(c: ShapeContext) -> Results:
    """VariableV2: a reference to a tensor of the attribute's shape."""
    return [c.shape("shape")]


def read(c: ShapeContext) -> Results:
    """ReadVariableOp: the shape that the handle knows."""
    return [c.held[0][0].shape if c.held[0] else None]


def assign(c: ShapeContext) -> Results:
    """Assign: the value's shape when it must be the variable's."""
    if c.op == "Assign" and not c.flag("validate_shape"):
        return [c.shape_of(1)]
    return [c.alike(0, 1)]


def alike(*indices: int) -> ShapeFunction:
    """The result, if there is one, and these inputs have one shape."""

    def function(c: ShapeContext) -> Results:
        return [c.alike(*indices)] if c.given else []

    return function


def pushed(c: ShapeContext) -> Results:
    """StackPushV2 passes on what it pushes."""
    return [c.shape_of(1)]


# What updates a variable: the variable, what it goes by, and the gradient.
_UPDATES = {
    "ApplyGradientDescent": (0, 2),
    "ApplyProximalGradientDescent": (0, 4),
    "ApplyMomentum": (0, 1, 3),
    "ApplyAdagrad": (0, 1, 3),
    "ApplyAdagradV2": (0, 1, 4),
    "ApplyAdagradDA": (0, 1, 2, 3),
    "ApplyProximalAdagrad": (0, 1, 5),
    "ApplyAdadelta": (0, 1, 2, 6),
    "ApplyAdam": (0, 1, 2, 9),
    "ApplyAdaMax": (0, 1, 2, 8),
    "ApplyRMSProp": (0, 1, 2, 7),
    "ApplyCenteredRMSProp": (0, 1, 2, 3, 8),
    "ApplyFtrl": (0, 1, 2, 3),
    "ApplyFtrlV2": (0, 1, 2, 3),
    "ApplyAddSign": (0, 1, 6),
    "ApplyPowerSign": (0, 1, 6),
}
HandleFunction = Callable[[ShapeContext], tuple[TensorType, ...]]


def variable_handle(c: ShapeContext) -> tuple[TensorType, ...]:
    """What a VarHandleOp's handle refers to."""
    dtype = c.attributes.get("dtype")
    return (TensorType(dtype, c.shape("shape")),) if isinstance(dtype, ElementType) else ()


def passed_on(c: ShapeContext) -> tuple[TensorType, ...]:
    """A handle that comes from the first input."""
    return c.held[0] if c.held else ()


# What the handle in a node's first result refers to.
HANDLES: dict[str, HandleFunction] = {
    "VarHandleOp": variable_handle,
    **dict.fromkeys(("Identity", "Enter", "Exit", "NextIteration", "Switch", "Snapshot"), passed_on),
}
REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(
        (
            *("VarHandleOp", "HashTableV2", "MutableHashTableV2", "LookupTableSizeV2", "Stack", "StackV2"),
            *("AnonymousHashTable", "FIFOQueueV2", "QueueSizeV2", "TensorArraySizeV3"),
            *("VarIsInitializedOp", "IsVariableInitialized", "TensorListLength", "QueueIsClosedV2"),
        ),
        handle,
    ),
    **dict.fromkeys(("Variable", "VariableV2", "TemporaryVariable"), variable),
    "ReadVariableOp": read,
    **dict.fromkeys(("Assign", "AssignAdd", "AssignSub"), assign),
    **{op: alike(*indices) for op, indices in _UPDATES.items()},
    **dict.fromkeys(("StackPush", "StackPushV2"), pushed),
}
