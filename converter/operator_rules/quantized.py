"""Operators between DEQUANTIZE and QUANTIZE, which become operators on integers.

These rules run before the others, for models that were quantized as graphs of floats with both operators in
them (ONNX models in the form QDQ).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BatchMatMulOptionsT, DequantizeOptionsT, FullyConnectedOptionsT, QuantizeOptionsT
from ...schema.tflite import BuiltinOperator as Op
from ..graph.rule import rule
from ..lite_graph import LiteOperator, LiteTensor
from .integer_grid import Grid, grid_of, int8_tensor, integers_before
from .layout import is_to_first
from .pattern import bias_of, order_of
from .rewriter import OperatorRewriter

_WEIGHTED = frozenset((Op.CONV_2D, Op.DEPTHWISE_CONV_2D, Op.FULLY_CONNECTED))
# Those whose result has the operand's scale.
_SAME = frozenset((Op.AVERAGE_POOL_2D, Op.RESIZE_BILINEAR))
# Those that only move integers, or choose among them.
_MOVES = frozenset(
    (
        *(Op.MAX_POOL_2D, Op.RESHAPE, Op.TRANSPOSE, Op.PAD, Op.PADV2, Op.STRIDED_SLICE, Op.SLICE, Op.GATHER),
        *(Op.RESIZE_NEAREST_NEIGHBOR, Op.MIRROR_PAD, Op.SQUEEZE, Op.EXPAND_DIMS, Op.DEPTH_TO_SPACE),
        *(Op.SPACE_TO_DEPTH,),
    )
)
_TWO = frozenset((Op.ADD, Op.SUB, Op.MUL))
# Those whose result may have any scale.
_FREE = _TWO | {Op.MEAN, Op.LEAKY_RELU, Op.HARD_SWISH, Op.RELU, Op.RELU6}
# Those whose result has a scale of their own.
_FIXED = {Op.LOGISTIC: (1 / 256, -128), Op.SOFTMAX: (1 / 256, -128), Op.TANH: (1 / 128, 0)}
# A padding that no number is below.
_LOWEST = -1e30
_BIAS_LIMIT = 2**31 - 1


@rule(Op.TRANSPOSE, Op.RESHAPE)
def move_constant_dequantize(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Moves integers that are constant rather than the floats that they stand for.

    Given:  w = TRANSPOSE(DEQUANTIZE(q), p)      q is constant
    Result: w = DEQUANTIZE(q transposed)
    """
    before, y = operator.producer(0), operator.result
    found = integers_before(before)
    if before is None or found is None or found[0].data is None or y.shape is None or -1 in y.shape:
        return False
    q, grid = found
    axis, order = _moved_axis(operator, q, grid), order_of(operator)
    if axis is None:
        return False
    assert q.data is not None
    data = np.ascontiguousarray(q.data.transpose(order) if order is not None else q.data.reshape(y.shape))
    made = int8_tensor(f"{q.name}/moved", data.shape, grid._replace(axis=axis), data)
    return rewriter.become(operator, Op.DEQUANTIZE, [made], DequantizeOptionsT(), [before])


def _moved_axis(operator: LiteOperator, q: LiteTensor, grid: Grid) -> int | None:
    """Where the axis of several scales lies behind a transpose or reshape, None where it is cut or joined."""
    if grid.is_one:
        return 0
    order = order_of(operator)
    if order is not None:
        return order.index(grid.axis)
    before, behind = q.shape, operator.result.shape
    assert before is not None and behind is not None
    outer = int(np.prod(before[: grid.axis]))
    for place, size in enumerate(behind):
        if size == before[grid.axis] and int(np.prod(behind[:place])) == outer:
            return place
    return None


@rule(Op.BATCH_MATMUL)
def use_fully_connected(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Makes a product with constant integers one with weights.

    Given:  y = BATCH_MATMUL(x, DEQUANTIZE(q))      q is a constant matrix
    Result: y = FULLY_CONNECTED(x, DEQUANTIZE(q transposed))
    """
    options, before, x = operator.options, operator.producer(1), operator.operand(0)
    found = integers_before(before)
    if before is None or found is None or x.shape is None or len(x.shape) < 2:
        return False
    q, grid = found
    if q.data is None or q.data.ndim != 2 or not isinstance(options, BatchMatMulOptionsT) or options.adj_x:
        return False
    if not options.adj_y:
        data = np.ascontiguousarray(q.data.T)
        q = int8_tensor(f"{q.name}/moved", data.shape, grid._replace(axis=1 - grid.axis), data)
    real = LiteTensor(f"{q.name}/real", TensorType.FLOAT32, q.shape)
    made = LiteOperator(Op.DEQUANTIZE, [q], [real], DequantizeOptionsT(), before.sources)
    rewriter.insert_before(operator, made)
    table = FullyConnectedOptionsT(keep_num_dims=len(x.shape) > 2)
    return rewriter.become(operator, Op.FULLY_CONNECTED, [x, real, None], table)


@rule(*_MOVES)
def dequantize_later(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Moves integers rather than the floats that they stand for.

    Given:  y = MAX_POOL_2D(DEQUANTIZE(q))
    Result: y = DEQUANTIZE(MAX_POOL_2D(q))
    """
    found, y = integers_before(operator.producer(0)), operator.result
    if found is None or found[0].data is not None or not found[1].is_one or is_to_first(order_of(operator)):
        # A transpose to channels first goes behind DEQUANTIZE, too.
        return False
    q, grid = found
    operands: list[LiteTensor | None] = [q, *operator.operands[1:]]
    if operator.code == Op.PADV2:
        value = operator.constant(2)
        pooled = all(isinstance(user, LiteOperator) and user.code == Op.MAX_POOL_2D for user in y.users)
        if value is None or not pooled or value.size != 1 or float(value.reshape(-1)[0]) > _LOWEST:
            return False
        operands[2] = int8_tensor(f"{y.name}/least", (), grid, np.array(-128, np.int8))
    moved = int8_tensor(f"{y.name}/integers", y.shape, grid)
    rewriter.set_operands(operator, operands)
    operator.give([moved])
    rewriter.changed(operator)
    made = LiteOperator(Op.DEQUANTIZE, [moved], [y], DequantizeOptionsT(), operator.sources)
    rewriter.insert_after(operator, made)
    return True


@rule(Op.QUANTIZE)
def quantize_operator(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Makes an operator on integers of one between DEQUANTIZE and QUANTIZE.

    Given:  y = QUANTIZE(ADD(DEQUANTIZE(a), DEQUANTIZE(b)))
    Result: y = ADD(a, b)

    Where the operator's result must have another scale, a QUANTIZE from that one stays behind it.
    """
    first, wanted = operator.sole_producer(0), grid_of(operator.result)
    if first is None or wanted is None or len(first.results) != 1:
        return False
    operands = _integers_of(first, wanted)
    if operands is None:
        return False
    own = _own_grid(first, operands)
    rewriter.set_operands(first, operands)
    if own is None or own.equals(wanted):
        return rewriter.join(first, operator)
    middle = int8_tensor(f"{first.result.name}/integers", first.result.shape, own)
    first.give([middle])
    rewriter.changed(first)
    rewriter.set_operand(operator, 0, middle)
    operator.options = QuantizeOptionsT()
    return True


def _integers_of(first: LiteOperator, wanted: Grid) -> list[LiteTensor | None] | None:
    """The operator's operands as integers, None where it cannot be one on integers."""
    if first.code in _WEIGHTED:
        return _weighted(first)
    if first.code == Op.CONCATENATION:
        parts = [integers_before(first.producer(place)) for place in range(len(first.operands))]
        same = [found[0] for found in parts if found is not None and found[1].equals(wanted)]
        return list(same) if len(same) == len(parts) else None
    if first.code not in _FREE and first.code not in _SAME and first.code not in _FIXED:
        return None
    count = 2 if first.code in _TWO else 1
    operands = [integers_before(first.producer(place)) for place in range(count)]
    plain = [found[0] for found in operands if found is not None and found[1].is_one]
    return [*plain, *first.operands[count:]] if len(plain) == count else None


def _own_grid(first: LiteOperator, operands: Sequence[LiteTensor | None]) -> Grid | None:
    """The grid that the result must have, None where it may have any."""
    if first.code in _FIXED:
        scale, zero = _FIXED[first.code]
        return Grid(np.array([scale], np.float32), np.array([zero], np.int64))
    return grid_of(operands[0]) if first.code in _SAME else None


def _weighted(first: LiteOperator) -> list[LiteTensor | None] | None:
    """Operand, weights and bias as integers: weights around 0, the bias in steps of both scales."""
    found, weights, bias = (
        integers_before(first.producer(0)),
        integers_before(first.producer(1)),
        bias_of(first),
    )
    if found is None or weights is None or not found[1].is_one or (bias is not None and bias.data is None):
        return None
    (x, grid), (w, own) = found, weights
    channel = 3 if first.code == Op.DEPTHWISE_CONV_2D else 0
    if w.data is None or np.any(own.zeros) or (not own.is_one and own.axis != channel):
        return None
    steps = np.float64(grid.scales[0]) * own.scales.astype(np.float64)
    real = np.zeros(w.data.shape[channel]) if bias is None or bias.data is None else bias.data.reshape(-1)
    rounded = np.rint(real.astype(np.float64) / steps)
    if np.any(np.abs(rounded) > _BIAS_LIMIT):
        return None
    integers = rounded.astype(np.int32)
    made = LiteTensor(f"{first.result.name}/bias", TensorType.INT32, integers.shape, integers)
    made.quantization = Grid(steps.astype(np.float32), np.zeros(steps.size, np.int64)).table()
    return [x, w, made]


@rule(Op.QUANTIZE)
def skip_quantize(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Takes out what makes floats of integers and the same integers of those.

    Given:  y = QUANTIZE(DEQUANTIZE(q)), of one scale
    Result: q
    """
    found = integers_before(operator.producer(0))
    if found is None or not found[1].equals(grid_of(operator.result)):
        return False
    return rewriter.skip(operator, found[0])


@rule(Op.QUANTIZE)
def requantize(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Goes from one scale to another at once.

    Given:  y = QUANTIZE(DEQUANTIZE(q)), of two scales
    Result: y = QUANTIZE(q)
    """
    found, wanted = integers_before(operator.producer(0)), grid_of(operator.result)
    if (
        found is None
        or found[0].data is not None
        or wanted is None
        or not (found[1].is_one and wanted.is_one)
    ):
        return False
    rewriter.set_operand(operator, 0, found[0])
    return True


@rule(Op.CONCATENATION)
def requantize_parts(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Brings parts to the scale of the whole, which they must have.

    Given:  y = QUANTIZE(CONCATENATION(DEQUANTIZE(a), DEQUANTIZE(b)))      a has another scale than y
    Result: y = QUANTIZE(CONCATENATION(DEQUANTIZE(QUANTIZE(a)), DEQUANTIZE(b)))
    """
    users = list(dict.fromkeys(operator.result.users))
    if len(users) != 1 or not isinstance(users[0], LiteOperator) or users[0].code != Op.QUANTIZE:
        return False
    whole = grid_of(users[0].result)
    parts = [integers_before(operator.producer(place)) for place in range(len(operator.operands))]
    if whole is None or any(found is None or not found[1].is_one for found in parts):
        return False
    others = [(place, found[0]) for place, found in enumerate(parts) if found and not found[1].equals(whole)]
    for place, q in others:
        again = int8_tensor(f"{q.name}/part", q.shape, whole)
        real = LiteTensor(f"{q.name}/real", TensorType.FLOAT32, q.shape)
        first = LiteOperator(Op.QUANTIZE, [q], [again], QuantizeOptionsT(), operator.sources)
        second = LiteOperator(Op.DEQUANTIZE, [again], [real], DequantizeOptionsT(), operator.sources)
        rewriter.insert_before(operator, first)
        rewriter.insert_before(operator, second)
        rewriter.set_operand(operator, place, real)
    return bool(others)


@rule(Op.DEQUANTIZE)
def fold_dequantize(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Makes constant integers floats, where no operator on integers has taken them.

    Given:  w = DEQUANTIZE(q)      q is constant
    Result: w is a constant
    """
    found, y = integers_before(operator), operator.result
    if found is None or found[0].data is None:
        return False
    y.data = found[1].real(found[0].data)
    y.shape = y.data.shape
    return rewriter.fold(operator)
