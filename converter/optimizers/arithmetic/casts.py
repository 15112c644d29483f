"""Where elements change their type: where fewer bytes are moved."""

from __future__ import annotations

from ...graph.rule import rule
from ...ir.attributes import Attribute
from ...ir.dense import FORMS
from ...ir.node import Node
from ...ir.types import TensorType
from ...transforms.node_rewriter import data_type
from ..rewriter import OptimizingRewriter
from .nodes import SOURCE, become, before, element, inner

# They move elements and leave out none; and those that may leave some out.
_MOVING = ("Transpose", "Reshape", "ExpandDims", "Squeeze", "ReverseV2")
_CHOOSING = ("StridedSlice", "Slice")
# What says of the moving ones which type they have.
_OTHER = frozenset(("T", "_output_shapes"))


@rule("Cast", *_MOVING, *_CHOOSING, source=SOURCE)
def reorder_cast_like_and_value_preserving(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A Cast to a wider type comes behind what moves elements, one to a narrower type before.

    Given:  a = Cast(x: ui8) {DstT = f32}; y = Transpose(a, p)      a = Reshape(x: f32, s); y = Cast(a) to f16
    Result: a = Transpose(x, p); y = Cast(a) {DstT = f32}           a = Cast(x) to f16; y = Reshape(a, s)
    """
    if node.op == "Cast":
        mover = inner(rewriter, node, node.operands[0], *_MOVING)
        return mover is not None and _gain(node) < 0 and _cast_first(rewriter, node, mover)
    cast = inner(rewriter, node, node.operands[0], "Cast")
    return cast is not None and _gain(cast) > 0 and _cast_last(rewriter, node, cast)


def _gain(cast: Node) -> int:
    """How many bytes an element is longer behind the Cast."""
    narrow, wide = element(cast.operands[0]), element(cast.results[0])
    if narrow not in FORMS or wide not in FORMS or "string" in (narrow, wide):
        return 0
    return FORMS[wide][0].itemsize - FORMS[narrow][0].itemsize


def _cast_first(rewriter: OptimizingRewriter, node: Node, mover: Node) -> bool:
    x, *others = mover.operands
    kind = data_type(node.results[0].type)
    sizes = x.type.shape if isinstance(x.type, TensorType) else None
    attributes = {name: held for name, held in node.attributes.items() if name != "_output_shapes"}
    stage = "ReorderCastLikeAndValuePreserving"
    cast = before(rewriter, node, stage, "Cast", (x,), attributes, TensorType(kind, sizes))
    return become(rewriter, node, mover.op, (cast, *others), _attributes(mover) | {"T": kind})


def _cast_last(rewriter: OptimizingRewriter, node: Node, cast: Node) -> bool:
    x, kind = cast.operands[0], data_type(cast.operands[0].type)
    result = node.results[0].type
    sizes = result.shape if isinstance(result, TensorType) else None
    stage, held = "ReorderCastLikeAndValuePreserving", _attributes(node) | {"T": kind}
    moved = before(rewriter, node, stage, node.op, (x, *node.operands[1:]), held, TensorType(kind, sizes))
    attributes = {name: value for name, value in cast.attributes.items() if name != "_output_shapes"}
    return become(rewriter, node, "Cast", (moved,), attributes)


def _attributes(mover: Node) -> dict[str, Attribute]:
    return {name: held for name, held in mover.attributes.items() if name not in _OTHER}
