"""Operators that undo the one before them, or that another form of it makes needless."""

from __future__ import annotations

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator as Op
from ...schema.tflite import (
    EqualOptionsT,
    GreaterEqualOptionsT,
    GreaterOptionsT,
    LessEqualOptionsT,
    LessOptionsT,
    NotEqualOptionsT,
)
from ..graph.rule import rule
from ..lite_graph import LiteOperator
from .pattern import activation_of, same_shape, scalar_of
from .rewriter import OperatorRewriter

_T = TensorType
# Types, and those that hold all values of them.
_WIDER = {
    (narrow, wide)
    for narrow, wider in {
        _T.BOOL: (_T.INT8, _T.UINT8, _T.INT16, _T.INT32, _T.INT64, _T.FLOAT32, _T.FLOAT64),
        _T.INT8: (_T.INT16, _T.INT32, _T.INT64, _T.FLOAT32, _T.FLOAT64),
        _T.UINT8: (_T.INT16, _T.INT32, _T.INT64, _T.FLOAT32, _T.FLOAT64),
        _T.INT16: (_T.INT32, _T.INT64, _T.FLOAT32, _T.FLOAT64),
        _T.INT32: (_T.INT64, _T.FLOAT64),
        _T.FLOAT16: (_T.FLOAT32, _T.FLOAT64),
        _T.BFLOAT16: (_T.FLOAT32, _T.FLOAT64),
        _T.FLOAT32: (_T.FLOAT64,),
    }.items()
    for wide in wider
}
_EXACT = {
    Op.EQUAL: (Op.NOT_EQUAL, NotEqualOptionsT),
    Op.NOT_EQUAL: (Op.EQUAL, EqualOptionsT),
}
# Of numbers that can be compared: no comparison of NaN is true.
_ORDERED = {
    Op.LESS: (Op.GREATER_EQUAL, GreaterEqualOptionsT),
    Op.LESS_EQUAL: (Op.GREATER, GreaterOptionsT),
    Op.GREATER: (Op.LESS_EQUAL, LessEqualOptionsT),
    Op.GREATER_EQUAL: (Op.LESS, LessOptionsT),
}


@rule(Op.NEG, Op.LOGICAL_NOT)
def remove_involution(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Takes out what is done and undone.

    Given:  y = NEG(NEG(x))      or LOGICAL_NOT twice
    Result: x wherever y was used
    """
    before = operator.producer(0)
    if before is None or before.code != operator.code:
        return False
    return rewriter.skip(operator, before.operand(0))


@rule(Op.CAST)
def remove_cast_back(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Takes out casts to a wider type and back.

    Given:  y = CAST(CAST(x)), of x's type, through one that holds all its values
    Result: x wherever y was used
    """
    before = operator.producer(0)
    if before is None or before.code != Op.CAST:
        return False
    x = before.operand(0)
    tensors = (x, before.result, operator.result)
    if operator.result.type != x.type or any(tensor.quantization is not None for tensor in tensors):
        return False
    return (x.type, before.result.type) in _WIDER and rewriter.skip(operator, x)


@rule(Op.LOGICAL_NOT)
def remove_logical_not(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Compares the other way round where the result is negated.

    Given:  y = LOGICAL_NOT(EQUAL(a, b))
    Result: y = NOT_EQUAL(a, b)

    Also LESS and its like for integers. Of floats it would change a comparison with NaN, which is never true.
    """
    comparison = operator.sole_producer(0)
    if comparison is None or not comparison.operands:
        return False
    is_ordered = comparison.operand(0).type in (TensorType.INT32, TensorType.INT64)
    known = _EXACT | _ORDERED if is_ordered else _EXACT
    if comparison.code not in known:
        return False
    comparison.code, options = known[comparison.code]
    comparison.options = options()
    return rewriter.join(comparison, operator)


@rule(Op.DIV)
def use_inverse_root(rewriter: OperatorRewriter, division: LiteOperator) -> bool:
    """Takes the inverse of a root at once.

    Given:  y = DIV(1, SQRT(x))
    Result: y = RSQRT(x)
    """
    root = division.sole_producer(1)
    if root is None or root.code != Op.SQRT or activation_of(division):
        return False
    if scalar_of(division.operands[0]) != 1 or not same_shape(root.result, division.result):
        return False
    root.code = Op.RSQRT
    return rewriter.join(root, division)
