"""SELECT and SELECT_V2: elements of one operand or the other, by a condition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.string_tensor import pack_strings
from ..lite.tensor import Shape, Tensor, TensorType
from .array_function import invoke_function, values_of
from .broadcast import broadcast_shape, collapse
from .element_functions import BROADCAST_RANK, block_of, form_of, operands_of
from .index_vector import check_counts
from .operators import registration
from .strided_copy import element_bytes

# The kernel's type by the bytes of an element.
_TYPES = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}


def select_calls(
    context: Context, operator: str, condition: Tensor, a: Tensor, b: Tensor, out: Tensor, first: Shape
) -> list[KernelCall] | None:
    """The compiled call; None where there is no kernel. `first` is the condition's shape to broadcast."""
    loops = collapse(out.shape, *([()] * 3 if out.size == 1 else (first, a.shape, b.shape)))
    item_bytes = element_bytes(a, operator)
    if len(loops.shape) > BROADCAST_RANK or item_bytes not in _TYPES:
        return None
    if out.size == 0:
        return []
    kernel = ("select", _TYPES[item_bytes])
    args = np.zeros(1, block_of(*kernel))
    loops.fill(args, *operands_of("select"))
    tensors = {"condition": condition, "a": a, "b": b, "out": out}
    chunks = chunk_count(context, 0.3 * out.size)
    return [KernelCall(form_of(*kernel).unit, "_".join(kernel), args, tensors, chunks)]


def _first_version_shape(condition: Tensor, a: Tensor, b: Tensor) -> Shape:
    """SELECT's condition as a shape to broadcast: whole, a scalar, or a vector of rows."""
    if a.shape != b.shape:
        raise PrepareError(f"SELECT: operands must have one shape, got {a!r} and {b!r}")
    if condition.shape in ((), a.shape):
        return condition.shape
    if len(condition.shape) == 1 and a.shape and condition.shape[0] == a.shape[0]:
        return (*condition.shape, *[1] * (len(a.shape) - 1))
    raise PrepareError(
        "SELECT: condition must have the operands' shape, be a scalar, or a vector of their first size, "
        f"got {condition!r} and {a!r}"
    )


def _checked(context: Context, node: Node, name: str) -> tuple[Tensor, Tensor, Tensor, Tensor, Shape]:
    """The three operands, the output, and the condition's shape to broadcast."""
    check_counts(name, node, 3)
    condition, a, b = (context.input(node, i) for i in range(3))
    out = context.output(node, 0)
    if condition.type != TensorType.BOOL:
        raise PrepareError(f"{name}: condition must be bool, got {condition!r}")
    if not a.type == b.type == out.type:
        raise PrepareError(f"{name}: operands and output must have one type, got {a!r}, {b!r} and {out!r}")
    first = condition.shape
    if name == "SELECT" and not _are_single(condition, a, b, out):
        first = _first_version_shape(condition, a, b)
    return condition, a, b, out, first


def _are_single(condition: Tensor, a: Tensor, b: Tensor, out: Tensor) -> bool:
    """Whether all have one element, in any ranks: the output's shape is then what it was before.

    Source: LiteRT tflite/kernels/select.cc, SelectPrepare.
    """
    return condition.size == a.size == b.size == out.size == 1


def _prepare(name: str, context: Context, node: Node) -> Sequence[KernelCall] | None:
    condition, a, b, out, first = _checked(context, node, name)
    single = _are_single(condition, a, b, out)
    shape = out.shape if single else broadcast_shape(name, first, broadcast_shape(name, a.shape, b.shape))
    if out.type == TensorType.STRING:
        context.set_dynamic(out)
        context.resize_tensor(out, shape)
        return None
    context.resize_tensor(out, shape)
    return select_calls(context, name, condition, a, b, out, first)


def _invoke(name: str, context: Context, node: Node) -> None:
    condition, a, b, out, first = _checked(context, node, name)
    if out.type != TensorType.STRING:
        invoke_function(name, lambda c, x, y: np.asarray(np.where(c.reshape(first), x, y)), context, node)
        return
    strings = [values_of(tensor) for tensor in (a, b)]
    chosen = np.where(condition.array().reshape(first), *strings)
    context.resize_tensor(out, out.shape if _are_single(condition, a, b, out) else chosen.shape)
    out.bind(pack_strings(chosen.ravel().tolist()))


def _registration(name: str) -> Registration:
    return registration(
        name,
        lambda context, node: _prepare(name, context, node),
        lambda context, node: _invoke(name, context, node),
    )


REGISTRATIONS = (_registration("SELECT"), _registration("SELECT_V2"))
