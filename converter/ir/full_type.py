"""Full types: what a value is beyond its element type, and what an op's definition says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...lite.errors import ModelError
from ...schema import graph_def
from ...schema.graph_def import FullTypeDef
from .attributes import Attribute, FullTypeAttr
from .types import ElementType

_PREFIX = "TFT_"
PRODUCT = graph_def.TFT_PRODUCT
_OF_ELEMENT = {
    graph_def.DT_FLOAT: graph_def.TFT_FLOAT,
    graph_def.DT_DOUBLE: graph_def.TFT_DOUBLE,
    graph_def.DT_INT32: graph_def.TFT_INT32,
    graph_def.DT_UINT8: graph_def.TFT_UINT8,
    graph_def.DT_INT16: graph_def.TFT_INT16,
    graph_def.DT_INT8: graph_def.TFT_INT8,
    graph_def.DT_STRING: graph_def.TFT_STRING,
    graph_def.DT_COMPLEX64: graph_def.TFT_COMPLEX64,
    graph_def.DT_INT64: graph_def.TFT_INT64,
    graph_def.DT_BOOL: graph_def.TFT_BOOL,
    graph_def.DT_UINT16: graph_def.TFT_UINT16,
    graph_def.DT_COMPLEX128: graph_def.TFT_COMPLEX128,
    graph_def.DT_HALF: graph_def.TFT_HALF,
    graph_def.DT_UINT32: graph_def.TFT_UINT32,
    graph_def.DT_UINT64: graph_def.TFT_UINT64,
    graph_def.DT_BFLOAT16: graph_def.TFT_BFLOAT16,
    graph_def.DT_VARIANT: graph_def.TFT_LEGACY_VARIANT,
}
_NO_TYPE = FullTypeAttr(graph_def.TFT_UNSET)


def constructor_name(number: int) -> str:
    """The constructor's name in the text form; ModelError for numbers that are none."""
    try:
        return graph_def.FullTypeId.Name(number).removeprefix(_PREFIX).lower()
    except ValueError:
        raise ModelError(f"full type: {number} is no constructor") from None


def constructor_number(name: str) -> int | None:
    """The constructor of that name, None when there is none."""
    try:
        return graph_def.FullTypeId.Value(_PREFIX + name.upper())
    except ValueError:
        return None


def full_type_of(proto: FullTypeDef) -> FullTypeAttr:
    constructor_name(proto.type_id)
    kind = proto.WhichOneof("attr")
    value = None if kind is None else proto.s.encode() if kind == "s" else proto.i
    return FullTypeAttr(proto.type_id, tuple(full_type_of(arg) for arg in proto.args), value)


def full_type_proto(full_type: FullTypeAttr) -> FullTypeDef:
    proto = FullTypeDef(type_id=full_type.id, args=[full_type_proto(arg) for arg in full_type.arguments])
    if isinstance(full_type.value, bytes):
        proto.s = full_type.value.decode()
    elif full_type.value is not None:
        proto.i = full_type.value
    return proto


def constructed(
    templates: Iterable[FullTypeAttr | None], attributes: Mapping[str, Attribute]
) -> FullTypeAttr:
    """The node's full type: a product of its outputs', with the op's variables put in."""
    outputs = tuple(_NO_TYPE if t is None else _specialized(t, attributes) for t in templates)
    return FullTypeAttr(PRODUCT, outputs)


def _specialized(template: FullTypeAttr, attributes: Mapping[str, Attribute]) -> FullTypeAttr:
    if template.id == graph_def.TFT_VAR:
        return _variable(template, attributes)[0]
    if template.id == graph_def.TFT_FOR_EACH:
        container, body, variable = template.arguments
        bodies = [_substituted(body, variable.value, type) for type in _variable(variable, attributes)]
        return _without_variants(FullTypeAttr(container.id, tuple(bodies)))
    arguments = tuple(_specialized(argument, attributes) for argument in template.arguments)
    return _without_variants(FullTypeAttr(template.id, arguments, template.value))


def _variable(variable: FullTypeAttr, attributes: Mapping[str, Attribute]) -> list[FullTypeAttr]:
    assert isinstance(variable.value, bytes)
    name = variable.value.decode()
    held = attributes.get(name)
    types = held if isinstance(held, tuple) else (held,)
    if not types:
        return [_NO_TYPE] if not isinstance(held, tuple) else []
    return [_of_type(type, name) for type in types]


def _of_type(type: Attribute | None, name: str) -> FullTypeAttr:
    if not isinstance(type, ElementType):
        raise ModelError(f"full type: attribute {name!r} must hold types")
    return FullTypeAttr(_OF_ELEMENT.get(type.number, graph_def.TFT_UNSET))


def _substituted(body: FullTypeAttr, variable: object, type: FullTypeAttr) -> FullTypeAttr:
    if body.id == graph_def.TFT_VAR and body.value == variable:
        return type
    arguments = tuple(_substituted(argument, variable, type) for argument in body.arguments)
    return _without_variants(FullTypeAttr(body.id, arguments, body.value))


def _without_variants(full_type: FullTypeAttr) -> FullTypeAttr:
    """A tensor of variants says nothing of what it holds, so what is around it holds no arguments."""
    for argument in full_type.arguments:
        inner = argument.arguments
        if argument.id == graph_def.TFT_TENSOR and inner and inner[0].id == graph_def.TFT_LEGACY_VARIANT:
            return FullTypeAttr(full_type.id, (), full_type.value)
    return full_type
