"""Reductions whose result gets its axes back, and norms."""

from __future__ import annotations

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, L2NormOptionsT, ReducerOptionsT
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from .pattern import Fused, activation_of
from .product import scalar_of
from .transpose import order_of

_REDUCTIONS = frozenset(
    (
        *(BuiltinOperator.MEAN, BuiltinOperator.SUM, BuiltinOperator.REDUCE_MAX, BuiltinOperator.REDUCE_MIN),
        *(BuiltinOperator.REDUCE_PROD, BuiltinOperator.REDUCE_ANY, BuiltinOperator.REDUCE_ALL),
    )
)
# What a division by a root is made of.
_ROOTS = {BuiltinOperator.MUL: BuiltinOperator.RSQRT, BuiltinOperator.DIV: BuiltinOperator.SQRT}
# What LiteRT adds to a norm's square is no larger.
_MOST_EPSILON = 1e-6


class KeepReducedAxes:
    """Lets a reduction keep its axes, where a reshape puts them back.

    Given:  y = RESHAPE(MEAN(x, axes), s)      s has sizes of 1 at the axes
    Result: y = MEAN(x, axes) with keep_dims
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        fused = Fused(graph)
        for second in graph.operators:
            if second.code != BuiltinOperator.RESHAPE:
                continue
            first = fused.only_user_of(second.inputs[0])
            if first is None or first.code not in _REDUCTIONS:
                continue
            options, x, axes = first.options, first.inputs[0], first.inputs[1]
            if not isinstance(options, ReducerOptionsT) or options.keep_dims or x is None or x.shape is None:
                continue
            if axes is None or axes.data is None:
                continue
            rank = len(x.shape)
            over = {int(axis) % rank for axis in axes.data.reshape(-1)}
            kept = tuple(1 if axis in over else size for axis, size in enumerate(x.shape))
            if second.outputs[0].shape == kept:
                options.keep_dims = True
                fused.join(first, second)
        return fused.finish()


class ReduceTransposed:
    """Reduces what was transposed as it was before.

    Given:  y = MEAN(TRANSPOSE(x, [0, 3, 1, 2]), [2, 3])
    Result: y = MEAN(x, [1, 2])

    The axes that are left must be in x's order.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many reductions changed."""
        producers = graph.producers()
        changed = 0
        for operator in graph.operators:
            options = operator.options
            if not isinstance(options, ReducerOptionsT) or options.keep_dims:
                continue
            before, axes = producers.get(id(operator.inputs[0])), operator.inputs[1]
            order = order_of(before)
            if before is None or order is None or axes is None or axes.data is None:
                continue
            over = {order[int(axis) % len(order)] for axis in axes.data.reshape(-1)}
            left = [axis for axis in order if axis not in over]
            if left != sorted(left):
                continue
            data = np.array(sorted(over), np.int32)
            new = LiteTensor(f"{operator.outputs[0].name}/axes", TensorType.INT32, data.shape, data)
            operator.inputs = [before.inputs[0], new]
            changed += 1
        return changed


class UseL2Normalization:
    """Makes one operator of a division by the norm along the last axis.

    Given:  y = MUL(x, RSQRT(MAXIMUM(SUM(SQUARE(x), [-1], keep_dims), 1e-12)))
    Result: y = L2_NORMALIZATION(x)

    Also with DIV by SQRT, with ADD in place of MAXIMUM, and with neither. The number must be at most 1e-6.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators were made."""
        producers = graph.producers()
        made = 0
        for i, operator in enumerate(graph.operators):
            if operator.code not in _ROOTS or activation_of(operator):
                continue
            if operator.outputs[0].type != TensorType.FLOAT32:
                continue
            x = _normalized(operator, producers)
            if x is None or x.shape is None or x.shape != operator.outputs[0].shape:
                continue
            norm = LiteOperator(
                BuiltinOperator.L2_NORMALIZATION, [x], operator.outputs, L2NormOptionsT(), operator.sources
            )
            graph.operators[i] = norm
            made += 1
        return made


def _normalized(operator: LiteOperator, producers: dict[int, LiteOperator]) -> LiteTensor | None:
    """What is divided by its own norm, None where nothing is."""
    a, b = operator.inputs
    pairs = ((a, b), (b, a)) if operator.code == BuiltinOperator.MUL else ((a, b),)
    for x, other in pairs:
        root = producers.get(id(other))
        if x is None or root is None or root.code != _ROOTS[operator.code]:
            continue
        total = _without_epsilon(producers.get(id(root.inputs[0])), producers)
        if total is not None and _is_sum_of_squares(total, x, producers):
            return x
    return None


def _without_epsilon(
    operator: LiteOperator | None, producers: dict[int, LiteOperator]
) -> LiteOperator | None:
    """The sum that a small number is added to, or that is at least such a number."""
    if operator is None or operator.code not in (BuiltinOperator.MAXIMUM, BuiltinOperator.ADD):
        return operator
    a, b = operator.inputs
    for total, epsilon in ((a, b), (b, a)):
        number = scalar_of(epsilon)
        if number is not None and 0 <= number <= _MOST_EPSILON:
            return producers.get(id(total))
    return None


def _is_sum_of_squares(total: LiteOperator, x: LiteTensor, producers: dict[int, LiteOperator]) -> bool:
    """Whether the operator sums x * x along x's last axis, which it keeps."""
    if total.code != BuiltinOperator.SUM or not reduces_last_axis(total):
        return False
    square = producers.get(id(total.inputs[0]))
    if square is None or activation_of(square):
        return False
    if square.code == BuiltinOperator.SQUARE:
        return square.inputs[0] is x
    return square.code == BuiltinOperator.MUL and square.inputs[0] is x and square.inputs[1] is x


def reduces_last_axis(operator: LiteOperator) -> bool:
    """Whether a reduction goes along its operand's last axis only, and keeps it as 1."""
    options, (x, axes) = operator.options, operator.inputs
    if not isinstance(options, ReducerOptionsT) or not options.keep_dims:
        return False
    if axes is None or axes.data is None or x is None or not x.shape:
        return False
    rank = len(x.shape)
    return [int(axis) % rank for axis in axes.data.reshape(-1)] == [rank - 1]
