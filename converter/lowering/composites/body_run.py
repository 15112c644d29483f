"""What a function computes: its body runs by the fallback kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ....kernels.fallback.status import OpError
from ....lite.errors import ModelError, UnsupportedError
from ...ir.attributes import FuncAttr
from ...ir.export_graph import export_graph_def
from ...ir.module import Function, Graph, Module
from ...ir.node import Node
from ...ir.types import TensorType
from ...transforms.unused_functions import references


def body_results(
    functions: Mapping[str, Function], function: Function, arguments: Sequence[np.ndarray]
) -> list[np.ndarray] | None:
    """The function's results for these arguments; None where it does not run."""
    from ...execution.graph_runner import GraphRunner

    graph = Graph()
    call = Node("PartitionedCall", "call", function.result_types)
    fed = []
    for i, value in enumerate(function.arguments):
        if not isinstance(value.type, TensorType):
            return None  # an op that is not known leaves types open
        node = Node("Placeholder", f"argument{i}", [TensorType(value.type.element)])
        node.attributes = {"dtype": value.type.element}
        fed.append(graph.body.append(node).results[0])
    graph.body.append(call)
    call.operands = fed
    call.attributes = {
        "Tin": tuple(v.type.element for v in fed if isinstance(v.type, TensorType)),
        "Tout": tuple(t.element for t in function.result_types if isinstance(t, TensorType)),
        "f": FuncAttr(function.name, {}),
    }
    try:
        made = export_graph_def(Module([graph, *_reached(functions, function)]))
        feeds = {f"argument{i}": argument for i, argument in enumerate(arguments)}
        return GraphRunner(made).run(feeds, [f"call:{i}" for i in range(len(function.result_types))])
    except (ModelError, UnsupportedError, OpError):
        return None


def _reached(functions: Mapping[str, Function], first: Function) -> list[Function]:
    """The function, and those that it calls."""
    found, waiting = {first.name: first}, [first]
    while waiting:
        for name in references(waiting.pop()):
            if name in functions and name not in found:
                found[name] = functions[name]
                waiting.append(functions[name])
    return list(found.values())
