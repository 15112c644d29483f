"""Import of FunctionDefs: what all functions share, and instantiated functions."""

from __future__ import annotations

from google.protobuf import text_format
from google.protobuf.message import Message

from ...lite.errors import ModelError
from ...schema import graph_def
from ...schema.graph_def import FunctionDef, OpDef
from ...schema.shown import shown
from .attribute_import import attribute_of, shape_attr
from .attributes import UNIT, Attribute, Attributes, DenseAttr
from .full_type import full_type_of
from .import_body import BodyImporter
from .import_options import ImportOptions, Signatures
from .module import Function
from .node import RETURN, Node, Value
from .types import ElementType, TensorType, element_type, unranked

# What the form of TensorFlow has no place for, as the text of the message that had it.
REST = "numlite.rest"


def import_function(function_def: FunctionDef, signatures: Signatures, options: ImportOptions) -> Function:
    """An instantiated function."""
    signature = function_def.signature
    attributes: Attributes = {}
    for key in sorted(function_def.attr):
        if not key:
            raise ModelError(f"Function {shown(signature.name)} has an empty attr name")
        attributes[f"tf.{key}"] = attribute_of(function_def.attr[key])
    if not signature.name:
        raise ModelError("Function without a name")
    function = Function(signature.name)
    function.attributes = attributes | shared_attributes(function_def)
    rest = _rest(signature)
    if rest:
        function.attributes[REST] = rest
    importer = BodyImporter(function.body, signatures, options)
    for i, argument in enumerate(signature.input_arg):
        described = argument_attributes(argument)
        if i in function_def.arg_attr:
            attrs = function_def.arg_attr[i].attr
            described |= {f"tf.{key}": attribute_of(attrs[key]) for key in sorted(attrs)}
        value = function.add_argument(_type(argument), described)
        if argument.name in importer.arguments:
            raise ModelError(
                f"Duplicated node (or function argument) with the same name: `{shown(argument.name)}`"
            )
        importer.arguments[argument.name] = (value, function.control_of(value))
    importer.add(function_def.node_def)
    _finish(function, function_def, importer)
    return function


def _type(argument: OpDef.ArgDef) -> TensorType:
    number = argument.type
    if argument.is_ref and number < graph_def.DT_FLOAT_REF:
        number += graph_def.DT_FLOAT_REF - graph_def.DT_FLOAT
    return unranked(number)


def _finish(function: Function, function_def: FunctionDef, importer: BodyImporter) -> None:
    """Results and control results."""
    signature = function_def.signature
    results: list[Value] = []
    for output in signature.output_arg:
        if output.name not in function_def.ret:
            raise ModelError(f"Output {output.name!r} was not found in 'ret'")
        value = importer.value(function_def.ret[output.name])
        if value is None:
            raise ModelError(f"Return {function_def.ret[output.name]!r} was not found")
        function.add_result(_type(output), argument_attributes(output))
        results.append(value)
    controls: list[Value] = []
    names: list[Attribute] = []
    for name in signature.control_output:
        if name not in function_def.control_ret:
            raise ModelError(f"Control output {name!r} was not found in 'control_ret'")
        token = importer.token(function_def.control_ret[name])
        if token is None:
            raise ModelError(f"Control return {function_def.control_ret[name]} was not found")
        controls.append(token)
        names.append({"tfg.name": name.encode()})
    node = Node(RETURN, attributes={"control_ret_attrs": tuple(names)})
    function.body.append(node)
    node.operands, node.controls = results, controls


def argument_attributes(argument: OpDef.ArgDef) -> Attributes:
    """Attributes that arguments and results of all functions have."""
    found: Attributes = {"tfg.name": argument.name.encode()}
    if argument.description:
        found["tfg.description"] = argument.description.encode()
    if argument.is_ref:
        found["tfg.is_ref"] = UNIT
    if argument.handle_data:
        found["tfg.handle_data"] = tuple(handle_type(data) for data in argument.handle_data)
    if argument.HasField("experimental_full_type"):
        found["tfg.experimental_full_type"] = full_type_of(argument.experimental_full_type)
    return found


def handle_type(data: graph_def.ResourceHandleProto.DtypeAndShape) -> TensorType:
    """The tensor that a handle refers to."""
    if data.dtype == graph_def.DT_INVALID:
        raise ModelError("Invalid dtype for handle_data")
    sizes = shape_attr(data.shape).sizes
    shape = None if sizes is None else tuple(-1 if size is None or size < 0 else size for size in sizes)
    return TensorType(element_type(data.dtype), shape)


def shared_attributes(function_def: FunctionDef) -> Attributes:
    """Attributes that functions of both kinds have."""
    found: Attributes = {}
    signature = function_def.signature
    if signature.description:
        found["description"] = signature.description.encode()
    if signature.is_stateful:
        found["is_stateful"] = UNIT
    if function_def.resource_arg_unique_id:
        keys = sorted(function_def.resource_arg_unique_id)
        found["resource_arg_unique_ids_keys"] = _int_vector(keys)
        ids = [function_def.resource_arg_unique_id[key] for key in keys]
        found["resource_arg_unique_ids_values"] = _int_vector(ids)
    return found


def _int_vector(numbers: list[int]) -> DenseAttr:
    elements = b"".join((number & 0xFFFFFFFF).to_bytes(4, "little") for number in numbers)
    if len(set(numbers)) == 1:
        elements = elements[:4]
    return DenseAttr(TensorType(ElementType("i32"), (len(numbers),)), elements)


# Fields of a signature that the import reads.
_READ = ("name", "input_arg", "output_arg", "description", "is_stateful", "control_output")


def _rest(signature: OpDef) -> bytes:
    """The text of the other fields, which TensorFlow's form of functions loses."""
    return rest_of(signature, _READ)


def rest_of(message: Message, read: tuple[str, ...]) -> bytes:
    """Text of the fields that are set and not among those read."""
    if all(descriptor.name in read for descriptor, _ in message.ListFields()):
        return b""
    left = type(message)()
    left.CopyFrom(message)
    for name in read:
        left.ClearField(name)
    return text_format.MessageToString(left, as_one_line=True).encode()
