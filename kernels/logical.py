"""LOGICAL_AND, LOGICAL_OR, LOGICAL_NOT, BITWISE_XOR and RIGHT_SHIFT."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import InplaceOperator, Registration
from ..lite.tensor import Shape, Tensor, TensorType
from .array_function import ArrayFunction, invoke_function
from .broadcast import BROADCAST_FIELDS, broadcast_shape, collapse, fill_loops
from .elementwise import UNARY, same_shape, unary_call, unary_registration
from .index_vector import check_counts
from .parallel import chunk_count

LOGICAL = np.dtype([("a", np.int64), ("b", np.int64), ("out", np.int64), *BROADCAST_FIELDS], align=True)

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
    """The compiled call of a function of two bool tensors, or of integers that has their width."""
    return _calls(context, kernel, (a, b, out), a.shape, b.shape)


def bitwise_calls(context: Context, kernel: str, a: Tensor, b: Tensor, out: Tensor) -> list[KernelCall]:
    """The compiled call bits_and or bits_or of two tensors of one shape, byte by byte."""
    return _calls(context, kernel, (a, b, out), (a.nbytes,), (b.nbytes,))


def _calls(
    context: Context, kernel: str, tensors: tuple[Tensor, Tensor, Tensor], a_shape: Shape, b_shape: Shape
) -> list[KernelCall]:
    out = tensors[2]
    if out.size == 0:
        return []
    args = np.zeros(1, LOGICAL)
    fill_loops(args, collapse(kernel.upper(), a_shape, b_shape))
    chunks = chunk_count(context, 0.1 * out.nbytes)
    named = dict(zip(("a", "b", "out"), tensors, strict=True))
    return [KernelCall("logical", kernel, args, named, chunks)]


def _logical(name: str, builtin_code: int) -> Registration:
    def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
        a, b, out = broadcast_operands(context, node, name)
        if a.type != TensorType.BOOL:
            raise PrepareError(f"{name}: operands must be bool, got {a!r}")
        return logical_calls(context, name.lower(), a, b, out)

    return Registration(
        name,
        prepare,
        builtin_code=builtin_code,
        inplace_operator=InplaceOperator.INPUT0_SHARED | InplaceOperator.INPUT1_SHARED,
    )


def _prepare_not(context: Context, node: Node) -> Sequence[KernelCall]:
    x, y = same_shape(context, node, "LOGICAL_NOT")
    if x.type != TensorType.BOOL:
        raise PrepareError(f"LOGICAL_NOT: operand must be bool, got {x!r}")
    return unary_call(context, "logical", "logical_not", x, y, np.zeros(1, UNARY), 0.1)


def _bitwise(name: str, builtin_code: int, function: ArrayFunction) -> Registration:
    def prepare(context: Context, node: Node) -> None:
        a, _, _ = broadcast_operands(context, node, name)
        if a.type not in INTEGER_TYPES:
            raise PrepareError(f"{name}: operands must be integers, got {a!r}")

    return Registration(
        name,
        prepare,
        lambda context, node: invoke_function(name, function, context, node),
        builtin_code=builtin_code,
    )


REGISTRATIONS = (
    _logical("LOGICAL_OR", 84),
    _logical("LOGICAL_AND", 86),
    unary_registration("LOGICAL_NOT", 87, 1, _prepare_not),
    _bitwise("BITWISE_XOR", 160, np.bitwise_xor),
    _bitwise("RIGHT_SHIFT", 161, right_shifted),
)
