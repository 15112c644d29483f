"""StableHLO's element types, and what stands for them in a graph."""

from __future__ import annotations

from ...lite.errors import UnsupportedError
from ...schema import graph_def
from .program import FLOATS_OF_8_BITS, ArrayType, Type

_OUTSIDE = {
    "f64": graph_def.DT_DOUBLE,
    "f32": graph_def.DT_FLOAT,
    "f16": graph_def.DT_HALF,
    "bf16": graph_def.DT_BFLOAT16,
    "i64": graph_def.DT_INT64,
    "i32": graph_def.DT_INT32,
    "i16": graph_def.DT_INT16,
    "i8": graph_def.DT_INT8,
    "ui32": graph_def.DT_UINT32,
    "ui16": graph_def.DT_UINT16,
    "ui8": graph_def.DT_UINT8,
    "i1": graph_def.DT_BOOL,
    "complex<f32>": graph_def.DT_COMPLEX64,
    "complex<f64>": graph_def.DT_COMPLEX128,
}
_NAMES = {number: name for name, number in _OUTSIDE.items()} | {graph_def.DT_UINT64: "ui64"}
_PACKED = {"i4": graph_def.DT_INT8, "ui4": graph_def.DT_UINT8}


def outside_type(type: Type) -> int:
    """TensorFlow's number of an input's or output's type; UnsupportedError where a model has no such type."""
    element = type.element if isinstance(type, ArrayType) else ""
    if isinstance(type, ArrayType) and type.grid is not None:
        if type.grid.is_int8:
            return graph_def.DT_QINT8
        element = type.grid.storage
    if element not in _OUTSIDE:
        raise UnsupportedError(
            f"values of type {type} have no operators in a .tflite model{_instead(element)}"
        )
    return _OUTSIDE[element]


def _instead(element: str) -> str:
    """What would help, of types that are known."""
    if element.startswith(("f8", "f4", "f6")):
        return "; convert them to f32 before the program, or quantize the model"
    if element in ("i4", "ui4", "i2", "ui2"):
        return "; have them as i8, or as quantized types"
    return ""


def element_name(number: int) -> str:
    """StableHLO's name of a type that values are computed in."""
    return _NAMES.get(number, f"type {number}")


def is_packed(type: Type) -> bool:
    """Whether values are read and moved as those of a wider type, but nothing is computed of them."""
    return isinstance(type, ArrayType) and type.element in _PACKED


def is_constant_only(type: Type) -> bool:
    """Whether no operator computes values of the type, so that they must be known when a graph is made."""
    return isinstance(type, ArrayType) and type.element == "ui64"


def inner_type(type: Type) -> int:
    """TensorFlow's number of the type that values are computed in: operators have floats of 32 bits."""
    if is_constant_only(type):
        return graph_def.DT_UINT64
    if isinstance(type, ArrayType) and type.grid is not None:
        return graph_def.DT_FLOAT
    if isinstance(type, ArrayType) and type.element in FLOATS_OF_8_BITS:
        return graph_def.DT_FLOAT
    if isinstance(type, ArrayType) and type.element in _PACKED:
        return _PACKED[type.element]
    found = outside_type(type)
    floats = (graph_def.DT_DOUBLE, graph_def.DT_HALF, graph_def.DT_BFLOAT16)
    return graph_def.DT_FLOAT if found in floats else found
