"""Values of a model's tensors as the arrays that fallback kernels take and give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...kernels.fallback.dtypes import numpy_dtype
from ...lite.errors import InvokeError
from ...lite.tensor import NUMPY_DTYPES, Tensor, TensorType
from ...lite.tensor_access import numpy_type, read_tensor, view_tensor, write_tensor

if TYPE_CHECKING:
    from ...lite.context import Context

# Tensors of objects: the runtime passes them on as they are.
_OBJECTS = (TensorType.RESOURCE, TensorType.VARIANT)


def array_of(tensor: Tensor, data_type: int) -> np.ndarray:
    """The tensor's value for a kernel that takes TensorFlow's data_type; views are read-only.

    Strings are bytes in object arrays, resources and variants what a kernel has put there.
    """
    if tensor.type in _OBJECTS:
        return _objects(tensor)
    if tensor.data is None and tensor.size:
        raise InvokeError(f"tensor {tensor!r}: it is read, but nothing gives it a value")
    if tensor.type in NUMPY_DTYPES:
        if tensor.data is None:
            return np.empty(tensor.shape, tensor.dtype)
        view = view_tensor(tensor)
        view.flags.writeable = False
        return view
    if tensor.data is None:
        return np.empty(tensor.shape, numpy_dtype(data_type))
    value = read_tensor(tensor)
    # bfloat16 and float8 may come as their bits, small integers one a byte.
    dtype = numpy_dtype(data_type)
    if value.dtype == dtype or dtype.kind == "O":
        return value
    if value.dtype.itemsize != dtype.itemsize or value.dtype.kind == "O":
        raise InvokeError(f"tensor {tensor!r}: the op takes {dtype} there")
    return value.view(dtype) if tensor.type in _BITS else value.astype(dtype)


_BITS = (TensorType.BFLOAT16, TensorType.FLOAT8_E4M3FN, TensorType.FLOAT8_E5M2)


def _objects(tensor: Tensor) -> np.ndarray:
    data = tensor.data
    if data is None or data.dtype != object or len(data) != tensor.size:
        raise InvokeError(f"tensor {tensor!r}: it must hold what a TensorFlow op has put there")
    return data.reshape(tensor.shape)


def give(context: Context, tensor: Tensor, value: np.ndarray) -> None:
    """Make the array a tensor's value; InvokeError when it is of another type than the tensor."""
    context.resize_tensor(tensor, value.shape)
    if tensor.type in _OBJECTS and value.dtype == object:
        tensor.bind(value.reshape(-1))
        return
    if tensor.type in NUMPY_DTYPES and value.dtype == tensor.dtype:
        if value.size:
            view_tensor(tensor)[...] = value
        return
    try:
        write_tensor(tensor, _as_stored(tensor, value))
    except ValueError as error:
        raise InvokeError(f"tensor {tensor!r}: the op gives {value.dtype}") from error


def _as_stored(tensor: Tensor, value: np.ndarray) -> np.ndarray:
    """The array in the form that write_tensor takes for types that NumPy lacks."""
    wanted = numpy_type(tensor.type)
    if tensor.type == TensorType.STRING or wanted is None or value.dtype.type is wanted:
        return value
    name = TensorType(tensor.type).name.lower()
    if value.dtype.name != name:
        raise ValueError(value.dtype)
    return value.view(f"u{value.dtype.itemsize}") if tensor.type in _BITS else value.astype(wanted)
