"""Functions of graphs that are written by hand."""

from __future__ import annotations

from collections.abc import Sequence

from numlite.converter.graph_builder import GraphBuilder
from numlite.schema import graph_def
from numlite.schema.graph_def import AttrValue, NameAttrList


def add_function(
    graph: GraphBuilder,
    name: str,
    body: GraphBuilder,
    outputs: Sequence[str],
    data_type: int = graph_def.DT_FLOAT,
    effects: Sequence[str] = (),
) -> AttrValue:
    """A function of the body, whose placeholders are its arguments; returns it as an attribute.

    All results have the data type. effects are nodes that run whenever the function does.
    """
    function = graph.graph_def.library.function.add()
    function.signature.name = name
    for node in body.graph_def.node:
        if node.op == "Placeholder":
            function.signature.input_arg.add(name=node.name, type=node.attr["dtype"].type)
        else:
            function.node_def.add().CopyFrom(node)
    for i, output in enumerate(outputs):
        function.signature.output_arg.add(name=f"out{i}", type=data_type)
        function.ret[f"out{i}"] = output
    for effect in effects:
        function.signature.control_output.append(effect)
        function.control_ret[effect] = effect
    return AttrValue(func=NameAttrList(name=name))


def types(*numbers: int) -> AttrValue:
    """A list of types as an attribute."""
    return AttrValue(list=AttrValue.ListValue(type=numbers))
