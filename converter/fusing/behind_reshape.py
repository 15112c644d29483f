"""What stands behind a reshape and could as well stand before it, where a convolution takes it in."""

from __future__ import annotations

import math

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from ..partial_shape import broadcast, is_known
from .pattern import WEIGHTED, Fused, activation_of
from .placement import Placement

_ARITHMETIC = frozenset((BuiltinOperator.ADD, BuiltinOperator.SUB, BuiltinOperator.MUL))
_ACTIVATIONS = frozenset((BuiltinOperator.RELU, BuiltinOperator.RELU6, BuiltinOperator.RELU_N1_TO_1))
_MOVED = _ARITHMETIC | _ACTIVATIONS


class MoveBeforeReshape:
    """Puts a bias, a scale or an activation before a reshape that follows a convolution.

    Given:  y = ADD(RESHAPE(CONV_2D(x, w, b)), c)      c constant, one number for each channel
    Result: y = RESHAPE(ADD(CONV_2D(x, w, b), c))

    The reshape must keep the last axis or only split it, and neither result may have another user. Also
    for SUB and MUL, for RELU and its like whatever the shape, and behind DEPTHWISE_CONV_2D and
    FULLY_CONNECTED.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators were moved."""
        fused = Fused(graph)
        placement = Placement()
        moved = 0
        for second in graph.operators:
            if second.code not in _MOVED or not second.inputs:
                continue
            place = _reshaped_place(second, fused)
            if place is None:
                continue
            reshape = fused.producers[id(second.inputs[place])]
            z, y = reshape.inputs[0], second.outputs[0]
            assert z is not None and z.shape is not None
            middle = LiteTensor(f"{y.name}/flat", y.type, z.shape)
            second.inputs = [
                z if i == place else _flat(each, second.outputs[0], z) for i, each in enumerate(second.inputs)
            ]
            second.outputs = [middle]
            reshape.inputs[0], reshape.outputs = middle, [y]
            fused.producers[id(middle)], fused.producers[id(y)] = second, reshape
            fused.uses[id(middle)] = 1
            # The reshape now comes last.
            placement.remove(reshape)
            placement.put_behind(second, reshape)
            moved += 1
        placement.apply(graph)
        return moved


def _reshaped_place(operator: LiteOperator, fused: Fused) -> int | None:
    """Which operand is the reshape that the operator can be moved before, None for none."""
    for i, tensor in enumerate(operator.inputs):
        reshape = fused.only_user_of(tensor)
        if (
            reshape is None
            or reshape.code != BuiltinOperator.RESHAPE
            or (i and operator.code == BuiltinOperator.SUB)
        ):
            continue
        z = reshape.inputs[0]
        weighted = fused.only_user_of(z)
        if weighted is None or weighted.code not in WEIGHTED or activation_of(weighted) or z is None:
            continue
        if tensor is None or not z.shape or tensor.shape is None or z.type != TensorType.FLOAT32:
            continue
        if operator.outputs[0].shape != tensor.shape:
            continue
        others = (each for j, each in enumerate(operator.inputs) if j != i)
        if all(_per_channel(each, tensor.shape, z.shape[-1]) is not None for each in others):
            return i
    return None


def _flat(tensor: LiteTensor | None, result: LiteTensor, before: LiteTensor) -> LiteTensor:
    """The constant operand as the operator takes it before the reshape."""
    assert tensor is not None and result.shape is not None and before.shape
    data = _per_channel(tensor, result.shape, before.shape[-1])
    assert data is not None
    return tensor if data is tensor.data else LiteTensor(f"{tensor.name}/flat", tensor.type, data.shape, data)


def _per_channel(tensor: LiteTensor | None, shape: tuple[int, ...], channels: int) -> np.ndarray | None:
    """A constant of one number, or with one for each channel, the channels being the shape's last axes."""
    if tensor is None or tensor.data is None:
        return None
    data = tensor.data
    if data.size == 1 or (data.size == channels == data.shape[-1] == shape[-1]):
        return data
    core = data.reshape(_without_ones(data.shape))
    for first in range(len(shape) - core.ndim, -1, -1):
        split = shape[first:]
        if min(split) > 0 and math.prod(split) == channels:
            return np.ascontiguousarray(np.broadcast_to(core, split)).reshape(-1)
    return None


_ELEMENTWISE = _ACTIVATIONS | {
    *(BuiltinOperator.LEAKY_RELU, BuiltinOperator.LOGISTIC, BuiltinOperator.TANH, BuiltinOperator.ELU),
    *(BuiltinOperator.HARD_SWISH, BuiltinOperator.GELU, BuiltinOperator.ABS, BuiltinOperator.NEG),
    *(BuiltinOperator.EXP, BuiltinOperator.SQRT, BuiltinOperator.RSQRT, BuiltinOperator.SQUARE),
    *(BuiltinOperator.LOG, BuiltinOperator.DIV, *_ARITHMETIC),
}


class MergeReshapesAround:
    """Makes one reshape of those before and behind an elementwise operator.

    Given:  z = RESHAPE(RELU(RESHAPE(x, s)), t)
    Result: z = RESHAPE(RELU(x), t)

    Also for arithmetic with one number. Only the operator may use the first reshape, and only the second
    reshape the operator.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many reshapes went."""
        fused = Fused(graph)
        gone = []
        for last in graph.operators:
            middle = fused.only_user_of(last.inputs[0]) if last.code == BuiltinOperator.RESHAPE else None
            if middle is None or middle.code not in _ELEMENTWISE:
                continue
            place = _only_reshaped(middle, fused)
            if place is None:
                continue
            first = fused.producers[id(middle.inputs[place])]
            x, y = first.inputs[0], middle.outputs[0]
            assert x is not None
            middle.inputs[place] = x
            result = LiteTensor(y.name, y.type, x.shape)
            middle.outputs, last.inputs[0] = [result], result
            fused.producers[id(result)], fused.uses[id(result)] = middle, 1
            gone.append(first)
        graph.remove(gone)
        return len(gone)


def _only_reshaped(operator: LiteOperator, fused: Fused) -> int | None:
    """Which operand comes from a reshape, the others being one number; None for anything else."""
    for i, tensor in enumerate(operator.inputs):
        before = fused.only_user_of(tensor)
        if before is None or before.code != BuiltinOperator.RESHAPE or before.inputs[0] is None:
            continue
        others = [each for j, each in enumerate(operator.inputs) if j != i]
        if not all(each is not None and each.data is not None and each.data.size == 1 for each in others):
            continue
        x, y = before.inputs[0], operator.outputs[0]
        if tensor is None or y.shape is None or tensor.shape != y.shape or x.shape is None:
            continue
        # A number of more axes than x would give the result more axes.
        if all(each is not None and len(each.shape or ()) <= len(x.shape) for each in others):
            return i
    return None


class SkipLeadingOnes:
    """Leaves out a reshape that only adds axes of 1 before the others, where operands are broadcast.

    Given:  y = MUL(x, RESHAPE(z, [1, 1, n]))      z is [n] or [1, n]
    Result: y = MUL(x, z)
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operands were exchanged."""
        producers = graph.producers()
        skipped = 0
        for operator in graph.operators:
            if operator.code not in _ARITHMETIC or not is_known(operator.outputs[0].shape):
                continue
            for i, tensor in enumerate(operator.inputs):
                before = producers.get(id(tensor))
                if before is None or before.code != BuiltinOperator.RESHAPE or tensor is None:
                    continue
                z, other = before.inputs[0], operator.inputs[1 - i]
                if z is None or other is None or not is_known(z.shape) or tensor.shape is None:
                    continue
                if _without_ones(z.shape) != _without_ones(tensor.shape):
                    continue
                if broadcast(operator.code.name, z.shape, other.shape) == operator.outputs[0].shape:
                    operator.inputs[i] = z
                    skipped += 1
        return skipped


def _without_ones(shape: tuple[int, ...] | None) -> tuple[int, ...]:
    """The shape from its first size that is not 1 on."""
    assert shape is not None
    first = next((i for i, size in enumerate(shape) if size != 1), len(shape))
    return shape[first:]
