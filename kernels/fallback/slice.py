"""Parts of tensors, by places and strides; and parts replaced."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .axis import vector
from .dtypes import ANY, INDICES
from .kernel import zeros
from .registry import kernel
from .status import InvalidArgumentError


def slice_(x: np.ndarray, begin: np.ndarray, size: np.ndarray) -> np.ndarray:
    """x from begin on, size of each axis; a size of -1 is all that is left."""
    starts, sizes = vector(begin, "Slice: begin"), vector(size, "Slice: size")
    if len(starts) != x.ndim or len(sizes) != x.ndim:
        message = f"begin and size must have {x.ndim} elements, got {len(starts)} and {len(sizes)}"
        raise InvalidArgumentError(f"Slice: {message}")
    parts = []
    for axis, (start, count, whole) in enumerate(zip(starts, sizes, x.shape, strict=True)):
        taken = whole - start if count == -1 else count
        if not 0 <= start <= whole or not 0 <= taken <= whole - start:
            message = f"axis {axis} of size {whole} has no {count} elements from {start} on"
            raise InvalidArgumentError(f"Slice: {message}")
        parts.append(slice(start, start + taken))
    return x[tuple(parts)]


@dataclass(frozen=True, kw_only=True)
class Masks:
    """Which entries of a strided slice mean something else; bit i is entry i."""

    begin_mask: int
    end_mask: int
    ellipsis_mask: int
    new_axis_mask: int
    shrink_axis_mask: int


@dataclass(frozen=True)
class StridedIndex:
    """What a strided slice takes: an index for NumPy, and the result's shape."""

    index: tuple[slice | int, ...]
    shape: tuple[int, ...]


def strided_index(
    sizes: tuple[int, ...], begin: np.ndarray, end: np.ndarray, strides: np.ndarray, masks: Masks
) -> StridedIndex:
    """What begin, end and strides (each [entries]) take of a tensor of these sizes.

    Source: TensorFlow tensorflow/core/util/strided_slice_op.cc, ValidateStridedSliceOp.
    """
    entries = [vector(values, "begin, end and strides") for values in (begin, end, strides)]
    count = len(entries[0])
    if any(len(values) != count for values in entries):
        lengths = ", ".join(str(len(values)) for values in entries)
        raise InvalidArgumentError(f"begin, end and strides must have one length, got {lengths}")
    places = range(count)
    ellipses = [i for i in places if masks.ellipsis_mask >> i & 1]
    if len(ellipses) > 1:
        raise InvalidArgumentError("multiple ellipses in slice spec not allowed")
    used = [i for i in places if i not in ellipses and not masks.new_axis_mask >> i & 1]
    if len(used) > len(sizes):
        raise InvalidArgumentError(f"must index at most {len(sizes)} axes, got {len(used)}")
    # What no entry takes: in place of the ellipsis, or at the end.
    free = len(sizes) - len(used)
    index: list[slice | int] = []
    shape: list[int] = []
    for i in (*places, None) if not ellipses else places:
        if i is None or i in ellipses:
            shape += sizes[len(index) : len(index) + free]
            index += [slice(None)] * free
        elif masks.new_axis_mask >> i & 1:
            shape.append(1)
        else:
            taken, kept = _one_axis(sizes[len(index)], i, [int(values[i]) for values in entries], masks)
            index.append(taken)
            shape += kept
    return StridedIndex(tuple(index), tuple(shape))


def _one_axis(size: int, place: int, entry: list[int], masks: Masks) -> tuple[slice | int, list[int]]:
    """What an entry takes of an axis, and the axes that it leaves."""
    begin, end, stride = entry
    if stride == 0:
        raise InvalidArgumentError(f"strides[{place}] must be non-zero")
    if not masks.shrink_axis_mask >> place & 1:
        first = None if masks.begin_mask >> place & 1 else begin
        last = None if masks.end_mask >> place & 1 else end
        taken = slice(first, last, stride)
        return taken, [len(range(*taken.indices(size)))]
    if stride < 0:
        raise InvalidArgumentError("only stride 1 allowed on non-range indexing.")
    # One element: TensorFlow does not look at the masks of begin and end here.
    if not -size <= begin < size:
        raise InvalidArgumentError(f"slice index {begin} of dimension {place} out of bounds.")
    return begin % size, []


def strided_slice(
    x: np.ndarray, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, *, masks: Masks
) -> np.ndarray:
    """x[begin:end:strides], with NumPy's meaning of each entry and of the masks."""
    found = strided_index(x.shape, begin, end, strides, masks)
    # With an ellipsis NumPy gives an array of one string, too, not the string.
    return x[(*found.index, ...)].reshape(found.shape)


def strided_slice_grad(
    shape: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    strides: np.ndarray,
    dy: np.ndarray,
    *,
    masks: Masks,
) -> np.ndarray:
    """Zeros of the shape, with dy where the slice would have read."""
    made = zeros(vector(shape, "StridedSliceGrad: shape"), dy.dtype)
    taken = strided_index(made.shape, begin, end, strides, masks)
    if dy.shape != taken.shape:
        message = f"dy must be {list(taken.shape)}, got {list(dy.shape)}"
        raise InvalidArgumentError(f"StridedSliceGrad: {message}")
    write_slice(made, taken, dy)
    return made


def tensor_strided_slice_update(
    x: np.ndarray, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, value: np.ndarray, *, masks: Masks
) -> np.ndarray:
    """x with value where the slice would have read; value is broadcast to the slice's shape."""
    made = x.copy()
    write_slice(made, strided_index(x.shape, begin, end, strides, masks), value)
    return made


def dynamic_update_slice(x: np.ndarray, update: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """x with update put to a place, which is moved inside where it would reach over an end.

    Source: XLA's DynamicUpdateSlice.
    """
    starts = vector(indices, "XlaDynamicUpdateSlice: indices")
    is_inside = update.ndim == x.ndim and all(a <= b for a, b in zip(update.shape, x.shape, strict=True))
    if len(starts) != x.ndim or not is_inside:
        message = f"update {list(update.shape)} and {len(starts)} indices must fit x {list(x.shape)}"
        raise InvalidArgumentError(f"XlaDynamicUpdateSlice: {message}")
    made = x.copy()
    places = [
        min(max(start, 0), whole - part)
        for start, whole, part in zip(starts, x.shape, update.shape, strict=True)
    ]
    made[tuple(slice(at, at + part) for at, part in zip(places, update.shape, strict=True))] = update
    return made


def write_slice(target: np.ndarray, taken: StridedIndex, value: np.ndarray) -> None:
    """Put value, broadcast to the slice's shape, where the slice reads; any value where that is nothing."""
    if 0 in taken.shape:
        return
    try:
        spread = np.broadcast_to(value, taken.shape)
    except ValueError:
        message = f"value must fit the slice {list(taken.shape)}, got {list(value.shape)}"
        raise InvalidArgumentError(message) from None
    target[taken.index] = spread.reshape(target[(*taken.index, ...)].shape)


REGISTRATIONS = (
    kernel("Slice", slice_, T=ANY, Index=INDICES),
    kernel("StridedSlice", strided_slice, T=ANY),
    kernel("StridedSliceGrad", strided_slice_grad, T=ANY),
    kernel("TensorStridedSliceUpdate", tensor_strided_slice_update, T=ANY),
    kernel("XlaDynamicUpdateSlice", dynamic_update_slice, T=ANY, Tindices=INDICES),
)
