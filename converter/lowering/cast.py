"""Cast and Bitcast, and integers as the operators want them."""

from __future__ import annotations

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BitcastOptionsT, BuiltinOperator, CastOptionsT
from ..element_types import numpy_dtype_of
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule, check_type

_TYPES = (
    *(TensorType.FLOAT16, TensorType.FLOAT32, TensorType.FLOAT64, TensorType.BOOL, TensorType.INT8),
    *(TensorType.INT16, TensorType.INT32, TensorType.INT64, TensorType.UINT8, TensorType.UINT16),
    *(TensorType.UINT32, TensorType.COMPLEX64, TensorType.BFLOAT16),
)


def cast_to(lowering: Lowering, node: Node, x: LiteTensor, type: TensorType) -> LiteTensor:
    """CAST, or x itself where it has the type."""
    if x.type == type:
        return x
    result = lowering.operator(
        node,
        BuiltinOperator.CAST,
        [x],
        x.shape,
        CastOptionsT(in_data_type=x.type, out_data_type=type),
        type=type,
    )
    check_type(result, *_TYPES)
    return result


def as_int32(lowering: Lowering, node: Node, x: LiteTensor) -> LiteTensor:
    """Indices, axes or sizes as int32: at once when they are constant."""
    if x.type == TensorType.INT32:
        return x
    if x.data is not None:
        return lowering.constant(f"{x.name}/int32", np.asarray(x.data).astype(np.int32))
    return cast_to(lowering, node, x, TensorType.INT32)


def cast(lowering: Lowering, node: Node) -> LiteTensor:
    """CAST; nothing where the type stays."""
    return cast_to(lowering, node, lowering.input(node, 0), lowering.result_type(node))


def bitcast(lowering: Lowering, node: Node) -> LiteTensor:
    """BITCAST: a smaller type adds a last axis, a larger one takes it."""
    x, type = lowering.input(node, 0), lowering.result_type(node)
    size, new_size = (numpy_dtype_of(t).itemsize for t in (x.type, type))
    shape = x.shape
    if shape is not None and new_size < size:
        shape = (*shape, size // new_size)
    elif shape is not None and new_size > size:
        shape = shape[:-1]
    return lowering.operator(node, BuiltinOperator.BITCAST, [x], shape, BitcastOptionsT(), type=type)


REGISTRATIONS: dict[str, Rule] = {"Bitcast": bitcast, "Cast": cast}
