"""Lists of tensors, held by variants: making them, their elements one by one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .attributes import DataType, PartialShape
from .dtypes import INDICES, numpy_dtype, type_name
from .kernel import zeros
from .partial_shape import in_words, known, merged, merged_with, shape_from
from .registry import kernel
from .status import InvalidArgumentError
from .variable import held, matches

# More elements than any list that is meant has; a list of holes takes memory too.
_MOST_ELEMENTS = 1 << 27


@dataclass(frozen=True)
class TensorList:
    """A list; an op that changes one makes another.

    None stands for an element that was never set. most is how many elements there may be, -1 for any
    number.
    """

    data_type: int
    element_shape: PartialShape
    elements: tuple[np.ndarray | None, ...]
    most: int = -1

    def with_elements(self, elements: Iterable[np.ndarray | None]) -> TensorList:
        return TensorList(self.data_type, self.element_shape, tuple(elements), self.most)

    def set_shapes(self) -> Iterable[tuple[int, ...]]:
        """Shapes of the elements that are set."""
        return (element.shape for element in self.elements if element is not None)


def list_of(op: str, handle: np.ndarray, data_type: int) -> TensorList:
    """The list that a handle holds; InvalidArgumentError when it is of another type."""
    found = held(handle, TensorList, op)
    if found.data_type != data_type:
        names = type_name(found.data_type), type_name(data_type)
        raise InvalidArgumentError(f"{op}: the list's elements must be {names[1]}, got {names[0]}")
    return found


def check_fits(op: str, shape: tuple[int, ...], wanted: PartialShape) -> None:
    """InvalidArgumentError unless an element of the shape may be in a list with the wanted one."""
    if not matches(shape, wanted):
        raise InvalidArgumentError(f"{op}: elements must be like {in_words(wanted)}, got {list(shape)}")


def scalar(op: str, name: str, value: np.ndarray) -> int:
    if value.shape != ():
        raise InvalidArgumentError(f"{op}: {name} must be a scalar, got {list(value.shape)}")
    return int(value)


def length_of(op: str, name: str, value: np.ndarray) -> int:
    """A number of elements."""
    count = scalar(op, name, value)
    if not 0 <= count <= _MOST_ELEMENTS:
        raise InvalidArgumentError(f"{op}: {name} must be 0 to {_MOST_ELEMENTS}, got {count}")
    return count


def empty(element_shape: np.ndarray, max_num_elements: np.ndarray, *, element_dtype: DataType) -> TensorList:
    """A list without elements, that may get no more than max_num_elements (-1: any number)."""
    most = scalar("EmptyTensorList", "max_num_elements", max_num_elements)
    return TensorList(element_dtype, shape_from("EmptyTensorList", element_shape), (), max(most, -1))


def reserve(element_shape: np.ndarray, num_elements: np.ndarray, *, element_dtype: DataType) -> TensorList:
    """A list of elements that are not set."""
    count = length_of("TensorListReserve", "num_elements", num_elements)
    return TensorList(element_dtype, shape_from("TensorListReserve", element_shape), (None,) * count)


def get_item(
    input_handle: np.ndarray, index: np.ndarray, element_shape: np.ndarray, *, element_dtype: DataType
) -> np.ndarray:
    """The element at the index, zeros where it was never set."""
    tensors = list_of("TensorListGetItem", input_handle, element_dtype)
    place = _place("TensorListGetItem", tensors, index)
    return _element("TensorListGetItem", tensors, place, element_shape)


def _place(op: str, tensors: TensorList, index: np.ndarray) -> int:
    place = scalar(op, "index", index)
    if not 0 <= place < len(tensors.elements):
        raise InvalidArgumentError(f"{op}: index must be 0 to {len(tensors.elements) - 1}, got {place}")
    return place


def _element(op: str, tensors: TensorList, place: int, element_shape: np.ndarray) -> np.ndarray:
    found = tensors.elements[place]
    if found is not None:
        return found
    shape = merged(op, tensors.element_shape, shape_from(op, element_shape))
    shape = merged_with(op, shape, tensors.set_shapes())
    return zeros(known(op, shape, "an element that was never set"), numpy_dtype(tensors.data_type))


def set_item(
    input_handle: np.ndarray,
    index: np.ndarray,
    item: np.ndarray,
    *,
    element_dtype: DataType,
    resize_if_index_out_of_bounds: bool = False,
) -> TensorList:
    """The list with another element at the index, made longer for it where that is allowed."""
    tensors = list_of("TensorListSetItem", input_handle, element_dtype)
    if resize_if_index_out_of_bounds and index.shape == () and index >= len(tensors.elements):
        count = length_of("TensorListSetItem", "index", index) + 1
        tensors = tensors.with_elements(_resized(tensors.elements, count))
    place = _place("TensorListSetItem", tensors, index)
    check_fits("TensorListSetItem", item.shape, tensors.element_shape)
    elements = list(tensors.elements)
    elements[place] = item
    return tensors.with_elements(elements)


def _resized(elements: tuple[np.ndarray | None, ...], count: int) -> tuple[np.ndarray | None, ...]:
    return elements[:count] + (None,) * (count - len(elements))


def push_back(input_handle: np.ndarray, tensor: np.ndarray, *, element_dtype: DataType) -> TensorList:
    """The list with one more element."""
    return pushed("TensorListPushBack", list_of("TensorListPushBack", input_handle, element_dtype), tensor)


def pushed(op: str, tensors: TensorList, element: np.ndarray) -> TensorList:
    """The list with one more element, which must fit."""
    check_fits(op, element.shape, tensors.element_shape)
    if len(tensors.elements) == tensors.most:
        raise InvalidArgumentError(f"{op}: the list must have at most {tensors.most} elements, got one more")
    return tensors.with_elements((*tensors.elements, element))


def push_back_batch(input_handles: np.ndarray, tensor: np.ndarray, *, element_dtype: DataType) -> np.ndarray:
    """Each list with one more element: the tensor's slice of the list's number."""
    op = "TensorListPushBackBatch"
    if tensor.ndim < 1 or input_handles.shape != tensor.shape[:1]:
        shapes = f"{list(input_handles.shape)} and {list(tensor.shape)}"
        raise InvalidArgumentError(f"{op}: there must be a list for each of the tensor's rows, got {shapes}")
    made = np.empty(len(input_handles), object)
    for i in range(len(input_handles)):
        tensors = list_of(op, input_handles[i : i + 1].reshape(()), element_dtype)
        made[i] = pushed(op, tensors, tensor[i : i + 1].reshape(tensor.shape[1:]))
    return made


def pop_back(
    input_handle: np.ndarray, element_shape: np.ndarray, *, element_dtype: DataType
) -> tuple[TensorList, np.ndarray]:
    """The list without its last element, and that one."""
    tensors = list_of("TensorListPopBack", input_handle, element_dtype)
    if not tensors.elements:
        raise InvalidArgumentError("TensorListPopBack: the list must have an element, got an empty one")
    last = _element("TensorListPopBack", tensors, len(tensors.elements) - 1, element_shape)
    return tensors.with_elements(tensors.elements[:-1]), last


def length(input_handle: np.ndarray) -> np.ndarray:
    """The number of elements, int32."""
    return np.array(len(held(input_handle, TensorList, "TensorListLength").elements), np.int32)


def element_shape(input_handle: np.ndarray, *, shape_type: DataType) -> np.ndarray:
    """The shape of elements, with -1 for sizes that are not known, or the scalar -1."""
    shape = held(input_handle, TensorList, "TensorListElementShape").element_shape
    return np.array(-1 if shape is None else shape, numpy_dtype(shape_type))


def resize(input_handle: np.ndarray, size: np.ndarray) -> TensorList:
    """The first size elements; where there are fewer, others that are not set."""
    tensors = held(input_handle, TensorList, "TensorListResize")
    return tensors.with_elements(_resized(tensors.elements, length_of("TensorListResize", "size", size)))


def concat_lists(input_a: np.ndarray, input_b: np.ndarray, *, element_dtype: DataType) -> np.ndarray:
    """Lists of the one tensor, each with the elements of the other's list behind its own."""
    op = "TensorListConcatLists"
    if input_a.shape != input_b.shape:
        shapes = f"{list(input_a.shape)} and {list(input_b.shape)}"
        raise InvalidArgumentError(f"{op}: shapes must be equal, got {shapes}")
    made = np.empty(input_a.size, object)
    flat_a, flat_b = input_a.reshape(-1), input_b.reshape(-1)
    for i in range(made.size):
        a, b = (list_of(op, flat[i : i + 1].reshape(()), element_dtype) for flat in (flat_a, flat_b))
        shape = merged(op, a.element_shape, b.element_shape)
        made[i] = TensorList(element_dtype, shape, a.elements + b.elements)
    return made.reshape(input_a.shape)


REGISTRATIONS = (
    kernel("EmptyTensorList", empty, shape_type=INDICES),
    kernel("TensorListReserve", reserve, shape_type=INDICES),
    kernel("TensorListGetItem", get_item),
    kernel("TensorListSetItem", set_item),
    kernel("TensorListPushBack", push_back),
    kernel("TensorListPushBackBatch", push_back_batch),
    kernel("TensorListPopBack", pop_back),
    kernel("TensorListLength", length),
    kernel("TensorListElementShape", element_shape, shape_type=INDICES),
    kernel("TensorListResize", resize),
    kernel("TensorListConcatLists", concat_lists),
)
