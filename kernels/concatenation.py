"""CONCATENATION: tensors joined along one of their axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor, TensorType
from ..schema.named_tuple import NamedTuple
from .data_movement import Movement, item_bytes_of, move_strings
from .index_vector import (
    check_same_quantization,
    check_same_type,
    check_sizes,
    is_small_constant,
    normalized_axis,
    quantization_pair,
    set_constant,
)
from .list_update import fuse
from .operators import registration
from .strided_copy import StridedCopy, block_copy, strided_copy_calls

RESCALED_ROWS = np.dtype(
    [
        ("source", np.int64),
        ("target", np.int64),
        ("target_offset", np.int64),
        ("rows", np.int64),
        ("row_bytes", np.int64),
        ("target_stride", np.int64),
        ("scale", np.float32),
        ("bias", np.float32),
        ("zero_point", np.int32),
    ],
    align=True,
)
_RESCALED_BYTES_PER_NS = 1
_MOST_OF_XNNPACK = 5  # inputs
_XNNPACK_TYPES = (TensorType.FLOAT32, TensorType.FLOAT16, TensorType.INT8, TensorType.UINT8)


class JoinedAxis(NamedTuple):
    """The output shape, and where each input starts along the joined axis."""

    axis: int
    shape: Shape
    starts: list[int]


def joined_axis(shapes: Sequence[Shape], axis: int) -> JoinedAxis:
    """The shape rule of CONCATENATION: all sizes but that of the joined axis must agree."""
    first = shapes[0]
    if not first:
        raise PrepareError("CONCATENATION: inputs must have an axis to join along, got scalars")
    axis = normalized_axis("CONCATENATION", axis, len(first))
    starts, total = [], 0
    for shape in shapes:
        if len(shape) != len(first) or shape[:axis] + shape[axis + 1 :] != first[:axis] + first[axis + 1 :]:
            raise PrepareError(
                f"CONCATENATION: input sizes must agree but for axis {axis}, "
                f"got {list(first)} and {list(shape)}"
            )
        starts.append(total)
        total += shape[axis]
    return JoinedAxis(axis, check_sizes("CONCATENATION", (*first[:axis], total, *first[axis + 1 :])), starts)


def rescaling(x: tuple[float, int], y: tuple[float, int]) -> tuple[np.float32, np.float32]:
    """(scale, bias) between two (scale, zero point) pairs: y = round(x * scale + bias) + zero point of y.

    All in float32, rounding half away from zero.
    Source: LiteRT tflite/kernels/internal/reference/concatenation.h, ConcatenationWithScaling.
    """
    scale = np.float32(x[0]) * (np.float32(1) / np.float32(y[0]))
    return scale, np.float32(-x[1]) * scale


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    if not node.inputs or len(node.outputs) != 1:
        raise PrepareError(
            f"CONCATENATION: must have inputs and 1 output, got {len(node.inputs)} and {len(node.outputs)}"
        )
    inputs = [context.input(node, i) for i in range(len(node.inputs))]
    y, axis = context.output(node, 0), int(getattr(node.options, "axis", 0))
    _check_activation(context, node, inputs, y)
    if axis == 0 and not any(x.shape for x in inputs) and is_small_constant(inputs, y, (len(inputs),)):
        # Numbers that are known are the one thing that LiteRT joins without an axis.
        set_constant(context, y, np.array([x.array() for x in inputs], y.dtype))
        return []
    joined = joined_axis([x.shape for x in inputs], axis)
    for x in inputs:
        check_same_type("CONCATENATION", x, y)
        if x.type == TensorType.INT8:
            check_same_quantization("CONCATENATION", x, y)
    if y.type == TensorType.STRING:
        context.set_dynamic(y)
        return None
    if y.type != TensorType.UINT8 and is_small_constant(inputs, y, joined.shape):
        set_constant(context, y, np.concatenate([x.array() for x in inputs], joined.axis))
        return []
    calls: list[KernelCall] = []
    context.resize_tensor(y, joined.shape)
    for x, start in zip(inputs, joined.starts, strict=True):
        if x.type == TensorType.UINT8 and quantization_pair(x) != quantization_pair(y):
            calls.extend(_rescaled_calls(context, x, y, joined, start))
            continue
        calls.extend(strided_copy_calls(context, _copy(x, joined, start), x, y))
    return calls


def _check_activation(context: Context, node: Node, inputs: Sequence[Tensor], y: Tensor) -> None:
    """PrepareError for a fused activation, but where XNNPACK takes the node: it passes over it.

    Source: LiteRT tflite/delegates/xnnpack/xnnpack_delegate.cc, VisitConcatenationNode;
    tflite/kernels/concatenation.cc, Prepare.
    """
    fused = int(getattr(node.options, "fused_activation_function", 0))
    by_xnnpack = (
        context.numerics is Numerics.DEFAULT
        and 2 <= len(inputs) <= _MOST_OF_XNNPACK
        and y.type in _XNNPACK_TYPES
        and all(quantization_pair(x) == quantization_pair(y) for x in inputs)
    )
    if fused and not by_xnnpack:
        raise PrepareError(f"CONCATENATION: there must be no fused activation, got {fused}")


def _copy(x: Tensor, joined: JoinedAxis, start: int) -> StridedCopy:
    """Where an input goes in the output."""
    origin = tuple(start if a == joined.axis else 0 for a in range(len(x.shape)))
    item_bytes = item_bytes_of(x, "CONCATENATION")
    return block_copy(item_bytes, x.shape, x.shape, joined.shape, (0,) * len(x.shape), origin)


def invoke(context: Context, node: Node) -> None:
    """Join strings."""
    inputs, y = [context.input(node, i) for i in range(len(node.inputs))], context.output(node, 0)
    joined = joined_axis([x.shape for x in inputs], int(getattr(node.options, "axis", 0)))
    context.resize_tensor(y, joined.shape)
    copies = [(_copy(x, joined, start), x, y) for x, start in zip(inputs, joined.starts, strict=True)]
    move_strings(Movement([(y, joined.shape)], copies))


def _rescaled_calls(
    context: Context, x: Tensor, y: Tensor, joined: JoinedAxis, start: int
) -> list[KernelCall]:
    if quantization_pair(x)[0] <= 0 or quantization_pair(y)[0] <= 0:
        raise PrepareError(f"CONCATENATION: rescaled tensors must have scales, got {x!r} and {y!r}")
    if x.size == 0:
        return []
    inner = math.prod(joined.shape[joined.axis + 1 :])
    args = np.zeros(1, RESCALED_ROWS)
    args["rows"] = math.prod(joined.shape[: joined.axis])
    args["row_bytes"] = x.shape[joined.axis] * inner
    args["target_stride"] = joined.shape[joined.axis] * inner
    args["target_offset"] = start * inner
    args["scale"], args["bias"] = rescaling(quantization_pair(x), quantization_pair(y))
    args["zero_point"] = quantization_pair(y)[1]
    chunks = chunk_count(context, x.size / _RESCALED_BYTES_PER_NS)
    return [
        KernelCall("concatenation", "rescaled_rows_u8", args, {"source": x, "target": y}, chunks),
    ]


REGISTRATIONS = (registration("CONCATENATION", prepare, invoke, fuse),)
