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
from .array_function import invoke_function
from .broadcast import BROADCAST_FIELDS, broadcast_shape, collapse, fill_loops
from .index_vector import check_counts
from .lookup import BYTE_TYPES, multiply_by_quantized_multiplier, stored_values
from .operators import registration
from .parallel import chunk_count
from .requantize import quantize_multiplier

_OPERANDS = [("a", np.int64), ("b", np.int64), ("out", np.int64), *BROADCAST_FIELDS]
COMPARE = np.dtype(_OPERANDS, align=True)
# Bytes are compared by what they stand for: tables of 256 int32, indexed by the unsigned byte.
COMPARE_8 = np.dtype([*_OPERANDS, ("a_table", np.int64), ("b_table", np.int64)], align=True)
COMPARE_16 = COMPARE_8  # the same of int16, by tables of 65536

_FUNCTIONS = {
    "EQUAL": np.equal,
    "NOT_EQUAL": np.not_equal,
    "LESS": np.less,
    "LESS_EQUAL": np.less_equal,
    "GREATER": np.greater,
    "GREATER_EQUAL": np.greater_equal,
}
# GREATER is LESS with its operands changed over: four kernels serve six operators.
_SWAPPED = {"GREATER": "LESS", "GREATER_EQUAL": "LESS_EQUAL"}

_SUFFIXES = {
    TensorType.FLOAT32: "f32",
    TensorType.INT32: "i32",
    TensorType.INT64: "i64",
    TensorType.INT8: "8",
    TensorType.UINT8: "8",
    TensorType.BOOL: "8",
    TensorType.INT16: "i16",
    TensorType.FLOAT16: "f16",
}
# Operators that compare what quantized int16 stand for; the others compare stored values.
_SCALED = ("EQUAL", "NOT_EQUAL")
_UNORDERED = (TensorType.STRING, TensorType.COMPLEX64, TensorType.COMPLEX128)
_LEFT_SHIFT = 8


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
    scaled = [t.quantization is not None and len(t.quantization.scales) > 0 for t in (a, b)]
    if a.type in BYTE_TYPES and scaled[0] != scaled[1]:
        return [stored_values(t).astype(np.int32) for t in (a, b)]
    return [_comparable(a), _comparable(b)]


def compare_calls(
    context: Context, name: str, a: Tensor, b: Tensor, out: Tensor, scaled: bool = False
) -> list[KernelCall] | None:
    """The compiled call of a comparison (by the operator's name), or None where there is no kernel.

    With scaled, int16 that both are quantized are compared for equality by what they stand for.
    Source: LiteRT tflite/kernels/comparisons.cc, EqualEval and LessEval.
    """
    if a.type not in _SUFFIXES:
        return None
    if out.size == 0:
        return []
    if name in _SWAPPED:
        name, a, b = _SWAPPED[name], b, a
    suffix = _SUFFIXES[TensorType(a.type)]
    family = f"comparison_{suffix}"
    if scaled and suffix == "i16" and name in _SCALED and _both_scaled(a, b):
        suffix = "scaled_i16"
    keep = _tables(a, b) if suffix in ("8", "scaled_i16") else []
    args = np.zeros(1, COMPARE_8 if keep else COMPARE)
    fill_loops(args, collapse(name, a.shape, b.shape))
    if keep:
        args["a_table"], args["b_table"] = (table.ctypes.data for table in keep)
    chunks = chunk_count(context, 0.3 * out.size)
    tensors = {"a": a, "b": b, "out": out}
    return [KernelCall(family, f"{name.lower()}_{suffix}", args, tensors, chunks, keep=keep)]


def _both_scaled(a: Tensor, b: Tensor) -> bool:
    return all(t.quantization is not None and len(t.quantization.scales) > 0 for t in (a, b))


def _prepare(name: str, context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts(name, node, 2)
    a, b, out = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if a.type != b.type:
        raise PrepareError(f"{name}: operands must have one type, got {a!r} and {b!r}")
    if out.type != TensorType.BOOL:
        raise PrepareError(f"{name}: output must be bool, got {out!r}")
    if a.type in _UNORDERED and name not in ("EQUAL", "NOT_EQUAL"):
        raise PrepareError(f"{name}: operands must be numbers that have an order, got {a!r}")
    if a.type != TensorType.STRING:
        a.dtype  # noqa: B018 - an error for types that NumPy lacks
    context.resize_tensor(out, broadcast_shape(name, a.shape, b.shape))
    return compare_calls(context, name, a, b, out, scaled=True)


def _registration(name: str) -> Registration:
    return registration(
        name,
        lambda context, node: _prepare(name, context, node),
        lambda context, node: invoke_function(name, _FUNCTIONS[name], context, node),
    )


REGISTRATIONS = (
    _registration("EQUAL"),
    _registration("NOT_EQUAL"),
    _registration("LESS"),
    _registration("LESS_EQUAL"),
    _registration("GREATER"),
    _registration("GREATER_EQUAL"),
)
