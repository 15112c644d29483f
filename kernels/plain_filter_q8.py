"""Argument blocks of the plain 8-bit filter kernels, which serve every case, if slowly."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.tensor import TensorType
from .conv import ConvGeometry
from .depthwise_conv import DepthwiseGeometry
from .filter_q8 import FilterQ8
from .parallel import chunk_count

# int8 and uint8 are both read as bytes: byte ^ flip, less the offset, is the value less its
# zero point (flip is 128 for int8, 0 for uint8). bias may be 0 for none.
_OPERANDS = [
    (name, np.int64)
    for name in (
        "x",
        "w",
        "bias",
        "y",
        "multipliers",
        "shifts",
        "float_scales",
        "real_scales",
        "rounding",
        "flip",
        "x_offset",
        "w_offset",
        "y_zero_point",
        "lowest",
        "highest",
    )
]
CONV_PLAIN_Q8 = np.dtype(_OPERANDS + [(name, np.int64) for name in ConvGeometry._fields], align=True)
DEPTHWISE_CONV_PLAIN_Q8 = np.dtype(
    _OPERANDS + [(name, np.int64) for name in DepthwiseGeometry._fields], align=True
)

_NS_PER_MULTIPLY = 0.3


def plain_call(context: Context, f: FilterQ8, geometry: ConvGeometry | DepthwiseGeometry) -> KernelCall:
    """The call of the plain kernel; it reads weights and bias where the model has them."""
    depthwise = isinstance(geometry, DepthwiseGeometry)
    args = np.zeros(1, DEPTHWISE_CONV_PLAIN_Q8 if depthwise else CONV_PLAIN_Q8)
    for name, value in zip(geometry._fields, geometry, strict=True):
        args[name] = value
    flip = 128 if f.x.type == TensorType.INT8 else 0
    args["rounding"], args["flip"] = f.rounding, flip
    args["x_offset"], args["w_offset"] = f.x_zero_point + flip, f.w_zero_point + flip
    args["y_zero_point"], args["lowest"], args["highest"] = f.y_zero_point, f.lowest, f.highest
    keep = []
    for name, values in f.requantization._asdict().items():
        values = np.ascontiguousarray(values)
        args[name] = values.__array_interface__["data"][0]
        keep.append(values)
    tensors = {"x": f.x, "w": f.w, "y": f.y}
    if f.bias is not None:
        tensors["bias"] = f.bias
    name = "depthwise_conv_plain_q8" if depthwise else "conv_plain_q8"
    chunks = chunk_count(context, geometry.multiplies * _NS_PER_MULTIPLY)
    return KernelCall(name, name, args, tensors, chunks, keep=keep)
