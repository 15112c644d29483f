"""Constants stored sparse or with several elements in a byte, as the dense ones that kernels read."""

from __future__ import annotations

import numpy as np

from ..lite.errors import UnsupportedError
from ..lite.tensor import OVERREAD_BYTES, AllocationType, Tensor, TensorType
from .packed import PACKED_BITS, unpacked


def decoded(tensor: Tensor) -> Tensor:
    """The tensor itself, or where it is a constant that kernels cannot read, one that they can.

    Raises UnsupportedError for a packed or sparse tensor that is not constant.
    """
    packed = tensor.type in PACKED_BITS
    if not packed and tensor.sparsity is None:
        return tensor
    if not tensor.is_constant or tensor.data is None:
        raise UnsupportedError(f"tensor {tensor!r}: packed and sparse tensors are built as constants only")
    if packed and tensor.sparsity is not None:
        raise UnsupportedError(f"tensor {tensor!r}: sparse tensors of packed types are not built")
    if packed:
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
