"""TensorFlow's element types: NumPy's for each, their names, and the sets that kernels take."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...lite.errors import UnsupportedError
from ...schema import graph_def

# Types are TensorFlow's numbers (graph_def.DT_FLOAT ...). A quantized type's arrays are of its integer
# type; strings, resources and variants are object arrays: bytes, and whatever a kernel put there.
_NUMPY: dict[int, str] = {
    graph_def.DT_FLOAT: "float32",
    graph_def.DT_DOUBLE: "float64",
    graph_def.DT_HALF: "float16",
    graph_def.DT_INT8: "int8",
    graph_def.DT_INT16: "int16",
    graph_def.DT_INT32: "int32",
    graph_def.DT_INT64: "int64",
    graph_def.DT_UINT8: "uint8",
    graph_def.DT_UINT16: "uint16",
    graph_def.DT_UINT32: "uint32",
    graph_def.DT_UINT64: "uint64",
    graph_def.DT_BOOL: "bool",
    graph_def.DT_COMPLEX64: "complex64",
    graph_def.DT_COMPLEX128: "complex128",
    graph_def.DT_QINT8: "int8",
    graph_def.DT_QUINT8: "uint8",
    graph_def.DT_QINT16: "int16",
    graph_def.DT_QUINT16: "uint16",
    graph_def.DT_QINT32: "int32",
    graph_def.DT_STRING: "object",
    graph_def.DT_RESOURCE: "object",
    graph_def.DT_VARIANT: "object",
}
_ML_DTYPES: dict[int, str] = {
    graph_def.DT_BFLOAT16: "bfloat16",
    graph_def.DT_FLOAT8_E5M2: "float8_e5m2",
    graph_def.DT_FLOAT8_E4M3FN: "float8_e4m3fn",
    graph_def.DT_FLOAT8_E4M3FNUZ: "float8_e4m3fnuz",
    graph_def.DT_FLOAT8_E4M3B11FNUZ: "float8_e4m3b11fnuz",
    graph_def.DT_FLOAT8_E5M2FNUZ: "float8_e5m2fnuz",
    graph_def.DT_INT4: "int4",
    graph_def.DT_UINT4: "uint4",
    graph_def.DT_INT2: "int2",
    graph_def.DT_UINT2: "uint2",
}
# A reference type is 100 more than the type that it refers to; its tensors hold a Variable (variable.py).
REFERENCE = 100

FLOATS = frozenset((graph_def.DT_HALF, graph_def.DT_BFLOAT16, graph_def.DT_FLOAT, graph_def.DT_DOUBLE))
SIGNED = frozenset((graph_def.DT_INT8, graph_def.DT_INT16, graph_def.DT_INT32, graph_def.DT_INT64))
UNSIGNED = frozenset((graph_def.DT_UINT8, graph_def.DT_UINT16, graph_def.DT_UINT32, graph_def.DT_UINT64))
INTEGERS = SIGNED | UNSIGNED
INDICES = frozenset((graph_def.DT_INT32, graph_def.DT_INT64))
COMPLEX = frozenset((graph_def.DT_COMPLEX64, graph_def.DT_COMPLEX128))
REAL = FLOATS | INTEGERS
NUMBERS = REAL | COMPLEX
QUANTIZED = frozenset(
    getattr(graph_def, f"DT_{name}") for name in ("QINT8", "QUINT8", "QINT16", "QUINT16", "QINT32")
)
BOOL = frozenset((graph_def.DT_BOOL,))
STRING = frozenset((graph_def.DT_STRING,))
# All whose elements are values of their own.
PLAIN = NUMBERS | QUANTIZED | BOOL | STRING | frozenset(_ML_DTYPES)
ANY = PLAIN | {graph_def.DT_RESOURCE, graph_def.DT_VARIANT}


@lru_cache(None)
def numpy_dtype(data_type: int) -> np.dtype:
    """NumPy's type of a tensor's elements; UnsupportedError for a type without one."""
    if data_type > REFERENCE:
        return np.dtype(object)
    if data_type in _NUMPY:
        return np.dtype(_NUMPY[data_type])
    if data_type in _ML_DTYPES:
        return _other_dtype(_ML_DTYPES[data_type])
    raise UnsupportedError(f"tensors of {type_name(data_type)} have no form in NumPy")


def _other_dtype(name: str) -> np.dtype:
    """A type that NumPy itself lacks."""
    try:
        # Imported for the few graphs that have such types.
        import ml_dtypes
    except ImportError as error:
        raise UnsupportedError(
            f"tensors of {name} need the package ml_dtypes; installing it helps"
        ) from error
    return np.dtype(getattr(ml_dtypes, name))


@lru_cache(None)
def data_type_of(dtype: np.dtype) -> int:
    """TensorFlow's type of an array's elements (never a quantized one; objects are strings)."""
    for types in (_NUMPY, _ML_DTYPES):
        for data_type, name in types.items():
            if name == dtype.name:
                return data_type
    raise UnsupportedError(f"arrays of {dtype} have no type in TensorFlow")


def type_name(data_type: int) -> str:
    """TensorFlow's name of a type, without its prefix: "float", "half_ref" ..."""
    try:
        return graph_def.DataType.Name(data_type).removeprefix("DT_").lower()
    except ValueError:
        return f"type {data_type}"


def data_type_named(name: str) -> int:
    """The type with TensorFlow's name ("float", "int32"); UnsupportedError when none has it."""
    number: int | None = getattr(graph_def, f"DT_{name.upper()}", None)
    if number is None:
        raise UnsupportedError(f"{name!r} is no type of TensorFlow's")
    return number
