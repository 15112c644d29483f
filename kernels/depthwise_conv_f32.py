"""DEPTHWISE_CONV_2D in float32: packed weights and argument blocks."""

from typing import NamedTuple

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor
from .activation import float_activation_range
from .depthwise_conv import DepthwiseGeometry
from .gemm_f32 import address, aligned_zeros, call_with_weights
from .lying import lying
from .parallel import chunk_count

# Weights are packed by blocks of BLOCK_CHANNELS channels, the same on every processor: a row
# of biases, then one row per tap. Channels past the last are zeros.
BLOCK_CHANNELS = 16

# Outputs of a row that are computed together.
PIXELS = 7

# Kinds of kernels; others are made for a filter's width and stride, 10 * width + stride.
ANY_FILTER, ONE_CHANNEL = 0, 1

# Input channels are output channels here: a multiplier above 1 is spread out beforehand, unless
# the kind is ONE_CHANNEL and all of them read the only one.
DEPTHWISE_F32 = np.dtype(
    [
        ("x", np.int64),
        ("w", np.int64),
        ("y", np.int64),
        ("zeros", np.int64),
        ("images", np.int64),
        ("kind", np.int64),
        ("channels", np.int64),
        ("in_height", np.int64),
        ("in_width", np.int64),
        ("out_height", np.int64),
        ("out_width", np.int64),
        ("filter_height", np.int64),
        ("filter_width", np.int64),
        ("stride_h", np.int64),
        ("stride_w", np.int64),
        ("dilation_h", np.int64),
        ("dilation_w", np.int64),
        ("pad_top", np.int64),
        ("pad_left", np.int64),
        ("low", np.float32),
        ("high", np.float32),
    ],
    align=True,
)

# y [rows, left + pixels + right, channels * multiplier]: each channel of x [rows, pixels,
# channels], multiplier times, with zeros at the sides.
SPREAD_ROWS_F32 = np.dtype(
    [
        ("x", np.int64),
        ("y", np.int64),
        ("rows", np.int64),
        ("pixels", np.int64),
        ("left", np.int64),
        ("right", np.int64),
        ("channels", np.int64),
        ("multiplier", np.int64),
    ],
    align=True,
)

# packed = pack_blocks(w [taps, channels], bias [channels]); bias is 0 for none.
PACK_BLOCKS_F32 = np.dtype(
    [
        ("w", np.int64),
        ("bias", np.int64),
        ("packed", np.int64),
        ("taps", np.int64),
        ("channels", np.int64),
    ],
    align=True,
)

_MOST_REPEATED = 1 << 15  # weights
_NS_PER_MULTIPLY, _NS_PER_COPIED = 1 / 25, 1 / 8


def calls(context: Context, node: Node, g: DepthwiseGeometry) -> list[KernelCall]:
    """The compiled calls of a checked DEPTHWISE_CONV_2D node."""
    w, bias = context.input(node, 1), context.optional_input(node, 2)
    constant = w.is_constant and (bias is None or bias.is_constant)
    times = 1
    if chunk_count(context, g.multiplies * _NS_PER_MULTIPLY) == 1:
        if constant:
            g, times = columns_as_channels(g)
        g = lying(g)
    x, y = context.input(node, 0), context.output(node, 0)
    calls: list[KernelCall] = []
    chunks = chunk_count(context, g.multiplies * _NS_PER_MULTIPLY, g.batch * g.out_height)
    kind = kind_of(g)
    if needs_copy(g, kind):
        right, multiplier = right_padding(g), 1 if kind == ONE_CHANNEL else g.multiplier
        rows = SpreadRows(g.batch * g.in_height, g.pad_left, g.in_width, right, g.in_depth, multiplier)
        x, spread = spread_rows(context, node, x, rows)
        calls.append(spread)
        g = g._replace(in_width=g.pad_left + g.in_width + right, pad_left=0)
    packed = _packed_weights(context, node, g, calls, times)
    args = np.zeros(1, DEPTHWISE_F32)
    args["images"], args["channels"], args["kind"] = g.batch, g.out_depth, kind
    for name in DEPTHWISE_F32.names or ():
        if hasattr(g, name):
            args[name] = getattr(g, name)
    fused = node.options.fused_activation_function
    args["low"], args["high"] = float_activation_range("DEPTHWISE_CONV_2D", fused)
    zeros = aligned_zeros(BLOCK_CHANNELS)
    args["zeros"] = address(zeros)
    call = call_with_weights(
        "depthwise_conv_f32", "depthwise_f32", args, {"x": x, "y": y}, packed, chunks, (zeros,)
    )
    return [*calls, call]


def pack_blocks(w: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    """Weights [taps, channels] and bias [channels] by blocks of channels, flat float32, 64-byte aligned."""
    taps, channels = w.shape
    blocks = -(-channels // BLOCK_CHANNELS)
    rows = np.zeros((taps + 1, blocks * BLOCK_CHANNELS), np.float32)
    if bias is not None:
        rows[0, :channels] = bias
    rows[1:, :channels] = w
    packed = aligned_zeros(rows.size)
    packed.reshape(blocks, taps + 1, BLOCK_CHANNELS)[:] = rows.reshape(
        taps + 1, blocks, BLOCK_CHANNELS
    ).transpose(1, 0, 2)
    return packed


def columns_as_channels(g: DepthwiseGeometry) -> tuple[DepthwiseGeometry, int]:
    """The same with all columns' channels as those of one column, and how often weights repeat then.

    Where a filter of one column sees the columns apart, and the weights stay small.
    """
    alone = g.filter_width == 1 and g.stride_w == 1 and g.multiplier == 1 and g.in_width == g.out_width
    if not alone or g.taps * g.in_width * g.in_depth > _MOST_REPEATED:
        return g, 1
    depth = g.in_width * g.in_depth
    return g._replace(in_width=1, out_width=1, in_depth=depth, out_depth=depth), g.in_width


def _packed_weights(
    context: Context, node: Node, g: DepthwiseGeometry, calls: list[KernelCall], times: int
) -> Tensor | np.ndarray:
    """The weights packed, each row `times` times; if they are not constant, calls gets what packs them."""
    w, bias = context.input(node, 1), context.optional_input(node, 2)
    if w.is_constant and (bias is None or bias.is_constant):
        weights = np.tile(w.array().reshape(g.taps, -1), (1, times))
        return pack_blocks(weights, None if bias is None else np.tile(bias.array().reshape(-1), times))
    blocks = -(-g.out_depth // BLOCK_CHANNELS)
    scratch = context.add_temporary(node, (g.taps + 1) * blocks * BLOCK_CHANNELS * 4)
    args = np.zeros(1, PACK_BLOCKS_F32)
    args["taps"], args["channels"] = g.taps, g.out_depth
    tensors = {"w": w, "packed": scratch}
    if bias is not None:
        tensors["bias"] = bias
    calls.append(KernelCall("pack_f32", "pack_blocks_f32", args, tensors))
    return scratch


def kind_of(g: DepthwiseGeometry) -> int:
    """Which kernel computes it."""
    if g.in_depth == 1 and g.multiplier > 1:
        return ONE_CHANNEL
    if g.filter_width in (3, 5) and g.stride_w <= 2 and g.dilation_w == 1:
        return 10 * g.filter_width + g.stride_w
    return ANY_FILTER


def needs_copy(g: DepthwiseGeometry, kind: int) -> bool:
    """Whether rows are copied first: channels repeated, or padding for kernels that check nothing."""
    if g.multiplier > 1 and kind != ONE_CHANNEL:
        return True
    return kind in (ANY_FILTER, ONE_CHANNEL) and (g.pad_left > 0 or right_padding(g) > 0)


def right_padding(g: DepthwiseGeometry) -> int:
    """Columns that outputs see on the right of the input, PIXELS outputs at least."""
    last = (max(g.out_width, PIXELS) - 1) * g.stride_w + (g.filter_width - 1) * g.dilation_w
    return max(0, last + 1 - g.in_width - g.pad_left)


class SpreadRows(NamedTuple):
    """What SPREAD_ROWS_F32 makes: rows of pixels with pixels of zeros at their sides."""

    rows: int
    left: int
    pixels: int
    right: int
    channels: int
    multiplier: int = 1

    @property
    def size(self) -> int:
        """Elements of the result."""
        return self.rows * (self.left + self.pixels + self.right) * self.channels * self.multiplier


def spread_rows(context: Context, node: Node, x: Tensor, rows: SpreadRows) -> tuple[Tensor, KernelCall]:
    """Scratch for the rows of x and their surroundings, and the call that fills it."""
    scratch = context.add_temporary(node, rows.size * 4)
    args = np.zeros(1, SPREAD_ROWS_F32)
    for name, value in rows._asdict().items():
        args[name] = value
    chunks = chunk_count(context, rows.size * _NS_PER_COPIED, max(1, rows.rows))
    tensors = {"x": x, "y": scratch}
    return scratch, KernelCall("depthwise_conv_f32", "spread_rows_f32", args, tensors, chunks)
