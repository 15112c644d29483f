"""StableHLO programs as they are read: functions of operations, with their types and attributes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...kernels.fallback.dtypes import numpy_dtype
from ...lite.errors import ModelError, UnsupportedError
from ...schema import graph_def
from ...schema.shown import shown
from .quantized_type import Quantized

# A size that is known only when the program runs.
UNKNOWN = -1
# Elements as they are stored.
# Floats of 8 bits, which stand as numbers of 32 bits, and TensorFlow's types of these.
FLOATS_OF_8_BITS = {
    "f8E5M2": graph_def.DT_FLOAT8_E5M2,
    "f8E4M3FN": graph_def.DT_FLOAT8_E4M3FN,
    "f8E4M3FNUZ": graph_def.DT_FLOAT8_E4M3FNUZ,
    "f8E4M3B11FNUZ": graph_def.DT_FLOAT8_E4M3B11FNUZ,
    "f8E5M2FNUZ": graph_def.DT_FLOAT8_E5M2FNUZ,
}
_STORED = dict.fromkeys(FLOATS_OF_8_BITS, "u1") | {
    "f64": "f8",
    "f32": "f4",
    "f16": "f2",
    "bf16": "u2",
    "i64": "i8",
    "i32": "i4",
    "i16": "i2",
    "i8": "i1",
    "i4": "i1",
    "ui64": "u8",
    "ui32": "u4",
    "ui16": "u2",
    "ui8": "u1",
    "ui4": "u1",
    "i1": "u1",
}


@dataclass(frozen=True)
class ArrayType:
    """A tensor's type: its sizes, UNKNOWN where they are not known, and the name of its elements' type.

    grid says which floats the integers of a quantized tensor stand for.
    """

    shape: tuple[int, ...]
    element: str
    grid: Quantized | None = None

    def __str__(self) -> str:
        return "x".join([*("?" if size == UNKNOWN else str(size) for size in self.shape), self.element])


@dataclass(frozen=True)
class FunctionType:
    inputs: tuple[Type, ...]
    results: tuple[Type, ...]


@dataclass(frozen=True)
class OtherType:
    """A type that no tensor has: of an element, a token, a tuple ..."""

    name: str
    grid: Quantized | None = None

    def __str__(self) -> str:
        return self.name


Type = ArrayType | FunctionType | OtherType


def array_type(shape: Sequence[int], element: Type) -> ArrayType:
    """A tensor's type of its sizes, of which those below 0 are not known, and its elements' type."""
    grid = element.grid if isinstance(element, OtherType) else None
    return ArrayType(tuple(size if size >= 0 else UNKNOWN for size in shape), str(element), grid)


@dataclass(frozen=True)
class Dense:
    """Elements of a constant as they are stored: all of them, or one that stands for all."""

    type: ArrayType
    data: bytes

    @property
    def is_splat(self) -> bool:
        """Whether one element stands for all."""
        return len(self.data) == _width(self.type.element) and math.prod(self.type.shape) != 1

    def element(self) -> np.ndarray:
        """The one element of a splat, a scalar."""
        return self._numbers().reshape(())

    def array(self) -> np.ndarray:
        """All elements, those of bf16 and of 8-bit floats as float32; ModelError when the size is another."""
        numbers = self._numbers()
        if self.is_splat:
            return np.broadcast_to(numbers.reshape(()), self.type.shape)
        if numbers.size != math.prod(self.type.shape):
            raise ModelError(f"constant: {self.type} must have its elements, got {len(self.data)} bytes")
        return numbers.reshape(self.type.shape)

    def _numbers(self) -> np.ndarray:
        element = self.type.element
        if UNKNOWN in self.type.shape or len(self.data) % _width(element):
            raise ModelError(f"constant: {self.type} must have whole elements, got {len(self.data)} bytes")
        numbers = np.frombuffer(self.data, "<" + _STORED[element])
        if element == "i4":
            # Of a byte the lower half counts.
            return np.left_shift(numbers, 4, dtype=np.int8) >> 4
        if element == "bf16":
            return (numbers.astype(np.uint32) << 16).view(np.float32)
        if element in FLOATS_OF_8_BITS:
            return numbers.view(numpy_dtype(FLOATS_OF_8_BITS[element])).astype(np.float32)
        return numbers.astype(np.bool_) if element == "i1" else numbers


def _width(element: str) -> int:
    """Bytes of an element."""
    if element not in _STORED:
        raise UnsupportedError(f"constants of {element} have no operators")
    return np.dtype(_STORED[element]).itemsize


@dataclass(frozen=True)
class Name:
    """A word of the program: an enumeration's value, or a function's name."""

    text: str


@dataclass(frozen=True)
class Verbatim:
    """An attribute or type that is given as text, or of a kind that no operator needs."""

    text: str


Attribute = bool | int | float | str | list | dict | Name | Verbatim | Type | Dense | None


@dataclass(eq=False)
class Value:
    """What an operation gives, or a block is given."""

    type: Type
    name: str = ""


@dataclass(eq=False)
class Operation:
    """One operation. name is StableHLO's, without dialect and version: `add`."""

    name: str
    operands: list[Value]
    results: list[Value]
    attributes: dict[str, Attribute] = field(default_factory=dict)
    regions: list[Block] = field(default_factory=list)


@dataclass(eq=False)
class Block:
    """What is given, and the operations; the last returns."""

    arguments: list[Value]
    operations: list[Operation] = field(default_factory=list)

    @property
    def returned(self) -> list[Value]:
        """What the last operation returns; ModelError when there is none that does."""
        if not self.operations or self.operations[-1].name != "return":
            raise ModelError("block: its last operation must be return")
        return self.operations[-1].operands

    def steps(self) -> list[Operation]:
        """All but the last."""
        return self.operations[:-1]


@dataclass(eq=False)
class FunctionOperation:
    """A function by its name, with attributes of its arguments and results."""

    name: str
    body: Block
    argument_attributes: list[dict[str, Attribute]]
    result_attributes: list[dict[str, Attribute]]


@dataclass
class Program:
    """Functions by their names, and the version of what wrote them."""

    functions: dict[str, FunctionOperation]
    producer: str = ""

    def function(self, name: str) -> FunctionOperation:
        """The function; ModelError when there is none such."""
        if name not in self.functions:
            raise ModelError(f"function {name!r} is called, but not there")
        return self.functions[name]


def program_of_functions(operations: Iterable[Operation], producer: str) -> Program:
    """A program of a module's operations: its functions, each of another name."""
    functions: dict[str, FunctionOperation] = {}
    for operation in operations:
        if operation.name == "func":
            function = _function(operation)
            if function.name in functions:
                raise ModelError(f"function {shown(function.name)} must be there once")
            functions[function.name] = function
    return Program(functions, producer)


def _function(operation: Operation) -> FunctionOperation:
    attributes = operation.attributes
    name = attributes.get("sym_name")
    if not isinstance(name, str) or len(operation.regions) != 1:
        raise ModelError("function: it must have a name and a body")
    body, type = operation.regions[0], attributes.get("function_type")
    if isinstance(type, FunctionType) and body.operations:
        _check_types(f"function {shown(name)}: its arguments", type.inputs, body.arguments)
        _check_types(f"function {shown(name)}: its results", type.results, body.returned)
    lists = [_dictionaries(attributes.get(key)) for key in ("arg_attrs", "res_attrs")]
    return FunctionOperation(name, body, *lists)


def _check_types(what: str, types: Sequence[Type], values: Sequence[Value]) -> None:
    given = [value.type for value in values]
    if list(types) != given:
        told, own = (", ".join(map(str, each)) for each in (types, given))
        raise ModelError(f"{what} must be of types ({told}), got ({own})")


def _dictionaries(held: Attribute) -> list[dict[str, Attribute]]:
    if not isinstance(held, list):
        return []
    return [each if isinstance(each, dict) else {} for each in held]


def global_constant(main: FunctionOperation, place: int) -> str:
    """What JAX hands over in an argument beside the inputs, "" for an input."""
    held = main.argument_attributes
    return str(held[place].get("jax.global_constant", "")) if place < len(held) else ""


def free_values(*blocks: Block) -> list[Value]:
    """Values of the surroundings that the blocks use, each once."""
    own: set[Value] = set()
    used: dict[Value, None] = {}
    for block in blocks:
        _note(block, own, used)
    return [value for value in used if value not in own]


def _note(block: Block, own: set[Value], used: dict[Value, None]) -> None:
    own.update(block.arguments)
    for operation in block.operations:
        used.update(dict.fromkeys(operation.operands))
        own.update(operation.results)
        for region in operation.regions:
            _note(region, own, used)


def operations_of(block: Block) -> Iterator[Operation]:
    """The operations and those of their regions."""
    for operation in block.operations:
        yield operation
        for region in operation.regions:
            yield from operations_of(region)
