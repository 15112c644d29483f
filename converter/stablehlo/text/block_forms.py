"""Forms of operations that hold others: modules, functions, loops, reductions, and convolutions' windows."""

from __future__ import annotations

from collections.abc import Callable

from ..program import ArrayType, Attribute, Block, FunctionType, Operation, Type, Value
from .attributes import convolution_dimensions, parse_attribute, parse_dictionary, parse_list
from .operations import parse_region, parse_signature, typed_results
from .program_reader import ProgramReader
from .scope import Scope
from .types import parse_function_type, parse_type

_WINDOW = {
    "lhs_dilate": "lhs_dilation",
    "pad": "padding",
    "reverse": "window_reversal",
    "rhs_dilate": "rhs_dilation",
    "stride": "window_strides",
}


def _attributes(reader: ProgramReader) -> dict[str, Attribute]:
    """What stands behind the word `attributes`, if it is there."""
    return parse_dictionary(reader) if reader.accept_word("attributes") else {}


def _module(scope: Scope) -> Operation:
    """@name attributes {...} {functions}"""
    reader = scope.reader
    if reader.sees("@"):
        reader.symbol()
    attributes = _attributes(reader)
    return Operation("module", [], [], attributes, [parse_region(reader, None)])


def _function(scope: Scope) -> Operation:
    """Public @name(%x: type {attributes}) -> (type {attributes}) attributes {...} {operations}"""
    reader = scope.reader
    for word in ("public", "private", "nested"):
        reader.accept_word(word)
    name, inner = reader.symbol(), Scope(reader)
    arguments: list[Value] = []
    told: list[Attribute] = []

    def argument(reader: ProgramReader) -> None:
        at = reader.at
        if reader.sees("%"):
            own = inner.name()
            reader.expect(":")
            value = inner.argument_of(own, parse_type(reader), at)
        else:
            # Of what is only declared the types are told.
            value = Value(parse_type(reader))
        arguments.append(value)
        told.append(parse_dictionary(reader) if reader.sees("{") else {})
        value.name = reader.location_name() or value.name

    parse_list(reader, "(", ")", argument)
    results, made = _results(reader) if reader.accept("->") else ([], [])
    attributes: dict[str, Attribute] = {"sym_name": name, "arg_attrs": told, "res_attrs": results}
    attributes["function_type"] = FunctionType(tuple(each.type for each in arguments), tuple(made))
    _attributes(reader)
    if not reader.sees("{"):
        return Operation("declaration", [], [], attributes)
    block = parse_region(reader, None, inner)
    return Operation("func", [], [], attributes, [Block(arguments, block.operations)])


def _results(reader: ProgramReader) -> tuple[list[Attribute], list[Type]]:
    """Attributes and types of a function's results; a single one without parentheses has no attributes."""
    types: list[Type] = []

    def result(reader: ProgramReader) -> Attribute:
        types.append(parse_type(reader))
        return parse_dictionary(reader) if reader.sees("{") else {}

    if reader.sees("("):
        return parse_list(reader, "(", ")", result), types
    return [{}], [parse_type(reader)]


def _convolution(scope: Scope) -> Operation:
    """(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1]} {attributes} : types"""
    reader = scope.reader
    reader.expect("(")
    operation = Operation("convolution", scope.uses(")"), [])
    for word in ("dim_numbers", "="):
        reader.expect(word)
    operation.attributes.update(convolution_dimensions(reader))
    for word in (",", "window", "="):
        reader.expect(word)
    for key, value in parse_dictionary(reader).items():
        operation.attributes[_WINDOW.get(key, key)] = _flat(value)
    if reader.sees("{"):
        operation.attributes.update(parse_dictionary(reader))
    reader.expect(":")
    operation.results = typed_results(reader, operation.operands, parse_function_type(reader))
    return operation


def _flat(value: Attribute) -> Attribute:
    """Pairs of a list, one after the other."""
    if not isinstance(value, list):
        return value
    return [number for each in value for number in (each if isinstance(each, list) else [each])]


def _while(scope: Scope) -> Operation:
    """(%a = %x, %b = %y) : types attributes {...} cond {operations} do {operations}"""
    reader = scope.reader
    operands: list[Value] = []
    names: list[str] = []

    def carried(reader: ProgramReader) -> None:
        names.append(scope.name())
        reader.expect("=")
        operands.append(scope.use())

    at = reader.at
    parse_list(reader, "(", ")", carried)
    results: list[Value] = []
    if operands:
        reader.expect(":")
        results = parse_signature(reader, operands, len(operands))
    operation = Operation("while", operands, results, _attributes(reader))
    for word in ("cond", "do"):
        reader.expect(word)
        inner = Scope(reader, scope)
        arguments = [
            inner.argument_of(name, value.type, at) for name, value in zip(names, results, strict=True)
        ]
        operation.regions.append(Block(arguments, parse_region(reader, scope, inner).operations))
    return operation


def _reduce(scope: Scope) -> Operation:
    """(%x init: %s), (%y init: %t) across dimensions = [0] : types, and `applies op` or a reducer."""
    reader = scope.reader
    operands: list[Value] = []
    starts: list[Value] = []
    while True:
        reader.expect("(")
        operands.append(scope.use())
        reader.expect("init:")
        starts.append(scope.use())
        reader.expect(")")
        if not reader.accept(","):
            break
    operation = Operation("reduce", [*operands, *starts], [])
    joined = reader.word().rpartition(".")[2] if reader.accept_word("applies") else ""
    for word in ("across", "dimensions", "="):
        reader.expect(word)
    operation.attributes["dimensions"] = parse_attribute(reader)
    if reader.sees("{"):
        operation.attributes.update(parse_dictionary(reader))
    reader.expect(":")
    operation.results = parse_signature(reader, operation.operands, len(operands))
    operation.regions = [_joining(joined, starts[0]) if joined else _reducer(scope, len(operands))]
    return operation


def _joining(name: str, start: Value) -> Block:
    """A computation of the one operation."""
    type = start.type
    a, b, made = (Value(ArrayType((), type.element) if isinstance(type, ArrayType) else type) for _ in "abc")
    return Block([a, b], [Operation(name, [a, b], [made]), Operation("return", [made], [])])


def _reducer(scope: Scope, count: int) -> Block:
    """reducer(%a: type, %b: type) (%c: type, %d: type) {operations}, two arguments for each operand."""
    reader, inner = scope.reader, Scope(scope.reader, scope)
    reader.expect("reducer")
    pairs = []
    for _ in range(count):
        reader.expect("(")
        first = inner.argument()
        reader.expect(",")
        pairs.append((first, inner.argument()))
        reader.expect(")")
    arguments = [pair[place] for place in range(2) for pair in pairs]
    return Block(arguments, parse_region(reader, scope, inner).operations)


BLOCK_FORMS: dict[str, Callable[[Scope], Operation]] = {
    "convolution": _convolution,
    "func": _function,
    "module": _module,
    "reduce": _reduce,
    "while": _while,
}
