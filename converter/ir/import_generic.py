"""Import of generic functions: all values opaque, results read by name."""

from __future__ import annotations

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import FunctionDef, NodeDef, OpDef
from ...schema.shown import shown
from .attribute_import import attribute_of, attributes_of
from .attributes import Attribute, Attributes, NumberAttr
from .edges import parse_generic_edge
from .full_type import full_type_of
from .import_body import ASSIGNED_DEVICE, FULL_TYPE, location_of
from .import_function import REST, argument_attributes, rest_of, shared_attributes
from .import_options import Signatures
from .module import Function, text_attribute
from .node import GET_RESULT, RESERVED_OPS, RETURN, Node, Value
from .types import CONTROL, OPAQUE, ElementType, element_type

I32 = ElementType("i32")
# Fields of a generic function's signature that the import reads.
_READ = ("name", "input_arg", "output_arg", "attr", "description", "is_stateful", "control_output")


def is_generic(function_def: FunctionDef, signatures: Signatures) -> bool:
    """Whether types in the function depend on how it is called, or cannot be known."""
    signature = function_def.signature
    if any(not argument.type for argument in (*signature.input_arg, *signature.output_arg)):
        return True
    nodes = function_def.node_def
    if any(value.placeholder for node in nodes for value in node.attr.values()):
        return True
    return any(node.op and signatures.find(node.op) is None for node in nodes)


def has_placeholders(function_def: FunctionDef) -> bool:
    """TensorFlow's own rule for which functions are generic."""
    return any(value.placeholder for node in function_def.node_def for value in node.attr.values())


def import_generic_function(function_def: FunctionDef) -> Function:
    """A function as FunctionDef writes it.

    Nodes stay in the file's order; TensorFlow's importer moves a node to its first use.
    """
    signature = function_def.signature
    if not signature.name:
        raise ModelError("generic function without a name")
    importer = _GenericImporter(Function(signature.name, generic=True), function_def)
    importer.arguments()
    importer.attributes()
    try:
        importer.nodes()
    except (ModelError, UnsupportedError) as error:
        raise type(error)(f"{error}\n\t when importing function {shown(signature.name)}") from error
    importer.results()
    return importer.function


class _GenericImporter:
    def __init__(self, function: Function, function_def: FunctionDef) -> None:
        self.function = function
        self.function_def = function_def
        self.values: dict[str, Value] = {}
        self.made: dict[str, Node] = {}
        self.read: dict[tuple[Node, str, int], Value] = {}

    def arguments(self) -> None:
        for i, argument in enumerate(self.function_def.signature.input_arg):
            attributes = argument_attributes(argument) | _type_attributes(argument)
            if i in self.function_def.arg_attr:
                attrs = self.function_def.arg_attr[i].attr
                attributes["tfg.arg_attrs"] = attributes_of(attrs)
            if argument.name in self.values:
                raise ModelError(_duplicate(argument.name))
            self.values[argument.name] = self.function.add_argument(OPAQUE, attributes)

    def attributes(self) -> None:
        signature, attributes = self.function_def.signature, self.function.attributes
        if signature.attr:
            attributes["tfg.func_attrs"] = {attr.name: _attr_def(attr) for attr in signature.attr}
        attributes |= shared_attributes(self.function_def)
        if signature.control_output:
            attributes["control_output"] = tuple(name.encode() for name in signature.control_output)
        for key in sorted(self.function_def.attr):
            if not key:
                raise ModelError("Invalid function attribute name")
            attributes[f"tf.{key}"] = attribute_of(self.function_def.attr[key])
        rest = rest_of(signature, _READ)
        if rest:
            attributes[REST] = rest

    def nodes(self) -> None:
        for node_def in self.function_def.node_def:
            node = self._node(node_def)
            if node_def.name in self.made or node_def.name in self.values:
                raise ModelError(_duplicate(node_def.name))
            self.made[node_def.name] = self.function.body.append(node)
        for node_def in self.function_def.node_def:
            node = self.made[node_def.name]
            operands: list[Value] = []
            controls: list[Value] = []
            for text in node_def.input:
                if not text:
                    raise ModelError(f"Node {node_def.name!r} has an empty input")
                value = self._token(text[1:]) if text[0] == "^" else self._value(text, node)
                if value is None:
                    raise ModelError(f"Non-existent input {shown(text)} in node {shown(node_def.name)}")
                if controls and text[0] != "^":
                    raise ModelError(
                        f"Node {node.name!r}: Control dependencies must come after regular dependencies"
                    )
                (controls if text[0] == "^" else operands).append(value)
            node.operands, node.controls = operands, controls

    def _node(self, node_def: NodeDef) -> Node:
        if not node_def.op:
            raise ModelError(f"empty op type (node {node_def.name!r})")
        if node_def.op in RESERVED_OPS:
            raise ModelError(f"no op may have this name (node {node_def.name!r}, op {node_def.op!r})")
        try:
            attributes = attributes_of(node_def.attr)
        except (ModelError, UnsupportedError) as error:
            raise type(error)(f"{error} (node {node_def.name!r}, op {node_def.op!r})") from error
        assigned = text_attribute(attributes.pop(ASSIGNED_DEVICE, None))
        if node_def.HasField("experimental_type"):
            attributes[FULL_TYPE] = full_type_of(node_def.experimental_type)
        node = Node(node_def.op, node_def.name, (OPAQUE,), attributes, node_def.device, assigned)
        node.location = location_of(node_def)
        return node

    def _token(self, name: str) -> Value | None:
        if name in self.values:
            return self.function.control_of(self.values[name])
        node = self.made.get(name)
        return None if node is None else node.control

    def _value(self, text: str, before: Node | None) -> Value | None:
        """The value of an input, read before the node that uses it."""
        edge = parse_generic_edge(text)
        if edge.node in self.values:
            if ":" in text:
                raise ModelError(f"Result #{edge.number} of node {edge.node!r} is out of bounds")
            return self.values[edge.node]
        node = self.made.get(edge.node)
        if node is None:
            return None
        key = (node, edge.output, edge.number)
        if key not in self.read:
            attributes: Attributes = {"name": edge.output.encode(), "number": edge.number}
            result = Node(GET_RESULT, result_types=(OPAQUE,), attributes=attributes)
            body = self.function.body
            if before is None:
                body.append(result)
            else:
                body.insert_before(before, result)
            result.operands = (node.results[0],)
            self.read[key] = result.results[0]
        return self.read[key]

    def results(self) -> None:
        signature, function_def = self.function_def.signature, self.function_def
        places = {output.name: i for i, output in enumerate(signature.output_arg)}
        given: dict[int, Value] = {}
        for name in sorted(function_def.ret):
            text = function_def.ret[name]
            if not text:
                raise ModelError(f"Function {signature.name!r} has empty result name")
            if name not in places:
                raise ModelError(
                    f"Can't import function, returned value references unknown output argument {shown(name)}"
                )
            value = self._value(text, None)
            if value is None:
                raise ModelError(f"Return {text!r} was not found")
            given[places[name]] = value
        for i, output in enumerate(signature.output_arg):
            if i not in given:
                raise ModelError(
                    f"Failed to import function, missing output for position {i} ({output.name!r})"
                )
            attributes = argument_attributes(output) | _type_attributes(output)
            self.function.add_result(OPAQUE, attributes)
        controls = self._control_results()
        node = self.function.body.append(
            Node(RETURN, attributes={"control_ret_attrs": ({},) * len(controls)})
        )
        node.operands = [given[i] for i in range(len(signature.output_arg))]
        node.controls = controls

    def _control_results(self) -> list[Value]:
        controls = []
        for name in sorted(self.function_def.control_ret):
            source = self.function_def.control_ret[name]
            if not source:
                raise ModelError(
                    f"Function {self.function_def.signature.name!r} has empty control result name"
                )
            token = self._token(source)
            if token is None:
                raise ModelError(f"Control return {source} was not found")
            controls.append(token)
            self.function.add_result(CONTROL, {"tfg.name": name.encode()})
        return controls


def _duplicate(name: str) -> str:
    return f"Duplicated node (or function argument) with the same name: `{shown(name)}`"


def _type_attributes(argument: OpDef.ArgDef) -> Attributes:
    found: Attributes = {}
    if argument.type:
        found["tfg.type"] = element_type(argument.type)
    for name in ("type_attr", "number_attr", "type_list_attr"):
        if getattr(argument, name):
            found[f"tfg.{name}"] = getattr(argument, name).encode()
    return found


def _attr_def(attr: OpDef.AttrDef) -> Attribute:
    found: Attributes = {"function_type": attr.type.encode()}
    if attr.HasField("default_value"):
        found["default_value"] = attribute_of(attr.default_value)
    if attr.description:
        found["description"] = attr.description.encode()
    if attr.has_minimum:
        found["minimum"] = (
            NumberAttr(attr.minimum, I32) if -(1 << 31) <= attr.minimum < 1 << 31 else attr.minimum
        )
    if attr.HasField("allowed_values"):
        found["allowed_values"] = attribute_of(attr.allowed_values)
    return found
