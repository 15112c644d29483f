"""Activations that are products of a value and a gate of itself."""

from __future__ import annotations

from ...graph.rule import rule
from ...ir.node import Node
from .fused_node import FusingRewriter, device_of, element, known_attributes, source

_ELEMENTS = ("f32", "bf16", "f16")


@rule("Mul", needs=("devices", "onednn"))
def fuse_swish(rewriter: FusingRewriter, node: Node) -> bool:
    """The product of a value and its sigmoid.

    Given:  s = Sigmoid(x); y = Mul(x, s)
    Result: s = Sigmoid(x); y = _MklSwish(x)

    On the CPU, with oneDNN. What made the gate stays for whoever prunes.
    """
    if not _is_product(node):
        return False
    for gate, x in (node.operands, node.operands[::-1]):
        sigmoid = source(gate, ("Sigmoid",))
        if sigmoid is not None and sigmoid.operands[0] is x and sigmoid.device == node.device:
            attributes = known_attributes("_MklSwish", node.attributes)
            return rewriter.put_in_place(node, "_MklSwish", [x], attributes, sigmoid)
    return False


@rule("Mul", needs=("devices", "onednn"))
def fuse_mish(rewriter: FusingRewriter, node: Node) -> bool:
    """The product of a value and the hyperbolic tangent of its softplus.

    Given:  p = Softplus(x); t = Tanh(p); y = Mul(x, t)
    Result: p = Softplus(x); t = Tanh(p); y = _MklFusedMish(x)
    """
    if not _is_product(node):
        return False
    for gate, x in (node.operands, node.operands[::-1]):
        tanh = source(gate, ("Tanh",))
        softplus = None if tanh is None else source(tanh.operands[0], ("Softplus",))
        if tanh is None or softplus is None or softplus.operands[0] is not x:
            continue
        if tanh.device == softplus.device == node.device:
            attributes = known_attributes("_MklFusedMish", node.attributes)
            return rewriter.put_in_place(node, "_MklFusedMish", [x], attributes, tanh, softplus)
    return False


def _is_product(node: Node) -> bool:
    return device_of(node) == "cpu" and element(node.results[0]) in _ELEMENTS
