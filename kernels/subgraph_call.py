"""Running a subgraph from a node, in Python: inputs in, outputs out, whatever their shapes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.called_subgraph import CalledSubgraph
from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError
from ..lite.node import Node
from ..lite.resources import handle_of
from ..lite.tensor import AllocationType, Shape, Tensor, TensorType
from ..schema.named_tuple import NamedTuple


class Value(NamedTuple):
    """What a tensor holds, apart from the tensor: bytes that nothing else will write."""

    type: int
    shape: Shape
    data: np.ndarray | None


def value_of(x: Tensor) -> Value:
    """A copy of a tensor's value. Strings and resources are never changed in place, so they are shared."""
    if not x.has_fixed_size or x.data is None:
        return Value(x.type, x.shape, x.data)
    return Value(x.type, x.shape, x.dense_bytes().copy())


def node_inputs(context: Context, node: Node, first: int) -> list[Tensor | None]:
    """The node's inputs from the first one on, None for those left out."""
    return [context.optional_input(node, i) for i in range(first, len(node.inputs))]


def called(context: Context, node: Node, operator: str, what: str, index: int) -> CalledSubgraph:
    """The subgraph of that number; PrepareError that says which option asks for it."""
    try:
        return context.called_subgraph(node, index)
    except PrepareError as error:
        raise PrepareError(f"{operator}: {what}: {error}") from error


def check_signature(operator: str, what: str, subgraph: CalledSubgraph, inputs: int, outputs: int) -> None:
    """PrepareError unless the subgraph takes and gives as many tensors as its caller."""
    if len(subgraph.inputs) != inputs or len(subgraph.outputs) != outputs:
        raise PrepareError(
            f"{operator}: {what} subgraph {subgraph.index} must have {inputs} inputs and {outputs} outputs, "
            f"got {len(subgraph.inputs)} and {len(subgraph.outputs)}"
        )


def prepare_called(subgraph: CalledSubgraph, inputs: Sequence[Tensor | None]) -> None:
    """Allocate a subgraph for inputs of these types and shapes."""
    match_inputs(subgraph, inputs)
    subgraph.allocate_tensors()


def match_inputs(subgraph: CalledSubgraph, inputs: Sequence[Tensor | None]) -> None:
    """Give a subgraph's inputs these types and shapes."""
    for i, x in enumerate(inputs):
        if x is not None:
            subgraph.match_input(i, x)
            hand_over(x, subgraph, i)


def hand_over(x: Tensor, subgraph: CalledSubgraph, i: int) -> None:
    """Pass on what has no place in the arena: strings, resources, lists. A known handle stays known."""
    target = subgraph.tensor(subgraph.inputs[i])
    if not target.has_fixed_size:
        target.bind(x.data)
        if is_known_handle(x) and subgraph.owned:
            target.allocation_type = AllocationType.PERSISTENT_RO


def is_known_handle(x: Tensor) -> bool:
    """Whether x is a resource whose number is known before the run."""
    return x.type == TensorType.RESOURCE and x.is_constant


def same_handle(x: Tensor, y: Tensor) -> bool:
    """Whether two tensors are no resources, or known ones with the same number."""
    if x.type != TensorType.RESOURCE and y.type != TensorType.RESOURCE:
        return True
    return is_known_handle(x) and is_known_handle(y) and handle_of(x) == handle_of(y)


def run(subgraph: CalledSubgraph, values: Sequence[Value | None]) -> None:
    """Run a subgraph; its outputs are then in its output tensors."""
    for i, value in enumerate(values):
        if value is not None:
            subgraph.match_input(i, _like(value))
    subgraph.allocate_tensors()
    for i, value in enumerate(values):
        if value is not None:
            fill(subgraph.tensor(subgraph.inputs[i]), value)
    subgraph.invoke()


def outputs_of(subgraph: CalledSubgraph) -> list[Value]:
    return [value_of(subgraph.tensor(t)) for t in subgraph.outputs]


def give_outputs(context: Context, node: Node, operator: str, values: Sequence[Value | None]) -> None:
    """Make the values the node's outputs."""
    for i, value in enumerate(values):
        if value is None or node.outputs[i] < 0:
            continue
        y = context.output(node, i)
        if y.type != value.type:
            raise InvokeError(
                f"{operator}: output {i} must have the type of {y!r}, got {_like(value).type_name}"
            )
        context.resize_tensor(y, value.shape)
        fill(y, value)


def size_outputs(context: Context, node: Node, operator: str, subgraph: CalledSubgraph) -> None:
    """Give the node's outputs the shapes of an allocated subgraph's."""
    for i, t in enumerate(subgraph.outputs):
        x = subgraph.tensor(t)
        if node.outputs[i] < 0:
            continue
        y = context.output(node, i)
        if x.type != y.type:
            raise PrepareError(f"{operator}: output {i} must have the type of {x!r}, got {y!r}")
        context.resize_tensor(y, x.shape)
        if is_known_handle(x):
            y.allocation_type = AllocationType.PERSISTENT_RO
            y.bind(x.data)


def leave_open(context: Context, node: Node) -> None:
    """Say that the outputs' shapes come with their values."""
    for i in range(len(node.outputs)):
        if node.outputs[i] >= 0:
            y = context.output(node, i)
            if y.allocation_type == AllocationType.PERSISTENT_RO:
                y.allocation_type = AllocationType.DYNAMIC
            context.set_dynamic(y)


def _like(value: Value) -> Tensor:
    return Tensor(-1, "", value.type, value.shape)


def fill(target: Tensor, value: Value) -> None:
    """Give a tensor the value, whose type and shape it has."""
    if not target.has_fixed_size:
        target.bind(value.data)
    elif nbytes := target.nbytes:
        if value.data is None or target.data is None:
            raise InvokeError(f"tensor {target!r}: it is read, but nothing gives it a value")
        target.data[:nbytes] = value.data[:nbytes]
