"""Operations of a program's text in the generic form, the regions that they hold, and what follows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ....schema.shown import shown
from ..program import ArrayType, Attribute, Block, FunctionType, Operation, OtherType, Type, Value
from .attributes import parse_dictionary
from .program_reader import ProgramReader
from .scope import Scope
from .types import parse_function_type, parse_results, parse_type

# Dialects whose operations go by their own names alone.
_PLAIN = ("stablehlo", "func", "mhlo", "builtin")
# Operations whose regions see nothing of what is around them.
_ISOLATED = frozenset(("func", "module"))
_NAMES = {"copy": "optimization_barrier", "sdy.sharding_constraint": "optimization_barrier"}
# What attributes are where operations leave them out.
_DEFAULTS: dict[str, dict[str, Attribute]] = {
    "composite": {"version": 0},
    "convolution": {"batch_group_count": 1, "feature_group_count": 1},
    "dynamic_conv": {"batch_group_count": 1, "feature_group_count": 1},
    "sort": {"dimension": -1},
}


def plain_name(reader: ProgramReader, full_name: str, at: int) -> str:
    """StableHLO's name of an operation: `add` of `stablehlo.add`; others keep their dialects."""
    dialect, _, name = full_name.partition(".")
    if dialect == "vhlo":
        raise reader.refuse(
            f"operation {shown(full_name)}: the text of VHLO is not read; give its bytecode", at
        )
    plain = name if dialect in _PLAIN and name else full_name
    return _NAMES.get(plain, plain)


def parse_operation(scope: Scope) -> Operation:
    """An operation in either form, with its results' names, its place behind it."""
    reader = scope.reader
    start, names = reader.at, scope.result_names()
    if reader.sees_string():
        operation = _generic(scope)
    else:
        operation = reader.form(scope, sum(count for _, count in names))
    operation.attributes = _DEFAULTS.get(operation.name, {}) | operation.attributes
    reader.location_name()
    scope.define(names, operation.results, start)
    return operation


def _generic(scope: Scope) -> Operation:
    """ "stablehlo.add"(%x, %y) <{properties}> ({region}) {attributes} : (types) -> type"""
    reader, start = scope.reader, scope.reader.at
    name = plain_name(reader, reader.string().decode(errors="replace"), start)
    reader.expect("(")
    operation = Operation(name, scope.uses(")"), [])
    if reader.sees("["):
        raise reader.refuse("jumps between blocks are not StableHLO's")
    if reader.accept("<"):
        operation.attributes.update(parse_dictionary(reader))
        reader.expect(">")
    if reader.accept("("):
        operation.regions.append(parse_region(reader, _around(scope, name)))
        while reader.accept(","):
            operation.regions.append(parse_region(reader, _around(scope, name)))
        reader.expect(")")
    if reader.sees("{"):
        operation.attributes.update(parse_dictionary(reader))
    reader.expect(":")
    type = parse_function_type(reader)
    operation.results = typed_results(reader, operation.operands, type)
    return operation


def _around(scope: Scope, name: str) -> Scope | None:
    return None if name in _ISOLATED else scope


def typed_results(reader: ProgramReader, operands: Sequence[Value], type: FunctionType) -> list[Value]:
    """Results of the types; ModelError where the operands have others than they are said to have."""
    if tuple(value.type for value in operands) != type.inputs:
        _refuse_operands(reader, type.inputs, operands, reader.at)
    return [Value(each) for each in type.results]


def _refuse_operands(
    reader: ProgramReader, types: Sequence[Type], operands: Sequence[Value], at: int
) -> NoReturn:
    told, own = (", ".join(map(str, each)) for each in (types, [value.type for value in operands]))
    raise reader.error(f"operands must be of types ({told}), got ({own})", at)


def _is_of(type: Type, told: Type) -> bool:
    """Whether an operand's type is the one told, or a part of the complex number or tuple that is made."""
    if isinstance(told, OtherType):
        return type == told or told.name.startswith("tuple<")
    made = isinstance(type, ArrayType) and ArrayType(type.shape, f"complex<{type.element}>")
    return told in (type, made)


def parse_region(reader: ProgramReader, outer: Scope | None, scope: Scope | None = None) -> Block:
    """The one block between braces. A scope that is given has the block's arguments already."""
    reader.expect("{")
    reader.enter()
    scope = Scope(reader, outer) if scope is None else scope
    block = Block([])
    if reader.accept("^"):
        reader.word()
        if reader.accept("(") and not reader.accept(")"):
            block.arguments.append(scope.argument())
            while reader.accept(","):
                block.arguments.append(scope.argument())
            reader.expect(")")
        reader.expect(":")
    while not reader.accept("}"):
        if reader.sees("^"):
            raise reader.refuse("regions of several blocks are not StableHLO's")
        if reader.is_done:
            raise reader.error("a region must end with '}'")
        block.operations.append(parse_operation(scope))
    reader.leave()
    return block


def parse_signature(reader: ProgramReader, operands: Sequence[Value], results: int) -> list[Value]:
    """Results of the types behind an operation's colon.

    These are a function's type, or types: one for all operands and the result, one for each result, or some
    of which the last is the result's, and that of all further operands. ModelError where they have others.
    """
    if reader.sees("("):
        return typed_results(reader, operands, parse_function_type(reader))
    start, types = reader.at, [parse_type(reader)]
    while reader.accept(","):
        types.append(parse_type(reader))
    told = types + types[-1:] * (len(operands) - len(types))
    if not all(_is_of(value.type, type) for value, type in zip(operands, told, strict=False)):
        _refuse_operands(reader, told, operands, start)
    if reader.accept("->"):
        types = parse_results(reader)
    return [Value(type) for type in _for_results(reader, types, results)]


def _for_results(reader: ProgramReader, types: list[Type], results: int) -> list[Type]:
    if len(types) == results:
        return types
    if results != 1:
        raise reader.error(f"a type must be told for each of {results} results, got {len(types)}")
    return types[-1:]
