"""Lists of tensors as one tensor, stacked or end to end, and tensors as lists."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from .attributes import DataType, PartialShape
from .axis import row_of
from .dtypes import INDICES, numpy_dtype
from .kernel import checked_shape, zeros
from .partial_shape import known, merged, merged_with, shape_from
from .registry import kernel
from .status import InvalidArgumentError
from .tensor_list import TensorList, check_fits, length_of, list_of, scalar


def stack(
    input_handle: np.ndarray, element_shape: np.ndarray, *, element_dtype: DataType, num_elements: int = -1
) -> np.ndarray:
    """The elements along a new first axis, zeros for those that were never set."""
    tensors = list_of("TensorListStack", input_handle, element_dtype)
    count = len(tensors.elements)
    if num_elements not in (-1, count):
        raise InvalidArgumentError(
            f"TensorListStack: the list must have {num_elements} elements, got {count}"
        )
    return _stacked(
        "TensorListStack", tensors, tensors.elements, shape_from("TensorListStack", element_shape)
    )


def gather(
    input_handle: np.ndarray, indices: np.ndarray, element_shape: np.ndarray, *, element_dtype: DataType
) -> np.ndarray:
    """The elements at the indices, along a new first axis."""
    op = "TensorListGather"
    tensors = list_of(op, input_handle, element_dtype)
    places = _vector(op, "indices", indices)
    wrong = [place for place in places if not 0 <= place < len(tensors.elements)]
    if wrong:
        raise InvalidArgumentError(f"{op}: indices must be 0 to {len(tensors.elements) - 1}, got {wrong[0]}")
    chosen = [tensors.elements[place] for place in places]
    return _stacked(op, tensors, chosen, shape_from(op, element_shape))


def _stacked(
    op: str, tensors: TensorList, chosen: Sequence[np.ndarray | None], element_shape: PartialShape
) -> np.ndarray:
    shape = merged(op, tensors.element_shape, element_shape)
    shape = merged_with(op, shape, (element.shape for element in chosen if element is not None))
    sizes = known(op, shape, "elements")
    made = zeros((len(chosen), *sizes), numpy_dtype(tensors.data_type))
    for i, element in enumerate(chosen):
        if element is not None:
            made[i] = element
    return made


def _vector(op: str, name: str, value: np.ndarray) -> list[int]:
    if value.ndim != 1:
        raise InvalidArgumentError(f"{op}: {name} must be a vector, got {list(value.shape)}")
    return value.tolist()


def _check_rows(op: str, tensor: np.ndarray) -> None:
    if tensor.ndim < 1:
        raise InvalidArgumentError(f"{op}: the tensor must have a first axis, got a scalar")


def _rows(tensor: np.ndarray) -> list[np.ndarray]:
    return [row_of(tensor, index) for index in range(len(tensor))]


def from_tensor(tensor: np.ndarray, element_shape: np.ndarray, *, element_dtype: DataType) -> TensorList:
    """The tensor's slices along its first axis."""
    op = "TensorListFromTensor"
    _check_rows(op, tensor)
    shape = shape_from(op, element_shape)
    check_fits(op, tensor.shape[1:], shape)
    return TensorList(element_dtype, shape, tuple(_rows(tensor)))


def scatter(
    tensor: np.ndarray, indices: np.ndarray, element_shape: np.ndarray, *, element_dtype: DataType
) -> TensorList:
    """A list with the tensor's slices at the indices, as long as these ask for."""
    return _scattered("TensorListScatter", tensor, indices, element_shape, -1, element_dtype)


def scatter_v2(
    tensor: np.ndarray,
    indices: np.ndarray,
    element_shape: np.ndarray,
    num_elements: np.ndarray,
    *,
    element_dtype: DataType,
) -> TensorList:
    """The same, of num_elements elements unless that is -1."""
    op = "TensorListScatterV2"
    count = scalar(op, "num_elements", num_elements)
    if count != -1:
        count = length_of(op, "num_elements", num_elements)
    return _scattered(op, tensor, indices, element_shape, count, element_dtype)


def _scattered(
    op: str, tensor: np.ndarray, indices: np.ndarray, element_shape: np.ndarray, count: int, data_type: int
) -> TensorList:
    shape = shape_from(op, element_shape)
    tensors = TensorList(data_type, shape, (None,) * max(count, 0))
    made = _with_rows(op, tensors, tensor, indices)
    if count != -1 and len(made.elements) > count:
        raise InvalidArgumentError(f"{op}: indices must be under {count}, got {len(made.elements) - 1}")
    return made


def _with_rows(op: str, tensors: TensorList, tensor: np.ndarray, indices: np.ndarray) -> TensorList:
    """The list with the tensor's slices at the indices, made longer where need be."""
    _check_rows(op, tensor)
    places = _vector(op, "indices", indices)
    if len(places) != len(tensor):
        raise InvalidArgumentError(f"{op}: there must be an index a row, got {len(places)} for {len(tensor)}")
    if min(places, default=0) < 0:
        raise InvalidArgumentError(f"{op}: indices must not be negative, got {min(places)}")
    check_fits(op, tensor.shape[1:], tensors.element_shape)
    count = length_of(op, "indices", np.array(max(places, default=-1) + 1))
    elements = [*tensors.elements, *(None,) * (count - len(tensors.elements))]
    for place, row in zip(places, _rows(tensor), strict=True):
        elements[place] = row
    return tensors.with_elements(elements)


def scatter_into(
    input_handle: np.ndarray, tensor: np.ndarray, indices: np.ndarray, *, element_dtype: DataType
) -> TensorList:
    """The list with the tensor's slices at the indices."""
    op = "TensorListScatterIntoExistingList"
    return _with_rows(op, list_of(op, input_handle, element_dtype), tensor, indices)


def split(
    tensor: np.ndarray, element_shape: np.ndarray, lengths: np.ndarray, *, element_dtype: DataType
) -> TensorList:
    """Parts of the tensor, of these lengths along its first axis."""
    op = "TensorListSplit"
    _check_rows(op, tensor)
    shape = shape_from(op, element_shape)
    if shape == ():
        raise InvalidArgumentError(f"{op}: element_shape must have a first size, got []")
    check_fits(op, tensor.shape[1:], None if shape is None else shape[1:])
    counts = _vector(op, "lengths", lengths)
    if min(counts, default=0) < 0 or sum(counts) != len(tensor):
        message = f"lengths must not be negative, and {len(tensor)} together"
        raise InvalidArgumentError(f"{op}: {message}, got {counts[:10]}")
    bounds = pairwise(accumulate(counts, initial=0))
    return TensorList(element_dtype, shape, tuple(tensor[a:b] for a, b in bounds))


def concat(
    input_handle: np.ndarray, *, element_dtype: DataType, element_shape: PartialShape = None
) -> tuple[np.ndarray, np.ndarray]:
    """The elements end to end along their first axis, and their lengths (int64)."""
    return _concatenated("TensorListConcat", input_handle, element_shape, [], element_dtype)


def concat_v2(
    input_handle: np.ndarray, element_shape: np.ndarray, leading_dims: np.ndarray, *, element_dtype: DataType
) -> tuple[np.ndarray, np.ndarray]:
    """The same; leading_dims are lengths of the elements that were never set."""
    op = "TensorListConcatV2"
    shape = shape_from(op, element_shape)
    return _concatenated(op, input_handle, shape, _vector(op, "leading_dims", leading_dims), element_dtype)


def _concatenated(
    op: str, handle: np.ndarray, element_shape: PartialShape, leading: list[int], data_type: int
) -> tuple[np.ndarray, np.ndarray]:
    tensors = list_of(op, handle, data_type)
    if () in (element_shape, tensors.element_shape, *tensors.set_shapes()):
        raise InvalidArgumentError(f"{op}: elements must have a first axis, got scalars")
    shape = merged(op, element_shape, tensors.element_shape)
    inner = merged_with(op, None if shape is None else shape[1:], (s[1:] for s in tensors.set_shapes()))
    sizes = known(op, inner, "elements but for their first size")
    usual = -1 if shape is None else shape[0]
    lengths = [_length(op, i, element, leading, usual) for i, element in enumerate(tensors.elements)]
    made = zeros((sum(lengths), *sizes), numpy_dtype(data_type))
    for element, (a, b) in zip(tensors.elements, pairwise(accumulate(lengths, initial=0)), strict=True):
        if element is not None:
            made[a:b] = element
    return made, np.array(lengths, np.int64)


def _length(op: str, i: int, element: np.ndarray | None, leading: list[int], usual: int) -> int:
    if element is not None:
        return len(element)
    count = leading[i] if i < len(leading) else usual
    if count < 0:
        raise InvalidArgumentError(f"{op}: the length of an element that was never set must be known, at {i}")
    return checked_shape((count,), np.dtype(np.int8))[0]


REGISTRATIONS = (
    kernel("TensorListStack", stack),
    kernel("TensorListGather", gather),
    kernel("TensorListFromTensor", from_tensor, shape_type=INDICES),
    kernel("TensorListScatter", scatter, shape_type=INDICES),
    kernel("TensorListScatterV2", scatter_v2, shape_type=INDICES),
    kernel("TensorListScatterIntoExistingList", scatter_into),
    kernel("TensorListSplit", split, shape_type=INDICES),
    kernel("TensorListConcat", concat),
    kernel("TensorListConcatV2", concat_v2, shape_type=INDICES),
)
