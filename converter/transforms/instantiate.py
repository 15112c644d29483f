"""Instances of generic functions: their placeholders filled in from a call's attributes."""

from __future__ import annotations

from collections.abc import Mapping

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import AttrValue, FunctionDef, OpDef
from ..ir.attribute_export import write_attribute
from ..ir.attributes import FuncAttr
from ..ir.export_function import signature_of, write_function
from ..ir.import_function import import_function
from ..ir.import_options import ImportOptions, Signatures
from ..ir.module import Function, Module
from ..ir.signature import Signature, registered


class Instances:
    """The functions of a module as calls see them: typed ones as they are, generic ones filled in."""

    def __init__(self, module: Module) -> None:
        self.functions = module.functions
        self.op_defs = module.op_defs
        self._made: dict[bytes, Function] = {}

    def find(self, called: FuncAttr) -> Function | None:
        """The function for a call, None when the module has none of that name.

        UnsupportedError for a generic function whose arguments' number depends on the call, and
        ModelError when the call lacks an attribute that the function needs.
        """
        function = self.functions.get(called.name)
        if function is None or not function.generic:
            return function
        attributes: dict[str, AttrValue] = {}
        for name, attribute in called.attributes.items():
            write_attribute(attribute, attributes.setdefault(name, AttrValue()))
        key = b"\0".join(
            [
                called.name.encode(),
                *(attributes[n].SerializeToString(deterministic=True) for n in sorted(attributes)),
            ]
        )
        if key not in self._made:
            self._made[key] = self._filled(function, attributes)
        return self._made[key]

    def _filled(self, function: Function, attributes: Mapping[str, AttrValue]) -> Function:
        proto = FunctionDef()
        write_function(function, self._signature, proto)
        for rule in proto.signature.attr:
            if rule.name not in attributes and rule.HasField("default_value"):
                attributes = {**attributes, rule.name: rule.default_value}
        for argument in (*proto.signature.input_arg, *proto.signature.output_arg):
            _fill_type(argument, attributes, function.name)
        del proto.signature.attr[:]
        for node in proto.node_def:
            for name in list(node.attr):
                _fill(node.attr[name], attributes, f"function {function.name!r}, node {node.name!r}")
        known = Signatures((), self.op_defs)
        for name in self.functions:
            known.functions[name] = FunctionDef(signature=signature_of(self.functions[name]))
        return import_function(proto, known, ImportOptions())

    def _signature(self, op: str) -> Signature | None:
        found = registered(op)
        if found is None and op in self.functions:
            return Signature.of(signature_of(self.functions[op]))
        return found


def _fill_type(argument: OpDef.ArgDef, attributes: Mapping[str, AttrValue], name: str) -> None:
    if argument.number_attr or argument.type_list_attr:
        raise UnsupportedError(
            f"function {name!r}: argument {argument.name!r} is a list, which cannot be inlined"
        )
    if argument.type_attr:
        argument.type = _given(attributes, argument.type_attr, f"function {name!r}").type
        argument.type_attr = ""


def _fill(value: AttrValue, attributes: Mapping[str, AttrValue], what: str) -> None:
    """Put what the call gives in the place of placeholders, also inside names of functions."""
    if value.placeholder:
        value.CopyFrom(_given(attributes, value.placeholder, what))
    for func in (value.func, *value.list.func) if value.HasField("func") or value.list.func else ():
        for name in list(func.attr):
            _fill(func.attr[name], attributes, what)


def _given(attributes: Mapping[str, AttrValue], name: str, what: str) -> AttrValue:
    if name not in attributes:
        raise ModelError(f"{what}: the call must give attribute {name!r}")
    return attributes[name]
