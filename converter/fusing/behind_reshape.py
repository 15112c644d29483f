"""What stands behind a reshape and could as well stand before it, where a convolution takes it in."""

from __future__ import annotations

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from ..partial_shape import broadcast, is_known
from .pattern import WEIGHTED, Fused, activation_of

_ARITHMETIC = frozenset((BuiltinOperator.ADD, BuiltinOperator.SUB, BuiltinOperator.MUL))
_ACTIVATIONS = frozenset((BuiltinOperator.RELU, BuiltinOperator.RELU6, BuiltinOperator.RELU_N1_TO_1))
_MOVED = _ARITHMETIC | _ACTIVATIONS


class MoveBeforeReshape:
    """Puts a bias, a scale or an activation before a reshape that follows a convolution.

    Given:  y = ADD(RESHAPE(CONV_2D(x, w, b)), c)      c constant, one number for each channel
    Result: y = RESHAPE(ADD(CONV_2D(x, w, b), c))

    The reshape must keep the last axis, and neither result may have another user. Also for SUB and MUL,
    for RELU and its like, and behind DEPTHWISE_CONV_2D and FULLY_CONNECTED.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators were moved."""
        fused = Fused(graph)
        moved = 0
        for second in list(graph.operators):
            if second.code not in _MOVED or not second.inputs:
                continue
            place = _reshaped_place(second, fused)
            if place is None:
                continue
            reshape = fused.producers[id(second.inputs[place])]
            z, y = reshape.inputs[0], second.outputs[0]
            assert z is not None
            middle = LiteTensor(f"{y.name}/flat", y.type, z.shape)
            second.inputs[place], second.outputs = z, [middle]
            reshape.inputs[0], reshape.outputs = middle, [y]
            fused.producers[id(middle)], fused.producers[id(y)] = second, reshape
            fused.uses[id(middle)] = 1
            # The reshape now comes last.
            graph.remove([reshape])
            graph.operators.insert(graph.operators.index(second) + 1, reshape)
            moved += 1
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
        if tensor is None or not z.shape or not tensor.shape or z.shape[-1] != tensor.shape[-1]:
            continue
        if operator.outputs[0].shape != tensor.shape or z.type != TensorType.FLOAT32:
            continue
        if all(_is_per_channel(other, z.shape[-1]) for j, other in enumerate(operator.inputs) if j != i):
            return i
    return None


def _is_per_channel(tensor: LiteTensor | None, channels: int) -> bool:
    if tensor is None or tensor.data is None:
        return False
    return tensor.data.size == 1 or tensor.data.shape[-1] == tensor.data.size == channels


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
