"""STABLEHLO_SORT: tensors sorted along an axis by a subgraph that compares two of their elements."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.node import Node
from ..lite.registration import Registration
from .index_vector import check_same_type, normalized_axis
from .subgraph_call import called, check_signature

STABLEHLO_SORT = 199  # the schema's BuiltinOperator
# Of StablehloComparisonDirection, or the builtin operator's name: whether greater elements come first.
_DESCENDING = {2: True, 3: True, 4: False, 5: False}
_BUILTINS = {"GREATER_EQUAL": True, "GREATER": True, "LESS_EQUAL": False, "LESS": False}


class _Order(NamedTuple):
    """Which of the sorted tensors is compared, and whether its greater elements come first."""

    key: int
    descending: bool


def _order(context: Context, node: Node) -> _Order:
    operator = "STABLEHLO_SORT"
    if node.options is None:
        raise PrepareError(f"{operator}: options must name the comparator, got none")
    body = called(context, node, operator, "comparator", int(node.options.comparator_subgraph_index))
    check_signature(operator, "comparator", body, 2 * len(node.inputs), 1)
    nodes = body.nodes
    if len(nodes) == 1 and tuple(nodes[0].outputs) == tuple(body.outputs) and len(nodes[0].inputs) == 2:
        name, options = nodes[0].registration.name, nodes[0].options
        descending = _BUILTINS.get(name)
        if name == "STABLEHLO_COMPARE" and options is not None:
            descending = _DESCENDING.get(int(options.comparison_direction))
        first, second = (body.inputs.index(t) if t in body.inputs else -1 for t in nodes[0].inputs)
        if descending is not None and first >= 0 and second == first ^ 1:
            return _Order(first // 2, descending != (first > second))
    raise UnsupportedError(
        f"{operator}: comparators of one comparison of two elements of a tensor are built, "
        f"got {[n.registration.name for n in nodes]}"
    )


def prepare(context: Context, node: Node) -> None:
    if not node.inputs or len(node.inputs) != len(node.outputs):
        raise PrepareError(
            f"STABLEHLO_SORT: must have as many inputs as outputs, "
            f"got {len(node.inputs)} and {len(node.outputs)}"
        )
    _order(context, node)
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


def invoke(context: Context, node: Node) -> None:
    """Equal elements keep their order."""
    order = _order(context, node)
    inputs = [context.input(node, i) for i in range(len(node.inputs))]
    if not inputs[0].size:
        return
    axis = normalized_axis("STABLEHLO_SORT", int(node.options.dimension), len(inputs[0].shape))
    key = inputs[order.key].array()
    if order.descending:
        last = key.shape[axis] - 1
        places = np.flip(last - np.argsort(np.flip(key, axis), axis, kind="stable"), axis)
    else:
        places = np.argsort(key, axis, kind="stable")
    for i, x in enumerate(inputs):
        context.output(node, i).array()[...] = np.take_along_axis(x.array(), places, axis)


REGISTRATIONS = (Registration("STABLEHLO_SORT", prepare, invoke, builtin_code=STABLEHLO_SORT),)
