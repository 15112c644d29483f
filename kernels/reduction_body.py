"""Bodies of StableHLO's reductions and scatters: subgraphs of two scalars, as functions of arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..lite.called_subgraph import CalledSubgraph
from ..lite.context import Context
from ..lite.errors import UnsupportedError
from ..lite.node import Node
from .stablehlo_elementwise import maximum, minimum
from .subgraph_call import called, check_signature

Body = Callable[[np.ndarray, np.ndarray], np.ndarray]

# By what the one operator of a body is called, or by "second" for a body that gives its second input.
BODIES: dict[str, Body] = {
    "ADD": np.add,
    "MULTIPLY": np.multiply,
    "MUL": np.multiply,
    "MAXIMUM": maximum,
    "MINIMUM": minimum,
    "AND": np.bitwise_and,
    "LOGICAL_AND": np.logical_and,
    "OR": np.bitwise_or,
    "LOGICAL_OR": np.logical_or,
    "second": lambda a, b: b,
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


def body_name(context: Context, node: Node, operator: str, index: int) -> str:
    """The key in BODIES of the subgraph of that number; UnsupportedError for any other body."""
    body = called(context, node, operator, "body", index)
    check_signature(operator, "body", body, 2, 1)
    name = _name(body)
    if name not in BODIES:
        raise UnsupportedError(
            f"{operator}: the body must be one operator on its two inputs, one of {', '.join(BODIES)}, "
            f"got {[n.registration.name for n in body.nodes]}"
        )
    return name


def _name(body: CalledSubgraph) -> str:
    nodes = body.nodes
    if not nodes:
        return "second" if body.outputs[0] == body.inputs[1] else ""
    node = nodes[0]
    # All of these operators give the same when their inputs change places.
    joins = sorted(node.inputs) == sorted(body.inputs) and tuple(node.outputs) == tuple(body.outputs)
    return node.registration.name.removeprefix("STABLEHLO_") if len(nodes) == 1 and joins else ""
