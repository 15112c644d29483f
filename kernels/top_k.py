"""TOPK_V2: the k largest elements along the last axis, and where they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall, argument_block, chunk_count
from ..lite.node import Node
from ..lite.tensor import NUMPY_DTYPES, Shape, Tensor, TensorType
from .index_vector import check_counts, check_index_type, integers, output_of
from .operators import registration

# heap is int32 [rows, k], where the places are sorted; places is written after it when it is int16.
TOP_K_ARGS = argument_block("x values places heap rows size k short cancellation")
_KERNELS = {
    TensorType.FLOAT32: "f32",
    TensorType.INT8: "i8",
    TensorType.UINT8: "u8",
    TensorType.INT16: "i16",
    TensorType.INT32: "i32",
    TensorType.INT64: "i64",
}
_NARROW = (TensorType.INT32, TensorType.INT16)


def _operands(context: Context, node: Node) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(x, k, values, places) of a node, checked."""
    check_counts("TOPK_V2", node, 2, 2)
    x, k = context.input(node, 0), context.input(node, 1)
    values, places = output_of(context, node, "TOPK_V2", x), context.output(node, 1)
    check_index_type("TOPK_V2", "k", k, _NARROW)
    check_index_type("TOPK_V2", "second output", places, _NARROW)
    if x.type not in NUMPY_DTYPES or x.dtype.kind == "c":
        raise UnsupportedError(f"TOPK_V2: inputs of type {x.type_name} are not built, got {x!r}")
    if not x.shape or k.size != 1:
        raise PrepareError(f"TOPK_V2: input must have an axis and k be one integer, got {x!r} and {k!r}")
    return x, k, values, places


def top_shape(x: Shape, k: int, places: Tensor) -> Shape:
    """Shape of both outputs; a negative k counts as 0."""
    if k > x[-1]:
        raise PrepareError(f"TOPK_V2: k must be at most the last axis, got {k} for {list(x)}")
    if places.type == TensorType.INT16 and k > 0 and x[-1] > np.iinfo(np.int16).max:
        raise PrepareError(f"TOPK_V2: places must fit int16, got an axis of {x[-1]}")
    return (*x[:-1], max(k, 0))


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    x, k, values, places = _operands(context, node)
    if not k.is_constant:
        context.set_dynamic(values)
        context.set_dynamic(places)
        return None
    shape = top_shape(x.shape, integers(k)[0], places)
    context.resize_tensor(values, shape)
    context.resize_tensor(places, shape)
    if 0 in shape:
        return []
    suffix = _KERNELS.get(TensorType(x.type))
    if suffix is None:
        return None
    short = places.type == TensorType.INT16
    args = np.zeros(1, TOP_K_ARGS)
    args["rows"] = math.prod(shape[:-1])
    args["size"] = x.shape[-1]
    args["k"] = shape[-1]
    args["short"] = short
    heap = context.add_temporary(node, math.prod(shape) * 4) if short else places
    tensors = {"x": x, "values": values, "places": places, "heap": heap}
    work_ns = x.size + 20 * math.prod(shape)
    chunks = chunk_count(context, work_ns, int(args["rows"][0]))
    return [KernelCall("top_k", f"top_k_{suffix}", args, tensors, chunks)]


def invoke(context: Context, node: Node) -> None:
    x, k, values, places = _operands(context, node)
    shape = top_shape(x.shape, integers(k)[0], places)
    context.resize_tensor(values, shape)
    context.resize_tensor(places, shape)
    array = x.array()
    # Largest first, equal ones in order, NaNs last: the reverse of an ascending, stable sort.
    backwards = array[..., ::-1]
    numbers = backwards == backwards
    order = np.lexsort((backwards, numbers), axis=-1)[..., ::-1][..., : shape[-1]]
    chosen = x.shape[-1] - 1 - order
    places.array()[...] = chosen
    values.array()[...] = np.take_along_axis(array, chosen, -1)


REGISTRATIONS = (registration("TOPK_V2", prepare, invoke),)
