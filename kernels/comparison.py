"""EQUAL, LESS and the other comparisons with broadcasting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from .binary import in_numpy
from .broadcast import binary_call, broadcast_shape
from .index_vector import check_counts
from .lookup import BYTE_TYPES, multiply_by_quantized_multiplier, stored_values
from .operator_facts import SUFFIXES
from .operators import registration
from .requantize import quantize_multiplier

FUNCTIONS = {
    "EQUAL": np.equal,
    "NOT_EQUAL": np.not_equal,
    "LESS": np.less,
    "LESS_EQUAL": np.less_equal,
    "GREATER": np.greater,
    "GREATER_EQUAL": np.greater_equal,
}
# GREATER is LESS with its operands changed over: four kernels serve six operators.
_SWAPPED = {"GREATER": "LESS", "GREATER_EQUAL": "LESS_EQUAL"}
# Operators that compare what quantized int16 stand for, and need no order; the others compare stored values.
_EQUALITIES = ("EQUAL", "NOT_EQUAL")
_UNORDERED = (TensorType.STRING, TensorType.COMPLEX64, TensorType.COMPLEX128)
_BYTES = (*BYTE_TYPES, TensorType.BOOL)
_LEFT_SHIFT = 8


def _is_scaled(tensor: Tensor) -> bool:
    return tensor.quantization is not None and len(tensor.quantization.scales) > 0


def _comparable(tensor: Tensor) -> np.ndarray:
    """What each stored value is compared as (int32), in the order of unsigned values.

    Quantized values are scaled in fixed point with 8 bits after the point, so that neighbours of
    a small scale compare equal.
    Source: LiteRT tflite/kernels/comparisons.cc, ComparisonQuantized.
    """
    if tensor.type == TensorType.BOOL:
        return (np.arange(256) != 0).astype(np.int32)
    values = stored_values(tensor)
    quantization = tensor.quantization
    if quantization is None or not len(quantization.scales) or not quantization.scale > 0:
        return values.astype(np.int32)
    offsets = (values - quantization.zero_point) << _LEFT_SHIFT
    multiplier, shift = quantize_multiplier(quantization.scale)
    if shift > 0:  # LiteRT shifts to the right by a negative number: on x86-64 little but the sign is left
        high = multiply_by_quantized_multiplier(offsets, multiplier, 0)
        return ((high >> (32 - shift)) + (high >= 0)).astype(np.int32)
    scaled = multiply_by_quantized_multiplier(offsets, multiplier, shift)
    return np.clip(scaled, -(2**31), 2**31 - 1).astype(np.int32)


def _tables(a: Tensor, b: Tensor) -> list[np.ndarray]:
    """Tables of both operands; of the stored values when only one has a scale."""
    if a.type in BYTE_TYPES and _is_scaled(a) != _is_scaled(b):
        return [stored_values(t).astype(np.int32) for t in (a, b)]
    return [_comparable(a), _comparable(b)]


def compare_calls(
    context: Context, name: str, a: Tensor, b: Tensor, out: Tensor, scaled: bool = False
) -> list[KernelCall] | None:
    """The compiled call of a comparison (by the operator's name), or None where there is no kernel.

    With scaled, int16 that both are quantized are compared for equality by what they stand for.
    Source: LiteRT tflite/kernels/comparisons.cc, EqualEval and LessEval.
    """
    suffix = "8" if a.type in _BYTES else SUFFIXES.get(a.type)
    if suffix not in ("8", "f32", "f16", "i16", "i32", "i64"):
        return None
    if name in _SWAPPED:
        name, a, b = _SWAPPED[name], b, a
    if scaled and suffix == "i16" and name in _EQUALITIES and _is_scaled(a) and _is_scaled(b):
        suffix = "scaled_i16"
    keep = _tables(a, b) if out.size and suffix in ("8", "scaled_i16") else []
    addresses = {field: table.ctypes.data for field, table in zip(("a_table", "b_table"), keep, strict=False)}
    kernel = name.lower(), suffix
    return binary_call(context, name, kernel, (a, b, out), 0.3, addresses, keep=keep)


def _operator(name: str) -> Registration:
    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        check_counts(name, node, 2)
        a, b, out = context.input(node, 0), context.input(node, 1), context.output(node, 0)
        if a.type != b.type:
            raise PrepareError(f"{name}: operands must have one type, got {a!r} and {b!r}")
        if out.type != TensorType.BOOL:
            raise PrepareError(f"{name}: output must be bool, got {out!r}")
        if a.type in _UNORDERED and name not in _EQUALITIES:
            raise PrepareError(f"{name}: operands must be numbers that have an order, got {a!r}")
        if a.type != TensorType.STRING:
            a.dtype  # noqa: B018 - an error for types that NumPy lacks
        context.resize_tensor(out, broadcast_shape(name, a.shape, b.shape))
        return compare_calls(context, name, a, b, out, scaled=True)

    return registration(name, prepare, in_numpy(name, FUNCTIONS[name]))


REGISTRATIONS = tuple(map(_operator, FUNCTIONS))
