"""Transposes that undo each other, or that elementwise operators need not wait for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, ReshapeOptionsT
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from ..partial_shape import is_known
from .pattern import WEIGHTED, Fused, activation_of, skip
from .placement import Placement

UNARY = frozenset(
    (
        *(
            BuiltinOperator.RELU,
            BuiltinOperator.RELU6,
            BuiltinOperator.RELU_N1_TO_1,
            BuiltinOperator.LOGISTIC,
        ),
        *(BuiltinOperator.TANH, BuiltinOperator.ELU, BuiltinOperator.LEAKY_RELU, BuiltinOperator.HARD_SWISH),
        *(BuiltinOperator.GELU, BuiltinOperator.ABS, BuiltinOperator.NEG, BuiltinOperator.EXP),
        *(BuiltinOperator.SQRT, BuiltinOperator.RSQRT, BuiltinOperator.SQUARE, BuiltinOperator.LOG),
    )
)
BINARY = frozenset((BuiltinOperator.ADD, BuiltinOperator.SUB, BuiltinOperator.MUL, BuiltinOperator.DIV))
# What takes in a transpose before it.
_ENDS = frozenset(
    (
        *(BuiltinOperator.TRANSPOSE, BuiltinOperator.MEAN, BuiltinOperator.SUM),
        *(BuiltinOperator.REDUCE_MAX, BuiltinOperator.REDUCE_MIN),
    )
)


def order_of(operator: LiteOperator | None) -> list[int] | None:
    """The order of axes of a TRANSPOSE whose order is constant, None for anything else."""
    if operator is None or operator.code != BuiltinOperator.TRANSPOSE:
        return None
    order = operator.inputs[1]
    return None if order is None or order.data is None else [int(axis) for axis in order.data]


class MergeTransposes:
    """Makes one transpose of two, and none where they undo each other.

    Given:  z = TRANSPOSE(TRANSPOSE(x, p), q)
    Result: z = TRANSPOSE(x, p then q)      or x itself
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many transposes changed."""
        producers = graph.producers()
        undone = []
        merged = 0
        for operator in graph.operators:
            order = order_of(operator)
            before = producers.get(id(operator.inputs[0])) if order is not None else None
            first = order_of(before)
            if order is None or first is None or before is None:
                continue
            both = [first[axis] for axis in order]
            x = before.inputs[0]
            assert x is not None
            if both == sorted(both):
                undone.append((operator, x))
                continue
            operator.inputs = [x, _order(operator, both)]
            merged += 1
        return merged + skip(graph, undone)


def _order(operator: LiteOperator, order: Sequence[int]) -> LiteTensor:
    old = operator.inputs[1]
    assert old is not None
    data = np.array(order, np.int32)
    return LiteTensor(f"{old.name}/merged", old.type, data.shape, data)


class UseReshape:
    """Moves axes of one element by a reshape, which needs not move anything.

    Given:  y = TRANSPOSE(x, [0, 3, 1, 2])      x is [n, h, w, 1]
    Result: y = RESHAPE(x, [n, 1, h, w])

    The order of the other axes must be as it was, and all sizes known.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many transposes changed."""
        changed = 0
        for operator in graph.operators:
            order = order_of(operator)
            x = operator.inputs[0] if order is not None else None
            if order is None or x is None or x.shape is None or not is_known(x.shape):
                continue
            y = operator.outputs[0]
            long = [axis for axis in order if x.shape[axis] != 1]
            if long != sorted(long) or y.shape is None or not is_known(y.shape):
                continue
            sizes = np.array(y.shape, np.int32)
            shape = LiteTensor(f"{y.name}/shape", TensorType.INT32, sizes.shape, sizes)
            operator.code, operator.inputs = BuiltinOperator.RESHAPE, [x, shape]
            operator.options = ReshapeOptionsT()
            changed += 1
        return changed


class SinkTransposes:
    """Moves a transpose behind an elementwise operator, where it may meet another.

    Given:  y = RELU(TRANSPOSE(x, p)); y is only transposed again or reduced, or x a convolution's result
    Result: y = TRANSPOSE(RELU(x), p)

    Also for arithmetic with a constant, and for that of two operands that are transposed alike.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many transposes were moved."""
        fused = Fused(graph)
        leading = _leading_to_transposes(graph)
        placement = Placement()
        moved = 0
        for operator in graph.operators:
            leads = bool(operator.outputs) and id(operator.outputs[0]) in leading
            if leads or _follows_convolution(operator, fused) or _is_of_two(operator, fused):
                moved += _swapped(placement, operator, fused)
        placement.apply(graph)
        return moved


def _follows_convolution(operator: LiteOperator, fused: Fused) -> bool:
    """Whether there is a transpose of a convolution before, which may take the operator in."""
    for tensor in operator.inputs:
        transpose = fused.only_user_of(tensor)
        if transpose is not None and transpose.code == BuiltinOperator.TRANSPOSE:
            weighted = fused.only_user_of(transpose.inputs[0])
            return weighted is not None and weighted.code in WEIGHTED and not activation_of(weighted)
    return False


def _is_of_two(operator: LiteOperator, fused: Fused) -> bool:
    """Whether there is a transpose before each operand, of which one would do."""
    orders = [order_of(fused.only_user_of(tensor)) for tensor in operator.inputs]
    return len(orders) == 2 and orders[0] is not None and orders[0] == orders[1]


def _leading_to_transposes(graph: LiteGraph) -> set[int]:
    """Ids of the tensors that only transposes, reductions, and elementwise operators before those use.

    Such an operator's own result has a single use.
    """
    uses: dict[int, int] = {}
    ends: dict[int, bool] = {}
    for operator in reversed(graph.operators):
        y = id(operator.outputs[0]) if operator.outputs else 0
        passes = operator.code in UNARY or operator.code in BINARY
        leads = operator.code in _ENDS or (passes and uses.get(y) == 1 and ends[y])
        for tensor in operator.inputs:
            uses[id(tensor)] = uses.get(id(tensor), 0) + 1
            ends[id(tensor)] = ends.get(id(tensor), True) and leads
    return {tensor for tensor, leads in ends.items() if leads}


def _swapped(placement: Placement, operator: LiteOperator, fused: Fused) -> bool:
    if operator.code not in UNARY and operator.code not in BINARY:
        return False
    for i, tensor in enumerate(operator.inputs):
        transpose = fused.only_user_of(tensor)
        order = order_of(transpose)
        if transpose is None or order is None or transpose.inputs[0] is None:
            continue
        inputs = _untransposed(operator, i, order, fused)
        if inputs is None:
            return False
        x, y = transpose.inputs[0], operator.outputs[0]
        if x.shape is None or y.shape is None or len(x.shape) != len(y.shape):
            return False
        inputs[i] = x
        back = np.argsort(order)
        middle = LiteTensor(f"{y.name}/untransposed", y.type, tuple(y.shape[axis] for axis in back))
        operator.inputs, operator.outputs = inputs, [middle]
        moved = LiteOperator(
            transpose.code, [middle, transpose.inputs[1]], [y], transpose.options, transpose.sources
        )
        placement.put_behind(operator, moved)
        placement.remove(transpose)
        fused.producers[id(middle)], fused.producers[id(y)] = operator, moved
        fused.uses[id(middle)] = 1
        return True
    return False


def _untransposed(
    operator: LiteOperator, place: int, order: Sequence[int], fused: Fused
) -> list[LiteTensor | None] | None:
    """The operands in the order before the transpose; None where one is neither constant nor transposed."""
    inputs = list(operator.inputs)
    for i, other in enumerate(inputs):
        if i == place or other is None:
            continue
        if other.data is None:
            transpose = fused.producers.get(id(other))
            if transpose is None or order_of(transpose) != list(order):
                return None
            inputs[i] = transpose.inputs[0]
            continue
        if other.data.size == 1 and other.data.ndim <= len(order):
            continue
        if other.data.ndim > len(order):
            return None
        data = other.data.reshape((1,) * (len(order) - other.data.ndim) + other.data.shape)
        data = np.ascontiguousarray(data.transpose(np.argsort(order)))
        inputs[i] = LiteTensor(f"{other.name}/untransposed", other.type, data.shape, data)
    return inputs
