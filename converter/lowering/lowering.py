"""Lowering: a graph's nodes become operators of a model, each by the rule of its op."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from ...lite.errors import ModelError, PrepareError, UnsupportedError
from ...lite.tensor import NUMPY_DTYPES, TensorType
from ...schema.objects import TableT
from ...schema.tflite import BuiltinOperator
from ..element_types import TENSOR_TYPES, type_name
from ..graph import Graph, Node, Value
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor, PartialShape


class Lowering:
    """A model under construction, as the rules see it."""

    def __init__(self) -> None:
        self.graph = LiteGraph()
        self.values: dict[Value, LiteTensor] = {}

    def input(self, node: Node, index: int) -> LiteTensor:
        """The node's input; ModelError when it has fewer."""
        if index >= len(node.inputs):
            raise ModelError(f"{node.op} must have more than {index} inputs, got {len(node.inputs)}")
        return self.values[node.inputs[index]]

    def constant_input(self, node: Node, index: int, what: str) -> np.ndarray:
        """The value of an input that must be constant."""
        tensor = self.input(node, index)
        if tensor.data is None:
            raise UnsupportedError(f"{what} must be constant")
        return tensor.data

    def constant(self, name: str, data: np.ndarray) -> LiteTensor:
        """A new constant."""
        types = {dtype: type_ for type_, dtype in NUMPY_DTYPES.items()}
        return LiteTensor(name, TensorType(types[data.dtype]), data.shape, data)

    def operator(
        self,
        node: Node,
        code: BuiltinOperator,
        inputs: Sequence[LiteTensor | None],
        shape: PartialShape,
        options: TableT | None = None,
        *,
        type: TensorType | None = None,
        suffix: str = "",
    ) -> LiteTensor:
        """Add an operator with one result, of its first input's type unless another is given.

        The result is named after the node, with the suffix where it is but a step to its result.
        """
        if type is None:
            assert inputs[0] is not None
            type = inputs[0].type
        result = LiteTensor(node.name + suffix, type, shape)
        made = LiteOperator(code, list(inputs), [result], options, (node.name,))
        self.graph.operators.append(made)
        return result

    def transposed(self, node: Node, x: LiteTensor, axes: tuple[int, ...], suffix: str) -> LiteTensor:
        """x with its axes in another order: at once when x is constant."""
        if x.data is not None:
            return self.constant(x.name + suffix, np.ascontiguousarray(x.data.transpose(axes)))
        shape = None if x.shape is None else tuple(x.shape[axis] for axis in axes)
        order = self.constant(node.name + suffix + "/axes", np.array(axes, np.int32))
        return self.operator(node, BuiltinOperator.TRANSPOSE, [x, order], shape, suffix=suffix)


Rule = Callable[[Lowering, Node], LiteTensor | Sequence[LiteTensor]]


def check_type(tensor: LiteTensor, *types: TensorType) -> None:
    """UnsupportedError unless the tensor has one of the types that the operator is built for."""
    if tensor.type not in types:
        raise UnsupportedError(f"not built for {tensor.type.name.lower()}")


def lower(
    graph: Graph,
    inputs: Mapping[Value, LiteTensor],
    outputs: Sequence[Value],
    rules: Mapping[str, Rule],
) -> LiteGraph:
    """The model that computes the outputs from the inputs.

    Raises UnsupportedError that lists all nodes for which there is no way, or ModelError for a
    node that breaks its op's rules.
    """
    nodes = graph.needed(outputs, inputs)
    _check_ops(nodes, rules)
    lowering = Lowering()
    lowering.values.update(inputs)
    failures: list[tuple[Node, str]] = []
    for node in nodes:
        if any(value not in lowering.values for value in node.inputs):
            continue
        try:
            results = rules[node.op](lowering, node)
        except UnsupportedError as error:
            failures.append((node, str(error)))
        except (ModelError, PrepareError) as error:
            raise ModelError(f"node {node.name!r} ({node.op}): {error}") from error
        else:
            _keep(lowering, node, results)
    if failures:
        raise UnsupportedError(_listed("cannot be converted", "cannot be converted", failures))
    lowering.graph.inputs = list(inputs.values())
    lowering.graph.outputs = [_output(lowering, value) for value in outputs]
    return lowering.graph


def _keep(lowering: Lowering, node: Node, results: LiteTensor | Sequence[LiteTensor]) -> None:
    listed = [results] if isinstance(results, LiteTensor) else results
    for index, result in enumerate(listed):
        lowering.values[Value(node.name, index)] = result


def _output(lowering: Lowering, value: Value) -> LiteTensor:
    if value not in lowering.values:
        raise ModelError(f"output {str(value)!r}: the node has no such result")
    return lowering.values[value]


def _check_ops(nodes: Iterable[Node], rules: Mapping[str, Rule]) -> None:
    unknown = [(node, "") for node in nodes if node.op not in rules]
    if unknown:
        raise UnsupportedError(_listed("is not supported", "are not supported", unknown))


def _listed(one: str, many: str, failures: Sequence[tuple[Node, str]]) -> str:
    """One sentence with every op, its reason, and the nodes."""
    groups: dict[str, list[str]] = {}
    for node, reason in failures:
        groups.setdefault(f"{node.op}: {reason}" if reason else node.op, []).append(node.name)
    parts = []
    for kind, names in groups.items():
        parts.append(f"{kind} ({'nodes' if len(names) > 1 else 'node'} {', '.join(map(repr, names))})")
    count = len(failures)
    head = f"{count} nodes {many}" if count > 1 else f"1 node {one}"
    return f"{head}: {'; '.join(parts)}"


def tensor_type(data_type: int) -> TensorType:
    """The model's type for a TensorFlow type; UnsupportedError where there is none."""
    if data_type not in TENSOR_TYPES:
        raise UnsupportedError(f"{type_name(data_type)} has no type in a .tflite model")
    return TENSOR_TYPES[data_type]
