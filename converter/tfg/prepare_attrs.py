"""Attributes that GraphDef needs, written out from the types."""

from __future__ import annotations

from collections.abc import Collection

from ..ir.attributes import UNIT, Attributes, SymbolAttr
from ..ir.module import Function, Module
from ..ir.node import Node
from ..ir.signature import registered
from ..ir.types import Type
from ..transforms.bodies import bodies, typed_bodies
from ..transforms.purity import is_reference
from ..transforms.refined_types import element_of, shape_of, subtypes_of
from .consolidate_attrs import (
    HANDLE_DATA,
    INPUT_SHAPES,
    OUTPUT_SHAPES,
    REGENERATE_INPUTS,
    REGENERATE_OUTPUTS,
)
from .functional_ops import FOR_OPS, FUNCTIONAL_OPS, IF_OPS, WHILE_OPS


def prepare_attrs(module: Module) -> None:
    """Write what the types say as attributes, where GraphDef needs it or a marker asks for it.

    Given:  y = If(c, x) : tensor<4xf32>; z = A {tfg.regenerate_output_shapes} : tensor<4xi32>
    Result: y = If(c, x) {Tcond = i1, Tin = [i32], Tout = [f32], output_shapes = [<4>]}
            z = A {_output_shapes = [<4>]}

    The reverse of consolidate_attrs. Attributes that are there stay. Generic functions stay as they are.
    """
    for body in typed_bodies(module):
        if isinstance(body, Function):
            _prepare_signature(body)
        for node in body.body.walk():
            _prepare_node(node)


def _prepare_node(node: Node) -> None:
    if REGENERATE_OUTPUTS in node.attributes:
        del node.attributes[REGENERATE_OUTPUTS]
        node.attributes["_output_shapes"] = tuple(shape_of(value.type) for value in node.results)
    if node.op not in FUNCTIONAL_OPS:
        return
    found: Attributes = {}
    if node.op in IF_OPS and node.operands:
        found["Tcond"] = element_of(node.operands[0].type)
    if node.op in (*WHILE_OPS, *FOR_OPS):
        first = 3 if node.op in FOR_OPS else 0
        found["T"] = tuple(element_of(value.type) for value in node.operands[first:])
    else:
        found["Tin"] = tuple(element_of(value.type) for value in node.operands[1:])
        found["Tout"] = tuple(element_of(value.type) for value in node.results)
    if node.op not in FOR_OPS:
        found["output_shapes"] = tuple(shape_of(value.type) for value in node.results)
    node.attributes = found | node.attributes


def _prepare_signature(function: Function) -> None:
    arguments = function.arguments
    if function.attributes.pop(REGENERATE_INPUTS, None) is not None:
        function.attributes[INPUT_SHAPES] = tuple(shape_of(value.type) for value in arguments)
    for value, attributes in zip(arguments, function.argument_attributes, strict=True):
        _describe(value.type, attributes)
    for type, attributes in zip(function.result_types, function.result_attributes, strict=True):
        _describe(type, attributes)


def _describe(type: Type, attributes: Attributes) -> None:
    if attributes.pop(REGENERATE_OUTPUTS, None) is not None:
        attributes[OUTPUT_SHAPES] = (shape_of(type),)
    subtypes = subtypes_of(type)
    if subtypes:
        attributes[HANDLE_DATA] = subtypes
    if is_reference(type):
        attributes["tfg.is_ref"] = UNIT


def drop_output_shapes(module: Module, skip: Collection[str] = ()) -> None:
    """Drop the attribute `_output_shapes` of all nodes but those of the ops in skip ("tfg." counts not).

    Given:  AddV2 {T = i32, _output_shapes = [<1>]}
    Result: AddV2 {T = i32}
    """
    left = {op.removeprefix("tfg.") for op in skip}
    for body in bodies(module):
        for node in body.body.walk():
            if node.op not in left:
                node.attributes.pop("_output_shapes", None)


LEGACY_CALL = "tfg.legacy_call"


def lift_legacy_calls(module: Module) -> None:
    """Write the function that a node calls into an attribute, so that it is seen to be used.

    Given:  Foo(x), and a function @Foo
    Result: Foo(x) {tfg.legacy_call = @Foo}

    TensorFlow's own ops go before functions of their name.
    """
    functions = module.functions
    for body in bodies(module):
        for node in body.body.walk():
            if node.op in functions and registered(node.op) is None:
                node.attributes[LEGACY_CALL] = SymbolAttr(node.op)
