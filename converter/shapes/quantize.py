"""Quantized tensors, which come with their least and greatest value."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction
from .conv import conv
from .dimensions import broadcast
from .matmul import matmul
from .pool import pool


def quantize(c: ShapeContext) -> Results:
    """QuantizeV2: the tensor and its range, one for each slice along an axis where there is one."""
    shape, axis = c.shape_of(0), c.integer("axis") if "axis" in c.attributes else -1
    if axis == -1:
        return [shape, (), ()]
    range_ = None if shape is None else (shape[axis],)
    return [shape, range_, range_]


def dequantize(c: ShapeContext) -> Results:
    return [c.shape_of(0)]


def quantized_like(c: ShapeContext) -> Results:
    """As the first input, with a range."""
    return [c.shape_of(0), (), ()]


def quantized_add(c: ShapeContext) -> Results:
    """Operands that broadcast, with a range."""
    return [broadcast(*c.inputs[:2]), (), ()]


def quantized_matmul(c: ShapeContext) -> Results:
    return [matmul(c)[0], (), ()]


def quantized_conv(c: ShapeContext) -> Results:
    return [conv(c)[0], (), ()]


def quantized_pool(c: ShapeContext) -> Results:
    return [pool(c)[0], (), ()]


_LIKE = ("Requantize", "QuantizeDownAndShrinkRange", "QuantizedRelu", "QuantizedRelu6", "QuantizedBiasAdd")
REGISTRATIONS: dict[str, ShapeFunction] = {
    "QuantizeV2": quantize,
    "Dequantize": dequantize,
    **dict.fromkeys(_LIKE, quantized_like),
    **dict.fromkeys(("QuantizedAdd", "QuantizedMul"), quantized_add),
    "QuantizedMatMul": quantized_matmul,
    "QuantizedConv2D": quantized_conv,
    **dict.fromkeys(("QuantizedAvgPool", "QuantizedMaxPool"), quantized_pool),
}
