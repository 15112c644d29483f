"""GATHER_ND: slices of the input, chosen by coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.string_tensor import pack_strings, strings_of
from ..lite.tensor import Shape, Tensor, TensorType
from .index_vector import check_counts, check_index_type, check_sizes, output_of
from .operators import registration
from .strided_copy import COPY_BYTES_PER_NS, element_bytes, row_major_strides

MAX_COORDINATES = 8
# sizes and strides (in bytes) are those of the axes that coordinates name.
COORDINATES = [
    ("indices", np.int64),
    ("index_bytes", np.int64),
    ("count", np.int64),
    ("depth", np.int64),
    ("slice_bytes", np.int64),
    ("sizes", np.int64, (MAX_COORDINATES,)),
    ("strides", np.int64, (MAX_COORDINATES,)),
]
GATHER_ND_ARGS = np.dtype([("x", np.int64), ("y", np.int64), *COORDINATES], align=True)
OUT_OF_RANGE = 1

_INDEX_TYPES = (TensorType.INT32, TensorType.INT64, TensorType.INT16)
_SLICE_NS = 4  # to look up one slice


def fill_coordinates(
    args: np.ndarray, operator: str, indices: Tensor, depth: int, shape: Shape, item_bytes: int
) -> None:
    """Describe slices of an array of `shape`, at coordinates [..., depth], in an argument block."""
    if depth > MAX_COORDINATES:
        raise PrepareError(f"{operator}: there must be {MAX_COORDINATES} coordinates at most, got {depth}")
    args["index_bytes"] = indices.dtype.itemsize
    args["count"] = math.prod(indices.shape[:-1]) if depth == 0 else indices.size // depth
    args["depth"] = depth
    args["slice_bytes"] = math.prod(shape[depth:]) * item_bytes
    args["sizes"][0, :depth] = shape[:depth]
    args["strides"][0, :depth] = row_major_strides(shape, item_bytes)[:depth]


def out_of_range(operator: str, shape: Shape) -> str:
    return f"{operator}: coordinates must be at least 0 and under {list(shape)}"


def flat_positions(operator: str, indices: Tensor, depth: int, shape: Shape) -> np.ndarray:
    """The element where each slice starts; InvokeError when a coordinate is out of range."""
    coordinates = indices.array().astype(np.int64)
    if coordinates.ndim < 2:
        coordinates = coordinates.reshape(-1 if depth else 1, depth)
    if (coordinates < 0).any() or (coordinates >= np.array(shape[:depth], np.int64)).any():
        raise InvokeError(out_of_range(operator, shape[:depth]))
    strides = np.array(row_major_strides(shape, 1)[:depth], np.int64)
    return np.ravel(coordinates @ strides)


def gathered(x: Tensor, indices: Tensor) -> Shape:
    """Output shape: the coordinates' own shape, then the axes of x that they do not name."""
    if not x.shape or not indices.shape:
        raise PrepareError(
            f"GATHER_ND: input and indices must be vectors at least, got {x!r} and {indices!r}"
        )
    depth = indices.shape[-1]
    if depth > len(x.shape):
        raise PrepareError(f"GATHER_ND: coordinates must be {len(x.shape)} at most, got {indices!r}")
    return check_sizes("GATHER_ND", (*indices.shape[:-1], *x.shape[depth:]))


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("GATHER_ND", node, 2)
    x, indices = context.input(node, 0), context.input(node, 1)
    y = output_of(context, node, "GATHER_ND", x)
    check_index_type("GATHER_ND", "indices", indices, _INDEX_TYPES)
    shape = gathered(x, indices)
    if x.type == TensorType.STRING:
        context.set_dynamic(y)
        return None
    context.resize_tensor(y, shape)
    if 0 in shape:
        return []
    args = np.zeros(1, GATHER_ND_ARGS)
    depth = indices.shape[-1]
    fill_coordinates(args, "GATHER_ND", indices, depth, x.shape, element_bytes(x, "GATHER_ND"))
    slice_ns = _SLICE_NS + int(args["slice_bytes"][0]) / COPY_BYTES_PER_NS
    chunks = chunk_count(context, int(args["count"][0]) * slice_ns)
    messages = {OUT_OF_RANGE: out_of_range("GATHER_ND", x.shape[:depth])}
    tensors = {"x": x, "indices": indices, "y": y}
    return [KernelCall("gather_nd", "gather_nd", args, tensors, chunks, messages=messages)]


def invoke(context: Context, node: Node) -> None:
    """Gather strings."""
    x, indices, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    context.resize_tensor(y, gathered(x, indices))
    strings = strings_of(x)
    count = math.prod(x.shape[indices.shape[-1] :])
    starts = flat_positions("GATHER_ND", indices, indices.shape[-1], x.shape)
    y.bind(pack_strings([text for start in starts for text in strings[start : start + count]]))


REGISTRATIONS = (registration("GATHER_ND", prepare, invoke),)
