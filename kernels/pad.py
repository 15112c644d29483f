"""PAD, PADV2 and MIRROR_PAD: a border around the input."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.tensor import NUMPY_DTYPES, Shape, Tensor, TensorType
from .index_vector import (
    check_index_type,
    check_same_quantization,
    check_same_type,
    check_sizes,
    integers,
    output_of,
)
from .operators import registration
from .strided_copy import COPY_BYTES_PER_NS, element_bytes, row_major_strides

_RANK = 8
OUTER = _RANK - 1  # axes around the rows that are written in one go
CONSTANT_PAD = np.dtype(
    [
        ("x", np.int64),
        ("y", np.int64),
        ("value", np.int64),
        ("item_bytes", np.int64),
        ("sizes", np.int64, (OUTER,)),
        ("before", np.int64, (OUTER,)),
        ("inner_sizes", np.int64, (OUTER,)),
        ("x_strides", np.int64, (OUTER,)),
        ("row_bytes", np.int64),
        ("left_bytes", np.int64),
        ("middle_bytes", np.int64),
    ],
    align=True,
)
_PADDING_TYPES = (TensorType.INT32, TensorType.INT64, TensorType.INT16, TensorType.INT8)
_INTEGERS = (TensorType.INT8, TensorType.UINT8, TensorType.INT16)

Paddings = list[tuple[int, int]]


def paddings_of(operator: str, x: Tensor, paddings: Tensor) -> Paddings:
    """(before, after) of each axis of x, from a tensor [rank, 2]."""
    check_index_type(operator, "paddings", paddings, _PADDING_TYPES)
    if paddings.shape != (len(x.shape), 2):
        raise PrepareError(f"{operator}: paddings must be [{len(x.shape)}, 2], got {paddings!r}")
    values = integers(paddings)
    if any(value < 0 for value in values):
        raise PrepareError(f"{operator}: paddings must be at least 0, got {values}")
    return list(zip(values[::2], values[1::2], strict=True))


def padded(operator: str, shape: Shape, paddings: Paddings) -> Shape:
    sizes = tuple(before + size + after for size, (before, after) in zip(shape, paddings, strict=True))
    return check_sizes(operator, sizes)


def _joined(shape: Shape, paddings: Paddings) -> tuple[list[int], Paddings]:
    """Axes that are not padded join the axis before them."""
    sizes: list[int] = []
    joined: Paddings = []
    for size, (before, after) in zip(shape, paddings, strict=True):
        if sizes and before == after == 0:
            sizes[-1] *= size
            joined[-1] = (joined[-1][0] * size, joined[-1][1] * size)
        else:
            sizes.append(size)
            joined.append((before, after))
    return sizes, joined


def _checked(context: Context, node: Node, operator: str) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """(x, y, paddings, value) of a PAD or PADV2 node."""
    if len(node.inputs) not in (2, 3) or len(node.outputs) != 1:
        raise PrepareError(
            f"{operator}: must have 2 or 3 inputs and 1 output, "
            f"got {len(node.inputs)} and {len(node.outputs)}"
        )
    x = context.input(node, 0)
    y = output_of(context, node, operator, x)
    value = context.optional_input(node, 2)
    if value is not None:
        check_same_type(operator, value, y)
        if value.size != 1:
            raise PrepareError(f"{operator}: the padding value must be a scalar, got {value!r}")
        if x.type in _INTEGERS:
            check_same_quantization(operator, value, y)
    return x, y, context.input(node, 1), value


def _zero(operator: str, y: Tensor) -> np.ndarray:
    """The bytes of y's real zero, eight of them."""
    dtype = NUMPY_DTYPES.get(y.type, np.dtype(np.uint8))
    zero = 0 if y.quantization is None or y.type not in _INTEGERS else y.quantization.zero_point
    limits = np.iinfo(dtype) if y.type in _INTEGERS else None
    if limits is not None and not limits.min <= zero <= limits.max:
        raise PrepareError(f"{operator}: the zero point must fit the output's type, got {zero} ({y!r})")
    return np.full(8 // dtype.itemsize, zero, dtype).view(np.uint8)


def _prepare(operator: str, context: Context, node: Node) -> Sequence[KernelCall] | None:
    x, y, paddings, value = _checked(context, node, operator)
    if not paddings.is_constant:
        context.set_dynamic(y)
        return None
    pairs = paddings_of(operator, x, paddings)
    shape = padded(operator, x.shape, pairs)
    context.resize_tensor(y, shape)
    if 0 in shape:
        return []
    item_bytes = element_bytes(x, operator)
    if item_bytes > 8:
        raise UnsupportedError(f"{operator}: elements of {item_bytes} bytes are not built, got {x!r}")
    sizes, pairs = _joined(x.shape or (1,), pairs or [(0, 0)])
    args = np.zeros(1, CONSTANT_PAD)
    args["item_bytes"] = item_bytes
    args["sizes"] = args["inner_sizes"] = 1
    outer = len(sizes) - 1
    if outer > OUTER:
        raise UnsupportedError(f"{operator}: more than {_RANK} padded axes are not built, got {outer + 1}")
    if outer:
        at = slice(OUTER - outer, OUTER)
        args["sizes"][0, at] = padded(operator, tuple(sizes), pairs)[:-1]
        args["inner_sizes"][0, at] = sizes[:-1]
        args["before"][0, at] = [before for before, _ in pairs[:-1]]
        args["x_strides"][0, at] = row_major_strides(tuple(sizes), item_bytes)[:-1]
    args["row_bytes"] = (pairs[-1][0] + sizes[-1] + pairs[-1][1]) * item_bytes
    args["left_bytes"] = pairs[-1][0] * item_bytes
    args["middle_bytes"] = sizes[-1] * item_bytes
    tensors = {"x": x, "y": y}
    keep = []
    if value is not None:
        tensors["value"] = value
    else:
        zero = _zero(operator, y)
        keep.append(zero)
        args["value"] = zero.ctypes.data
    chunks = chunk_count(context, math.prod(shape) * item_bytes / COPY_BYTES_PER_NS)
    return [KernelCall("pad", "constant_pad", args, tensors, chunks, keep)]


def _invoke(operator: str, context: Context, node: Node) -> None:
    x, y, paddings, value = _checked(context, node, operator)
    pairs = paddings_of(operator, x, paddings)
    context.resize_tensor(y, padded(operator, x.shape, pairs))
    filler = (
        _zero(operator, y)[: y.dtype.itemsize].view(y.dtype)[0]
        if value is None
        else value.array().reshape(())
    )
    output = y.array()
    output[...] = filler
    output[tuple(slice(b, b + size) for size, (b, _) in zip(x.shape, pairs, strict=True))] = x.array()


def _prepare_pad(context: Context, node: Node) -> Sequence[KernelCall] | None:
    return _prepare("PAD", context, node)


def _invoke_pad(context: Context, node: Node) -> None:
    _invoke("PAD", context, node)


def _prepare_padv2(context: Context, node: Node) -> Sequence[KernelCall] | None:
    return _prepare("PADV2", context, node)


def _invoke_padv2(context: Context, node: Node) -> None:
    _invoke("PADV2", context, node)


REGISTRATIONS = (
    registration("PAD", _prepare_pad, _invoke_pad),
    registration("PADV2", _prepare_padv2, _invoke_padv2),
)
