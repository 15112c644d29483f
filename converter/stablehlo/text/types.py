"""Types in a program's text."""

from __future__ import annotations

import re

from ....lite.errors import ModelError, UnsupportedError
from ..program import UNKNOWN, FunctionType, OtherType, Type, array_type
from ..quantized_type import quantized_of_text
from .program_reader import ProgramReader

_SIZES = re.compile(r"(?:(?:\d{1,18}|\?)x)*+")
_ELEMENT = re.compile(r"[su]?i[1-9]\d{0,2}\b|bf16\b|tf32\b|f[1-9]\w*|index\b|none\b")
_QUANTIZED = "!quant.uniform"
_HELD = re.compile(r"(?:memref|vector|tuple)(?=<)")


def parse_type(reader: ProgramReader) -> Type:
    """The type; ModelError where there is none."""
    if reader.accept("tensor<"):
        return _tensor(reader)
    if reader.sees("("):
        return parse_function_type(reader)
    if reader.sees("!"):
        return _of_dialect(reader)
    return _element(reader)


def parse_function_type(reader: ProgramReader) -> FunctionType:
    """Types of arguments in parentheses, an arrow and types of results."""
    inputs = parse_types(reader)
    reader.expect("->")
    return FunctionType(tuple(inputs), tuple(parse_results(reader)))


def parse_results(reader: ProgramReader) -> list[Type]:
    """One type, or any number in parentheses."""
    return parse_types(reader) if reader.sees("(") else [parse_type(reader)]


def parse_types(reader: ProgramReader) -> list[Type]:
    """Types in parentheses."""
    reader.expect("(")
    found: list[Type] = []
    if reader.accept(")"):
        return found
    reader.enter()
    found.append(parse_type(reader))
    while reader.accept(","):
        found.append(parse_type(reader))
    reader.expect(")")
    reader.leave()
    return found


def _tensor(reader: ProgramReader) -> Type:
    """What stands behind "tensor<"."""
    if reader.accept("*x"):
        name = str(_element(reader))
        reader.expect(">")
        return OtherType(f"*x{name}")
    sizes = reader.match(_SIZES)
    assert sizes is not None
    shape = [UNKNOWN if size == "?" else int(size) for size in sizes[0].split("x")[:-1]]
    element = _element(reader)
    if reader.accept(","):
        _skip_encoding(reader)
    reader.expect(">")
    return array_type(shape, element)


def _skip_encoding(reader: ProgramReader) -> None:
    """What bounds a size that is not known, which no operator asks for."""
    if reader.sees("#"):
        while reader.accept("#") or reader.accept(".") or reader.word():
            pass
    if reader.sees("<") or reader.sees("{"):
        reader.skip_brackets()


def _element(reader: ProgramReader) -> OtherType:
    """An element's type, or a type that no tensor has."""
    found = reader.match(_ELEMENT)
    if found is not None:
        return OtherType(found[0])
    if reader.accept("complex<"):
        inner = reader.match(_ELEMENT)
        reader.expect(">")
        return OtherType(f"complex<{inner[0] if inner else ''}>")
    held = reader.match(_HELD)
    if held is not None:
        return OtherType(f"{held[0]}<{reader.skip_brackets()}>")
    if reader.sees("!"):
        type = _of_dialect(reader)
        return type if isinstance(type, OtherType) else OtherType(str(type))
    raise reader.error("expected a type")


def _of_dialect(reader: ProgramReader) -> Type:
    """An alias's type, a quantized one, or the words of a type that belongs to another dialect."""
    start = reader.at
    name = reader.alias()
    if not reader.sees("."):
        known = reader.types.get(name)
        if known is None:
            raise reader.error(f"the type !{name} is not told", start)
        return known
    reader.accept(".")
    name = f"!{name}.{reader.word()}"
    if not reader.sees("<"):
        return OtherType(name)
    text = reader.skip_brackets()
    return _quantized(reader, text, start) if name == _QUANTIZED else OtherType(f"{name}<{text}>")


def _quantized(reader: ProgramReader, text: str, start: int) -> OtherType:
    try:
        grid = quantized_of_text(text)
    except UnsupportedError as error:
        raise reader.refuse(str(error), start) from error
    except ModelError as error:
        raise reader.error(str(error), start) from error
    return OtherType(grid.name, grid)
