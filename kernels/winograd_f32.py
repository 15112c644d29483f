"""CONV_2D in float32 by Winograd's F(2x2, 3x3): for 3x3 filters with stride 1.

It takes 16 multiplies for 4 outputs instead of 36, and rounds differently: results are within
about 3e-6 of the largest output, where direct sums are within about 1e-6. An infinity or NaN in
the input reaches all four outputs of a tile, not just those whose window holds it.
"""

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from .conv import ConvGeometry
from .gemm_f32 import address, aligned_zeros, call_with_weights, pack_panels, packed_columns
from .parallel import chunk_count

# Tiles of 4x4 inputs and 2x2 outputs, numbered over all images. In scratch, for each chunk:
# transformed inputs [16, block_tiles, padded_depth], then products [16, block_tiles, padded_columns].
WINOGRAD_F32 = np.dtype(
    [
        ("x", np.int64),
        ("w", np.int64),
        ("y", np.int64),
        ("bias", np.int64),
        ("zeros", np.int64),
        ("scratch", np.int64),
        ("scratch_bytes", np.int64),
        ("images", np.int64),
        ("in_height", np.int64),
        ("in_width", np.int64),
        ("depth", np.int64),
        ("padded_depth", np.int64),
        ("out_height", np.int64),
        ("out_width", np.int64),
        ("columns", np.int64),
        ("padded_columns", np.int64),
        ("pad_top", np.int64),
        ("pad_left", np.int64),
        ("block_tiles", np.int64),
        ("low", np.float32),
        ("high", np.float32),
    ],
    align=True,
)

_LANES = 16  # padded_depth is a multiple of the widest vector
_BLOCK_BYTES = 512 * 1024
_MOST_CHUNKS = 64  # each has scratch memory of its own
_NS_PER_MULTIPLY = 1 / 100


def applies(context: Context, node: Node, g: ConvGeometry) -> bool:
    """Whether Winograd's algorithm computes this convolution, and is faster than direct sums.

    Reference numerics ask for the reference's own sums.
    """
    w, bias = context.input(node, 1), context.optional_input(node, 2)
    constant = w.is_constant and (bias is None or bias.is_constant)
    plain = g.groups == g.stride_h == g.stride_w == g.dilation_h == g.dilation_w == 1
    square = (g.filter_height, g.filter_width) == (3, 3)
    worth = g.in_depth >= 16 and g.out_depth >= 16 and g.out_height >= 2 and g.out_width >= 2
    return context.numerics == Numerics.DEFAULT and constant and plain and square and worth


def calls(context: Context, node: Node, g: ConvGeometry, activation: tuple[float, float]) -> list[KernelCall]:
    """The compiled calls of a CONV_2D node to which the algorithm applies."""
    bias = context.optional_input(node, 2)
    padded_depth = -(-g.in_depth // _LANES) * _LANES
    padded_columns = packed_columns(g.out_depth)
    tiles = g.batch * (-(-g.out_height // 2)) * (-(-g.out_width // 2))
    most = min(-(-tiles // 14), _MOST_CHUNKS)
    chunks = chunk_count(context, g.multiplies * _NS_PER_MULTIPLY, most)
    block = max(1, _BLOCK_BYTES // (64 * (padded_depth + padded_columns)) // 14) * 14
    block = min(block, -(-tiles // chunks))
    scratch_bytes = 64 * block * (padded_depth + padded_columns)
    scratch = context.add_temporary(node, scratch_bytes * chunks)
    biases, zeros = aligned_zeros(padded_columns), aligned_zeros(padded_depth)
    if bias is not None:
        biases[: g.out_depth] = bias.array().reshape(-1)
    args = np.zeros(1, WINOGRAD_F32)
    args["bias"], args["zeros"] = address(biases), address(zeros)
    args["images"], args["in_height"], args["in_width"] = g.batch, g.in_height, g.in_width
    args["depth"], args["padded_depth"] = g.in_depth, padded_depth
    args["out_height"], args["out_width"] = g.out_height, g.out_width
    args["columns"], args["padded_columns"] = g.out_depth, padded_columns
    args["pad_top"], args["pad_left"] = g.pad_top, g.pad_left
    args["block_tiles"], args["scratch_bytes"] = block, scratch_bytes
    args["low"], args["high"] = activation
    packed = transform_filters(context.input(node, 1).array())
    tensors = {"x": context.input(node, 0), "y": context.output(node, 0), "scratch": scratch}
    keep = (biases, zeros)
    return [call_with_weights("winograd_f32", "winograd_f32", args, tensors, packed, chunks, keep)]


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
