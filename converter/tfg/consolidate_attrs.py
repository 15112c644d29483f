"""Attributes that say what types say, moved into the types."""

from __future__ import annotations

from ..ir.attributes import UNIT, Attributes, ShapeAttr
from ..ir.module import Function, Module
from ..ir.node import Node
from ..ir.types import TensorType, Type
from ..transforms.bodies import typed_bodies
from ..transforms.refined_types import listed_shapes, reshaped_type, subtypes_of, with_subtypes
from .functional_ops import FOR_OPS, FUNCTIONAL_OPS, IF_OPS, WHILE_OPS

REGENERATE_INPUTS = "tfg.regenerate_input_shapes"
REGENERATE_OUTPUTS = "tfg.regenerate_output_shapes"
INPUT_SHAPES = "tf._input_shapes"
OUTPUT_SHAPES = "tf._output_shapes"
HANDLE_DATA = "tfg.handle_data"


def consolidate_attrs(module: Module) -> None:
    """Refine types by shape attributes, and drop attributes that the types now hold.

    Given:  y = If(c, x) {Tcond = i1, Tin = [i32], Tout = [f32], output_shapes = [<4>]} : tensor<*xf32>
            z = A {_output_shapes = [<4>]} : tensor<*xi32>
    Result: y = If(c, x) : tensor<4xf32>
            z = A {tfg.regenerate_output_shapes} : tensor<4xi32>

    Functions lose `_input_shapes`, `_output_shapes` and handle data in the same way. Markers say what
    prepare_attrs writes again. An attribute that is no list of as many shapes is left alone; a shape
    that contradicts a type is consumed without effect. Generic functions stay as they are.
    """
    for body in typed_bodies(module):
        if isinstance(body, Function):
            _consolidate_signature(body)
        for node in body.body.walk():
            _consolidate_node(node)
        if isinstance(body, Function):
            _take_returned_types(body)


def _consolidate_node(node: Node) -> None:
    if _refine_results(node, "_output_shapes"):
        node.attributes[REGENERATE_OUTPUTS] = UNIT
    if node.op not in FUNCTIONAL_OPS:
        return
    if node.op not in FOR_OPS:
        _refine_results(node, "output_shapes")
    dropped = ("T",) if node.op in (*WHILE_OPS, *FOR_OPS) else ("Tin", "Tout")
    for name in (*dropped, "Tcond") if node.op in IF_OPS else dropped:
        node.attributes.pop(name, None)


def _refine_results(node: Node, name: str) -> bool:
    """Whether the attribute held the results' shapes; it is gone then."""
    shapes = listed_shapes(node.attributes.get(name), len(node.results))
    if not shapes:
        return False
    del node.attributes[name]
    for value, shape in zip(node.results, shapes, strict=True):
        value.type = reshaped_type(value.type, shape)
    return True


def _consolidate_signature(function: Function) -> None:
    arguments = function.arguments
    shapes = listed_shapes(function.attributes.get(INPUT_SHAPES), len(arguments))
    if shapes:
        del function.attributes[INPUT_SHAPES]
        function.attributes[REGENERATE_INPUTS] = UNIT
        for value, shape in zip(arguments, shapes, strict=True):
            value.type = reshaped_type(value.type, shape)
    for value, attributes in zip(arguments, function.argument_attributes, strict=True):
        value.type = _described_type(value.type, attributes)
    end = function.terminator
    for i, attributes in enumerate(function.result_attributes):
        type = _described_type(function.result_types[i], attributes)
        if end is not None and i < len(end.operands) and type != function.result_types[i]:
            returned = end.operands[i]
            returned.type = _both(returned.type, type)


def _described_type(type: Type, attributes: Attributes) -> Type:
    """The type with what the argument's or result's attributes say of it; they lose it."""
    shapes = listed_shapes(attributes.get(OUTPUT_SHAPES), 1)
    if shapes:
        del attributes[OUTPUT_SHAPES]
        attributes[REGENERATE_OUTPUTS] = UNIT
        type = reshaped_type(type, shapes[0])
    held = attributes.get(HANDLE_DATA)
    if isinstance(held, tuple):
        subtypes = tuple(item for item in held if isinstance(item, TensorType))
        if len(subtypes) == len(held):
            del attributes[HANDLE_DATA]
            type = with_subtypes(type, subtypes) if subtypes else type
    attributes.pop("tfg.dtype", None)
    attributes.pop("tfg.is_ref", None)
    return type


def _both(type: Type, other: Type) -> Type:
    """The returned value's type with the result's shape and subtypes."""
    if not isinstance(type, TensorType) or not isinstance(other, TensorType):
        return type
    if other.shape is not None:
        type = reshaped_type(type, ShapeAttr(other.shape))
    return with_subtypes(type, subtypes_of(other) or subtypes_of(type))


def _take_returned_types(function: Function) -> None:
    end = function.terminator
    if end is not None and len(end.operands) == len(function.result_types):
        function.result_types = [value.type for value in end.operands]
