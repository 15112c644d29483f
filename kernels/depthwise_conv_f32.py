"""DEPTHWISE_CONV_2D in float32: packed weights and argument blocks."""

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor
from .activation import float_activation_range
from .depthwise_conv import DepthwiseGeometry
from .gemm_f32 import address, aligned_zeros, call_with_weights
from .parallel import chunk_count

# Weights are packed by blocks of BLOCK_CHANNELS channels, the same on every processor: a row
# of biases, then one row per tap. Channels past the last are zeros.
BLOCK_CHANNELS = 16

# Input channels are output channels here: a multiplier above 1 is spread out beforehand.
DEPTHWISE_F32 = np.dtype(
    [
        ("x", np.int64),
        ("w", np.int64),
        ("y", np.int64),
        ("zeros", np.int64),
        ("images", np.int64),
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

# y [pixels, channels * multiplier]: each channel of x [pixels, channels], multiplier times.
REPEAT_CHANNELS_F32 = np.dtype(
    [
        ("x", np.int64),
        ("y", np.int64),
        ("pixels", np.int64),
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

_NS_PER_MULTIPLY = 1 / 25


def calls(context: Context, node: Node, g: DepthwiseGeometry) -> list[KernelCall]:
    """The compiled calls of a checked DEPTHWISE_CONV_2D node."""
    x, y = context.input(node, 0), context.output(node, 0)
    calls: list[KernelCall] = []
    chunks = chunk_count(context, g.multiplies * _NS_PER_MULTIPLY, g.batch * g.out_height)
    if g.multiplier > 1:
        x = _repeat_channels(context, node, g, calls)
    packed = _packed_weights(context, node, g, calls)
    args = np.zeros(1, DEPTHWISE_F32)
    args["images"], args["channels"] = g.batch, g.out_depth
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


def _packed_weights(
    context: Context, node: Node, g: DepthwiseGeometry, calls: list[KernelCall]
) -> Tensor | np.ndarray:
    """The weights packed; if they are not constant, calls gets the call that packs them."""
    w, bias = context.input(node, 1), context.optional_input(node, 2)
    if w.is_constant and (bias is None or bias.is_constant):
        return pack_blocks(
            w.array().reshape(g.taps, g.out_depth), None if bias is None else bias.array().reshape(-1)
        )
    blocks = -(-g.out_depth // BLOCK_CHANNELS)
    scratch = context.add_temporary(node, (g.taps + 1) * blocks * BLOCK_CHANNELS * 4)
    args = np.zeros(1, PACK_BLOCKS_F32)
    args["taps"], args["channels"] = g.taps, g.out_depth
    tensors = {"w": w, "packed": scratch}
    if bias is not None:
        tensors["bias"] = bias
    calls.append(KernelCall("pack_f32", "pack_blocks_f32", args, tensors))
    return scratch


def _repeat_channels(context: Context, node: Node, g: DepthwiseGeometry, calls: list[KernelCall]) -> Tensor:
    """Scratch that holds x with each channel repeated; calls gets the call that fills it."""
    pixels = g.batch * g.in_height * g.in_width
    scratch = context.add_temporary(node, pixels * g.out_depth * 4)
    args = np.zeros(1, REPEAT_CHANNELS_F32)
    args["pixels"], args["channels"], args["multiplier"] = pixels, g.in_depth, g.multiplier
    tensors = {"x": context.input(node, 0), "y": scratch}
    calls.append(KernelCall("depthwise_conv_f32", "repeat_channels_f32", args, tensors))
    return scratch
