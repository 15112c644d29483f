"""STABLEHLO_SORT: tensors sorted along an axis by a subgraph that compares two of their elements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key

import numpy as np

from ..lite.called_subgraph import CalledSubgraph
from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError
from ..lite.node import Node
from ..lite.tensor import TensorType
from ..schema.named_tuple import NamedTuple
from .index_vector import check_same_type, normalized_axis
from .operators import registration
from .reduction_body import array_of, scalars, value_of_array
from .subgraph_call import called, check_signature, outputs_of, prepare_called, run

# Of StablehloComparisonDirection, or the builtin operator's name: whether greater elements come first.
_DESCENDING = {2: True, 3: True, 4: False, 5: False}
_BUILTINS = {"GREATER_EQUAL": True, "GREATER": True, "LESS_EQUAL": False, "LESS": False}


class _Order(NamedTuple):
    """Which of the sorted tensors is compared, and whether its greater elements come first."""

    key: int
    descending: bool


def _comparator(context: Context, node: Node) -> CalledSubgraph:
    operator = "STABLEHLO_SORT"
    if node.options is None:
        raise PrepareError(f"{operator}: options must name the comparator, got none")
    body = called(context, node, operator, "comparator", int(node.options.comparator_subgraph_index))
    check_signature(operator, "comparator", body, 2 * len(node.inputs), 1)
    return body


def _order(body: CalledSubgraph) -> _Order | None:
    """What the comparator compares, where it is one comparison of two elements of a tensor."""
    nodes = body.nodes
    if len(nodes) != 1 or tuple(nodes[0].outputs) != tuple(body.outputs) or len(nodes[0].inputs) != 2:
        return None
    name, options = nodes[0].registration.name, nodes[0].options
    descending = _BUILTINS.get(name)
    if name == "STABLEHLO_COMPARE" and options is not None:
        descending = _DESCENDING.get(int(options.comparison_direction))
    first, second = (body.inputs.index(t) if t in body.inputs else -1 for t in nodes[0].inputs)
    if descending is None or first < 0 or second != first ^ 1:
        return None
    return _Order(first // 2, descending != (first > second))


def _sorted_by(body: CalledSubgraph, types: Sequence[int], rows: Sequence[np.ndarray]) -> list[int]:
    """Places of the elements of vectors, one of each tensor, in the comparator's order."""
    pairs = [type for type in types for _ in range(2)]

    def comes_first(i: int, j: int) -> int:
        elements = [row[k] for row in rows for k in (i, j)]
        run(body, [value_of_array(type, x) for type, x in zip(pairs, elements, strict=True)])
        answer = outputs_of(body)[0]
        if answer.type != TensorType.BOOL or array_of(answer).size != 1:
            raise InvokeError("the comparator must give one bool")
        return -1 if array_of(answer).any() else 1

    return sorted(range(len(rows[0])), key=cmp_to_key(comes_first))


def _places(
    body: CalledSubgraph, types: Sequence[int], arrays: Sequence[np.ndarray], axis: int
) -> np.ndarray:
    """For each vector along the axis, the places of its elements in order."""
    moved = [np.moveaxis(x, axis, -1) for x in arrays]
    places = np.empty(moved[0].shape, np.int64)
    for at in np.ndindex(*moved[0].shape[:-1]):
        places[at] = _sorted_by(body, types, [x[at] for x in moved])
    return np.moveaxis(places, -1, axis)


def prepare(context: Context, node: Node) -> None:
    if not node.inputs or len(node.inputs) != len(node.outputs):
        raise PrepareError(
            f"STABLEHLO_SORT: must have as many inputs as outputs, "
            f"got {len(node.inputs)} and {len(node.outputs)}"
        )
    body = _comparator(context, node)
    inputs = [context.input(node, i) for i in range(len(node.inputs))]
    normalized_axis("STABLEHLO_SORT", int(node.options.dimension), len(inputs[0].shape))
    for i, x in enumerate(inputs):
        y = context.output(node, i)
        check_same_type("STABLEHLO_SORT", x, y)
        if x.shape != inputs[0].shape or x.dtype.kind == "c":
            raise PrepareError(
                f"STABLEHLO_SORT: inputs must be real and of one shape, got {x!r} and {inputs[0]!r}"
            )
        context.resize_tensor(y, x.shape)
    prepare_called(body, scalars([x.type for x in inputs for _ in range(2)]))


def _argsort(key: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    if not descending:
        return np.argsort(key, axis, kind="stable")
    last = key.shape[axis] - 1
    return np.flip(last - np.argsort(np.flip(key, axis), axis, kind="stable"), axis)


def invoke(context: Context, node: Node) -> None:
    """Equal elements keep their order."""
    body = _comparator(context, node)
    inputs = [context.input(node, i) for i in range(len(node.inputs))]
    if not inputs[0].size:
        return
    axis = normalized_axis("STABLEHLO_SORT", int(node.options.dimension), len(inputs[0].shape))
    order = _order(body)
    if order is None:
        places = _places(body, [x.type for x in inputs], [x.array() for x in inputs], axis)
    else:
        places = _argsort(inputs[order.key].array(), axis, order.descending)
    for i, x in enumerate(inputs):
        context.output(node, i).array()[...] = np.take_along_axis(x.array(), places, axis)


REGISTRATIONS = (registration("STABLEHLO_SORT", prepare, invoke),)
