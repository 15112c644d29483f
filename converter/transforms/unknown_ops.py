"""Ops that nobody knows: the types of their results, by what their nodes say of them."""

from __future__ import annotations

from ..ir.node import Node
from ..ir.signature import registered
from ..ir.types import OPAQUE, ElementType, TensorType
from .bodies import Body
from .refined_types import listed_shapes, reshaped_type


def type_unknown_ops(body: Body) -> None:
    """Give the results of unknown ops the types and shapes that TensorFlow's attributes for this tell.

    Given:  y = MyOp(x) {_output_types = [f32], _output_shapes = [<2x3>]} : opaque
    Result: y = MyOp(x) {...} : tensor<2x3xf32>

    `Tout` tells the type of an only result where there is no `_output_types`.
    Source: TensorFlow lite/toco/import_tensorflow.cc, ConvertUnsupportedOperator.
    """
    for node in body.body.walk():
        if registered(node.op) is None and all(value.type is OPAQUE for value in node.results):
            _set_types(node)


def _set_types(node: Node) -> None:
    types = node.attributes.get("_output_types", node.attributes.get("Tout"))
    listed = types if isinstance(types, tuple) else (types,)
    elements = [type for type in listed if isinstance(type, ElementType)]
    if len(elements) != len(listed) or len(elements) < len(node.results):
        return
    while len(node.results) < len(elements):
        node.add_result(OPAQUE)
    shapes = listed_shapes(node.attributes.get("_output_shapes"), len(elements))
    for i, element in enumerate(elements):
        type = TensorType(element)
        node.results[i].type = type if shapes is None else reshaped_type(type, shapes[i])
