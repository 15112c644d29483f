"""Elements of 2 and 4 bits, several to a byte, the first in the lowest bits; packed and sparse constants."""

from __future__ import annotations

import numpy as np

from ..lite.available_memory import OVERREAD_BYTES
from ..lite.errors import UnsupportedError
from ..lite.tensor import AllocationType, Tensor, TensorType

PACKED_BITS = {TensorType.INT4: 4, TensorType.UINT4: 4, TensorType.INT2: 2}


def elements_of(raw: np.ndarray, type: int) -> np.ndarray:
    """The elements (int8) in bytes (uint8 [..., n]) of a packed type, along the last axis."""
    bits = PACKED_BITS[TensorType(type)]
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    elements = (raw[..., None] >> shifts) & ((1 << bits) - 1)
    values = elements.reshape(*raw.shape[:-1], -1).view(np.int8)
    if type == TensorType.UINT4:
        return values
    sign = np.int8(1 << (bits - 1))
    return (values ^ sign) - sign


def unpacked(tensor: Tensor) -> np.ndarray:
    """The elements of a packed tensor as int8, in its shape."""
    raw = tensor.dense_bytes()
    return elements_of(raw, tensor.type)[: tensor.size].reshape(tensor.shape)


def packed(elements: np.ndarray, bits: int) -> np.ndarray:
    """The bytes of elements of which the lowest bits count; bits left over are zero."""
    count = 8 // bits
    flat = np.zeros(-(-elements.size // count) * count, np.uint8)
    flat[: elements.size] = elements.reshape(-1).astype(np.uint8) & ((1 << bits) - 1)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    joined: np.ndarray = np.bitwise_or.reduce(flat.reshape(-1, count) << shifts, axis=1)
    return joined


def decoded(tensor: Tensor) -> Tensor:
    """The tensor itself, or where it is a constant that kernels cannot read, one that they can.

    Raises UnsupportedError for a packed or sparse tensor that is not constant.
    """
    is_packed = tensor.type in PACKED_BITS
    if not is_packed and tensor.sparsity is None:
        return tensor
    if not tensor.is_constant or tensor.data is None:
        raise UnsupportedError(f"tensor {tensor!r}: packed and sparse tensors are built as constants only")
    if is_packed and tensor.sparsity is not None:
        raise UnsupportedError(f"tensor {tensor!r}: sparse tensors of packed types are not built")
    if is_packed:
        type_ = TensorType.UINT8 if tensor.type == TensorType.UINT4 else TensorType.INT8
        values = unpacked(tensor)
    else:
        from .densify import densified

        type_ = TensorType(tensor.type)
        values = densified(tensor)
    dense = Tensor(tensor.index, tensor.name, type_, tensor.shape, tensor.quantization)
    memory = np.zeros(values.nbytes + OVERREAD_BYTES, np.uint8)[: values.nbytes]
    memory[:] = np.frombuffer(values.tobytes(), np.uint8)
    dense.bind(memory)
    dense.allocation_type = AllocationType.PERSISTENT_RO
    return dense
