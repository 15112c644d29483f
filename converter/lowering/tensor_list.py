"""Tensor lists: a list of N tensors of one shape is one tensor with a first axis of N."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import (
    AddOptionsT,
    BuiltinOperator,
    ConcatenationOptionsT,
    FillOptionsT,
    GatherOptionsT,
    PackOptionsT,
    RangeOptionsT,
    ReshapeOptionsT,
    StridedSliceOptionsT,
)
from ..element_types import numpy_dtype_of, tensor_type
from ..ir.node import Node
from ..lite_graph import LiteTensor, PartialShape
from ..partial_shape import is_known
from .binary import binary
from .cast import as_int32
from .lowering import Lowering, Rule
from .reshape import reshaped
from .select import selected

# A list of more bytes is filled when the model runs.
_MOST_BYTES = 1 << 16


def _element_type(node: Node) -> TensorType:
    type = tensor_type(node.type("element_dtype"))
    if type == TensorType.VARIANT:
        raise UnsupportedError("the list's elements must be tensors, got lists")
    return type


def _element_shape(lowering: Lowering, node: Node, index: int) -> PartialShape:
    """The shape of each element, as far as an input tells it."""
    sizes = lowering.input(node, index)
    known = sizes.known()
    if known is None or sizes.shape == ():
        return None
    return tuple(known)


def _list(lowering: Lowering, node: Node) -> LiteTensor:
    """The node's first input, a list that is a tensor here; UnsupportedError for one of TensorFlow's own.

    Those come from makers of lists that have no builtin form, and stay with flex operators.
    """
    held = lowering.input(node, 0)
    if held.type == TensorType.VARIANT:
        raise UnsupportedError("the list's maker must have a builtin form")
    return held


def from_tensor(lowering: Lowering, node: Node) -> LiteTensor:
    """The tensor itself."""
    return _list(lowering, node)


def reserve(lowering: Lowering, node: Node) -> LiteTensor:
    """Zeros, as many as the list is to hold."""
    shape, count = _element_shape(lowering, node, 0), lowering.input(node, 1)
    made = ReservedList(lowering.name(node), _element_type(node), node, count)
    return made if shape is None or not is_known(shape) else made.of(lowering, shape)


class ReservedList(LiteTensor):
    """A list of elements whose shape is not known yet: the first one that is put in tells."""

    __slots__ = ("count", "node")

    def __init__(self, name: str, type: TensorType, node: Node, count: LiteTensor) -> None:
        super().__init__(name, type, None)
        self.node = node
        self.count = count

    def of(
        self, lowering: Lowering, shape: tuple[int, ...], sizes: Sequence[LiteTensor] | None = None
    ) -> LiteTensor:
        """Zeros for elements of a shape, with the sizes (int32 [1] for each axis) where some are not known.

        Without these a size that is not known is 1, which stretches to what is put in.
        """
        known = self.count.known()
        count = known[0] if known else -1
        if count < -1:
            raise ModelError(f"a list must have 0 elements or more, got {count}")
        if sizes is None:
            shape = tuple(1 if size == -1 else size for size in shape)
            return _zeros(lowering, self.node, (count, *shape), self.count, self.type)
        first = _vector(lowering, self.node, as_int32(lowering, self.node, self.count))
        whole = _concatenated(lowering, self.node, [first, *sizes], (len(shape) + 1,))
        made = _filled(lowering, self.node, (count, *shape), whole, self.type)
        lowering.program.sized_lists.add(made)
        return made


def _zeros(
    lowering: Lowering, node: Node, shape: tuple[int, ...], count: LiteTensor, type: TensorType
) -> LiteTensor:
    dtype = numpy_dtype_of(type)
    if shape[0] != -1 and int(np.prod(shape, dtype=np.int64)) * dtype.itemsize <= _MOST_BYTES:
        return lowering.constant(lowering.name(node), np.zeros(shape, dtype), type)
    if shape[0] == -1:
        parts = [lowering.integers(lowering.name(node, "/sizes"), shape[1:])]
        first = _vector(lowering, node, as_int32(lowering, node, count))
        sizes = _concatenated(lowering, node, [first, *parts], (len(shape),))
    else:
        sizes = lowering.integers(lowering.name(node, "/sizes"), shape)
    return _filled(lowering, node, shape, sizes, type)


def _filled(
    lowering: Lowering, node: Node, shape: tuple[int, ...], sizes: LiteTensor, type: TensorType
) -> LiteTensor:
    """FILL with zeros."""
    zero = lowering.constant(lowering.name(node, "/zero"), np.zeros((), numpy_dtype_of(type)), type)
    return lowering.operator(node, BuiltinOperator.FILL, [sizes, zero], shape, FillOptionsT(), type=type)


def empty(lowering: Lowering, node: Node) -> LiteTensor:
    """A list of nothing, which grows."""
    shape = _element_shape(lowering, node, 0)
    if shape is None or not is_known(shape):
        raise UnsupportedError("the shape of the list's elements must be known")
    type = _element_type(node)
    return lowering.constant(lowering.name(node), np.zeros((0, *shape), numpy_dtype_of(type)), type)


def get_item(lowering: Lowering, node: Node) -> LiteTensor:
    """GATHER of the element."""
    held, index = stack(lowering, node), lowering.input(node, 1)
    shape = None if held.shape is None else held.shape[1:]
    return lowering.operator(node, BuiltinOperator.GATHER, [held, index], shape, GatherOptionsT())


def gather(lowering: Lowering, node: Node) -> LiteTensor:
    """GATHER of some elements."""
    held, places = stack(lowering, node), lowering.input(node, 1)
    shape: PartialShape = None
    if held.shape is not None and places.shape is not None:
        shape = (*places.shape, *held.shape[1:])
    return lowering.operator(node, BuiltinOperator.GATHER, [held, places], shape, GatherOptionsT())


def set_item(lowering: Lowering, node: Node) -> LiteTensor:
    """DYNAMIC_UPDATE_SLICE at the element's place."""
    held, index, item = _list(lowering, node), lowering.input(node, 1), lowering.input(node, 2)
    if item.shape is None:
        raise UnsupportedError("the rank of the list's elements must be known")
    grows = node.flag("resize_if_index_out_of_bounds")
    if isinstance(held, ReservedList):
        if grows and not is_known(item.shape):
            raise UnsupportedError("the shape of a growing list's elements must be known")
        held = held.of(lowering, item.shape)
    row = _row(lowering, node, item)
    if grows and not _holds(held, index):
        if held.shape is not None and not is_known(held.shape[1:]):
            raise UnsupportedError("the shape of a growing list's elements must be known")
        return _set_or_append(lowering, node, held, index, row)
    if held.shape == row.shape == (1, *item.shape) and is_known(item.shape):
        # The only place there is.
        return row
    is_sized = held in lowering.program.sized_lists
    if not is_sized and held.shape is not None and (held.shape[1:] != item.shape or not is_known(item.shape)):
        return _chosen(lowering, node, held, index, row)
    zero = lowering.constant(lowering.name(node, "/zero"), np.zeros((), np.int32))
    starts = [as_int32(lowering, node, index), *[zero] * len(item.shape)]
    rank = len(starts)
    options = PackOptionsT(values_count=rank, axis=0)
    start = lowering.operator(node, BuiltinOperator.PACK, starts, (rank,), options)
    whole = (-1, *item.shape) if held.shape is None else held.shape
    made = lowering.operator(node, BuiltinOperator.DYNAMIC_UPDATE_SLICE, [held, row, start], whole)
    if is_sized:
        lowering.program.sized_lists.add(made)
    return made


def _chosen(
    lowering: Lowering, node: Node, held: LiteTensor, index: LiteTensor, row: LiteTensor
) -> LiteTensor:
    """The new element at its place and the list elsewhere, both stretched to one shape."""
    assert held.shape is not None
    count = held.shape[0]
    if count == -1:
        places = _places(lowering, node, held)
    else:
        places = lowering.constant(lowering.name(node, "/places"), np.arange(count, dtype=np.int32))
    is_place = binary(lowering, node, BuiltinOperator.EQUAL, places, as_int32(lowering, node, index))
    mask = reshaped(lowering, node, is_place, (count, *[1] * (len(held.shape) - 1)))
    assert mask is not None
    return selected(lowering, node, mask, row, held)


def _places(lowering: Lowering, node: Node, held: LiteTensor) -> LiteTensor:
    """RANGE of the list's length."""
    zero, one = (lowering.constant(lowering.name(node, f"/{n}"), np.array(n, np.int32)) for n in (0, 1))
    bounds = [zero, _length(lowering, node, held), one]
    return lowering.operator(node, BuiltinOperator.RANGE, bounds, (-1,), RangeOptionsT())


def _holds(held: LiteTensor, index: LiteTensor) -> bool:
    """Whether the list is known to have an element there."""
    known = index.known()
    return bool(held.shape and known and 0 <= known[0] < held.shape[0])


def _set_or_append(
    lowering: Lowering, node: Node, held: LiteTensor, index: LiteTensor, row: LiteTensor
) -> LiteTensor:
    """What is before the place, the new element, and what is behind it; the place may be the end."""
    shape = None if row.shape is None else (-1, *row.shape[1:])
    none, one = (lowering.integers(lowering.name(node, f"/{n}"), [n]) for n in (0, 1))
    place = _vector(lowering, node, as_int32(lowering, node, index))
    following = lowering.operator(node, BuiltinOperator.ADD, [place, one], (1,), AddOptionsT())
    # The masks leave out that the slices have no begin, and no end.
    before = lowering.operator(
        node,
        BuiltinOperator.STRIDED_SLICE,
        [held, none, place, one],
        shape,
        StridedSliceOptionsT(begin_mask=1),
    )
    behind = lowering.operator(
        node,
        BuiltinOperator.STRIDED_SLICE,
        [held, following, none, one],
        shape,
        StridedSliceOptionsT(end_mask=1),
    )
    return _concatenated(lowering, node, [before, row, behind], shape)


def push_back(lowering: Lowering, node: Node) -> LiteTensor:
    """CONCATENATION with the new element."""
    held, item = _list(lowering, node), lowering.input(node, 1)
    row = _row(lowering, node, item)
    shape = row.shape
    if held.shape is not None and row.shape is not None:
        shape = (-1 if held.shape[0] == -1 else held.shape[0] + 1, *row.shape[1:])
    return _concatenated(lowering, node, [held, row], shape)


def pop_back(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """STRIDED_SLICE of all but the last element, and GATHER of that one.

    The body of a loop that takes no turn is prepared for an empty list, too: the place of the last
    element is computed when the model runs.
    """
    held = stack(lowering, node)
    rest, shape = None, None
    if held.shape is not None:
        rest = (-1 if held.shape[0] == -1 else max(held.shape[0] - 1, 0), *held.shape[1:])
        shape = held.shape[1:]
    none, last, one = (lowering.integers(lowering.name(node, f"/{n}"), [n]) for n in (0, -1, 1))
    options = StridedSliceOptionsT(begin_mask=1)
    left = lowering.operator(node, BuiltinOperator.STRIDED_SLICE, [held, none, last, one], rest, options)
    minus_one = lowering.constant(lowering.name(node, "/minus_one"), np.array(-1, np.int32))
    place = binary(lowering, node, BuiltinOperator.ADD, length(lowering, node), minus_one)
    item = lowering.operator(node, BuiltinOperator.GATHER, [held, place], shape, GatherOptionsT())
    return [left, item]


def stack(lowering: Lowering, node: Node) -> LiteTensor:
    """The tensor itself."""
    held = _list(lowering, node)
    if isinstance(held, ReservedList):
        raise UnsupportedError("the shape of the list's elements must be known")
    return held


def concat(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """RESHAPE that makes one axis of the first two; and the elements' first sizes, which are all alike."""
    held = stack(lowering, node)
    if held.shape is None or len(held.shape) < 2 or not is_known(held.shape):
        raise UnsupportedError("the length of the list and the shape of its elements must be known")
    count, first, *others = held.shape
    joined = reshaped(lowering, node, held, (count * first, *others))
    assert joined is not None
    return [joined, lowering.constant(lowering.name(node, "/lengths"), np.full(count, first, np.int64))]


def length(lowering: Lowering, node: Node) -> LiteTensor:
    """The first size."""
    return _length(lowering, node, _list(lowering, node))


def _length(lowering: Lowering, node: Node, held: LiteTensor) -> LiteTensor:
    from .shape import shape_of

    if isinstance(held, ReservedList):
        return as_int32(lowering, node, held.count)
    if held.shape is not None and held.shape[0] != -1:
        return lowering.constant(lowering.name(node), np.array(held.shape[0], np.int32))
    sizes = shape_of(lowering, node, held, TensorType.INT32)
    first = lowering.constant(lowering.name(node, "/first"), np.zeros((), np.int32))
    return lowering.operator(node, BuiltinOperator.GATHER, [sizes, first], (), GatherOptionsT())


def resize(lowering: Lowering, node: Node) -> LiteTensor:
    """The first elements, with zeros behind them where there are too few."""
    held, size = stack(lowering, node), lowering.input(node, 1)
    shape, known = held.shape, size.known()
    if shape is None or not is_known(shape[1:]):
        raise UnsupportedError("the shape of the list's elements must be known")
    elements = shape[1:]
    count = -1 if known is None else known[0]
    if count == -1 or shape[0] == -1:
        zero = lowering.constant(lowering.name(node, "/none"), np.array(0, np.int32))
        missing = binary(lowering, node, BuiltinOperator.SUB, size, length(lowering, node))
        more = binary(lowering, node, BuiltinOperator.MAXIMUM, missing, zero)
        zeros = _zeros(lowering, node, (-1, *elements), more, held.type)
        held = _concatenated(lowering, node, [held, zeros], (-1, *elements))
    elif count == shape[0]:
        return held
    elif count > shape[0]:
        more = lowering.constant(lowering.name(node, "/more"), np.array(count - shape[0], np.int32))
        zeros = _zeros(lowering, node, (count - shape[0], *elements), more, held.type)
        return _concatenated(lowering, node, [held, zeros], (count, *elements))
    none, one = (lowering.integers(lowering.name(node, f"/{n}"), [n]) for n in (0, 1))
    inputs = [held, none, _vector(lowering, node, as_int32(lowering, node, size)), one]
    options = StridedSliceOptionsT(begin_mask=1)
    return lowering.operator(node, BuiltinOperator.STRIDED_SLICE, inputs, (count, *elements), options)


def _row(lowering: Lowering, node: Node, item: LiteTensor) -> LiteTensor:
    """The element with an axis of 1 before its own."""
    if item.shape is None:
        raise UnsupportedError("the rank of the list's elements must be known")
    made = reshaped(lowering, node, item, (1, *item.shape))
    if made is not None:
        return made
    axis = lowering.constant(lowering.name(node, "/axis"), np.zeros((), np.int32))
    return lowering.operator(node, BuiltinOperator.EXPAND_DIMS, [item, axis], (1, *item.shape))


def _vector(lowering: Lowering, node: Node, scalar: LiteTensor) -> LiteTensor:
    if scalar.shape not in ((), None):
        raise ModelError(f"the count must be a scalar, got {scalar!r}")
    one = lowering.integers(lowering.name(node, "/one"), [1])
    options = ReshapeOptionsT(new_shape=[1])
    return lowering.operator(node, BuiltinOperator.RESHAPE, [scalar, one], (1,), options)


def _concatenated(
    lowering: Lowering, node: Node, parts: Sequence[LiteTensor], shape: PartialShape
) -> LiteTensor:
    return lowering.operator(node, BuiltinOperator.CONCATENATION, parts, shape, ConcatenationOptionsT())


REGISTRATIONS: dict[str, Rule] = {
    "EmptyTensorList": empty,
    "TensorListConcat": concat,
    "TensorListConcatV2": concat,
    "TensorListFromTensor": from_tensor,
    "TensorListGather": gather,
    "TensorListGetItem": get_item,
    "TensorListLength": length,
    "TensorListPopBack": pop_back,
    "TensorListPushBack": push_back,
    "TensorListReserve": reserve,
    "TensorListResize": resize,
    "TensorListSetItem": set_item,
    "TensorListStack": stack,
}
