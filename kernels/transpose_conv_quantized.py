"""TRANSPOSE_CONV of integers: how sums become outputs, and the calls."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import TensorType
from .activation import quantized_activation_range
from .conv_q8 import INDIRECT_Q8
from .filter_q8 import FilterQ8
from .gemm_q8 import (
    PANEL_COLUMNS,
    PackedFilter,
    address,
    aligned_bytes,
    pack_filter,
    packed_call,
    sums_of,
    variant,
)
from .padding import SAME
from .parallel import chunk_count
from .requantize import (
    DOUBLE_ROUNDING,
    FLOAT_ROUNDING,
    UPWARD_ROUNDING,
    channel_requantization,
    quantization_of,
)
from .transpose_conv_geometry import TransposeConvGeometry, TransposeConvOperands
from .transpose_conv_phases import Phase, phase_output, phase_weights, phases

# y = requantized(sums of x by w, zero points taken off, and the bias), rounded as `rounding` says;
# under UPWARD_ROUNDING only the first upward_elements and the first upward_channels are, and the
# others as under DOUBLE_ROUNDING.
# bias is 0 for none, int32 or (bias_is_wide) int64; wide sums are int64.
TRANSPOSE_CONV_PLAIN = np.dtype(
    [
        *(
            (name, np.int64)
            for name in (
                "x",
                "w",
                "bias",
                "y",
                "multipliers",
                "shifts",
                "float_scales",
                "rounding",
                "upward_elements",
                "upward_channels",
                "bias_is_wide",
                "sums_are_wide",
                "x_zero_point",
                "w_zero_point",
                "y_zero_point",
                "lowest",
                "highest",
            )
        ),
        *((name, np.int64) for name in TransposeConvGeometry._fields),
    ],
    align=True,
)

_RANGES = {TensorType.INT8: (-128, 127), TensorType.UINT8: (0, 255), TensorType.INT16: (-32768, 32767)}
_KERNELS = {TensorType.INT8: "i8", TensorType.UINT8: "u8", TensorType.INT16: "i16"}
_BLOCK_BYTES = 256 * 1024  # of x, so that it stays in the second-level cache while w streams by
_NS_PER_MULTIPLY, _NS_PER_PLAIN_MULTIPLY = 1 / 180, 0.1


def calls(
    context: Context, node: Node, operands: TransposeConvOperands, g: TransposeConvGeometry
) -> list[KernelCall]:
    """The compiled calls of a checked TRANSPOSE_CONV node."""
    f = transpose_conv_filter(context, node, operands, g)
    if operands.x.type != TensorType.INT16 and operands.is_constant and f.rounding != UPWARD_ROUNDING:
        found = phases(g)
        packed = [p for p in (_packed(f, phase) for phase in found) if p is not None]
        if len(packed) == len(found):
            return _phase_calls(context, node, f, g, list(zip(found, packed, strict=True)))
    return [_plain_call(context, node, f, g)]


def transpose_conv_filter(
    context: Context, node: Node, operands: TransposeConvOperands, g: TransposeConvGeometry
) -> FilterQ8:
    """Check the quantization and say how sums become outputs.

    Raises PrepareError when a tensor is quantized in a way that the operator does not allow.
    """
    x, w, bias, y = operands
    name = "TRANSPOSE_CONV"
    for tensor in (x, w, y):
        lowest, highest = _RANGES[TensorType(tensor.type)]
        quantization = quantization_of(name, tensor)
        if tensor is not w and quantization.per_channel:
            raise PrepareError(f"{name}: input and output must have one scale, got several for {tensor!r}")
        if tensor.type == TensorType.INT16:
            lowest = highest = 0
        if not lowest <= quantization.zero_point <= highest:
            raise PrepareError(
                f"{name}: zero point must lie in {lowest}..{highest}, "
                f"got {quantization.zero_point} for {tensor!r}"
            )
    requantization = channel_requantization(name, x, w, y, g.out_depth, x.type == TensorType.UINT8)
    default = context.numerics is Numerics.DEFAULT
    takes = (
        default
        and context.input(node, 0).is_constant
        and filter_fits(node, g)
        and _xnnpack_takes(operands, requantization.float_scales)
    )
    rounding = FLOAT_ROUNDING if takes else UPWARD_ROUNDING if default else DOUBLE_ROUNDING
    lowest, highest = quantized_activation_range(
        name,
        node.options.fused_activation_function,
        quantization_of(name, y).scale,
        quantization_of(name, y).zero_point,
        *_RANGES[TensorType(y.type)],
        half_even=takes,
    )
    # The reference does not look at an int8 filter's zero point.
    w_zero_point = quantization_of(name, w).zero_point if w.type == TensorType.UINT8 else 0
    zero_points = (quantization_of(name, x).zero_point, w_zero_point, quantization_of(name, y).zero_point)
    return FilterQ8(x, w, bias, y, *zero_points, lowest, highest, rounding, requantization)


def filter_fits(node: Node, g: TransposeConvGeometry) -> bool:
    """Whether the filter is as large as XNNPACK's delegate wants it.

    Source: LiteRT tflite/delegates/xnnpack/xnnpack_delegate.cc, CalculateTransposeConvPaddings.
    """
    if node.options.padding == SAME:
        return g.filter_height >= g.stride_h and g.filter_width >= g.stride_w
    return g.filter_height <= g.out_height and g.filter_width <= g.out_width


def _xnnpack_takes(operands: TransposeConvOperands, scales: np.ndarray) -> bool:
    """Whether XNNPACK's delegate takes the node by its types, so that its rounding is the default.

    Source: LiteRT tflite/delegates/xnnpack/xnnpack_delegate.cc, VisitTransposeConvNode.
    """
    x, w, _, _ = operands
    if x.type == TensorType.INT16 or not operands.is_constant:
        return False
    if w.type == TensorType.INT8 and quantization_of("TRANSPOSE_CONV", w).zero_point != 0:
        return False
    return bool(np.all(scales < 256) and np.all(scales >= np.finfo(np.float32).tiny))


def _packed(f: FilterQ8, phase: Phase) -> PackedFilter | None:
    weights = f.w.array()
    if not len(range(*phase.tap_rows.indices(weights.shape[1]))) * len(
        range(*phase.tap_columns.indices(weights.shape[2]))
    ):
        weights = np.full((weights.shape[0], 1, weights.shape[3]), f.w_zero_point, weights.dtype)
    else:
        weights = phase_weights(weights, phase)
    return pack_filter(f, weights, None if f.bias is None else f.bias.array().reshape(-1))


def _phase_calls(
    context: Context,
    node: Node,
    f: FilterQ8,
    g: TransposeConvGeometry,
    parts: list[tuple[Phase, PackedFilter]],
) -> list[KernelCall]:
    """One convolution for each phase."""
    padding = aligned_bytes(g.depth)
    padding[:] = f.x_zero_point & 0xFF
    found: list[KernelCall] = []
    for phase, packed in parts:
        y, copying = phase_output(context, node, g, phase, f.y)
        args = np.zeros(1, INDIRECT_Q8)
        args["table"], args["padding"] = address(phase.table), address(padding)
        args["images"], args["image_bytes"] = g.batch, g.in_height * g.in_width * g.depth
        args["pixels"], args["taps"], args["depth"] = phase.pixels, phase.taps, g.depth
        args["groups"], args["columns"] = 1, g.out_depth
        args["block_pixels"] = max(1, _BLOCK_BYTES // g.depth // 14) * 14
        pixels = g.batch * phase.pixels
        chunks = chunk_count(context, pixels * phase.taps * g.depth * g.out_depth * _NS_PER_MULTIPLY)
        split_columns = pixels < 28 * chunks
        args["split_columns"] = split_columns
        chunks = min(chunks, -(-g.out_depth // PANEL_COLUMNS) if split_columns else pixels)
        name = "conv_" + variant(f.rounding, packed.sum_factor)
        sums = sums_of(context, node, packed, f.rounding, pixels)
        keep = (phase.table, padding)
        found.append(packed_call(name, args, {"x": f.x, "y": y}, packed, sums, chunks, keep))
        found += copying
    return found


def upward(f: FilterQ8, g: TransposeConvGeometry) -> tuple[int, int]:
    """How many elements and channels round upwards under UPWARD_ROUNDING: those that fill vectors.

    Source: LiteRT tflite/kernels/internal/optimized/optimized_ops.h, Quantize.
    """
    elements = f.y.size
    if f.x.type == TensorType.UINT8:
        return elements // 16 * 16, g.out_depth
    return elements, g.out_depth // 8 * 8


def _plain_call(context: Context, node: Node, f: FilterQ8, g: TransposeConvGeometry) -> KernelCall:
    args = np.zeros(1, TRANSPOSE_CONV_PLAIN)
    for name, value in zip(g._fields, g, strict=True):
        args[name] = value
    for name in ("rounding", "x_zero_point", "w_zero_point", "y_zero_point", "lowest", "highest"):
        args[name] = getattr(f, name)
    args["upward_elements"], args["upward_channels"] = upward(f, g)
    narrow_bias = node.options.quantized_bias_type == TensorType.INT32
    args["sums_are_wide"] = f.x.type == TensorType.INT16 and not narrow_bias
    args["bias_is_wide"] = f.bias is not None and f.bias.type == TensorType.INT64
    keep = []
    for name in ("multipliers", "shifts", "float_scales"):
        values = np.ascontiguousarray(getattr(f.requantization, name))
        args[name] = address(values)
        keep.append(values)
    tensors = {"x": f.x, "w": f.w, "y": f.y}
    if f.bias is not None:
        tensors["bias"] = f.bias
    chunks = chunk_count(context, g.multiplies * _NS_PER_PLAIN_MULTIPLY)
    kernel = f"transpose_conv_plain_{_KERNELS[TensorType(f.x.type)]}"
    return KernelCall("transpose_conv_plain", kernel, args, tensors, chunks, keep=keep)
