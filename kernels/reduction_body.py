"""Bodies of StableHLO's reductions and scatters: subgraphs of scalars, as functions of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from ..lite.called_subgraph import CalledSubgraph
from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError, UnsupportedError
from ..lite.node import Node
from ..lite.tensor import NUMPY_DTYPES, Shape, Tensor
from .stablehlo_elementwise import maximum, minimum
from .subgraph_call import Value, called, check_signature, outputs_of, prepare_called, run

Function = Callable[[np.ndarray, np.ndarray], np.ndarray]

# By what the one operator of a body is called.
FUNCTIONS: dict[str, Function] = {
    "ADD": np.add,
    "MULTIPLY": np.multiply,
    "MUL": np.multiply,
    "MAXIMUM": maximum,
    "MINIMUM": minimum,
    "AND": np.bitwise_and,
    "LOGICAL_AND": np.logical_and,
    "OR": np.bitwise_or,
    "LOGICAL_OR": np.logical_or,
}

# The like ufuncs, which fold along an axis in order; they may differ where a NaN is compared.
FOLDS: dict[str, np.ufunc] = {
    "ADD": np.add,
    "MULTIPLY": np.multiply,
    "MUL": np.multiply,
    "MAXIMUM": np.maximum,
    "MINIMUM": np.minimum,
    "AND": np.bitwise_and,
    "LOGICAL_AND": np.logical_and,
    "OR": np.bitwise_or,
    "LOGICAL_OR": np.logical_or,
}

# Operators that do the same to each element: bodies of only these take whole arrays at once.
_ELEMENTWISE = frozenset(
    (
        "ADD",
        "SUB",
        "MUL",
        "DIV",
        "MAXIMUM",
        "MINIMUM",
        "POW",
        "FLOOR_DIV",
        "FLOOR_MOD",
        "SQUARED_DIFFERENCE",
        "EQUAL",
        "NOT_EQUAL",
        "LESS",
        "LESS_EQUAL",
        "GREATER",
        "GREATER_EQUAL",
        "LOGICAL_AND",
        "LOGICAL_OR",
        "LOGICAL_NOT",
        "SELECT",
        "SELECT_V2",
        "ABS",
        "NEG",
        "EXP",
        "LOG",
        "SQRT",
        "SQUARE",
        "CAST",
        "AND",
        "OR",
        "SUBTRACT",
        "MULTIPLY",
        "DIVIDE",
        "POWER",
        "REMAINDER",
        "COMPARE",
        "CONVERT",
        "NEGATE",
        "EXPONENTIAL",
        "CLAMP",
    )
)


class Body:
    """A body joins two groups of values, one of each array in a group, to one such group."""

    def __init__(self, operator: str, graph: CalledSubgraph, types: Sequence[int]) -> None:
        self.name = _name(graph)
        self._operator = operator
        self._graph = graph
        self._types = types
        self._passed = [graph.inputs.index(t) if t in graph.inputs else -1 for t in graph.outputs]
        self._takes_arrays = all(_is_elementwise(node) for node in graph.nodes)

    @property
    def gives_second(self) -> bool:
        """Whether it gives its second group as it is."""
        return self._passed == list(range(len(self._types), 2 * len(self._types)))

    def join(self, first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The body of each element: all arrays have one shape."""
        values = [*first, *second]
        if min(self._passed) >= 0:
            return [values[i] for i in self._passed]
        if self.name in FUNCTIONS:
            with np.errstate(all="ignore"):
                joined = FUNCTIONS[self.name](*values)
            return [joined.astype(values[0].dtype, copy=False)]
        shape = values[0].shape
        flat = [x.reshape(-1) for x in values]
        if not flat[0].size:
            return list(first)
        joined_flat = self._run(flat) if self._takes_arrays and self._keeps_shape(len(flat[0])) else None
        if joined_flat is None:
            turns = [self._run([x[i] for x in flat]) for i in range(len(flat[0]))]
            joined_flat = [np.stack(column) for column in zip(*turns, strict=True)]
        return [x.reshape(shape) for x in joined_flat]

    def _keeps_shape(self, count: int) -> bool:
        """Whether the subgraph can be prepared for vectors, and gives such."""
        try:
            prepare_called(self._graph, scalars([*self._types, *self._types], (count,)))
        except (PrepareError, UnsupportedError):
            return False
        graph = self._graph
        return graph.outputs_known and all(graph.tensor(t).shape == (count,) for t in graph.outputs)

    def _run(self, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        types = [*self._types, *self._types]
        run(self._graph, [value_of_array(type, x) for type, x in zip(types, values, strict=True)])
        outputs = outputs_of(self._graph)
        if [(y.type, prod(y.shape)) for y in outputs] != [(type, values[0].size) for type in self._types]:
            raise InvokeError(
                f"{self._operator}: the body must give scalars of its inputs' types, "
                f"got {[self._graph.tensor(t) for t in self._graph.outputs]}"
            )
        return [array_of(y).reshape(values[0].shape) for y in outputs]


def scalars(types: Sequence[int], shape: Shape = ()) -> list[Tensor]:
    """Tensors of these types, without values."""
    return [Tensor(-1, "", type, shape) for type in types]


def value_of_array(type: int, x: np.ndarray) -> Value:
    """An array as what a subgraph is run with."""
    return Value(type, x.shape, np.ascontiguousarray(x).reshape(-1).view(np.uint8))


def array_of(value: Value) -> np.ndarray:
    """What a subgraph has given, as an array; InvokeError when nothing has given it a value."""
    if value.data is None:
        raise InvokeError("the body must give its outputs values, and gives none")
    return value.data.view(NUMPY_DTYPES[value.type]).reshape(value.shape)


def body_of(context: Context, node: Node, operator: str, index: int, types: Sequence[int]) -> Body:
    """The subgraph of that number, prepared for scalars of the types: two groups in, one out.

    Raises PrepareError when it takes or gives others.
    """
    graph = called(context, node, operator, "body", index)
    check_signature(operator, "body", graph, 2 * len(types), len(types))
    prepare_called(graph, scalars([*types, *types]))
    outputs = [graph.tensor(t) for t in graph.outputs]
    known = graph.outputs_known
    if any(y.type != type or (known and y.size != 1) for y, type in zip(outputs, types, strict=True)):
        raise PrepareError(
            f"{operator}: the body must give scalars of its inputs' types, got {outputs} for "
            f"{[x.type_name for x in scalars(types)]}"
        )
    return Body(operator, graph, types)


def _plain_name(node: Node) -> str:
    return node.registration.name.removeprefix("STABLEHLO_")


def _is_elementwise(node: Node) -> bool:
    return _plain_name(node) in _ELEMENTWISE


def _name(body: CalledSubgraph) -> str:
    """The key in FUNCTIONS of a body of one operator on its two inputs, else nothing."""
    if len(body.nodes) != 1 or len(body.inputs) != 2:
        return ""
    node = body.nodes[0]
    # All of these operators give the same when their inputs change places.
    joins = sorted(node.inputs) == sorted(body.inputs) and tuple(node.outputs) == tuple(body.outputs)
    activation = getattr(node.options, "fused_activation_function", 0)
    name = _plain_name(node)
    return name if joins and not activation and name in FUNCTIONS else ""
