"""LOGICAL_AND, LOGICAL_OR, LOGICAL_NOT, BITWISE_XOR and RIGHT_SHIFT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from .array_function import ArrayFunction, invoke_function
from .broadcast import BROADCAST_FIELDS, broadcast_shape, collapse, fill_loops
from .elementwise import UNARY, same_shape, unary_call
from .index_vector import check_counts
from .operators import registration
from .parallel import chunk_count

LOGICAL = np.dtype([("a", np.int64), ("b", np.int64), ("out", np.int64), *BROADCAST_FIELDS], align=True)
FLAT = np.dtype([(name, np.int64) for name in ("a", "b", "out", "size")], align=True)

INTEGER_TYPES = (
    TensorType.INT8,
    TensorType.UINT8,
    TensorType.INT16,
    TensorType.UINT16,
    TensorType.INT32,
    TensorType.UINT32,
    TensorType.INT64,
    TensorType.UINT64,
)


def right_shifted(x: np.ndarray, bits: np.ndarray) -> np.ndarray:
    """x >> bits, signed types keeping their sign; bits are clamped to [0, the type's width - 1].

    Source: LiteRT tflite/kernels/right_shift.cc.
    """
    most = x.dtype.itemsize * 8 - 1
    return np.right_shift(x, np.clip(bits, 0, most).astype(x.dtype))


def broadcast_operands(context: Context, node: Node, operator: str) -> tuple[Tensor, Tensor, Tensor]:
    """Both operands and the output, which is given its shape; all have one type."""
    check_counts(operator, node, 2)
    a, b, out = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if not a.type == b.type == out.type:
        raise PrepareError(
            f"{operator}: operands and output must have one type, got {a!r}, {b!r} and {out!r}"
        )
    context.resize_tensor(out, broadcast_shape(operator, a.shape, b.shape))
    return a, b, out


def logical_calls(context: Context, kernel: str, a: Tensor, b: Tensor, out: Tensor) -> list[KernelCall]:
    """The compiled call of a function of two bool tensors."""
    if out.size == 0:
        return []
    args = np.zeros(1, LOGICAL)
    fill_loops(args, collapse(kernel.upper(), a.shape, b.shape))
    chunks = chunk_count(context, 0.1 * out.size)
    return [KernelCall("logical", kernel, args, {"a": a, "b": b, "out": out}, chunks)]


def flat_calls(
    context: Context, family: str, kernel: str, size: int, tensors: Mapping[str, Tensor]
) -> list[KernelCall]:
    """The compiled call of a function of `size` elements of two tensors of one shape, a and b, to out."""
    if size == 0:
        return []
    args = np.zeros(1, FLAT)
    args["size"] = size
    return [KernelCall(family, kernel, args, tensors, chunk_count(context, 0.2 * size))]


def _logical(name: str) -> Registration:
    def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
        a, b, out = broadcast_operands(context, node, name)
        if a.type != TensorType.BOOL:
            raise PrepareError(f"{name}: operands must be bool, got {a!r}")
        return logical_calls(context, name.lower(), a, b, out)

    return registration(name, prepare)


def _prepare_not(context: Context, node: Node) -> Sequence[KernelCall]:
    x, y = same_shape(context, node, "LOGICAL_NOT")
    if x.type != TensorType.BOOL:
        raise PrepareError(f"LOGICAL_NOT: operand must be bool, got {x!r}")
    return unary_call(context, "logical", "logical_not", x, y, np.zeros(1, UNARY), 0.1)


def _bitwise(name: str, function: ArrayFunction) -> Registration:
    def prepare(context: Context, node: Node) -> None:
        a, _, _ = broadcast_operands(context, node, name)
        if a.type not in INTEGER_TYPES:
            raise PrepareError(f"{name}: operands must be integers, got {a!r}")

    return registration(name, prepare, lambda context, node: invoke_function(name, function, context, node))


REGISTRATIONS = (
    _logical("LOGICAL_OR"),
    _logical("LOGICAL_AND"),
    registration("LOGICAL_NOT", _prepare_not),
    _bitwise("BITWISE_XOR", np.bitwise_xor),
    _bitwise("RIGHT_SHIFT", right_shifted),
)
