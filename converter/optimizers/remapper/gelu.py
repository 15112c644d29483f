"""Products of matrices with bias and a gelu, which TensorFlow fuses on CPUs with oneDNN."""

from __future__ import annotations

import numpy as np

from ...graph.rule import rule
from ...ir.attributes import Attributes
from ...ir.node import Node, Value
from ...transforms.folding.tensors import known_array
from ...transforms.remapping.fused_node import known_attributes, only_use, source
from ..arithmetic.nodes import inner
from ..rewriter import OptimizingRewriter
from .onednn import is_on_cpu

_SOURCE = "TensorFlow core/grappler/optimizers/remapper.cc"
ADDS = ("Add", "AddV2")


@rule("Mul", needs=("devices", "onednn"), keeps_bits=False, source=_SOURCE)
def fuse_gelu(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A product of matrices with bias and the exact gelu.

    Given:  m = _FusedMatMul(a, b, c) {fused_ops = ["BiasAdd"]}; y = Mul(Mul(m, 0.5), Erf(m * sqrt(0.5)) + 1)
    Result: y = _FusedMatMul(a, b, c) {fused_ops = ["BiasAdd", "GeluExact"]}
    """
    for left, right in (node.operands, node.operands[::-1]):
        half, one = inner(rewriter, node, left, "Mul"), inner(rewriter, node, right, *ADDS)
        erf = None if one is None else _beside(one, 1.0, ("Erf",))
        scaled = None if erf is None else source(erf.operands[0], ("Mul",))
        if half is None or erf is None or scaled is None:
            continue
        fused = _beside(scaled, np.sqrt(0.5), ("_FusedMatMul",))
        if fused is None or _beside(half, 0.5, ("_FusedMatMul",)) is not fused:
            continue
        if fused.attributes.get("fused_ops") != (b"BiasAdd",) or len(fused.results[0].users) != 2:
            continue
        if not all(map(only_use, (erf.results[0], scaled.results[0]))) or not is_on_cpu(
            node, fused.operands[0]
        ):
            continue
        if any(rewriter.is_named(each) or each.device != node.device for each in (erf, scaled, fused)):
            continue
        held: Attributes = {"fused_ops": (b"BiasAdd", b"GeluExact")}
        attributes = known_attributes("_FusedMatMul", fused.attributes, held)
        return rewriter.put_in_place(node, "_FusedMatMul", fused.operands, attributes, fused)
    return False


@rule("Mul", needs=("devices", "onednn"), keeps_bits=False, source=_SOURCE)
def fuse_gelu_by_tanh(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A product of matrices with bias and the gelu that a hyperbolic tangent approximates.

    Given:  m = _FusedMatMul(a, b, c) {fused_ops = ["BiasAdd"]}; t = Tanh(0.79788 * (m + 0.044715 * m^3));
            y = Mul(Mul(m, 0.5), t + 1)
    Result: y = _FusedMatMul(a, b, c) {fused_ops = ["BiasAdd", "GeluApproximate"]}

    The cube is a Pow, a product with the Square, or two products.
    """
    for left, right in (node.operands, node.operands[::-1]):
        half, one = inner(rewriter, node, left, "Mul"), inner(rewriter, node, right, *ADDS)
        fused = None if half is None else _beside(half, 0.5, ("_FusedMatMul",))
        tangent = None if one is None else _beside(one, 1.0, ("Tanh",))
        if half is None or one is None or fused is None or tangent is None:
            continue
        polynomial = _polynomial(rewriter, node, tangent, fused.results[0])
        taking = {half, *polynomial}
        if not polynomial or any(user not in taking for user in fused.results[0].users):
            continue
        if fused.attributes.get("fused_ops") != (b"BiasAdd",) or fused.control.users:
            continue
        if rewriter.is_named(fused) or fused.device != node.device or not is_on_cpu(node, fused.operands[0]):
            continue
        held: Attributes = {"fused_ops": (b"BiasAdd", b"GeluApproximate")}
        attributes = known_attributes("_FusedMatMul", fused.attributes, held)
        return rewriter.put_in_place(node, "_FusedMatMul", fused.operands, attributes, fused)
    return False


def _polynomial(rewriter: OptimizingRewriter, node: Node, tangent: Node, m: Value) -> list[Node]:
    """The nodes of the tangent's operand that take m, none if it is something else."""
    if inner(rewriter, node, tangent.results[0], "Tanh") is None:
        return []
    scaled = inner(rewriter, node, tangent.operands[0], "Mul")
    total = None if scaled is None else _beside(scaled, np.sqrt(2 / np.pi), ADDS)
    if total is None or inner(rewriter, node, total.results[0], *ADDS) is None:
        return []
    for value, other in (total.operands, total.operands[::-1]):
        small = inner(rewriter, node, other, "Mul")
        cube = None if small is None else _beside(small, 0.044715, ("Pow", "Mul"))
        if value is m and cube is not None and inner(rewriter, node, cube.results[0], cube.op) is not None:
            taking = _cube(rewriter, node, cube, m)
            return [total, *taking] if taking else []
    return []


def _cube(rewriter: OptimizingRewriter, node: Node, cube: Node, m: Value) -> list[Node]:
    """The nodes of m times m times m, none if it is something else."""
    if cube.op == "Pow":
        return [cube] if cube.operands[0] is m and _is(cube.operands[1], 3.0) else []
    for value, other in (cube.operands, cube.operands[::-1]):
        square = inner(rewriter, node, other, "Square", "Mul")
        if value is m and square is not None and all(operand is m for operand in square.operands):
            return [cube, square]
    return []


def _beside(node: Node, wanted: float, ops: tuple[str, ...]) -> Node | None:
    """The node of one of the ops that a node takes beside a constant of about what is wanted."""
    for value, other in (node.operands, node.operands[::-1]):
        if _is(other, wanted):
            return source(value, ops)
    return None


def _is(value: Value, wanted: float) -> bool:
    """Whether the value is a constant of about one number."""
    held = known_array(value)
    return held is not None and held.size == 1 and abs(float(held.reshape(-1)[0]) - wanted) < 1e-3
