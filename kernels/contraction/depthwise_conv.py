"""DEPTHWISE_CONV_2D: the node, checked, and in float32 its packed weights and calls."""

from __future__ import annotations

import numpy as np

from ...lite.context import Context
from ...lite.errors import PrepareError
from ...lite.kernel_call import KernelCall
from ...lite.node import Node
from ...lite.tensor import Tensor
from ...schema.named_tuple import NamedTuple
from .blocks import (
    ANY_FILTER,
    BLOCK_CHANNELS,
    DEPTHWISE_F32,
    ONE_CHANNEL,
    PACK_BLOCKS_F32,
    PIXELS,
    SPREAD_ROWS_F32,
)
from .cutting import address
from .geometry import ConvGeometry, as_row, depthwise_geometry
from .node import FilterNode, check_types, resolve, sized, with_decoded_weights
from .packed_f32 import aligned_zeros, with_weights

_MOST_REPEATED = 1 << 15  # weights
_NS_PER_MULTIPLY, _NS_PER_COPIED = 1 / 25, 1 / 8


def checked(context: Context, node: Node) -> FilterNode:
    """The node, resolved and checked; the output gets its shape."""
    n = with_decoded_weights(resolve(context, node))
    if node.options is None:
        raise PrepareError("DEPTHWISE_CONV_2D: strides must be at least 1, got a node without options")
    check_types(n)
    return sized(n, depthwise_geometry(node.options, n.x.shape, n.w.shape))


def float_calls(n: FilterNode) -> list[KernelCall]:
    """The compiled calls of a checked DEPTHWISE_CONV_2D node, or of a CONV_2D with a group for each channel.

    Weights are [1, filter_height, filter_width, out_depth], or constants of a CONV_2D:
    [out_depth, filter_height, filter_width, 1].
    """
    g, times = n.geometry, 1
    if n.chunks(g.multiplies * _NS_PER_MULTIPLY) == 1:
        if n.is_constant:
            g, times = columns_as_channels(g)
        g = as_row(g)
    x, calls = n.x, []
    chunks = n.chunks(g.multiplies * _NS_PER_MULTIPLY, g.batch * g.out_height)
    kind = kind_of(g)
    if needs_copy(g, kind):
        right, multiplier = right_padding(g), 1 if kind == ONE_CHANNEL else g.multiplier
        rows = SpreadRows(g.batch * g.in_height, g.pad_left, g.in_width, right, g.in_depth, multiplier)
        x, spread = spread_rows(n, rows)
        calls.append(spread)
        g = g._replace(in_width=g.pad_left + g.in_width + right, pad_left=0)
    packed = _packed_weights(n, g, calls, times)
    args = np.zeros(1, DEPTHWISE_F32)
    args["images"], args["channels"], args["kind"] = g.batch, g.out_depth, kind
    for name in DEPTHWISE_F32.names or ():
        if hasattr(g, name):
            args[name] = getattr(g, name)
    args["low"], args["high"] = n.float_range
    zeros = aligned_zeros(BLOCK_CHANNELS)
    args["zeros"] = address(zeros)
    tensors = {"x": x, "y": n.y}
    call = with_weights("depthwise_conv_f32", "depthwise_f32", args, tensors, packed, chunks, (zeros,))
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


def columns_as_channels(g: ConvGeometry) -> tuple[ConvGeometry, int]:
    """The same with all columns' channels as those of one column, and how often weights repeat then.

    Where a filter of one column sees the columns apart, and the weights stay small.
    """
    alone = g.filter_width == 1 and g.stride_w == 1 and g.multiplier == 1 and g.in_width == g.out_width
    if not alone or g.taps * g.in_width * g.in_depth > _MOST_REPEATED:
        return g, 1
    depth = g.in_width * g.in_depth
    one = g._replace(in_width=1, out_width=1, in_depth=depth, out_depth=depth, groups=depth)
    return one, g.in_width


def _packed_weights(
    n: FilterNode, g: ConvGeometry, calls: list[KernelCall], times: int
) -> Tensor | np.ndarray:
    """The weights packed, each row `times` times; if they are not constant, calls gets what packs them."""
    if n.is_constant:
        weights, bias = n.w.array(), n.biases(-1)
        weights = weights.reshape(g.taps, -1) if len(weights) == 1 else weights.reshape(-1, g.taps).T
        return pack_blocks(np.tile(weights, (1, times)), None if bias is None else np.tile(bias, times))
    blocks = -(-g.out_depth // BLOCK_CHANNELS)
    scratch = n.scratch((g.taps + 1) * blocks * BLOCK_CHANNELS * 4)
    args = np.zeros(1, PACK_BLOCKS_F32)
    args["taps"], args["channels"] = g.taps, g.out_depth
    tensors = {"w": n.w, "packed": scratch, **({} if n.bias is None else {"bias": n.bias})}
    calls.append(KernelCall("pack_f32", "pack_blocks_f32", args, tensors))
    return scratch


def kind_of(g: ConvGeometry) -> int:
    """Which kernel computes it."""
    if g.in_depth == 1 and g.multiplier > 1:
        return ONE_CHANNEL
    if g.filter_width in (3, 5) and g.stride_w <= 2 and g.dilation_w == 1:
        return 10 * g.filter_width + g.stride_w
    return ANY_FILTER


def needs_copy(g: ConvGeometry, kind: int) -> bool:
    """Whether rows are copied first: channels repeated, or padding for kernels that check nothing."""
    if g.multiplier > 1 and kind != ONE_CHANNEL:
        return True
    return kind in (ANY_FILTER, ONE_CHANNEL) and (g.pad_left > 0 or right_padding(g) > 0)


def right_padding(g: ConvGeometry) -> int:
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


def spread_rows(n: FilterNode, rows: SpreadRows) -> tuple[Tensor, KernelCall]:
    """Scratch for the rows of the node's input and their surroundings, and the call that fills it."""
    scratch = n.scratch(rows.size * 4)
    args = np.zeros(1, SPREAD_ROWS_F32)
    for name, value in rows._asdict().items():
        args[name] = value
    chunks = n.chunks(rows.size * _NS_PER_COPIED, max(1, rows.rows))
    tensors = {"x": n.x, "y": scratch}
    return scratch, KernelCall("depthwise_conv_f32", "spread_rows_f32", args, tensors, chunks)
