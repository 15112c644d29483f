"""Scales of blockwise quantization: one for each block of a row's elements, kept in another tensor."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.tensor import Tensor, TensorType


def block_scales(context: Context, operator: str, w: Tensor, rows: int, depth: int) -> np.ndarray:
    """Scales of a constant w read as [rows, depth]: float32 [rows, blocks].

    Raises PrepareError when there is not one for each block of a row.
    """
    assert w.quantization is not None
    block_size, index = w.quantization.block_size, w.quantization.scales_tensor
    if block_size < 1 or depth % block_size or not w.is_constant:
        raise PrepareError(
            f"{operator}: constant weights must have a depth that is a multiple of the block size, "
            f"got {depth} and {block_size}"
        )
    try:
        scales = context.tensor(index)
    except IndexError as error:
        raise PrepareError(f"{operator}: scales must be a tensor's, got the index {index}") from error
    wanted = rows * (depth // block_size)
    if (
        scales.type not in (TensorType.FLOAT16, TensorType.FLOAT32)
        or not scales.is_constant
        or scales.size != wanted
    ):
        raise PrepareError(f"{operator}: weights must have {wanted} constant float16 scales, got {scales!r}")
    return np.ascontiguousarray(scales.array().reshape(rows, -1).astype(np.float32))
