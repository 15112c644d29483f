"""TensorFlow's element types, and what they are in a .tflite model."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..kernels.fallback.dtypes import data_type_of, numpy_dtype, type_name
from ..lite.errors import UnsupportedError
from ..lite.tensor import NUMPY_DTYPES, TensorType
from ..schema import graph_def

TENSOR_TYPES = {
    graph_def.DT_FLOAT: TensorType.FLOAT32,
    graph_def.DT_DOUBLE: TensorType.FLOAT64,
    graph_def.DT_INT32: TensorType.INT32,
    graph_def.DT_UINT8: TensorType.UINT8,
    graph_def.DT_INT16: TensorType.INT16,
    graph_def.DT_INT8: TensorType.INT8,
    graph_def.DT_STRING: TensorType.STRING,
    graph_def.DT_COMPLEX64: TensorType.COMPLEX64,
    graph_def.DT_INT64: TensorType.INT64,
    graph_def.DT_BOOL: TensorType.BOOL,
    graph_def.DT_BFLOAT16: TensorType.BFLOAT16,
    graph_def.DT_UINT16: TensorType.UINT16,
    graph_def.DT_COMPLEX128: TensorType.COMPLEX128,
    graph_def.DT_HALF: TensorType.FLOAT16,
    graph_def.DT_RESOURCE: TensorType.RESOURCE,
    graph_def.DT_VARIANT: TensorType.VARIANT,
    graph_def.DT_UINT32: TensorType.UINT32,
    graph_def.DT_UINT64: TensorType.UINT64,
    graph_def.DT_INT4: TensorType.INT4,
    graph_def.DT_UINT4: TensorType.UINT4,
    graph_def.DT_INT2: TensorType.INT2,
}

# A quantized type is held as its integers.
_QUANTIZED = {
    graph_def.DT_QINT8: TensorType.INT8,
    graph_def.DT_QUINT8: TensorType.UINT8,
    graph_def.DT_QINT16: TensorType.INT16,
    graph_def.DT_QINT32: TensorType.INT32,
}
_DATA_TYPES = {tensor_type: data_type for data_type, tensor_type in TENSOR_TYPES.items()}
_REFERENCE = 100


def tensor_type(data_type: int) -> TensorType:
    """The model's type for a TensorFlow type; UnsupportedError where there is none.

    A reference's type is that of what it refers to.
    """
    plain = data_type - _REFERENCE if data_type > _REFERENCE else data_type
    found = TENSOR_TYPES.get(plain, _QUANTIZED.get(plain))
    if found is None:
        raise UnsupportedError(f"{type_name(data_type)} has no type in a .tflite model")
    return found


def data_type(type: TensorType) -> int:
    """TensorFlow's number of a model's type (never a quantized one); UnsupportedError where there is none."""
    if type not in _DATA_TYPES:
        raise UnsupportedError(f"TensorFlow has no {type.name.lower()}")
    return _DATA_TYPES[type]


def numpy_dtype_of(type: TensorType) -> np.dtype:
    """NumPy's type for a tensor's elements; UnsupportedError where there is none."""
    return NUMPY_DTYPES[type] if type in NUMPY_DTYPES else numpy_dtype(data_type(type))


@lru_cache(None)
def tensor_type_of(dtype: np.dtype) -> TensorType:
    """The model's type for an array's elements (objects are strings)."""
    return TENSOR_TYPES[data_type_of(dtype)]
