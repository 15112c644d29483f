"""Stages that replace a formula by the op for it."""

from __future__ import annotations

import numpy as np

from ...graph.rule import rule
from ...ir.attributes import Attributes
from ...ir.node import Node, Value
from ...ir.types import ElementType, TensorType
from ...shapes.dimensions import broadcast, is_known, same_shape
from ...transforms.folding.tensors import constant_of, known_array, known_integers, splat
from ...transforms.node_rewriter import data_type
from ..rewriter import OptimizingRewriter
from .nodes import (
    COMPLEX,
    FLOATS,
    SOURCE,
    all_equal_to,
    become,
    before,
    element,
    inner,
    pass_on,
    shape,
    source,
)

_I32 = ElementType("i32")
_MATMULS = {
    "MatMul": ("transpose_a", "transpose_b"),
    "SparseMatMul": ("transpose_a", "transpose_b"),
    "BatchMatMul": ("adj_x", "adj_y"),
    "BatchMatMulV2": ("adj_x", "adj_y"),
    "BatchMatMulV3": ("adj_x", "adj_y"),
}
_CONVS = ("Conv2D", "Conv3D")


def _t(value: Value) -> Attributes:
    return {"T": data_type(value.type)}


@rule("RealDiv", "Div", "Xdivy", keeps_bits=False, source=SOURCE)
def convert_sqrt_div_to_rsqrt_mul(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A quotient by a root.

    Given:  s = Sqrt(z); y = RealDiv(x, s)      s = Sqrt(z); y = Xdivy(x, s)
    Result: r = Rsqrt(z); y = Mul(x, r)         r = Rsqrt(z); y = MulNoNan(r, x)
    """
    x, root = node.operands
    found = inner(rewriter, node, root, "Sqrt")
    if found is None or element(x) not in FLOATS | COMPLEX:
        return False
    inverse = before(rewriter, node, "Rsqrt", "Rsqrt", found.operands, _t(root), found.results[0].type)
    if node.op == "Xdivy":
        return become(rewriter, node, "MulNoNan", (inverse, x), _t(x))
    return become(rewriter, node, "Mul", (x, inverse), _t(x))


@rule("Square", source=SOURCE)
def fuse_squared_diff(rewriter: OptimizingRewriter, node: Node) -> bool:
    """The square of a difference.

    Given:  d = Sub(a, b); y = Square(d)
    Result: y = SquaredDifference(a, b)
    """
    difference = inner(rewriter, node, node.operands[0], "Sub")
    if difference is None or element(node.results[0]) in COMPLEX:
        return False
    return become(rewriter, node, "SquaredDifference", difference.operands, _t(node.operands[0]))


@rule("Mul", source=SOURCE)
def replace_mul_with_square(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A value times itself.

    Given:  y = Mul(x, x)
    Result: y = Square(x)
    """
    x, other = node.operands
    if x is not other or element(x) not in FLOATS | {"i32", "i64"}:
        return False
    return become(rewriter, node, "Square", [x], _t(x))


@rule("Log", keeps_bits=False, source=SOURCE)
def convert_log1p(rewriter: OptimizingRewriter, node: Node) -> bool:
    """The logarithm of a value and one.

    Given:  a = AddV2(x, 1); y = Log(a)
    Result: y = Log1p(x)
    """
    total = inner(rewriter, node, node.operands[0], "Add", "AddV2")
    if total is None:
        return False
    for x, one in (total.operands, total.operands[::-1]):
        if all_equal_to(one, 1) and _keeps(x, one):
            return become(rewriter, node, "Log1p", [x], _t(x))
    return False


def _keeps(x: Value, constant: Value) -> bool:
    """Whether a constant does not stretch a value."""
    whole, part = shape(x), shape(constant)
    if part == ():
        return True
    if whole is None or part is None or len(part) > len(whole):
        return False
    try:
        return same_shape(broadcast(whole, part), whole)
    except ValueError:
        return False


@rule("Log", keeps_bits=False, source=SOURCE)
def convert_log_softmax(rewriter: OptimizingRewriter, node: Node) -> bool:
    """The logarithm of a Softmax.

    Given:  s = Softmax(x); y = Log(s)
    Result: y = LogSoftmax(x)
    """
    softmax = inner(rewriter, node, node.operands[0], "Softmax")
    return softmax is not None and become(
        rewriter, node, "LogSoftmax", softmax.operands, _t(node.operands[0])
    )


@rule("Sub", keeps_bits=False, source=SOURCE)
def convert_expm1(rewriter: OptimizingRewriter, node: Node) -> bool:
    """An exponential less one.

    Given:  e = Exp(x); y = Sub(e, 1)
    Result: y = Expm1(x)
    """
    power = inner(rewriter, node, node.operands[0], "Exp")
    if (
        power is None
        or not all_equal_to(node.operands[1], 1)
        or not _keeps(node.operands[0], node.operands[1])
    ):
        return False
    return become(rewriter, node, "Expm1", power.operands, _t(node.operands[0]))


_POWERS = {2.0: "Square", 0.5: "Sqrt", -0.5: "Rsqrt", -1.0: "Reciprocal"}


@rule("Pow", keeps_bits=False, source=SOURCE)
def convert_pow(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A power whose exponents are all the same small number.

    Given:  y = Pow(x, 2)
    Result: y = Square(x)

    .5 Sqrt, -.5 Rsqrt, -1 Reciprocal, 1 Identity, 0 ones (where the shape is known), 3 x * x * x on the CPU.
    Exponents that stretch x leave the node as it is.
    """
    x, exponents = node.operands
    array = known_array(exponents)
    if array is None or not array.size or array.dtype.kind not in "fc" or element(x) not in FLOATS | COMPLEX:
        return False
    first = array.reshape(-1)[0]
    if not (array == first).all() or not _keeps(x, exponents) or np.imag(first):
        return False
    power = float(np.real(first))
    if power in _POWERS:
        return become(rewriter, node, _POWERS[power], [x], _t(x))
    if power == 1:
        return pass_on(rewriter, node, x)
    if power == 3 and node.device:
        square = before(rewriter, node, "ConvertPow", "Square", [x], _t(x), x.type)
        return become(rewriter, node, "Mul", (x, square), _t(x))
    type = node.results[0].type
    if power == 0 and isinstance(type, TensorType) and is_known(type.shape):
        ones = splat(1, TensorType(data_type(type), type.shape))
        if ones is None or rewriter.is_kept(node):
            return False
        rewriter.replace_with_constant(node, ones)
        return True
    return False


@rule("Transpose", "Conj", source=SOURCE)
def fold_conjugate_into_transpose(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A transposed conjugate, or a conjugate of what is transposed.

    Given:  c = Conj(x); y = Transpose(c, p)
    Result: y = ConjugateTranspose(x, p)
    """
    first = inner(rewriter, node, node.operands[0], "Conj" if node.op == "Transpose" else "Transpose")
    if first is None:
        return False
    order = node.operands[1] if node.op == "Transpose" else first.operands[1]
    attributes: Attributes = {**_t(first.operands[0]), "Tperm": data_type(order.type)}
    return become(rewriter, node, "ConjugateTranspose", (first.operands[0], order), attributes)


@rule(*_MATMULS, source=SOURCE)
def fold_transpose_into_matmul(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A product of what has its last two axes exchanged.

    Given:  t = Transpose(a, [1, 0]); y = MatMul(t, b)
    Result: y = MatMul(a, b) {transpose_a = true}
    """
    is_batch = node.op.startswith("Batch")
    for i, name in enumerate(_MATMULS[node.op]):
        moved = source(node.operands[i], "Transpose", "ConjugateTranspose")
        if moved is None or moved.controls:
            continue
        order = known_integers(moved.operands[1])
        if (
            order is None
            or len(order) < 2
            or order != [*range(len(order) - 2), len(order) - 1, len(order) - 2]
        ):
            continue
        conjugates = element(node.operands[i]) in COMPLEX
        if conjugates and is_batch is not (moved.op == "ConjugateTranspose"):
            continue
        if conjugates and not is_batch and node.attributes.get(name, False):
            continue
        node.attributes[name] = not node.attributes.get(name, False)
        rewriter.set_operand(node, i, moved.operands[0])
        return True
    return False


@rule(*_CONVS, keeps_bits=False, source=SOURCE)
def fold_multiply_into_conv(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A convolution of what was multiplied by one constant number.

    Given:  m = Mul(x, 2); y = Conv2D(m, w)
    Result: w2 = Mul(w, 2); y = Conv2D(x, w2)
    """
    product = inner(rewriter, node, node.operands[0], "Mul")
    weights = node.operands[1]
    if product is None or constant_of(weights) is None:
        return False
    for x, factor in (product.operands, product.operands[::-1]):
        if constant_of(factor) is not None and shape(factor) == () and shape(x) != ():
            scaled = before(
                rewriter, node, "FoldMultiplyIntoConv", "Mul", (weights, factor), _t(weights), weights.type
            )
            rewriter.set_operands(node, (x, scaled, *node.operands[2:]))
            return True
    return False
