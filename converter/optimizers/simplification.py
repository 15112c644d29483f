"""What Grappler's constant folding simplifies beyond the Graph IR's pass."""

from __future__ import annotations

import numpy as np

from ..graph.rule import rule
from ..ir.attributes import Attributes
from ..ir.node import Node
from ..ir.types import ElementType
from ..shapes.dimensions import is_known
from ..transforms.folding.tensors import known_integers
from ..transforms.node_rewriter import data_type
from .arithmetic.nodes import become, number, pass_on, shape
from .rewriter import OptimizingRewriter

_REDUCTIONS = ("Sum", "Prod", "Max", "Min", "Mean", "All", "Any")
_SOURCE = "TensorFlow core/grappler/optimizers/constant_folding.cc, SimplifyReduction"


@rule(*_REDUCTIONS, needs=("shapes",), source=_SOURCE)
def reduction_of_one(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A reduction without axes, or over axes of one element, changes nothing but the shape.

    Given:  y = Sum(x, [])      y = Sum(x: 2x1x3, 1)
    Result: y = Identity(x)     y = Reshape(x, [2, 3])
    """
    axes = known_integers(node.operands[1])
    x = node.operands[0]
    if axes is None or rewriter.is_kept(node):
        return False
    whole = shape(x)
    if not axes:
        return pass_on(rewriter, node, x)
    if whole is None or any(not -len(whole) <= axis < len(whole) or whole[axis] != 1 for axis in axes):
        return False
    if node.attributes.get("keep_dims", False):
        return pass_on(rewriter, node, x)
    dropped = {axis % len(whole) for axis in axes}
    left = [size for i, size in enumerate(whole) if i not in dropped]
    if not is_known(tuple(left)) and sum(size < 0 for size in left) > 1:
        return False
    sizes = number(rewriter, node, "Reduction", np.array([int(n) for n in left], np.int32), "i32")
    if sizes is None:
        return False
    attributes: Attributes = {"T": data_type(x.type), "Tshape": ElementType("i32")}
    return become(rewriter, node, "Reshape", (x, sizes), attributes)


@rule(
    "Reshape",
    needs=("shapes",),
    source="TensorFlow core/grappler/optimizers/constant_folding.cc, SimplifyReshape",
)
def reshape_to_itself(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A Reshape to sizes all but one of which are those that there are: then that one is, too.

    Given:  y = Reshape(x: ?x3, [4, 3])
    Result: y = Identity(x)
    """
    sizes, held = known_integers(node.operands[1]), shape(node.operands[0])
    if sizes is None or held is None or len(sizes) != len(held) or rewriter.is_kept(node) or 0 in sizes:
        return False
    differ = sum(a < 0 or a != b for a, b in zip(sizes, held, strict=True))
    others_fit = all(a < 0 or b < 0 or a == b for a, b in zip(sizes, held, strict=True))
    return differ <= 1 and others_fit and pass_on(rewriter, node, node.operands[0])
