"""L2_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION: rows divided by a measure of their size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.tensor import TensorType
from .broadcast import same_shape
from .fused_activation import NONE
from .lookup import BYTE_TYPES
from .operators import check_type, registration
from .requantize import quantization_of

_ROWS = [(name, np.int64) for name in ("x", "y", "rows", "depth")]
# x_zero is read by the 8-bit kernels only.
L2_NORMALIZATION = np.dtype([*_ROWS, ("x_zero", np.int32)], align=True)
# y[c] = x[c] * (bias + alpha * sum of squares of x[c - before .. c + after]) ** -beta
LOCAL_RESPONSE = np.dtype(
    [
        *_ROWS,
        ("before", np.int64),
        ("after", np.int64),
        *((name, np.float32) for name in ("bias", "alpha", "beta")),
    ],
    align=True,
)

_SUFFIXES = {TensorType.FLOAT32: "f32", TensorType.INT8: "i8", TensorType.UINT8: "u8"}
_ZERO_POINTS = {TensorType.INT8: 0, TensorType.UINT8: 128}


def _prepare_l2(context: Context, node: Node) -> Sequence[KernelCall]:
    x, y = same_shape(context, node, "L2_NORMALIZATION")
    check_type("L2_NORMALIZATION", x)
    suffix = _SUFFIXES[TensorType(x.type)]
    if not x.shape:
        raise PrepareError(f"L2_NORMALIZATION: input must have an axis, got {x!r}")
    if getattr(node.options, "fused_activation_function", NONE) != NONE:
        raise UnsupportedError("L2_NORMALIZATION: no activation is fused with it, an operator of its own is")
    args = np.zeros(1, L2_NORMALIZATION)
    if x.type in BYTE_TYPES:
        quantization, zero = quantization_of("L2_NORMALIZATION", y), _ZERO_POINTS[TensorType(y.type)]
        if (quantization.scale, quantization.zero_point) != (1 / 128, zero):
            raise PrepareError(
                f"L2_NORMALIZATION: output must have scale 1/128 and zero point {zero}, "
                f"got {quantization.scale} and {quantization.zero_point}"
            )
        args["x_zero"] = quantization_of("L2_NORMALIZATION", x).zero_point
    if x.size == 0:
        return []
    args["depth"] = x.shape[-1]
    args["rows"] = rows = x.size // x.shape[-1]
    chunks = chunk_count(context, 1.5 * x.size, most=rows)
    return [KernelCall("normalization", f"l2_normalization_{suffix}", args, {"x": x, "y": y}, chunks)]


def _prepare_local_response(context: Context, node: Node) -> Sequence[KernelCall]:
    """One formula in both numerics: LiteRT's reference kernel, alone, leaves a window's last element out."""
    name = "LOCAL_RESPONSE_NORMALIZATION"
    x, y = same_shape(context, node, name)
    check_type(name, x)
    options = node.options
    if len(x.shape) != 4 or options is None or options.radius < 0:
        raise PrepareError(
            f"{name}: input must have 4 axes and the radius must not be negative, "
            f"got {x!r} and {options and options.radius}"
        )
    if x.size == 0:
        return []
    args = np.zeros(1, LOCAL_RESPONSE)
    args["depth"] = x.shape[-1]
    args["rows"] = rows = x.size // x.shape[-1]
    args["before"] = args["after"] = options.radius
    args["bias"], args["alpha"], args["beta"] = options.bias, options.alpha, options.beta
    chunks = chunk_count(context, 20 * x.size, most=rows)
    return [KernelCall("normalization", "local_response_f32", args, {"x": x, "y": y}, chunks)]


REGISTRATIONS = (
    registration("L2_NORMALIZATION", _prepare_l2),
    registration("LOCAL_RESPONSE_NORMALIZATION", _prepare_local_response),
)
