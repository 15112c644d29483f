"""Signature: an OpDef as the importer and exporter need it, and the results of a node of the op."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...lite.errors import ModelError
from ...schema import graph_def
from ...schema.graph_def import OpDef
from ...schema.op_defs import op_defs
from ...schema.shown import shown
from .attribute_import import attribute_of
from .attributes import Attribute, FullTypeAttr
from .full_type import full_type_of
from .types import REFERENCE, ElementType

# A node may have as many results as this; a count beyond it comes from a damaged file.
MOST_RESULTS = 1 << 20


@dataclass(frozen=True, slots=True)
class Argument:
    """One input or output of an op: a tensor, or a list of them."""

    name: str
    type: int
    type_attr: str
    number_attr: str
    type_list_attr: str
    is_ref: bool

    def types(self, attributes: Mapping[str, Attribute]) -> list[int]:
        """TensorFlow's numbers of the types that the argument stands for."""
        if self.type_list_attr:
            types = _needed(attributes, self.type_list_attr)
            if not isinstance(types, tuple) or not all(isinstance(type, ElementType) for type in types):
                raise ModelError(f"Expected '{self.type_list_attr}' to be a list of types")
            numbers = [type.number for type in types if isinstance(type, ElementType)]
        else:
            numbers = [self._single(attributes)] * self._count(attributes)
        return [n + REFERENCE if n < REFERENCE else n for n in numbers] if self.is_ref else numbers

    def _single(self, attributes: Mapping[str, Attribute]) -> int:
        if not self.type_attr:
            return self.type
        type = _needed(attributes, self.type_attr)
        if not isinstance(type, ElementType):
            raise ModelError(f"Expected '{self.type_attr}' to be a type")
        return type.number

    def _count(self, attributes: Mapping[str, Attribute]) -> int:
        if not self.number_attr:
            return 1
        count = _needed(attributes, self.number_attr)
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= MOST_RESULTS:
            raise ModelError(f"Expected '{self.number_attr}' to be a number of tensors, got {count!r}")
        return count


def _needed(attributes: Mapping[str, Attribute], name: str) -> Attribute:
    if name not in attributes:
        raise ModelError(f"Type attr not found: {shown(name)}")
    return attributes[name]


@dataclass(frozen=True, slots=True)
class AttributeRule:
    """An attribute that the op's nodes have: its kind, default and least value."""

    name: str
    kind: str
    default: Attribute | None
    minimum: int | None
    allowed: tuple[Attribute, ...]


@dataclass(slots=True)
class Signature:
    """What an op takes and gives."""

    name: str
    inputs: list[Argument]
    outputs: list[Argument]
    attributes: list[AttributeRule]
    # Full types of the outputs, None when the op does not construct any.
    full_types: list[FullTypeAttr | None] | None
    defaults: dict[str, Attribute] = field(default_factory=dict)

    @classmethod
    def of(cls, op_def: OpDef) -> Signature:
        rules = [_rule(attr) for attr in op_def.attr]
        full_types = [
            full_type_of(a.experimental_full_type) if a.HasField("experimental_full_type") else None
            for a in op_def.output_arg
        ]
        constructs = any(full_types) or op_def.name == "MakeIterator"
        return cls(
            op_def.name,
            [_argument(a) for a in op_def.input_arg],
            [_argument(a) for a in op_def.output_arg],
            rules,
            full_types if constructs else None,
            {rule.name: rule.default for rule in rules if rule.default is not None},
        )

    def result_types(self, attributes: Mapping[str, Attribute]) -> list[int]:
        """TensorFlow's numbers of the types of all results of a node with these attributes."""
        if len(self.outputs) == 1:
            return self.outputs[0].types(attributes)
        return [number for output in self.outputs for number in output.types(attributes)]

    def input_types(self, attributes: Mapping[str, Attribute]) -> list[int]:
        """TensorFlow's numbers of the types of all data inputs of a node with these attributes."""
        return [number for argument in self.inputs for number in argument.types(attributes)]

    def segments(self, attributes: Mapping[str, Attribute]) -> Iterator[tuple[str, int, int]]:
        """Name, first result and number of results of each output."""
        start = 0
        for output in self.outputs:
            count = len(output.types(attributes))
            yield output.name, start, count
            start += count


def _argument(a: OpDef.ArgDef) -> Argument:
    return Argument(a.name, a.type, a.type_attr, a.number_attr, a.type_list_attr, a.is_ref)


def _rule(attr: OpDef.AttrDef) -> AttributeRule:
    default = attribute_of(attr.default_value) if attr.HasField("default_value") else None
    allowed: tuple[Attribute, ...] = ()
    if attr.HasField("allowed_values"):
        # Types that the IR has no form for cannot be anyone's value.
        held = attr.allowed_values
        if held.list.type:
            known = graph_def.AttrValue()
            known.list.type.extend(t for t in held.list.type if t not in _WITHOUT_FORM)
            held = known
        values = attribute_of(held)
        allowed = values if isinstance(values, tuple) else ()
    return AttributeRule(attr.name, attr.type, default, attr.minimum if attr.has_minimum else None, allowed)


_WITHOUT_FORM = {
    graph_def.DT_INT2,
    graph_def.DT_UINT2,
    graph_def.DT_FLOAT8_E4M3FNUZ,
    graph_def.DT_FLOAT8_E4M3B11FNUZ,
    graph_def.DT_FLOAT8_E5M2FNUZ,
}
_registered: dict[str, Signature | None] = {}


def registered(op: str) -> Signature | None:
    """The signature of one of TensorFlow's ops, None when it has no such op."""
    if op not in _registered:
        found = op_defs().find(op)
        signature = None if found is None else Signature.of(found)
        if len(_registered) > 1 << 14:
            _registered.clear()
        _registered[op] = signature
    return _registered[op]
