"""Export of functions as FunctionDefs."""

from __future__ import annotations

from collections.abc import Callable

from google.protobuf import text_format

from ...lite.errors import ModelError, UnsupportedError
from ...schema import graph_def
from ...schema.graph_def import FunctionDef, OpDef
from .attribute_export import shape_proto, write_attribute, write_attributes
from .attributes import Attribute, Attributes, DenseAttr, FullTypeAttr, NumberAttr, ShapeAttr
from .dense import array_of_elements
from .export_body import write_node
from .full_type import full_type_proto
from .import_function import REST
from .module import Function, text_attribute
from .node import GET_RESULT, RETURN, Node, Value
from .signature import Signature
from .types import CONTROL, ElementType, TensorType, Type

FindSignature = Callable[[str], Signature | None]


def signature_of(function: Function) -> OpDef:
    """The function's signature; ModelError when an argument or result has no name."""
    proto = OpDef(name=function.name)
    rest = function.attributes.get(REST)
    if isinstance(rest, bytes):
        try:
            text_format.Parse(rest.decode(), proto)
        except (text_format.ParseError, UnicodeDecodeError) as error:
            raise ModelError(f"function {function.name!r}: {REST} is no OpDef ({error})") from error
    proto.description = text_attribute(function.attributes.get("description"))
    proto.is_stateful = "is_stateful" in function.attributes
    for value, attributes in zip(function.arguments, function.argument_attributes, strict=True):
        if "tfg.name" not in attributes:
            raise ModelError(f"function {function.name!r}: argument is missing 'tfg.name'")
        _write_argument(proto.input_arg.add(), value.type, attributes, function.generic)
    for type, attributes in zip(function.result_types, function.result_attributes, strict=True):
        if type is CONTROL:
            continue
        if "tfg.name" not in attributes:
            raise ModelError(f"function {function.name!r}: result is missing 'tfg.name'")
        _write_argument(proto.output_arg.add(), type, attributes, function.generic)
    described = function.attributes.get("tfg.func_attrs")
    if function.generic and isinstance(described, dict):
        for name in sorted(described):
            _write_attr_def(proto.attr.add(name=name), described[name])
    proto.control_output.extend(_control_names(function))
    return proto


def _write_argument(proto: OpDef.ArgDef, type: Type, attributes: Attributes, generic: bool) -> None:
    proto.name = text_attribute(attributes["tfg.name"])
    proto.description = text_attribute(attributes.get("tfg.description"))
    proto.is_ref = "tfg.is_ref" in attributes
    held = attributes.get("tfg.type") if generic else type
    element = held.element if isinstance(held, TensorType) else held
    if isinstance(element, ElementType):
        number = element.number
        if proto.is_ref and number > graph_def.DT_FLOAT_REF:
            number -= graph_def.DT_FLOAT_REF - graph_def.DT_FLOAT
        proto.type = number
    elif not generic:
        raise UnsupportedError(f"argument {proto.name!r}: GraphDef has no type for {type}")
    for name in ("type_attr", "number_attr", "type_list_attr"):
        if f"tfg.{name}" in attributes:
            setattr(proto, name, text_attribute(attributes[f"tfg.{name}"]))
    handles = attributes.get("tfg.handle_data")
    for handle in handles if isinstance(handles, tuple) else ():
        if isinstance(handle, TensorType) and isinstance(handle.element, ElementType):
            data = proto.handle_data.add(dtype=handle.element.number)
            data.shape.CopyFrom(shape_proto(ShapeAttr(handle.shape)))
    full_type = attributes.get("tfg.experimental_full_type")
    if isinstance(full_type, FullTypeAttr):
        proto.experimental_full_type.CopyFrom(full_type_proto(full_type))


def _write_attr_def(proto: OpDef.AttrDef, described: Attribute) -> None:
    if not isinstance(described, dict):
        raise ModelError(f"tfg.func_attrs: {proto.name!r} must be described by a dictionary")
    proto.type = text_attribute(described.get("function_type"))
    proto.description = text_attribute(described.get("description"))
    minimum = described.get("minimum")
    if minimum is not None:
        proto.has_minimum = True
        value = minimum.value if isinstance(minimum, NumberAttr) else minimum
        proto.minimum = int(value) if isinstance(value, int | float) else 0
    if "default_value" in described:
        proto.default_value.SetInParent()
        write_attribute(described["default_value"], proto.default_value)
    if "allowed_values" in described:
        write_attribute(described["allowed_values"], proto.allowed_values)


def _control_names(function: Function) -> list[str]:
    if function.generic:
        names = function.attributes.get("control_output")
        return [text_attribute(name) for name in names] if isinstance(names, tuple) else []
    return [name for name, _ in _control_results(function)]


def _control_results(function: Function) -> list[tuple[str, Value]]:
    """Names and tokens of the control results."""
    node = function.terminator
    if node is None or not node.controls:
        return []
    if function.generic:
        held: object = tuple(
            a for t, a in zip(function.result_types, function.result_attributes, strict=True) if t is CONTROL
        )
    else:
        held = node.attributes.get("control_ret_attrs")
    attributes = held if isinstance(held, tuple) else ()
    found = []
    for i, token in enumerate(node.controls):
        described = attributes[i] if i < len(attributes) else None
        if not isinstance(described, dict) or "tfg.name" not in described:
            raise ModelError(f"function {function.name!r}: Control result is missing 'tfg.name'")
        found.append((text_attribute(described["tfg.name"]), token))
    return found


def write_function(function: Function, find: FindSignature, proto: FunctionDef) -> None:
    """Set the FunctionDef to the function; find gives the signature of any op or function.

    Unlike TensorFlow's exporter, reference types stay references and lists of types stay lists.
    """
    proto.signature.CopyFrom(signature_of(function))
    namer = _Namer(function, find)
    for i, attributes in enumerate(function.argument_attributes):
        held = attributes.get("tfg.arg_attrs") if function.generic else _prefixed(attributes)
        if isinstance(held, dict) and held:
            write_attributes(held, proto.arg_attr[i].attr)
        elif "tfg.arg_attrs" in attributes:
            proto.arg_attr[i].SetInParent()
    write_attributes(_prefixed(function.attributes), proto.attr)
    _write_unique_ids(function, proto)
    for node in function.body:
        if node.op not in (RETURN, GET_RESULT):
            write_node(node, namer.inputs(node), proto.node_def.add())
    end = function.terminator
    if end is not None:
        names = [a.name for a in proto.signature.output_arg]
        for name, value in zip(names, end.operands, strict=True):
            proto.ret[name] = namer.data(value)
        for name, token in _control_results(function):
            proto.control_ret[name] = namer.token(token)


def _prefixed(attributes: Attributes) -> Attributes:
    """The attributes that are the FunctionDef's own, without their prefix."""
    return {key.removeprefix("tf."): held for key, held in attributes.items() if key.startswith("tf.")}


def _write_unique_ids(function: Function, proto: FunctionDef) -> None:
    keys = function.attributes.get("resource_arg_unique_ids_keys")
    values = function.attributes.get("resource_arg_unique_ids_values")
    if keys is None and values is None:
        return
    if not isinstance(keys, DenseAttr) or not isinstance(values, DenseAttr) or keys.count != values.count:
        raise ModelError(
            f"function {function.name!r}: 'resource_arg_unique_ids_keys' is present but "
            "'resource_arg_unique_ids_values' does not match"
        )
    for key, value in zip(_numbers(keys), _numbers(values), strict=True):
        proto.resource_arg_unique_id[key] = value


def _numbers(dense: DenseAttr) -> list[int]:
    numbers = [int(number) & 0xFFFFFFFF for number in array_of_elements(dense)]
    return numbers * dense.count if len(numbers) == 1 else numbers


class _Namer:
    """Names of values as the inputs of a FunctionDef's nodes."""

    def __init__(self, function: Function, find: FindSignature) -> None:
        self.function = function
        self.find = find
        self._names: dict[Node, list[str]] = {}

    def inputs(self, node: Node) -> list[str]:
        try:
            return [self.data(value) for value in node.operands] + [
                f"^{self.token(value)}" for value in node.controls
            ]
        except (ModelError, UnsupportedError) as error:
            raise type(error)(f"input of node {node.name!r}: {error}") from error

    def token(self, value: Value) -> str:
        return value.owner.name if isinstance(value.owner, Node) else self._argument(value)

    def _argument(self, value: Value) -> str:
        name = self.function.argument_name(value)
        if not name:
            raise ModelError("argument is missing 'tfg.name'")
        return name

    def data(self, value: Value) -> str:
        node = value.owner
        if not isinstance(node, Node):
            return self._argument(value)
        if self.function.generic:
            return self._read(node)
        if node not in self._names:
            self._names[node] = self._results(node)
        names = self._names[node]
        if value.index >= len(names):
            raise ModelError(f"Result #{value.index} of node {node.name!r} is out of bounds")
        return names[value.index]

    def _read(self, node: Node) -> str:
        if node.op != GET_RESULT:
            raise ModelError("Missing get_result operation as input")
        source = node.operands[0].owner
        assert isinstance(source, Node)
        output, number = text_attribute(node.attributes.get("name")), node.attributes.get("number")
        number = number if isinstance(number, int) else 0
        return (
            f"{source.name}:{output}:{number}"
            if output
            else f"{source.name}:{number}"
            if number
            else source.name
        )

    def _results(self, node: Node) -> list[str]:
        signature = self.find(node.op)
        if signature is None:
            raise ModelError(f"Op {node.op!r} is neither registered nor a function")
        attributes = {**signature.defaults, **node.attributes}
        names: list[str] = []
        for output, _, count in signature.segments(attributes):
            names += [f"{node.name}:{output}:{i}" for i in range(count)]
        return names
