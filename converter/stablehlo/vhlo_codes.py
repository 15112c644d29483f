"""Attributes and types of VHLO in MLIR's bytecode, by their codes.

Source: stablehlo/dialect/VhloBytecode.cpp, AttributeCode and TypeCode.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...lite.errors import ModelError
from .program import UNKNOWN, ArrayType, Attribute, Dense, Name, OtherType, Type, Verbatim, array_type
from .quantized_type import Quantized

if TYPE_CHECKING:
    from .attribute_reader import PartReader

# Types of single elements.
_ELEMENTS = {
    0: "i1",
    2: "bf16",
    3: "f16",
    4: "f32",
    5: "f64",
    6: "f8E4M3FN",
    7: "f8E5M2",
    9: "index",
    10: "i4",
    11: "i8",
    12: "i16",
    13: "i32",
    14: "i64",
    15: "ui4",
    16: "ui8",
    17: "ui16",
    18: "ui32",
    19: "ui64",
    22: "token",
    26: "witness",
    27: "f8E4M3FNUZ",
    28: "f8E5M2FNUZ",
    29: "f8E4M3B11FNUZ",
    31: "i2",
    32: "ui2",
    33: "none",
    34: "tf32",
    35: "f8E4M3",
    36: "f8E3M4",
    37: "f4E2M1FN",
    38: "f6E2M3FN",
    39: "f6E3M2FN",
    40: "f8E8M0FNU",
}
_COMPLEX, _FUNCTION, _TENSOR, _ENCODED_TENSOR = 1, 8, 20, 21
_QUANTIZED, _QUANTIZED_BY_AXIS = 24, 30
_OTHER_TYPES = {
    23: "tuple",
    25: "a tensor of unknown rank",
    41: "buffer",
    42: "future",
}
# Words by their numbers; of what no operator asks for the numbers alone.
_WORDS = {
    3: ("EQ", "NE", "GE", "GT", "LE", "LT"),
    4: ("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"),
    5: None,
    7: ("FFT", "IFFT", "RFFT", "IRFFT"),
    11: None,
    12: ("DEFAULT", "THREE_FRY", "PHILOX"),
    13: ("", "UNIFORM", "NORMAL"),
    16: ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"),
    19: None,
}
# What says how devices share the work, and how exact results are.
_NOT_READ = frozenset((10, 18, 20, 21, 22, 23, 24, 25))
_ELEMENT_BITS = {"i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}


def read_type(reader: PartReader) -> Type:
    """The type that is stored."""
    code = reader.number()
    if code in _ELEMENTS:
        return OtherType(_ELEMENTS[code])
    if code == _FUNCTION:
        return reader.function_type()
    if code == _COMPLEX:
        return OtherType(f"complex<{reader.inner_type()}>")
    if code in (_TENSOR, _ENCODED_TENSOR):
        if code == _ENCODED_TENSOR:
            reader.inner_attribute()
        shape = reader.items(reader.signed)
        return array_type(shape, reader.inner_type())
    if code in (_QUANTIZED, _QUANTIZED_BY_AXIS):
        grid = _quantized(reader, code == _QUANTIZED_BY_AXIS)
        return OtherType(grid.name, grid)
    if code in _OTHER_TYPES:
        return OtherType(_OTHER_TYPES[code])
    raise ModelError(f"bytecode: VHLO has no type {code}")


def _quantized(reader: PartReader, has_axis: bool) -> Quantized:
    """A flag for signed integers, their type and that of floats, scales and zero points, the ends."""
    is_signed, storage, expressed = (
        bool(reader.number() & 1),
        str(reader.inner_type()),
        str(reader.inner_type()),
    )
    bits = _ELEMENT_BITS.get(storage) or _ELEMENT_BITS.get(storage.removeprefix("u"))
    if bits is None:
        raise ModelError(f"bytecode: a quantized type must have integers, got {storage}")
    if has_axis:
        axis, ends = reader.number(), [reader.signed(), reader.signed()]
        scales = tuple(reader.items(lambda: reader.real("f64")))
        zeros = tuple(reader.items(reader.signed))
    else:
        axis, scales, zeros = -1, (reader.real("f64"),), (reader.signed(),)
        ends = [reader.signed(), reader.signed()]
    return Quantized(bits, is_signed, expressed, ends[0], ends[1], scales, zeros, axis)


def read_attribute(reader: PartReader) -> Attribute:
    """The attribute that is stored."""
    code = reader.number()
    if code in _READERS:
        return _READERS[code](reader)
    if code in _WORDS:
        number, words = reader.number(), _WORDS[code]
        if words is not None and number >= len(words):
            raise ModelError(f"bytecode: an enumeration has {len(words)} values, got {number}")
        return Name(str(number) if words is None else words[number])
    if code in _NOT_READ:
        return Verbatim(f"attribute {code}")
    raise ModelError(f"bytecode: VHLO has no attribute {code}")


def _boolean(reader: PartReader) -> bool:
    return bool(reader.number())


def _dictionary(reader: PartReader) -> dict[str, Attribute]:
    found = {}
    for _ in range(reader.count()):
        name = reader.inner_attribute()
        found[name if isinstance(name, str) else str(name)] = reader.inner_attribute()
    return found


def _integer(reader: PartReader) -> int:
    name = str(reader.inner_type())
    bits = _ELEMENT_BITS.get(name.removeprefix("u"))
    if bits is None:
        raise ModelError(f"bytecode: an integer must be of an integer type, got {name}")
    number = reader.integer(bits)
    return number & (1 << bits) - 1 if name.startswith("u") else number


def _tensor(reader: PartReader) -> Dense:
    type = reader.inner_type()
    if not isinstance(type, ArrayType) or UNKNOWN in type.shape:
        raise ModelError(f"constant: its type must be a tensor of known sizes, got {type}")
    data = reader.blob()
    return Dense(type, _unpacked(data, math.prod(type.shape)) if type.element == "i1" else data)


def _unpacked(data: bytes, count: int) -> bytes:
    """Truth values with a byte each; eight to a byte is how they are stored, or one byte for all."""
    if len(data) == count and (count > 1 or data in (b"\0", b"\1")):
        return data
    if data in (b"\xff", b"\0"):
        return bytes([data[0] & 1])
    if len(data) != -(-count // 8):
        raise ModelError(f"constant: {count} truth values must be there, got {len(data)} bytes")
    return np.unpackbits(np.frombuffer(data, np.uint8), count=count, bitorder="little").tobytes()


_READERS: dict[int, Callable[[PartReader], Attribute]] = {
    1: lambda reader: reader.items(reader.inner_attribute),
    2: _boolean,
    6: _dictionary,
    8: lambda reader: reader.real(str(reader.inner_type())),
    9: _integer,
    14: lambda reader: reader.string(),
    15: _tensor,
    17: lambda reader: reader.inner_type(),
}
