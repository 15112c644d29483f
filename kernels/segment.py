"""SEGMENT_SUM and UNSORTED_SEGMENT_SUM, PROD, MIN and MAX: slices reduced by the number of their segment."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, argument_block
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Shape, Tensor, TensorType
from .dynamic_output import dynamic_call
from .index_vector import check_counts, check_index_type, check_sizes, integers, output_of
from .operators import check_type, registration

# data is [count, size]; slices of y that no data falls into hold `initial` (a float32's bits, or an int32).
# y has so many segments; number is the address of how many it must have, 0 where that is known before.
SEGMENT_ARGS = argument_block("data ids y count size segments number initial cancellation")
OUT_OF_RANGE = 1

_INT32 = (TensorType.INT32,)


def _data_and_ids(context: Context, node: Node, operator: str) -> tuple[Tensor, Tensor, Tensor]:
    """(data, segment ids, y) of a node, checked."""
    data, ids = context.input(node, 0), context.input(node, 1)
    y = output_of(context, node, operator, data)
    check_index_type(operator, "segment ids", ids, _INT32)
    check_type(operator, data)
    if data.shape[: len(ids.shape)] != ids.shape:
        raise PrepareError(
            f"{operator}: ids must have the shape of data's first axes, got {ids!r} for {data!r}"
        )
    return data, ids, y


def sorted_segments(data: Shape, ids: list[int]) -> Shape:
    """Output shape of SEGMENT_SUM; no id is negative or less than the one before it.

    As in TensorFlow, segments that no id names hold zeros. LiteRT refuses them.
    """
    if any(step < 0 for step in np.diff([0, *ids]).tolist()):
        raise PrepareError(f"SEGMENT_SUM: ids must be 0 or more and never fall, got {ids}")
    return check_sizes("SEGMENT_SUM", (ids[-1] + 1 if ids else 0, *data[1:]))


def _segment_sum_operands(context: Context, node: Node) -> tuple[Tensor, Tensor, Tensor]:
    check_counts("SEGMENT_SUM", node, 2)
    data, ids, y = _data_and_ids(context, node, "SEGMENT_SUM")
    if len(ids.shape) != 1:
        raise PrepareError(f"SEGMENT_SUM: ids must be a vector, got {ids!r}")
    return data, ids, y


def _prepare_segment_sum(context: Context, node: Node) -> Sequence[KernelCall]:
    data, ids, y = _segment_sum_operands(context, node)
    sizes = data.shape[1:]
    if ids.is_constant:
        context.resize_tensor(y, sorted_segments(data.shape, integers(ids)))
        return [_call("SEGMENT_SUM", "unsorted_segment_sum", {"data": data, "ids": ids, "y": y}, sizes, 0)]
    call = _call("SEGMENT_SUM", "segment_sum", {"data": data, "ids": ids}, sizes, 0)

    def count_of(args: np.ndarray) -> int:
        return sorted_segments(data.shape, integers(ids))[0]

    return [dynamic_call(call, context, {"y": (y, sizes)}, "segments", count_of)]


def _call(operator: str, kernel: str, tensors: dict[str, Tensor], sizes: Shape, initial: float) -> KernelCall:
    """The compiled fold of slices, which are of such sizes, into y, which holds `initial` before."""
    data, y = tensors["data"], tensors.get("y")
    args = np.zeros(1, SEGMENT_ARGS)
    args["count"] = tensors["ids"].size
    args["size"] = math.prod(sizes)
    args["segments"] = -1 if y is None else y.shape[0]
    args["initial"] = np.array(initial, data.dtype).view(np.int32)
    suffix = "f32" if data.type == TensorType.FLOAT32 else "i32"
    most = "the number of segments" if y is None else y.shape[0]
    messages = {OUT_OF_RANGE: f"{operator}: ids must be under {most}"}
    return KernelCall("segment", f"{kernel}_{suffix}", args, tensors, messages=messages)


def _unsorted_operands(context: Context, node: Node, operator: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(data, ids, number of segments, y) of a node, checked."""
    check_counts(operator, node, 3)
    data, ids, y = _data_and_ids(context, node, operator)
    segments = context.input(node, 2)
    check_index_type(operator, "number of segments", segments, _INT32)
    if segments.size != 1 or len(segments.shape) > 1:
        raise PrepareError(f"{operator}: the number of segments must be one integer, got {segments!r}")
    return data, ids, segments, y


def _unsorted_shape(operator: str, data: Tensor, ids: Tensor, segments: Tensor) -> Shape:
    return check_sizes(operator, (integers(segments)[0], *data.shape[len(ids.shape) :]))


def _unsorted(operator: str, initial: Callable[[np.dtype], float]) -> Registration:
    """An operator that folds slices into `initial`; slices of negative ids are left out."""

    def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
        data, ids, segments, y = _unsorted_operands(context, node, operator)
        sizes = data.shape[len(ids.shape) :]
        kernel, first = operator.lower(), initial(data.dtype)
        if segments.is_constant:
            context.resize_tensor(y, _unsorted_shape(operator, data, ids, segments))
            return [_call(operator, kernel, {"data": data, "ids": ids, "y": y}, sizes, first)]
        call = _call(operator, kernel, {"data": data, "ids": ids, "number": segments}, sizes, first)

        def count_of(args: np.ndarray) -> int:
            return _unsorted_shape(operator, data, ids, segments)[0]

        return [dynamic_call(call, context, {"y": (y, sizes)}, "segments", count_of)]

    return registration(operator, prepare)


def _lowest(dtype: np.dtype) -> float:
    return float(np.finfo(dtype).min) if dtype.kind == "f" else int(np.iinfo(dtype).min)


def _highest(dtype: np.dtype) -> float:
    return float(np.finfo(dtype).max) if dtype.kind == "f" else int(np.iinfo(dtype).max)


REGISTRATIONS = (
    registration("SEGMENT_SUM", _prepare_segment_sum),
    _unsorted("UNSORTED_SEGMENT_SUM", lambda dtype: 0),
    _unsorted("UNSORTED_SEGMENT_PROD", lambda dtype: 1),
    _unsorted("UNSORTED_SEGMENT_MAX", _lowest),
    _unsorted("UNSORTED_SEGMENT_MIN", _highest),
)
