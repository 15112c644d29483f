"""OpMetadata: what an op takes and gives, as its definition says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from ...lite.errors import ModelError
from ...schema.graph_def import AttrValue, OpDef
from ...schema.op_defs import op_defs
from .attributes import DataType, read_attribute
from .dtypes import REFERENCE, type_name
from .op_specification import finish, parse_argument, parse_attribute
from .status import InvalidArgumentError

# A damaged attribute must not make a node of a billion outputs.
_MOST_TENSORS = 1 << 20


@dataclass(frozen=True)
class ArgumentTypes:
    """One input or output of a node: types of the tensors that it stands for."""

    name: str
    is_list: bool
    types: tuple[int, ...]


class OpMetadata:
    """Inputs, outputs and attributes of an op."""

    def __init__(self, op_def: OpDef) -> None:
        self.name = op_def.name
        self.op_def = op_def
        self._defaults = {
            attr.name: attr.default_value for attr in op_def.attr if attr.HasField("default_value")
        }

    @classmethod
    def parse(
        cls,
        name: str,
        inputs: Iterable[str] = (),
        outputs: Iterable[str] = (),
        attributes: Iterable[str] = (),
    ) -> OpMetadata:
        """From specifications such as "out: int32", "values: N * T" and "T: {float, half} = DT_FLOAT".

        ValueError for one that makes no sense.

        Source: TensorFlow tensorflow/core/framework/op_def_builder.cc.
        """
        op_def = OpDef(name=name)
        for spec in inputs:
            parse_argument(op_def.input_arg.add(), spec)
        for spec in outputs:
            parse_argument(op_def.output_arg.add(), spec)
        for spec in attributes:
            parse_attribute(op_def.attr.add(), spec)
        return cls(finish(op_def))

    def with_defaults(self, attributes: Mapping[str, AttrValue]) -> dict[str, AttrValue]:
        """The attributes, and the op's defaults for those that are not there."""
        return {**self._defaults, **attributes}

    def check(self, attributes: Mapping[str, AttrValue]) -> None:
        """InvalidArgumentError when an attribute is not among the values that the op's definition allows."""
        for attr in self.op_def.attr:
            if attr.name in attributes:
                _check_attribute(self.name, attr, attributes[attr.name])

    def inputs(self, attributes: Mapping[str, AttrValue]) -> tuple[ArgumentTypes, ...]:
        return tuple(_types_of(argument, attributes) for argument in self.op_def.input_arg)

    def outputs(self, attributes: Mapping[str, AttrValue]) -> tuple[ArgumentTypes, ...]:
        return tuple(_types_of(argument, attributes) for argument in self.op_def.output_arg)


@lru_cache(4096)
def tensorflow_op(name: str) -> OpMetadata | None:
    """One of TensorFlow's own ops, None when it has no such op."""
    found = op_defs().find(name)
    return None if found is None else OpMetadata(found)


def _check_attribute(op: str, attr: OpDef.AttrDef, value: AttrValue) -> None:
    allowed = attr.allowed_values.list
    for item in value.list.s if attr.type == "list(string)" else [value.s] * (attr.type == "string"):
        if allowed.s and item not in allowed.s:
            names = ", ".join(name.decode() for name in allowed.s)
            text = item.decode(errors="replace")
            raise InvalidArgumentError(f"{op}: attribute {attr.name!r} must be one of {names}, got {text!r}")
    for type in value.list.type if attr.type == "list(type)" else [value.type] * (attr.type == "type"):
        if allowed.type and type not in allowed.type:
            names = ", ".join(map(type_name, allowed.type))
            raise InvalidArgumentError(
                f"{op}: attribute {attr.name!r} must be one of {names}, got {type_name(type)}"
            )
    if attr.has_minimum:
        found = value.i if attr.type == "int" else _length(value.list)
        if found < attr.minimum:
            what = "" if attr.type == "int" else " long"
            message = f"attribute {attr.name!r} must be at least {attr.minimum}{what}, got {found}"
            raise InvalidArgumentError(f"{op}: {message}")


def _length(held: AttrValue.ListValue) -> int:
    return max(len(items) for _, items in held.ListFields()) if held.ListFields() else 0


def _types_of(argument: OpDef.ArgDef, attributes: Mapping[str, AttrValue]) -> ArgumentTypes:
    reference = REFERENCE if argument.is_ref else 0
    if argument.type_list_attr:
        types = read_attribute(attributes, argument.type_list_attr, list[DataType])
        return ArgumentTypes(argument.name, True, tuple(type + reference for type in types))
    single = argument.type or read_attribute(attributes, argument.type_attr, DataType)
    if not argument.number_attr:
        return ArgumentTypes(argument.name, False, (single + reference,))
    count = read_attribute(attributes, argument.number_attr, int)
    if not 0 <= count <= _MOST_TENSORS:
        raise ModelError(f"attribute {argument.number_attr!r} must be 0 to {_MOST_TENSORS}, got {count}")
    return ArgumentTypes(argument.name, True, (single + reference,) * count)
