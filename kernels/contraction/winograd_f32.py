"""CONV_2D in float32 by Winograd's F(2x2, 3x3): for 3x3 filters with stride 1.

It takes 16 multiplies for 4 outputs instead of 36, and rounds differently: results are within
about 3e-6 of the largest output, where direct sums are within about 1e-6. An infinity or NaN in
the input reaches all four outputs of a tile, not just those whose window holds it.
"""

import numpy as np

from ...lite.kernel_call import KernelCall
from .blocks import WINOGRAD_F32
from .cutting import address, packed_columns
from .node import FilterNode
from .packed_f32 import aligned_zeros, pack_panels, with_weights

_LANES = 16  # padded_depth is a multiple of the widest vector
_BLOCK_BYTES = 512 * 1024
_MOST_CHUNKS = 64  # each has scratch memory of its own
_NS_PER_MULTIPLY = 1 / 100


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
    rows = _to_four(w.astype(np.float64).transpose(1, 2, 0, 3))
    transformed = _to_four(rows.swapaxes(0, 1)).swapaxes(0, 1).astype(np.float32)
    columns, depth = w.shape[0], w.shape[3]
    size = (depth + 1) * packed_columns(columns)
    packed = aligned_zeros(16 * size)
    for k, matrix in enumerate(transformed.reshape(16, columns, depth)):
        packed[k * size : (k + 1) * size] = pack_panels(matrix, None)
    return packed


def _to_four(w: np.ndarray) -> np.ndarray:
    """G w along the first axis: 3 taps become 4 points."""
    outer, inner = (w[0] + w[2]) / 2, w[1] / 2
    return np.stack([w[0], outer + inner, outer - inner, w[2]])
