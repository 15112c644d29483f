"""Elementwise ops one after another as one."""

from __future__ import annotations

from ....kernels.fallback.unary_ops_composition import OPS
from ...graph.rule import rule
from ...ir.node import Node
from ...transforms.node_rewriter import data_type
from ...transforms.remapping.fused_node import device_of
from ..rewriter import OptimizingRewriter
from .nodes import SOURCE, become, device, element, inner

_OPS = tuple(sorted(OPS))
_TYPES = ("f32", "f64")


@rule(*_OPS, needs=("devices",), source=SOURCE)
def unary_ops_composition(rewriter: OptimizingRewriter, node: Node) -> bool:
    """On the CPU, ops of one operand of which each is the next one's alone.

    Given:  a = Exp(x); b = Log(a); y = Sqrt(b)
    Result: y = _UnaryOpsComposition(x) {op_names = ["Exp", "Log", "Sqrt"]}
    """
    if device_of(node) != "cpu" or element(node.results[0]) not in _TYPES or _goes_on(rewriter, node):
        return False
    chain = [node]
    while (before := inner(rewriter, node, chain[-1].operands[0], *_OPS)) is not None:
        chain.append(before)
    if len(chain) < 2:
        return False
    names = tuple(each.op.encode() for each in reversed(chain))
    x = chain[-1].operands[0]
    return become(rewriter, node, "_UnaryOpsComposition", [x], {"T": data_type(x.type), "op_names": names})


def _goes_on(rewriter: OptimizingRewriter, node: Node) -> bool:
    """Whether the node is one of a chain that ends behind it."""
    user = next(iter(node.results[0].users), None)
    if user is None or user.op not in OPS or device(user) != device(node):
        return False
    return inner(rewriter, user, node.results[0], node.op) is not None
