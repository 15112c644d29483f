"""What the passes look for: an operator whose only result feeds one other operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...schema.tflite import ActivationFunctionType, BuiltinOperator
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor

# Operators with weights as their second input, and a bias; their result's last axis is the output channel.
WEIGHTED = (
    *(BuiltinOperator.CONV_2D, BuiltinOperator.DEPTHWISE_CONV_2D, BuiltinOperator.FULLY_CONNECTED),
    BuiltinOperator.TRANSPOSE_CONV,
)


class Fused:
    """Tells pairs of operators that can become one, and makes them one.

    A pair is (first, second): second uses first's result, and nothing else does.
    """

    def __init__(self, graph: LiteGraph) -> None:
        self.graph = graph
        self.producers = graph.producers()
        self.uses = graph.uses()
        self.gone: list[LiteOperator] = []

    def only_user_of(self, tensor: LiteTensor | None) -> LiteOperator | None:
        """The operator that computes a tensor used once, None where there is none such."""
        if tensor is None or self.uses.get(id(tensor)) != 1:
            return None
        return self.producers.get(id(tensor))

    def join(self, first: LiteOperator, second: LiteOperator) -> None:
        """first gives second's result from now on, and second goes."""
        first.outputs = second.outputs
        first.sources += second.sources
        for tensor in second.outputs:
            self.producers[id(tensor)] = first
        self.gone.append(second)

    def finish(self) -> int:
        """Take out what was joined; returns how many operators went."""
        self.graph.remove(self.gone)
        return len(self.gone)


def sources_of(*operators: LiteOperator) -> tuple[str, ...]:
    """The nodes that the operators do the work of, each once, those of the first one first."""
    return tuple(dict.fromkeys(source for each in operators for source in each.sources))


def skip(graph: LiteGraph, skipped: Sequence[tuple[LiteOperator, LiteTensor]]) -> int:
    """Take out operators, each with the tensor that its only result equals; returns how many.

    An output of the graph keeps its name where the tensor comes from an operator.
    """
    equals = {id(operator.outputs[0]): x for operator, x in skipped}
    if not equals:
        return 0
    graph.remove(operator for operator, _ in skipped)
    _keep_outputs(graph, equals)
    for user in graph.operators:
        user.inputs = [None if tensor is None else _end(tensor, equals) for tensor in user.inputs]
    return len(skipped)


def _keep_outputs(graph: LiteGraph, equals: dict[int, LiteTensor]) -> None:
    """Let operators that now give outputs of the graph give the tensors that are outputs already."""
    producers = graph.producers()
    taken = {id(tensor) for tensor in graph.outputs}
    for i, y in enumerate(graph.outputs):
        x = _end(y, equals)
        source = producers.get(id(x))
        if source is not None and id(x) not in taken:
            source.outputs = [y if tensor is x else tensor for tensor in source.outputs]
            # What else equals x now ends at y.
            del equals[id(y)]
            equals[id(x)] = y
            producers[id(y)] = source
        else:
            graph.outputs[i] = x


def _end(tensor: LiteTensor, equals: dict[int, LiteTensor]) -> LiteTensor:
    while id(tensor) in equals:
        tensor = equals[id(tensor)]
    return tensor


def weighted_with_constant(
    fused: Fused, code: BuiltinOperator
) -> Iterator[tuple[LiteOperator, LiteOperator, np.ndarray]]:
    """(weighted operator without activation, operator `code` after it, its constant per channel)."""
    for second in fused.graph.operators:
        if second.code != code or activation_of(second) is None:
            continue
        for i in (0, 1) if code not in (BuiltinOperator.SUB, BuiltinOperator.DIV) else (0,):
            first, constant = fused.only_user_of(second.inputs[i]), second.inputs[1 - i]
            if first is None or first.code not in WEIGHTED or activation_of(first):
                continue
            per_channel = _per_channel(constant, second.outputs[0], first)
            if per_channel is not None:
                yield first, second, per_channel
                break


def activation_of(operator: LiteOperator) -> int | None:
    """The fused activation, None for operators that cannot have one."""
    return getattr(operator.options, "fused_activation_function", None)


def set_activation(operator: LiteOperator, activation: int) -> None:
    """Set the fused activation of an operator that can have one."""
    assert activation_of(operator) is not None
    setattr(operator.options, "fused_activation_function", activation)  # noqa: B010, not in every table


def hand_on_activation(first: LiteOperator, second: LiteOperator) -> None:
    """When second goes, its activation becomes first's."""
    set_activation(first, activation_of(second) or ActivationFunctionType.NONE)


def bias_place(operator: LiteOperator) -> int:
    """Which input of an operator with weights is the bias."""
    return 3 if operator.code == BuiltinOperator.TRANSPOSE_CONV else 2


def bias_of(operator: LiteOperator) -> LiteTensor | None:
    """The bias of an operator with weights, None where it has none."""
    place = bias_place(operator)
    return operator.inputs[place] if len(operator.inputs) > place else None


def channels_of(operator: LiteOperator) -> int:
    """Output channels of an operator with weights."""
    weights = operator.inputs[1]
    assert weights is not None and weights.shape is not None
    return weights.shape[3 if operator.code == BuiltinOperator.DEPTHWISE_CONV_2D else 0]


def _per_channel(
    constant: LiteTensor | None, result: LiteTensor, weighted: LiteOperator
) -> np.ndarray | None:
    """The constant as float32 [channels], None unless it varies with the channel only."""
    if constant is None or constant.data is None or constant.data.dtype != np.float32:
        return None
    before, shape = weighted.outputs[0].shape, constant.data.shape
    if before is None or result.shape is None or len(shape) > len(before):
        return None
    channels = channels_of(weighted)
    if any(size != 1 for size in shape[:-1]) or (shape and shape[-1] not in (1, channels)):
        return None
    return np.broadcast_to(constant.data.reshape(-1), (channels,))
