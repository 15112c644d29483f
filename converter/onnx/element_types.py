"""ONNX's element types, and what stands for them in a graph."""

from __future__ import annotations

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema import graph_def
from ...schema.onnx import TensorProto
from .small_floats import SMALL_FLOATS

_NUMPY: dict[int, np.dtype] = {
    TensorProto.FLOAT: np.dtype(np.float32),
    TensorProto.UINT8: np.dtype(np.uint8),
    TensorProto.INT8: np.dtype(np.int8),
    TensorProto.UINT16: np.dtype(np.uint16),
    TensorProto.INT16: np.dtype(np.int16),
    TensorProto.INT32: np.dtype(np.int32),
    TensorProto.INT64: np.dtype(np.int64),
    TensorProto.BOOL: np.dtype(np.bool_),
    TensorProto.FLOAT16: np.dtype(np.float16),
    TensorProto.BFLOAT16: np.dtype(np.float32),
    TensorProto.DOUBLE: np.dtype(np.float64),
    TensorProto.UINT32: np.dtype(np.uint32),
    TensorProto.UINT64: np.dtype(np.uint64),
    TensorProto.INT4: np.dtype(np.int8),
    TensorProto.UINT4: np.dtype(np.uint8),
    **dict.fromkeys(SMALL_FLOATS, np.dtype(np.uint8)),
}
# The type of a graph's inputs and outputs.
OUTSIDE = {
    TensorProto.FLOAT: graph_def.DT_FLOAT,
    TensorProto.UINT8: graph_def.DT_UINT8,
    TensorProto.INT8: graph_def.DT_INT8,
    TensorProto.UINT16: graph_def.DT_UINT16,
    TensorProto.INT16: graph_def.DT_INT16,
    TensorProto.INT32: graph_def.DT_INT32,
    TensorProto.INT64: graph_def.DT_INT64,
    TensorProto.STRING: graph_def.DT_STRING,
    TensorProto.BOOL: graph_def.DT_BOOL,
    TensorProto.FLOAT16: graph_def.DT_HALF,
    TensorProto.DOUBLE: graph_def.DT_DOUBLE,
    TensorProto.UINT32: graph_def.DT_UINT32,
    TensorProto.BFLOAT16: graph_def.DT_BFLOAT16,
}
# Builtin operators compute floats in 32 bits; what is declared as another float is so between them.
FLOATS = (TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE)


def stored_dtype(number: int) -> np.dtype | None:
    """NumPy's type of an element, as it is held, None for a type without one.

    Elements of four bits are unpacked to a byte each, and bfloat16 to the float32 that it is the half of; of
    other small floats these are the bits.
    """
    return _NUMPY.get(number)


def type_name(number: int) -> str:
    """The name of ONNX's number of a type."""
    try:
        return TensorProto.DataType.Name(number)
    except ValueError:
        return f"type {number}"


def outside_type(number: int) -> int:
    """TensorFlow's number of an input's or output's type; UnsupportedError where a model has no such type."""
    if number not in OUTSIDE:
        if type_name(number).startswith("type ") or number == TensorProto.UNDEFINED:
            raise ModelError(f"element type: must be one of ONNX's, got {number}")
        raise UnsupportedError(
            f"{type_name(number)} has no type that operators of a .tflite model take"
            + ("; only constants have it" if number in SMALL_FLOATS else "")
        )
    return OUTSIDE[number]


def inner_type(number: int) -> int:
    """TensorFlow's number of the type in which values of ONNX's type are computed."""
    outside = outside_type(number)
    return graph_def.DT_FLOAT if number in FLOATS else outside
