"""Lists and arrays of tensors, which are scalars themselves."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction
from .dimensions import ANY, PartialShape, shape_of_sizes


def list_(c: ShapeContext) -> Results:
    return [()] * max(len(c.given), 1)


def _element(c: ShapeContext, index: int) -> PartialShape:
    """The element's shape: an input, -1 alone for any; else what the list says."""
    held = c.held[0][0].shape if c.held[0] else None
    numbers = c.numbers(index)
    if numbers is None or (numbers == [-1] and c.shape_of(index) == ()):
        return held
    return c.merged(held, shape_of_sizes(numbers))


def get_item(c: ShapeContext) -> Results:
    return [_element(c, 2)]


def stack(c: ShapeContext) -> Results:
    """All elements, their number first."""
    element, count = _element(c, 1), c.integer("num_elements")
    return [None if element is None else (count if count >= 0 else ANY, *element)]


def gather(c: ShapeContext) -> Results:
    """TensorListGather: list, indices, element shape."""
    element = _element(c, 2)
    return [None if element is None else (c.ranked(1, 1)[0], *element)]


def concat(c: ShapeContext) -> Results:
    """TensorListConcat: the first sizes add up."""
    held = c.held[0][0].shape if c.held[0] else None
    return [None if not held else (ANY, *held[1:]), (ANY,)]


def pop_back(c: ShapeContext) -> Results:
    return [(), _element(c, 1)]


def element_shape(c: ShapeContext) -> Results:
    held = c.held[0][0].shape if c.held[0] else None
    return [None if held is None else (len(held),)]


def array_gather(c: ShapeContext) -> Results:
    """TensorArrayGatherV3: handle, indices, flow."""
    element = c.shape("element_shape")
    return [None if element is None else (c.ranked(1, 1)[0], *element)]


def array_concat(c: ShapeContext) -> Results:
    element = c.shape("element_shape_except0")
    return [None if element is None else (ANY, *element), (ANY,)]


REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(
        (
            *("TensorListReserve", "TensorListSetItem", "TensorListFromTensor", "EmptyTensorList"),
            *("TensorListPushBack", "TensorListScatter", "TensorListScatterV2", "TensorListResize"),
            *("TensorListScatterIntoExistingList", "TensorListSplit", "TensorListConcatLists"),
            *("TensorArrayWriteV3", "TensorArrayScatterV3", "TensorArraySplitV3"),
        ),
        list_,
    ),
    "TensorListGetItem": get_item,
    "TensorListStack": stack,
    "TensorListGather": gather,
    **dict.fromkeys(("TensorListConcat", "TensorListConcatV2"), concat),
    "TensorListPopBack": pop_back,
    "TensorListElementShape": element_shape,
    "TensorArrayGatherV3": array_gather,
    "TensorArrayConcatV3": array_concat,
}
