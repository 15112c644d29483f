"""Lowering: a graph under construction, as the rules of ops see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...lite.tensor import TensorType
from ...schema.objects import TableT
from ...schema.tflite import BuiltinOperator
from ..element_types import tensor_type, tensor_type_of
from ..ir.node import Node, Value
from ..ir.types import ElementType
from ..ir.types import TensorType as ValueType
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor, PartialShape
from ..operator_types import refused_operand
from ..shapes.infer import Inferred
from .result_shapes import inferred_results

if TYPE_CHECKING:
    from .program import Program

# More axes or sizes than these no op has.
_MOST_INTEGERS = 1 << 12


class Lowering:
    """One graph under construction, or the body of a function that becomes part of it.

    values holds what the nodes that were lowered gave. prefix stands before the names of nodes:
    the calls that a function's body came from.
    """

    def __init__(self, program: Program, graph: LiteGraph, prefix: str = "", scope: str = "") -> None:
        self.program = program
        self.graph = graph
        self.prefix = prefix
        # The function that the nodes are of, "" for the graph itself.
        self.scope = scope
        self.values: dict[Value, LiteTensor] = {}
        # The results of the body; nodes need not use them.
        self.wanted: frozenset[Value] = frozenset()
        self._inferred: dict[Node, Inferred] = {}

    def name(self, node: Node, suffix: str = "") -> str:
        """The name of what a node becomes."""
        return f"{self.prefix}{node.name}{suffix}"

    def input(self, node: Node, index: int) -> LiteTensor:
        """The node's input; ModelError when it has fewer."""
        if index >= len(node.operands):
            raise ModelError(f"{node.op} must have more than {index} inputs, got {len(node.operands)}")
        return self.values[node.operands[index]]

    def inputs(self, node: Node) -> list[LiteTensor]:
        """All the node's inputs."""
        return [self.values[operand] for operand in node.operands]

    def constant_input(self, node: Node, index: int, what: str) -> np.ndarray:
        """The value of an input that must be constant."""
        tensor = self.input(node, index)
        if tensor.data is None:
            raise UnsupportedError(f"{what} must be constant")
        return tensor.data

    def integers_input(self, node: Node, index: int, what: str) -> list[int]:
        """The numbers of an input that must be constant; ModelError for more than axes or sizes."""
        data = self.constant_input(node, index, what)
        if data.size > _MOST_INTEGERS:
            raise ModelError(f"{what} must be at most {_MOST_INTEGERS} numbers, got {data.size:,}")
        return [int(number) for number in np.ravel(data)]

    def constant(self, name: str, data: np.ndarray, type: TensorType | None = None) -> LiteTensor:
        """A new constant, of NumPy's type unless another is given."""
        return LiteTensor(name, tensor_type_of(data.dtype) if type is None else type, data.shape, data)

    def integers(self, name: str, values: Sequence[int]) -> LiteTensor:
        """A new constant vector of int32; ModelError for a number that does not fit."""
        if any(not -(2**31) <= value < 2**31 for value in values):
            raise ModelError(f"{name}: numbers must fit int32, got {list(values)}")
        return self.constant(name, np.array(values, np.int32))

    def scalar(self, name: str, value: float, like: LiteTensor) -> LiteTensor:
        """A new constant scalar of another tensor's type; UnsupportedError for types without numbers."""
        from ..element_types import numpy_dtype_of

        return self.constant(name, np.array(value, numpy_dtype_of(like.type)), like.type)

    def result_type(self, node: Node, index: int = 0) -> TensorType:
        """The model's type for one of the node's results."""
        type = node.results[index].type
        if not isinstance(type, ValueType) or not isinstance(type.element, ElementType):
            raise UnsupportedError(
                f"the type of result {index} is not known, the node's attribute _output_types would tell it"
            )
        return tensor_type(type.element.number)

    def result_shape(self, node: Node, index: int = 0) -> PartialShape:
        """What is known of the shape of one of the node's results, by the rules of TensorFlow's op."""
        type = self.inferred(node).types[index]
        return type.shape

    def inferred(self, node: Node) -> Inferred:
        """What TensorFlow's shape rules say of the node's results; ModelError when its inputs do not fit."""
        if node not in self._inferred:
            self._inferred[node] = inferred_results(self, node)
        return self._inferred[node]

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

        A result that is but a step to the node's own is named with the suffix, or with a number.
        """
        if type is None:
            assert inputs[0] is not None
            type = inputs[0].type
        name = self.name(node, suffix or f"/{len(self.graph)}")
        result = LiteTensor(name, type, shape)
        self.add(node, code, inputs, [result], options)
        return result

    def results(
        self, node: Node, shapes: Sequence[PartialShape], types: Sequence[TensorType], suffix: str = ""
    ) -> list[LiteTensor]:
        """Tensors for several results of a node, named as TensorFlow names them: "n", "n:1" ..."""
        base = self.name(node, suffix)
        pairs = zip(shapes, types, strict=True)
        return [
            LiteTensor(f"{base}:{i}" if i else base, type, shape) for i, (shape, type) in enumerate(pairs)
        ]

    def add(
        self,
        node: Node,
        code: BuiltinOperator,
        inputs: Sequence[LiteTensor | None],
        outputs: Sequence[LiteTensor],
        options: TableT | None = None,
    ) -> LiteOperator:
        """Add an operator with the results that are given.

        UnsupportedError when it is not converted for its operands' types (kernels/operators.py).
        """
        made = LiteOperator(code, inputs, outputs, options, (self.name(node),))
        refused = refused_operand(made)
        if refused is not None:
            made.drop_operands()
            raise UnsupportedError(f"{code.name} does not take {refused.type.name.lower()}")
        self.graph.append(made)
        return made

    def transposed(self, node: Node, x: LiteTensor, axes: Sequence[int], suffix: str) -> LiteTensor:
        """x with its axes in another order: at once when x is constant."""
        if x.shape is not None and len(x.shape) != len(axes):
            raise ModelError(f"operand must have {len(axes)} axes, got {x!r}")
        if x.data is not None:
            return self.constant(x.name + suffix, np.ascontiguousarray(x.data.transpose(axes)), x.type)
        shape = None if x.shape is None else tuple(x.shape[axis] for axis in axes)
        order = self.integers(self.name(node, f"{suffix}/axes"), axes)
        return self.operator(node, BuiltinOperator.TRANSPOSE, [x, order], shape, suffix=suffix)


Rule = Callable[[Lowering, Node], LiteTensor | Sequence[LiteTensor]]


def check_type(tensor: LiteTensor, *types: TensorType) -> None:
    """UnsupportedError unless the tensor has one of the types that the operator is built for."""
    if tensor.type not in types:
        raise UnsupportedError(f"not built for {tensor.type.name.lower()}")
