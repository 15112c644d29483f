"""Division by a constant as multiplication."""

from __future__ import annotations

import numpy as np

from ...graph.rule import rule
from ...ir.node import Node
from ..node_rewriter import NodeRewriter, data_type
from .tensors import constant_of_array, known_array

_REALS = ("f16", "f32", "f64", "complex<f32>", "complex<f64>")


@rule("Div", "RealDiv", keeps_bits=False)
def reciprocal(rewriter: NodeRewriter, node: Node) -> bool:
    """Multiply by one over a constant, as TensorFlow does; the last digit may differ.

    Given:  c = Const 2; y = Div(x, c)
    Result: y/c/_recip = Const [c] 0.5; y = Mul(x, y/c/_recip)

    Not for integers, nor where an element is 0.
    """
    if len(node.operands) != 2 or rewriter.is_kept(node):
        return False
    divisor = node.operands[1]
    array = known_array(divisor)
    if array is None or data_type(divisor.type).name not in _REALS or not array.all():
        return False
    value = constant_of_array(np.reciprocal(array), data_type(divisor.type))
    if value is None or not isinstance(divisor.owner, Node):
        return False
    name = f"{node.name}/{divisor.owner.name}/_recip"
    made = rewriter.constant(node, name, value, [rewriter.wait_for(divisor)], like=divisor.owner)
    product = rewriter.node(node, "Mul", (node.operands[0], made.results[0]), {"T": data_type(divisor.type)})
    rewriter.replace(node, product)
    return True
