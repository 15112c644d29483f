"""GraphBuilder: GraphDefs written by hand, a node at a time."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from ..kernels.fallback.tensor_proto import proto_of
from ..lite.errors import ModelError
from ..schema import graph_def
from ..schema.graph_def import AttrValue, GraphDef, NodeDef
from .ir.attribute_import import attributes_of
from .ir.edges import parse_edge
from .ir.signature import Argument, registered

Attribute = bool | int | float | str | AttrValue | Sequence[int]


class GraphBuilder:
    """Adds nodes to a GraphDef; every method returns the node's name, to be used as an input."""

    def __init__(self) -> None:
        self.graph_def = GraphDef()
        # Types of the results of each node of an op that TensorFlow has.
        self._types: dict[str, list[int]] = {}

    def node(self, op: str, name: str, *inputs: str, **attributes: Attribute) -> str:
        """A node of any op. Attributes of Python's types take the obvious form; sequences are of int.

        Attributes that follow from the inputs (their type and number) may be left out.
        """
        node = self.graph_def.node.add(op=op, name=name, input=inputs)
        for key, value in attributes.items():
            node.attr[key].CopyFrom(_attribute(value))
        self._infer(node)
        return name

    def _infer(self, node: NodeDef) -> None:
        """Add the attributes that the inputs tell, and note the types of the results."""
        signature = registered(node.op)
        if signature is None:
            return
        types = [self._type(text) for text in node.input if not text.startswith("^")]
        single = sum(not (a.number_attr or a.type_list_attr) for a in signature.inputs)
        at = 0
        for argument in signature.inputs:
            # At most one argument of the ops that are built by hand is a list.
            count = len(types) - single if argument.number_attr or argument.type_list_attr else 1
            _tell(node, argument, types[at : at + count])
            at += count
        held = {**signature.defaults, **attributes_of(node.attr)}
        with suppress(ModelError):
            self._types[node.name] = signature.result_types(held)

    def _type(self, text: str) -> int | None:
        edge = parse_edge(text)
        types = self._types.get(edge.node, [])
        return types[edge.number] if edge.number < len(types) else None

    def placeholder(self, name: str, shape: Sequence[int] | None, data_type: int = graph_def.DT_FLOAT) -> str:
        """An input; -1 is a size that is not known, None a shape of unknown rank."""
        proto = graph_def.TensorShapeProto(unknown_rank=shape is None)
        for size in shape or ():
            proto.dim.add(size=size)
        return self.node("Placeholder", name, dtype=AttrValue(type=data_type), shape=AttrValue(shape=proto))

    def constant(self, name: str, value: np.ndarray) -> str:
        """A constant of the array's type and shape."""
        proto = proto_of(value)
        return self.node("Const", name, dtype=AttrValue(type=proto.dtype), value=AttrValue(tensor=proto))


def _tell(node: NodeDef, argument: Argument, types: Sequence[int | None]) -> None:
    """Set the attributes that an argument of these types tells, unless they are there."""
    known = [type for type in types if type is not None]
    if argument.number_attr and argument.number_attr not in node.attr:
        node.attr[argument.number_attr].i = len(types)
    if argument.type_list_attr and argument.type_list_attr not in node.attr:
        node.attr[argument.type_list_attr].list.SetInParent()
        node.attr[argument.type_list_attr].list.type.extend(known)
    if argument.type_attr and argument.type_attr not in node.attr and known:
        node.attr[argument.type_attr].type = known[0]


def _attribute(value: Attribute) -> AttrValue:
    if isinstance(value, AttrValue):
        return value
    if isinstance(value, bool):
        return AttrValue(b=value)
    if isinstance(value, int):
        return AttrValue(i=value)
    if isinstance(value, float):
        return AttrValue(f=value)
    if isinstance(value, str):
        return AttrValue(s=value.encode())
    return AttrValue(list=AttrValue.ListValue(i=value))
