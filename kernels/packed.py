"""Elements of 2 and 4 bits: several to a byte, the first in the lowest bits."""

from __future__ import annotations

import numpy as np

from ..lite.tensor import Tensor, TensorType

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
