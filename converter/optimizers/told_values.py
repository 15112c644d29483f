"""Which values of small tensors properties tell: those that TensorFlow follows."""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np

from ..ir.node import Node, Value
from ..ir.types import TensorType
from ..shapes.context import unknown_places
from ..shapes.dimensions import product

# Ops whose result has the value of their only input.
PASSING = ("Identity", "IdentityN")
# The values that these have as soon as a shape is known, and those that are made of sizes.
_OF_SHAPES = ("Shape", "ShapeN", "Rank", "Size")
_OF_SIZES = ("Pack", "ConcatV2", "Slice", "StridedSlice")
# Aggressive inference runs these on small tensors.
_RUN = frozenset(
    (
        *(
            "Floor",
            "Round",
            "Sqrt",
            "Square",
            "Sign",
            "Add",
            "AddV2",
            "Div",
            "FloorDiv",
            "FloorMod",
            "Greater",
        ),
        *("GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalNot", "LogicalOr", "Maximum", "Minimum"),
        *("Mod", "Mul", "NotEqual", "Sub", "TruncateDiv", "TruncateMod", "RealDiv", "AddN", "StridedSlice"),
        *("OnesLike", "ZerosLike", "Concat", "ConcatV2", "Split", "Range", "Fill", "Cast"),
    )
)
# A matrix of 4 x 4 and one more.
_MOST_RUN = 17


def follows(node: Node, found: np.ndarray, told: Container[Value]) -> bool:
    """Whether inference that is not aggressive tells a node's value, of which so much was found.

    told are the values among the node's inputs that are told. Source: TensorFlow
    core/grappler/costs/graph_properties.cc, MaybeUpdateNodeContextOutput.
    """
    if node.op == "Const" or node.op in _OF_SHAPES:
        return True
    if node.op in PASSING:
        return len(node.operands) == 1 and node.operands[0] in told
    if node.op not in _OF_SIZES or found.ndim != 1 or found.dtype != np.int64:
        return False
    if "Slice" in node.op and not all(map(_is_whole, node.operands[1:])):
        return False
    masks = ("shrink_axis_mask", "new_axis_mask", "ellipsis_mask")
    if any(node.attributes.get(name) not in (None, 0) for name in masks):
        return False
    known = found[~unknown_places(found)]
    return bool((known >= 0).all()) and (node.op != "Pack" or all(v in told for v in node.operands))


def _is_whole(value: Value) -> bool:
    """Whether the value is followed as a whole, not size by size."""
    while isinstance(owner := value.owner, Node) and owner.op in PASSING:
        value = owner.operands[0]
    return isinstance(owner, Node) and owner.op not in ("Shape", "ShapeN", *_OF_SIZES)


def is_run(node: Node, arrays: Sequence[np.ndarray], results: Sequence[TensorType]) -> bool:
    """Whether aggressive inference runs the node on these inputs. Source: the same file,
    ShouldUpdateOutputShapesAndValues.
    """
    sizes = [product(type.shape) for type in results]
    return node.op in _RUN and all(0 <= n <= _MOST_RUN for n in (*sizes, *(array.size for array in arrays)))
