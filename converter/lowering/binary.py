"""Operators of two tensors that are broadcast: arithmetic, comparisons and logic."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...lite.tensor import TensorType
from ...schema.objects import TableT
from ...schema.tflite import (
    AddOptionsT,
    BuiltinOperator,
    DivOptionsT,
    EqualOptionsT,
    FloorDivOptionsT,
    FloorModOptionsT,
    GreaterEqualOptionsT,
    GreaterOptionsT,
    LessEqualOptionsT,
    LessOptionsT,
    LogicalAndOptionsT,
    LogicalOrOptionsT,
    MaximumMinimumOptionsT,
    MulOptionsT,
    NotEqualOptionsT,
    PowOptionsT,
    SquaredDifferenceOptionsT,
    SubOptionsT,
)
from ..ir.node import Node
from ..lite_graph import LiteTensor
from ..operator_types import is_converted_for
from ..partial_shape import PartialShape, broadcast
from .cast import as_int32, cast_to
from .lowering import Lowering, Rule, check_type
from .reshape import reshaped

_OPTIONS: dict[BuiltinOperator, type[TableT]] = {
    BuiltinOperator.ADD: AddOptionsT,
    BuiltinOperator.DIV: DivOptionsT,
    BuiltinOperator.EQUAL: EqualOptionsT,
    BuiltinOperator.FLOOR_DIV: FloorDivOptionsT,
    BuiltinOperator.FLOOR_MOD: FloorModOptionsT,
    BuiltinOperator.GREATER: GreaterOptionsT,
    BuiltinOperator.GREATER_EQUAL: GreaterEqualOptionsT,
    BuiltinOperator.LESS: LessOptionsT,
    BuiltinOperator.LESS_EQUAL: LessEqualOptionsT,
    BuiltinOperator.LOGICAL_AND: LogicalAndOptionsT,
    BuiltinOperator.LOGICAL_OR: LogicalOrOptionsT,
    BuiltinOperator.MAXIMUM: MaximumMinimumOptionsT,
    BuiltinOperator.MINIMUM: MaximumMinimumOptionsT,
    BuiltinOperator.MUL: MulOptionsT,
    BuiltinOperator.NOT_EQUAL: NotEqualOptionsT,
    BuiltinOperator.POW: PowOptionsT,
    BuiltinOperator.SQUARED_DIFFERENCE: SquaredDifferenceOptionsT,
    BuiltinOperator.SUB: SubOptionsT,
}
_COMPARISONS = frozenset(
    (
        *(BuiltinOperator.EQUAL, BuiltinOperator.NOT_EQUAL, BuiltinOperator.LESS),
        *(BuiltinOperator.LESS_EQUAL, BuiltinOperator.GREATER, BuiltinOperator.GREATER_EQUAL),
    )
)
# LiteRT takes bytes that it compares for quantized ones, and dies of those that have no scale.
_BYTES = (TensorType.INT8, TensorType.UINT8)


def binary(lowering: Lowering, node: Node, code: BuiltinOperator, a: LiteTensor, b: LiteTensor) -> LiteTensor:
    """An operator of two tensors of one type, with broadcasting; comparisons give bool."""
    if a.type != b.type:
        raise ModelError(f"operands must have the same type, got {a!r} and {b!r}")
    if code in _COMPARISONS and a.type in _BYTES and not (a.quantization or b.quantization):
        a, b = (as_int32(lowering, node, x) for x in (a, b))
    options = _OPTIONS[code]() if code in _OPTIONS else None
    type = TensorType.BOOL if code in _COMPARISONS else a.type
    shape = broadcast(code.name, a.shape, b.shape)
    return lowering.operator(node, code, [a, b], shape, options, type=type)


def _rule(code: BuiltinOperator) -> Rule:
    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        return binary(lowering, node, code, lowering.input(node, 0), lowering.input(node, 1))

    return rule


def _sum(lowering: Lowering, node: Node, code: BuiltinOperator, a: LiteTensor, b: LiteTensor) -> LiteTensor:
    """Of uint32, which the operators do not take, as int32: the sums are the same modulo 2^32."""
    if a.type != TensorType.UINT32 or a.type != b.type:
        return binary(lowering, node, code, a, b)
    parts = [as_int32(lowering, node, x) for x in (a, b)]
    return cast_to(lowering, node, binary(lowering, node, code, *parts), TensorType.UINT32)


def _sum_rule(code: BuiltinOperator) -> Rule:
    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        return _sum(lowering, node, code, lowering.input(node, 0), lowering.input(node, 1))

    return rule


def _equality(code: BuiltinOperator) -> Rule:
    """With incompatible_shape_error off, open sizes that do not fit are an error when the model runs."""

    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        a, b = lowering.input(node, 0), lowering.input(node, 1)
        if not node.flag("incompatible_shape_error") and not _may_fit(a.shape, b.shape):
            raise UnsupportedError(
                "operands of shapes that do not broadcast (incompatible_shape_error is false)"
            )
        return binary(lowering, node, code, a, b)

    return rule


def _may_fit(a: PartialShape, b: PartialShape) -> bool:
    """Whether the shapes broadcast for some of their unknown sizes."""
    if a is None or b is None:
        return True
    # The shorter one's missing axes are 1, which fits.
    pairs = zip(reversed(a), reversed(b), strict=False)
    return all(pair[0] == pair[1] or 1 in pair or -1 in pair for pair in pairs)


def _of_float(compute: Callable[[Lowering, Node, LiteTensor, LiteTensor], LiteTensor]) -> Rule:
    """A rule for two float32 operands that is made of operators."""

    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        a, b = lowering.input(node, 0), lowering.input(node, 1)
        check_type(a, TensorType.FLOAT32)
        return compute(lowering, node, a, b)

    return rule


def bias_add(lowering: Lowering, node: Node) -> LiteTensor:
    """ADD of a bias along the channels."""
    x, bias = lowering.input(node, 0), lowering.input(node, 1)
    if node.text("data_format") == "NCHW" and x.shape is None:
        raise UnsupportedError("the rank of images in NCHW order must be known")
    if node.text("data_format") == "NCHW" and x.shape is not None and len(x.shape) > 2:
        # Channels are axis 1: give the bias the axes behind it.
        shape = (bias.shape[0] if bias.shape else -1, *(1,) * (len(x.shape) - 2))
        if bias.data is not None:
            bias = lowering.constant(f"{bias.name}/channels", np.reshape(bias.data, shape))
        else:
            made = reshaped(lowering, node, bias, shape)
            assert made is not None
            bias = made
    return binary(lowering, node, BuiltinOperator.ADD, x, bias)


def _zero_where(
    zero_at: int, code: BuiltinOperator, of_second: Callable[[Lowering, Node, LiteTensor], LiteTensor] | None
) -> Rule:
    """code(a, f(b)), but 0 wherever the operand at a place is 0, whatever the other is."""

    def compute(lowering: Lowering, node: Node, a: LiteTensor, b: LiteTensor) -> LiteTensor:
        from .select import selected

        zero = lowering.scalar(lowering.name(node, "/zero"), 0, a)
        judged = (a, b)[zero_at]
        is_zero = None
        if judged.data is None:
            is_zero = binary(lowering, node, BuiltinOperator.EQUAL, judged, zero)
        elif not np.all(judged.data):
            is_zero = lowering.constant(lowering.name(node, "/is_zero"), np.equal(judged.data, 0))
        second = b if of_second is None else of_second(lowering, node, b)
        value = binary(lowering, node, code, a, second)
        return value if is_zero is None else selected(lowering, node, is_zero, zero, value)

    return _of_float(compute)


def _log(lowering: Lowering, node: Node, x: LiteTensor) -> LiteTensor:
    return lowering.operator(node, BuiltinOperator.LOG, [x], x.shape)


def _log1p(lowering: Lowering, node: Node, x: LiteTensor) -> LiteTensor:
    one = lowering.scalar(lowering.name(node, "/one"), 1, x)
    return _log(lowering, node, binary(lowering, node, BuiltinOperator.ADD, x, one))


def squared_difference(lowering: Lowering, node: Node) -> LiteTensor:
    """SQUARED_DIFFERENCE, or for int64 the difference times itself."""
    a, b = lowering.input(node, 0), lowering.input(node, 1)
    if a.type != TensorType.INT64:
        return binary(lowering, node, BuiltinOperator.SQUARED_DIFFERENCE, a, b)
    difference = binary(lowering, node, BuiltinOperator.SUB, a, b)
    return binary(lowering, node, BuiltinOperator.MUL, difference, difference)


def add_n(lowering: Lowering, node: Node) -> LiteTensor:
    """ADD_N, or one ADD after the other for types that it does not take; of one tensor, itself."""
    inputs = lowering.inputs(node)
    if len(inputs) == 1 or not is_converted_for(BuiltinOperator.ADD_N, inputs[0].type):
        return reduce(partial(_sum, lowering, node, BuiltinOperator.ADD), inputs)
    return lowering.operator(node, BuiltinOperator.ADD_N, inputs, lowering.result_shape(node))


REGISTRATIONS: dict[str, Rule] = {
    "Add": _sum_rule(BuiltinOperator.ADD),
    "AddV2": _sum_rule(BuiltinOperator.ADD),
    "BiasAdd": bias_add,
    "BiasAddV1": _rule(BuiltinOperator.ADD),
    "BitwiseXor": _rule(BuiltinOperator.BITWISE_XOR),
    "Div": _rule(BuiltinOperator.DIV),
    "DivNoNan": _zero_where(1, BuiltinOperator.DIV, None),
    "Equal": _equality(BuiltinOperator.EQUAL),
    "FloorDiv": _rule(BuiltinOperator.FLOOR_DIV),
    "FloorMod": _rule(BuiltinOperator.FLOOR_MOD),
    "Greater": _rule(BuiltinOperator.GREATER),
    "GreaterEqual": _rule(BuiltinOperator.GREATER_EQUAL),
    "Less": _rule(BuiltinOperator.LESS),
    "LessEqual": _rule(BuiltinOperator.LESS_EQUAL),
    "LogicalAnd": _rule(BuiltinOperator.LOGICAL_AND),
    "LogicalOr": _rule(BuiltinOperator.LOGICAL_OR),
    "Maximum": _rule(BuiltinOperator.MAXIMUM),
    "Minimum": _rule(BuiltinOperator.MINIMUM),
    "Mul": _rule(BuiltinOperator.MUL),
    "MulNoNan": _zero_where(1, BuiltinOperator.MUL, None),
    "NotEqual": _equality(BuiltinOperator.NOT_EQUAL),
    "Pow": _rule(BuiltinOperator.POW),
    "RealDiv": _rule(BuiltinOperator.DIV),
    "RightShift": _rule(BuiltinOperator.RIGHT_SHIFT),
    "SquaredDifference": squared_difference,
    "Sub": _sum_rule(BuiltinOperator.SUB),
    "Xdivy": _zero_where(0, BuiltinOperator.DIV, None),
    "Xlog1py": _zero_where(0, BuiltinOperator.MUL, _log1p),
    "Xlogy": _zero_where(0, BuiltinOperator.MUL, _log),
    "AccumulateNV2": add_n,
    "AddN": add_n,
}
