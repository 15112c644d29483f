"""The calls of plain loops, which serve every case, if slowly."""

from __future__ import annotations

import numpy as np

from ...lite.kernel_call import KernelCall
from ...lite.tensor import TensorType
from .blocks import PLAIN_HYBRID, PLAIN_Q8, PLAIN_Q16, TILE_PIXELS, TRANSPOSE_CONV_PLAIN
from .cutting import address
from .node import FilterNode
from .packed_q8 import quantized_rows
from .sums import HybridSums, QuantizedSums, hybrid_sums, quantized_sums

_NAMES = {"DEPTHWISE_CONV_2D": "depthwise_conv", "TRANSPOSE_CONV": "transpose_conv"}
_TRANSPOSED = {TensorType.INT8: "i8", TensorType.UINT8: "u8", TensorType.INT16: "i16"}
_OF_SUMS = [
    "x_zero_point",
    "w_zero_point",
    "y_zero_point",
    "lowest",
    "highest",
    "rounding",
    "upward_channels",
    "flip",
    "x_offset",
]
_NS_PER_MULTIPLY, _TRANSPOSED_NS, _INT16_NS = 0.3, 0.1, 0.05
_HYBRID_TRANSPOSED_NS = 1.0


def _name(n: FilterNode, ending: str) -> str:
    return f"{_NAMES.get(n.operator, 'conv')}_{ending}"


def _call(
    n: FilterNode, block: np.dtype, family: str, work_ns: float, f: QuantizedSums, kernel: str = ""
) -> KernelCall:
    """A call whose block has the geometry and how sums become outputs."""
    args = np.zeros(1, block)
    scaling = f.requantization.arrays()
    keep = list(scaling.values())
    values = {name: getattr(f, name) for name in _OF_SUMS} | n.geometry._asdict()
    values |= {name: address(part) for name, part in scaling.items()}
    values["w_offset"] = f.w_zero_point + f.flip
    values["bias_is_wide"] = f.bias is not None and f.bias.type == TensorType.INT64
    for name in values.keys() & set(block.names or ()):
        args[name] = values[name]
    return KernelCall(family, kernel or family, args, dict(n.tensors), n.chunks(work_ns), keep=keep)


def quantized_call(n: FilterNode, f: QuantizedSums) -> KernelCall:
    """The plain 8-bit call; it reads weights and bias where the model has them."""
    work_ns = n.geometry.multiplies * _NS_PER_MULTIPLY
    return _call(n, PLAIN_Q8, _name(n, "plain_q8"), work_ns, f)


def byte_calls(n: FilterNode) -> list[KernelCall]:
    """int8 and uint8."""
    return [quantized_call(n, quantized_sums(n))]


def int16_calls(n: FilterNode) -> list[KernelCall]:
    """int16 by int8 or int16; windows are copied into scratch unless x has them as they are."""
    f = quantized_sums(n)
    g, depthwise = n.geometry, n.operator == "DEPTHWISE_CONV_2D"
    family = _name(n, "q16_w16" if f.w.type == TensorType.INT16 else "q16")
    call = _call(n, PLAIN_Q16, family, g.multiplies * _INT16_NS, f)
    reads_x = (g.taps, g.groups, g.stride_h, g.stride_w) == (1, 1, 1, 1) and not depthwise
    # Depthwise: for each channel a sum of 8 bytes, and one of 4 for some taps.
    row = g.out_depth * 12 if depthwise else g.taps * g.filter_depth * 2
    scratch_bytes = 0 if reads_x else -(-row // 64) * 64 * (1 if depthwise else TILE_PIXELS)
    call.args["reads_x"], call.args["scratch_bytes"] = reads_x, scratch_bytes
    if scratch_bytes:
        call.tensors = {**call.tensors, "scratch": n.scratch(scratch_bytes * call.chunks)}
    return [call]


def hybrid_calls(n: FilterNode, symmetric: bool, channel_first: bool) -> list[KernelCall]:
    """Quantize each image as the reference does, then the plain loops."""
    f: HybridSums = hybrid_sums(n)
    g = n.geometry
    rows = quantized_rows(n, g.batch, "quantize_rows_reference", symmetric)
    args = np.zeros(1, PLAIN_HYBRID)
    for field, value in zip(g._fields, g, strict=True):
        args[field] = value
    args["low"], args["high"], args["scales"] = f.low, f.high, address(f.scales)
    args["channel_first"], args["image_bytes"] = channel_first, rows.stride
    tensors = {**n.tensors, "q": rows.x, "quantization": rows.quantization}
    del tensors["x"]
    name = _name(n, "plain_hybrid")
    transposed = n.operator == "TRANSPOSE_CONV"
    work_ns = (
        g.transposed_multiplies * _HYBRID_TRANSPOSED_NS if transposed else g.multiplies * _NS_PER_MULTIPLY
    )
    return [*rows.calls, KernelCall(name, name, args, tensors, n.chunks(work_ns), keep=(f.scales,))]


def transposed_calls(n: FilterNode) -> list[KernelCall]:
    """A transposed convolution of integers."""
    f = quantized_sums(n)
    work_ns = n.geometry.transposed_multiplies * _TRANSPOSED_NS
    kernel = f"transpose_conv_plain_{_TRANSPOSED[TensorType(f.x.type)]}"
    call = _call(n, TRANSPOSE_CONV_PLAIN, "transpose_conv_plain", work_ns, f, kernel)
    call.args["upward_elements"], call.args["upward_channels"] = upward(n, f)
    call.args["sums_are_wide"] = sums_are_wide(n)
    return [call]


def sums_are_wide(n: FilterNode) -> bool:
    """Whether a transposed convolution's sums are int64."""
    return n.x.type == TensorType.INT16 and n.node.options.quantized_bias_type != TensorType.INT32


def upward(n: FilterNode, f: QuantizedSums) -> tuple[int, int]:
    """How many elements and channels round upwards under UPWARD_ROUNDING: those that fill vectors.

    Source: LiteRT tflite/kernels/internal/optimized/optimized_ops.h, Quantize.
    """
    elements, channels = f.y.size, n.geometry.out_depth
    if f.x.type == TensorType.UINT8:
        return elements // 16 * 16, channels
    return elements, channels // 8 * 8
