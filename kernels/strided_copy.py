"""Strided copies: what TRANSPOSE, SLICE, SPLIT, CONCATENATION and their like come down to."""

from __future__ import annotations

import math

import numpy as np

from ..lite.context import Context
from ..lite.errors import StateError, UnsupportedError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.tensor import NUMPY_DTYPES, Shape, Tensor, TensorType
from ..schema.named_tuple import NamedTuple

RANK = 8  # dimensions of a copy after contiguous ones have been joined
LAST = RANK - 1

_INT64 = np.int64
STRIDED_COPY = np.dtype(
    [
        ("source", _INT64),
        ("target", _INT64),
        ("source_offset", _INT64),
        ("target_offset", _INT64),
        ("run_bytes", _INT64),
        ("sizes", _INT64, (RANK,)),
        ("source_strides", _INT64, (RANK,)),
        ("target_strides", _INT64, (RANK,)),
    ],
    align=True,
)

_RAW_BYTES = {TensorType.BFLOAT16: 2, TensorType.FLOAT8_E4M3FN: 1, TensorType.FLOAT8_E5M2: 1}
COPY_BYTES_PER_NS = 8  # about what one core copies
_ELEMENTS_PER_NS = 1


class StridedCopy(NamedTuple):
    """An n-dimensional copy of elements of item_bytes; offsets and strides are in bytes."""

    item_bytes: int
    sizes: Shape
    source_offset: int
    source_strides: Shape
    target_offset: int
    target_strides: Shape


def element_bytes(tensor: Tensor, operator: str) -> int:
    """Bytes of one element; UnsupportedError for strings, resources and packed types."""
    dtype = NUMPY_DTYPES.get(tensor.type)
    if dtype is not None:
        return dtype.itemsize
    if tensor.type in _RAW_BYTES:
        return _RAW_BYTES[TensorType(tensor.type)]
    raise UnsupportedError(f"{operator}: tensors of type {tensor.type_name} are not built, got {tensor!r}")


def row_major_strides(shape: Shape, item_bytes: int) -> Shape:
    """Byte strides of a dense array, last axis fastest."""
    strides = []
    stride = item_bytes
    for size in reversed(shape):
        strides.append(stride)
        stride *= size
    return tuple(reversed(strides))


def block_copy(
    item_bytes: int, sizes: Shape, source: Shape, target: Shape, source_at: Shape, target_at: Shape
) -> StridedCopy:
    """Copy a box of `sizes` at index source_at of a dense array to target_at of another."""
    source_strides = row_major_strides(source, item_bytes)
    target_strides = row_major_strides(target, item_bytes)
    return StridedCopy(
        item_bytes,
        sizes,
        sum(i * stride for i, stride in zip(source_at, source_strides, strict=True)),
        source_strides,
        sum(i * stride for i, stride in zip(target_at, target_strides, strict=True)),
        target_strides,
    )


def strided_copy_calls(
    context: Context, copy: StridedCopy, source: Tensor, target: Tensor
) -> list[KernelCall]:
    """The compiled call that does a copy (none for an empty one)."""
    if 0 in copy.sizes:
        return []
    run_bytes, axes = _collapse(copy)
    if len(axes) > RANK:
        raise UnsupportedError(f"copies of more than {RANK} separate axes are not built, got {len(axes)}")
    elementwise = run_bytes in (1, 2, 4, 8) and _aligned(copy, axes, run_bytes)
    turned = elementwise and _transposed(axes, run_bytes)
    if turned:
        axes = _source_axis_second_last(axes, run_bytes)
    args = np.zeros(1, STRIDED_COPY)
    args["source_offset"] = copy.source_offset
    args["target_offset"] = copy.target_offset
    args["run_bytes"] = run_bytes
    args["sizes"] = 1
    if axes:
        first = RANK - len(axes)
        table = np.array(axes, np.int64)
        args["sizes"][0, first:] = table[:, 0]
        args["source_strides"][0, first:] = table[:, 1]
        args["target_strides"][0, first:] = table[:, 2]
    runs = math.prod(size for size, _, _ in axes)
    work_ns = runs / _ELEMENTS_PER_NS if elementwise else runs * (run_bytes / COPY_BYTES_PER_NS + 2)
    kernel = f"transpose_{run_bytes}" if turned else f"copy_{run_bytes}" if elementwise else "copy_runs"
    chunks = chunk_count(context, work_ns)
    family = kernel if turned else "strided_copy"
    return [KernelCall(family, kernel, args, {"source": source, "target": target}, chunks)]


def strided_copy_now(copy: StridedCopy, source: np.ndarray, target: np.ndarray) -> None:
    """Do a copy with NumPy; source and target are flat uint8 arrays.

    StateError when it would read or write outside of them: NumPy does not see that of empty ones.
    """
    if 0 in copy.sizes:
        return
    _check_inside(copy, source.size, copy.source_offset, copy.source_strides)
    _check_inside(copy, target.size, copy.target_offset, copy.target_strides)
    item = np.dtype((np.void, copy.item_bytes))
    np.copyto(
        np.ndarray(copy.sizes, item, target.data, copy.target_offset, copy.target_strides),
        np.ndarray(copy.sizes, item, source.data, copy.source_offset, copy.source_strides),
    )


def _check_inside(copy: StridedCopy, nbytes: int, offset: int, strides: Shape) -> None:
    steps = [(size - 1) * stride for size, stride in zip(copy.sizes, strides, strict=True)]
    first = offset + sum(step for step in steps if step < 0)
    last = offset + sum(step for step in steps if step > 0) + copy.item_bytes
    if first < 0 or last > nbytes:
        raise StateError(f"bytes {first} to {last} must lie in the tensor, got {nbytes} bytes")


_Axes = list[tuple[int, int, int]]


def is_compiled(copy: StridedCopy) -> bool:
    """Whether strided_copy_calls takes the copy: it has no more separate axes than the kernels."""
    return 0 in copy.sizes or len(_collapse(copy)[1]) <= RANK


def _collapse(copy: StridedCopy) -> tuple[int, _Axes]:
    """(bytes of a contiguous run, axes of the loop around it as (size, source stride, target stride))."""
    joined: _Axes = []
    for axis in zip(copy.sizes, copy.source_strides, copy.target_strides, strict=True):
        size, source, target = axis
        if size == 1:
            continue
        if joined:
            outer_size, outer_source, outer_target = joined[-1]
            if outer_source == size * source and outer_target == size * target:
                joined[-1] = (outer_size * size, source, target)
                continue
        joined.append(axis)
    run_bytes = copy.item_bytes
    if joined and joined[-1][1] == joined[-1][2] == run_bytes:
        run_bytes *= joined.pop()[0]
    return run_bytes, joined


def _aligned(copy: StridedCopy, axes: _Axes, run_bytes: int) -> bool:
    """Whether every run starts at a multiple of its length (a run may be several elements)."""
    offsets = [copy.source_offset, copy.target_offset, *(stride for axis in axes for stride in axis[1:])]
    return all(offset % run_bytes == 0 for offset in offsets)


def _transposed(axes: _Axes, item_bytes: int) -> bool:
    """Whether the source's fastest axis is another one than the target's."""
    return len(axes) > 1 and axes[-1][2] == item_bytes and any(a[1] == item_bytes for a in axes[:-1])


def _source_axis_second_last(axes: _Axes, item_bytes: int) -> _Axes:
    fastest = next(i for i, axis in enumerate(axes) if axis[1] == item_bytes)
    return [*axes[:fastest], *axes[fastest + 1 : -1], axes[fastest], axes[-1]]
