"""TensorArrays: places that are written once each, and arrays of their gradients."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from .attributes import DataType, PartialShape
from .dtypes import numpy_dtype, type_name
from .kernel import zeros
from .partial_shape import known, merged, merged_with
from .registry import kernel
from .status import InvalidArgumentError
from .tensor_list import check_fits, length_of, scalar
from .variable import handle_of, held


class _Place:
    """One element. shape is that of its value, or of the zeros that stand for a gradient yet to come."""

    __slots__ = ("is_cleared", "is_read", "is_written", "shape", "value")

    def __init__(self) -> None:
        self.value: np.ndarray | None = None
        self.shape: tuple[int, ...] | None = None
        self.is_written = self.is_read = self.is_cleared = False


class TensorArray:
    """Elements of one type. lock makes several steps on it one.

    Source: TensorFlow tensorflow/core/kernels/tensor_array.h.
    """

    def __init__(self, data_type: int, size: int, element_shape: PartialShape) -> None:
        self.data_type = data_type
        self.element_shape = element_shape
        self.places = [_Place() for _ in range(size)]
        self.dynamic_size = False
        self.clear_after_read = True
        self.identical_element_shapes = False
        # Of gradients, what is written to one place is added up.
        self.adds_up = False
        self.is_closed = False
        self.gradients: dict[str, TensorArray] = {}
        self.lock = threading.RLock()

    def write(self, op: str, index: int, value: np.ndarray) -> None:
        place = self._writable(op, index)
        if self.adds_up and place.value is not None:
            if place.value.shape != value.shape:
                shapes = f"{list(place.value.shape)} and {list(value.shape)}"
                raise InvalidArgumentError(
                    f"{op}: shapes written to index {index} must be equal, got {shapes}"
                )
            value = np.asarray(place.value + value)
        else:
            check_fits(op, value.shape, self.element_shape)
        if self.identical_element_shapes:
            self.element_shape = merged(op, self.element_shape, value.shape)
        place.value, place.shape, place.is_written = value, value.shape, True

    def _writable(self, op: str, index: int) -> _Place:
        if self.dynamic_size and index >= len(self.places):
            count = length_of(op, "index", np.array(index)) + 1
            self.places += [_Place() for _ in range(count - len(self.places))]
        place = self._place(op, index)
        if place.is_read or place.is_cleared or (place.is_written and not self.adds_up):
            how = "read" if place.is_read else "written"
            raise InvalidArgumentError(f"{op}: index {index} must not be {how} before it is written")
        return place

    def read(self, op: str, index: int) -> np.ndarray:
        """The element; zeros where it was never written and its shape is known."""
        place = self._place(op, index)
        if place.is_cleared:
            message = f"index {index} must be read once, unless clear_after_read is false"
            raise InvalidArgumentError(f"{op}: {message}")
        if place.value is None:
            shape = known(op, place.shape or self.element_shape, f"index {index}, which was never written,")
            value = zeros(shape, numpy_dtype(self.data_type))
        else:
            value = place.value
        place.is_read = True
        if self.clear_after_read:
            place.value, place.is_cleared = None, True
        return value

    def _place(self, op: str, index: int) -> _Place:
        if not 0 <= index < len(self.places):
            raise InvalidArgumentError(f"{op}: index must be 0 to {len(self.places) - 1}, got {index}")
        return self.places[index]


def array_of(op: str, handle: np.ndarray, data_type: int | None = None) -> TensorArray:
    """The array that a handle holds; InvalidArgumentError when it is closed or of another type."""
    found = held(handle, TensorArray, op)
    if found.is_closed:
        raise InvalidArgumentError(f"{op}: the TensorArray must not be closed")
    if data_type is not None and found.data_type != data_type:
        names = type_name(found.data_type), type_name(data_type)
        raise InvalidArgumentError(f"{op}: the TensorArray's elements must be {names[1]}, got {names[0]}")
    return found


def make(
    size: np.ndarray,
    *,
    dtype: DataType,
    element_shape: PartialShape,
    dynamic_size: bool,
    clear_after_read: bool,
    identical_element_shapes: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """A handle of a new array, and the first of its flows."""
    made = TensorArray(dtype, length_of("TensorArrayV3", "size", size), element_shape)
    made.dynamic_size = dynamic_size
    made.clear_after_read = clear_after_read
    made.identical_element_shapes = identical_element_shapes
    return handle_of(made), np.zeros((), np.float32)


def gradient(handle: np.ndarray, flow_in: np.ndarray, *, source: str) -> tuple[np.ndarray, np.ndarray]:
    """A handle of the array of gradients under that name, made when it is first asked for."""
    return _gradient("TensorArrayGradV3", handle, flow_in, source, ())


def gradient_with_shape(
    handle: np.ndarray, flow_in: np.ndarray, shape_to_prepend: np.ndarray, *, source: str
) -> tuple[np.ndarray, np.ndarray]:
    """The same, of gradients with more axes before the others."""
    op = "TensorArrayGradWithShape"
    if shape_to_prepend.ndim != 1 or np.any(shape_to_prepend < 0):
        raise InvalidArgumentError(f"{op}: shape_to_prepend must be a shape, got {shape_to_prepend.tolist()}")
    return _gradient(op, handle, flow_in, source, tuple(shape_to_prepend.tolist()))


def _gradient(
    op: str, handle: np.ndarray, flow_in: np.ndarray, source: str, prepended: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    forward = array_of(op, handle)
    with forward.lock:
        forward.dynamic_size = False
        if source not in forward.gradients:
            forward.gradients[source] = _made_gradient(forward, prepended)
        return handle_of(forward.gradients[source]), flow_in


def _made_gradient(forward: TensorArray, prepended: tuple[int, ...]) -> TensorArray:
    shape = None if forward.element_shape is None else (*prepended, *forward.element_shape)
    made = TensorArray(forward.data_type, len(forward.places), shape)
    made.adds_up = True
    made.clear_after_read = forward.clear_after_read
    made.identical_element_shapes = forward.identical_element_shapes
    for place, source in zip(made.places, forward.places, strict=True):
        if source.shape is not None:
            place.shape = (*prepended, *source.shape)
    return made


def write(
    handle: np.ndarray, index: np.ndarray, value: np.ndarray, flow_in: np.ndarray, *, T: DataType
) -> np.ndarray:
    """The flow, once the value is the element at the index."""
    array = array_of("TensorArrayWriteV3", handle, T)
    with array.lock:
        array.write("TensorArrayWriteV3", scalar("TensorArrayWriteV3", "index", index), value)
    return flow_in


def read(handle: np.ndarray, index: np.ndarray, flow_in: np.ndarray, *, dtype: DataType) -> np.ndarray:
    """The element at the index."""
    array = array_of("TensorArrayReadV3", handle, dtype)
    with array.lock:
        return array.read("TensorArrayReadV3", scalar("TensorArrayReadV3", "index", index))


def gather(
    handle: np.ndarray,
    indices: np.ndarray,
    flow_in: np.ndarray,
    *,
    dtype: DataType,
    element_shape: PartialShape,
) -> np.ndarray:
    """The elements at the indices, along a new first axis."""
    op = "TensorArrayGatherV3"
    array = array_of(op, handle, dtype)
    if indices.ndim != 1:
        raise InvalidArgumentError(f"{op}: indices must be a vector, got {list(indices.shape)}")
    with array.lock:
        values = [array.read(op, index) for index in indices.tolist()]
        shape = merged(op, array.element_shape, element_shape)
    sizes = known(op, merged_with(op, shape, (value.shape for value in values)), "elements")
    made = zeros((len(values), *sizes), numpy_dtype(dtype))
    for i, value in enumerate(values):
        made[i] = value
    return made


def scatter(
    handle: np.ndarray, indices: np.ndarray, value: np.ndarray, flow_in: np.ndarray, *, T: DataType
) -> np.ndarray:
    """The flow, once the value's slices are the elements at the indices."""
    op = "TensorArrayScatterV3"
    array = array_of(op, handle, T)
    if indices.ndim != 1 or value.ndim < 1 or len(indices) != len(value):
        shapes = f"{list(indices.shape)} and {list(value.shape)}"
        raise InvalidArgumentError(f"{op}: there must be an index for each row, got {shapes}")
    with array.lock:
        for i, index in enumerate(indices.tolist()):
            array.write(op, index, value[i : i + 1].reshape(value.shape[1:]))
    return flow_in


def size(handle: np.ndarray, flow_in: np.ndarray) -> np.ndarray:
    """The number of elements, int32."""
    return np.array(len(array_of("TensorArraySizeV3", handle).places), np.int32)


def concat(
    handle: np.ndarray, flow_in: np.ndarray, *, dtype: DataType, element_shape_except0: PartialShape
) -> tuple[np.ndarray, np.ndarray]:
    """All elements end to end along their first axis, and their lengths (int64)."""
    op = "TensorArrayConcatV3"
    array = array_of(op, handle, dtype)
    with array.lock:
        values = [array.read(op, index) for index in range(len(array.places))]
        own = array.element_shape
    if any(value.ndim < 1 for value in values):
        raise InvalidArgumentError(f"{op}: elements must have a first axis, got scalars")
    shape = merged(op, own[1:] if own else None, element_shape_except0)
    shape = merged_with(op, shape, (value.shape[1:] for value in values))
    sizes = known(op, shape, "elements but for their first size")
    lengths = [len(value) for value in values]
    made = zeros((sum(lengths), *sizes), numpy_dtype(dtype))
    for value, (a, b) in zip(values, pairwise(accumulate(lengths, initial=0)), strict=True):
        made[a:b] = value
    return made, np.array(lengths, np.int64)


def split(
    handle: np.ndarray, value: np.ndarray, lengths: np.ndarray, flow_in: np.ndarray, *, T: DataType
) -> np.ndarray:
    """The flow, once parts of the value, of these lengths along its first axis, are the elements."""
    op = "TensorArraySplitV3"
    array = array_of(op, handle, T)
    counts = _lengths(op, lengths, value)
    with array.lock:
        if len(counts) != len(array.places) and not (array.dynamic_size and len(counts) > len(array.places)):
            message = f"lengths must be as many as the elements, {len(array.places)}"
            raise InvalidArgumentError(f"{op}: {message}, got {len(counts)}")
        for i, (a, b) in enumerate(pairwise(accumulate(counts, initial=0))):
            array.write(op, i, value[a:b])
    return flow_in


def _lengths(op: str, lengths: np.ndarray, value: np.ndarray) -> Sequence[int]:
    if lengths.ndim != 1 or value.ndim < 1:
        shapes = f"{list(lengths.shape)} and {list(value.shape)}"
        raise InvalidArgumentError(f"{op}: lengths must be a vector and the value no scalar, got {shapes}")
    counts: list[int] = lengths.tolist()
    if min(counts, default=0) < 0 or sum(counts) != len(value):
        message = f"lengths must not be negative, and {len(value)} together"
        raise InvalidArgumentError(f"{op}: {message}, got {counts[:10]}")
    return counts


def close(handle: np.ndarray) -> None:
    """The array and its elements are gone."""
    array = held(handle, TensorArray, "TensorArrayCloseV3")
    with array.lock:
        array.is_closed = True
        array.places.clear()


def make_handle(
    size: np.ndarray,
    *,
    dtype: DataType,
    element_shape: PartialShape,
    dynamic_size: bool,
    clear_after_read: bool,
) -> np.ndarray:
    """A handle of a new array, as the older versions give it: without a flow."""
    handle, _ = make(
        size,
        dtype=dtype,
        element_shape=element_shape,
        dynamic_size=dynamic_size,
        clear_after_read=clear_after_read,
    )
    return handle


def gradient_handle(handle: np.ndarray, flow_in: np.ndarray, *, source: str) -> np.ndarray:
    """A handle of the array of gradients, without a flow."""
    return gradient(handle, flow_in, source=source)[0]


REGISTRATIONS = (
    kernel("TensorArrayV3", make),
    kernel("TensorArrayGradV3", gradient),
    kernel("TensorArrayGradWithShape", gradient_with_shape),
    *(
        registration
        for version in ("", "V2")
        for registration in (
            kernel(f"TensorArray{version}", make_handle),
            kernel(f"TensorArrayGrad{version}", gradient_handle),
        )
    ),
    *(
        registration
        for version in ("", "V2", "V3")
        for registration in (
            kernel(f"TensorArrayWrite{version}", write),
            kernel(f"TensorArrayRead{version}", read),
            kernel(f"TensorArrayGather{version}", gather),
            kernel(f"TensorArrayScatter{version}", scatter),
            kernel(f"TensorArraySize{version}", size),
            kernel(f"TensorArrayConcat{version}", concat),
            kernel(f"TensorArraySplit{version}", split),
            kernel(f"TensorArrayClose{version}", close),
        )
    ),
)
