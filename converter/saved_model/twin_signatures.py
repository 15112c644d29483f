"""Signatures that are the same function under another name: Keras 3 exports each model as two."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from ...schema.graph_def import FunctionDef, NodeDef
from .reachable import node_name
from .signature import Signature

if TYPE_CHECKING:
    from .loader import SavedModel

_DEFAULT_KEY = "serving_default"


def distinct_signatures(model: SavedModel) -> list[str]:
    """Keys of the signatures, in the file's order; of such as are the same, the default or the first.

    The same are those that call one function, or functions alike, with inputs and outputs of the same names,
    types and shapes.
    """
    graph = model.meta_graph.graph_def
    nodes = {node.name: node for node in graph.node}
    functions = {function.signature.name: function for function in graph.library.function}
    chosen: dict[Hashable, str] = {}
    for key, signature in model.signatures.items():
        meaning = _meaning(signature, nodes, functions) or key
        if meaning not in chosen or key == _DEFAULT_KEY:
            chosen[meaning] = key
    return [key for key in model.signatures if key in chosen.values()]


def _meaning(
    signature: Signature, nodes: Mapping[str, NodeDef], functions: Mapping[str, FunctionDef]
) -> Hashable | None:
    """What signatures that are the same have in common; None for one that is no single call."""
    called = {node_name(tensor.tensor) for tensor in signature.outputs.values()}
    call = nodes.get(called.pop()) if len(called) == 1 else None
    if call is None or call.attr["f"].func.name not in functions:
        return None
    given = {node_name(tensor.tensor): name for name, tensor in signature.inputs.items()}
    held = [f"input {given[name]}" if (name := node_name(text)) in given else text for text in call.input]
    types = [
        tuple((name, tensor.dtype, tensor.shape) for name, tensor in sorted(tensors.items()))
        for tensors in (signature.inputs, signature.outputs)
    ]
    places = tuple((name, t.tensor.partition(":")[2]) for name, t in sorted(signature.outputs.items()))
    return call.op, tuple(held), *types, places, _body(functions[call.attr["f"].func.name])


def _body(function: FunctionDef) -> bytes:
    """The function without its name and what is said of its arguments, which are named by numbers."""
    nameless = FunctionDef()
    nameless.CopyFrom(function)
    nameless.signature.name = ""
    nameless.arg_attr.clear()
    return nameless.SerializeToString(deterministic=True)
