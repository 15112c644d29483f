"""FULLY_CONNECTED of uint8 rows and weights with int16 results, plain or with shuffled weights, in NumPy."""

from __future__ import annotations

import numpy as np

from ...lite.context import Numerics
from ...lite.errors import PrepareError
from ...lite.tensor import TensorType
from ..fused_activation import quantized_activation_range
from ..lookup import multiply_by_quantized_multiplier
from ..requantize import channel_requantization, quantization_of, round_half_away
from .node import FilterNode

# Shuffled weights are in blocks of so many rows by columns.
_BLOCK_ROWS, _BLOCK_COLUMNS = 4, 16


def check(n: FilterNode, shuffled: bool) -> None:
    """Raise PrepareError unless LiteRT would take the shapes; size the workspace that shuffled nodes have."""
    g = n.geometry
    if n.bias is not None and n.bias.type != TensorType.INT32:
        raise PrepareError(f"FULLY_CONNECTED: the bias of int16 results must be int32, got {n.bias!r}")
    if not shuffled:
        return
    if g.in_depth % _BLOCK_COLUMNS or g.out_depth % _BLOCK_ROWS or g.batch not in (1, 4):
        raise PrepareError(
            "FULLY_CONNECTED: shuffled weights need a depth that 16 divides, units that 4 divides and a "
            f"batch of 1 or 4, got {g.in_depth}, {g.out_depth} and {g.batch}"
        )
    if len(n.node.outputs) > 1:
        n.context.resize_tensor(n.context.output(n.node, 1), n.x.shape)


def compute(n: FilterNode, shuffled: bool) -> None:
    """Fill the output.

    Shuffled weights have their highest bit flipped, so that zero points of 128 are taken off.
    Source: LiteRT tflite/kernels/internal/reference/fully_connected.h.
    """
    x, w, y, g = n.x, n.w, n.y, n.geometry
    rows: np.ndarray = x.array().reshape(g.batch, g.in_depth).astype(np.int64)
    weights: np.ndarray
    if shuffled:
        blocks = (g.out_depth // _BLOCK_ROWS, g.in_depth // _BLOCK_COLUMNS, _BLOCK_ROWS, _BLOCK_COLUMNS)
        weights = w.array().reshape(blocks).view(np.int8).transpose(0, 2, 1, 3)
        weights = weights.reshape(g.out_depth, g.in_depth).astype(np.int64)
        rows -= 128
        if len(n.node.outputs) > 1:
            workspace = n.context.output(n.node, 1)
            workspace.array().reshape(-1)[...] = x.array().reshape(-1) ^ np.uint8(0x80)
    else:
        weights = w.array().astype(np.int64) - quantization_of("FULLY_CONNECTED", w).zero_point
        rows -= quantization_of("FULLY_CONNECTED", x).zero_point
    sums = rows @ weights.T
    bias = n.biases(-1)
    if bias is not None:
        sums += bias
    q = quantization_of("FULLY_CONNECTED", y)
    low, high = quantized_activation_range("FULLY_CONNECTED", n.fused, q.scale, q.zero_point, -32768, 32767)
    r = channel_requantization("FULLY_CONNECTED", x, w, y, 1, float_product=True)
    if n.numerics is Numerics.REFERENCE and not shuffled:
        products = sums * r.real_scales[0]
        scaled = round_half_away(products).astype(np.int64)
    else:
        scaled = multiply_by_quantized_multiplier(sums, int(r.multipliers[0]), int(r.shifts[0]))
    y.array().reshape(sums.shape)[...] = np.clip(scaled + q.zero_point, low, high)
