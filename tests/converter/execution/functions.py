"""Functions of a graph's library, from graphs written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numlite.converter.graph_builder import GraphBuilder
from numlite.kernels.fallback.kernel import KernelConstruction
from numlite.kernels.fallback.op_metadata import tensorflow_op
from numlite.schema import graph_def
from numlite.schema.graph_def import AttrValue, FunctionDef, NodeDef

FLOAT, INT, BOOL = graph_def.DT_FLOAT, graph_def.DT_INT32, graph_def.DT_BOOL


def function(
    name: str,
    body: GraphBuilder,
    arguments: Sequence[str],
    results: Mapping[str, str],
    types: Mapping[str, int] | None = None,
    control_results: Sequence[str] = (),
) -> FunctionDef:
    """A function whose arguments are placeholders of the body, and whose results are its nodes' outputs.

    Arguments and results are floats unless types says otherwise.
    """
    types = types or {}
    made = FunctionDef(signature={"name": name})
    for argument in arguments:
        made.signature.input_arg.add(name=argument, type=types.get(argument, FLOAT))
    nodes = {node.name: node for node in body.graph_def.node}
    for node in body.graph_def.node:
        if node.name not in arguments:
            copy = made.node_def.add()
            copy.CopyFrom(node)
            del copy.input[:]
            copy.input.extend(_reference(nodes, arguments, text) for text in node.input)
    for result, text in results.items():
        made.signature.output_arg.add(name=result, type=types.get(result, FLOAT))
        made.ret[result] = _reference(nodes, arguments, text)
    for node in control_results:
        made.signature.control_output.append(node)
        made.control_ret[node] = node
    return made


def _reference(nodes: Mapping[str, NodeDef], arguments: Sequence[str], text: str) -> str:
    """ "node:1" as functions write it: "node:output:0"."""
    name, _, port = text.partition(":")
    if text.startswith("^") or name in arguments:
        return text
    op = tensorflow_op(nodes[name].op)
    assert op is not None
    at = int(port or 0)
    for output in KernelConstruction(op, nodes[name].attr).outputs:
        if at < len(output.types):
            return f"{name}:{output.name}:{at}"
        at -= len(output.types)
    raise ValueError(f"{text}: no such output")


def function_attr(name: str, **attributes: AttrValue) -> AttrValue:
    return AttrValue(func={"name": name, "attr": attributes})


def types_attr(*types: int) -> AttrValue:
    value = AttrValue()
    value.list.SetInParent()
    value.list.type.extend(types)
    return value


def call(
    graph: GraphBuilder, op: str, node: str, inputs: Sequence[str], outputs: Sequence[int], **functions: str
) -> str:
    """A node that runs functions on float inputs, with outputs of these types."""
    attributes = {name: function_attr(called) for name, called in functions.items()}
    return graph.node(op, node, *inputs, Tout=types_attr(*outputs), **attributes)
