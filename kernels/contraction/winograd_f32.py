"""CONV_2D in float32 by Winograd's F(2x2, 3x3): for 3x3 filters with stride 1.

It takes 16 multiplies for 4 outputs instead of 36, and rounds differently: results are within
about 3e-6 of the largest output, where direct sums are within about 1e-6. An infinity or NaN in
the input reaches all four outputs of a tile, not just those whose window holds it.
"""

import numpy as np

from ...lite.kernel_call import KernelCall
from ..compiled.language.panel_columns import PANEL_COLUMNS
from .blocks import WINOGRAD_F32
from .cutting import address, packed_columns
from .node import FilterNode
from .packed_f32 import aligned_zeros, with_weights

_LANES = 16  # padded_depth is a multiple of the widest vector
_BLOCK_BYTES = 512 * 1024
_MOST_CHUNKS = 64  # each has scratch memory of its own
_NS_PER_MULTIPLY = 1 / 100
_DEPTH_AT_A_TIME = 128  # of a panel's filters, so that what is between stays in the second-level cache


def applies(n: FilterNode) -> bool:
    """Whether Winograd's algorithm computes this convolution, and is faster than direct sums.

    Reference numerics ask for the reference's own sums.
    """
    g = n.geometry
    plain = g.groups == g.stride_h == g.stride_w == g.dilation_h == g.dilation_w == 1
    square = (g.filter_height, g.filter_width) == (3, 3)
    is_large = g.in_depth >= 16 and g.out_depth >= 16 and g.out_height >= 2 and g.out_width >= 2
    return n.may_use_xnnpack and n.is_constant and plain and square and is_large


def calls(n: FilterNode) -> list[KernelCall]:
    """The compiled calls of a CONV_2D node to which the algorithm applies."""
    g = n.geometry
    padded_depth = -(-g.in_depth // _LANES) * _LANES
    padded_columns = packed_columns(g.out_depth)
    tiles = g.batch * (-(-g.out_height // 2)) * (-(-g.out_width // 2))
    most = min(-(-tiles // 14), _MOST_CHUNKS)
    chunks = n.chunks(g.multiplies * _NS_PER_MULTIPLY, most)
    block = max(1, _BLOCK_BYTES // (64 * (padded_depth + padded_columns)) // 14) * 14
    block = min(block, -(-tiles // chunks))
    scratch_bytes = 64 * block * (padded_depth + padded_columns)
    scratch = n.scratch(scratch_bytes * chunks)
    biases, zeros = aligned_zeros(padded_columns), aligned_zeros(padded_depth)
    if n.bias is not None:
        biases[: g.out_depth] = n.biases(-1)
    args = np.zeros(1, WINOGRAD_F32)
    for name in ("in_height", "in_width", "out_height", "out_width", "pad_top", "pad_left"):
        args[name] = getattr(g, name)
    args["bias"], args["zeros"], args["images"] = address(biases), address(zeros), g.batch
    args["depth"], args["padded_depth"] = g.in_depth, padded_depth
    args["columns"], args["padded_columns"] = g.out_depth, padded_columns
    args["block_tiles"], args["scratch_bytes"] = block, scratch_bytes
    args["low"], args["high"] = n.float_range
    packed = transform_filters(n.w.array())
    tensors = {"x": n.x, "y": n.y, "scratch": scratch}
    return [with_weights("winograd_f32", "winograd_f32", args, tensors, packed, chunks, (biases, zeros))]


def transform_filters(w: np.ndarray) -> np.ndarray:
    """Filters [O, 3, 3, C] transformed, G w G', as 16 matrices in panels, flat float32."""
    columns, depth = w.shape[0], w.shape[3]
    size = (depth + 1) * packed_columns(columns)
    packed = aligned_zeros(16 * size)
    matrices = packed.reshape(16, size)
    taps = w.transpose(1, 2, 3, 0)
    for first in range(0, columns, PANEL_COLUMNS):
        width = min(PANEL_COLUMNS, packed_columns(columns) - first)
        rows = matrices[:, first * (depth + 1) : (first + width) * (depth + 1)]
        panel = rows.reshape(4, 4, depth + 1, width)
        here = slice(first, min(first + PANEL_COLUMNS, columns))
        for channel in range(0, depth, _DEPTH_AT_A_TIME):
            end = min(channel + _DEPTH_AT_A_TIME, depth)
            to = panel[:, :, channel + 1 : end + 1, : here.stop - first]
            _transform(taps[:, :, channel:end, here], to)
    return packed


def _transform(w: np.ndarray, to: np.ndarray) -> None:
    """G w G' of w [3, 3, ...] in float64, rounded into to [4, 4, ...]."""
    rows = np.empty((4, *w.shape[1:]))
    rows[0], rows[3], inner = w[0], w[2], np.multiply(w[1], 0.5, dtype=np.float64)
    outer = rows[0] + rows[3]
    outer *= 0.5
    np.add(outer, inner, rows[1])
    np.subtract(outer, inner, rows[2])
    to[:, 0], to[:, 3], inner = rows[:, 0], rows[:, 2], rows[:, 1] * 0.5
    outer = rows[:, 0] + rows[:, 2]
    outer *= 0.5
    np.add(outer, inner, to[:, 1], casting="same_kind")
    np.subtract(outer, inner, to[:, 2], casting="same_kind")
