"""TensorFlow's element types, and what they are in a .tflite model."""

from __future__ import annotations

from ..lite.tensor import TensorType
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


def type_name(data_type: int) -> str:
    """TensorFlow's name of a type, without its prefix: "float", "half_ref" ..."""
    try:
        return graph_def.DataType.Name(data_type).removeprefix("DT_").lower()
    except ValueError:
        return f"type {data_type}"
