"""GraphBuilder: GraphDefs written by hand, a node at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..schema import graph_def
from ..schema.graph_def import AttrValue, GraphDef
from .tensor_proto import proto_of

Attribute = bool | int | float | str | AttrValue | Sequence[int]


class GraphBuilder:
    """Adds nodes to a GraphDef; every method returns the node's name, to be used as an input."""

    def __init__(self) -> None:
        self.graph_def = GraphDef()

    def node(self, op: str, name: str, *inputs: str, **attributes: Attribute) -> str:
        """A node of any op. Attributes of Python's types take the obvious form; sequences are of int."""
        node = self.graph_def.node.add(op=op, name=name, input=inputs)
        for key, value in attributes.items():
            node.attr[key].CopyFrom(_attribute(value))
        return name

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
