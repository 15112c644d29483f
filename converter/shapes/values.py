"""Elements of small tensors, as far as they follow from constants and shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..ir.attributes import DenseAttr
from ..ir.dense import FORMS, array_of_elements, element_name
from ..ir.types import ElementType
from .context import MOST_ELEMENTS, UNKNOWN, ShapeContext, element_of_size, unknown_places
from .dimensions import ANY, PartialShape, is_known, number_of, product
from .slice import specs_of

Values = Sequence[np.ndarray | None]
_INTEGERS = frozenset(("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"))
_REALS = frozenset(("f16", "f32", "f64"))


def constant_value(value: DenseAttr) -> np.ndarray | None:
    """Elements as int64, float64 or bool; None for other types and for large tensors."""
    shape = value.type.shape
    if shape is None or isinstance(value.elements, tuple) or not 0 <= value.count <= MOST_ELEMENTS:
        return None
    name = element_name(value)
    if name not in FORMS or name not in _INTEGERS | _REALS | {"i1"}:
        return None
    elements = array_of_elements(value)
    kind = np.int64 if name in _INTEGERS else np.float64 if name in _REALS else np.bool_
    return np.broadcast_to(elements, value.count).astype(kind).reshape(shape)


def known_values(c: ShapeContext, results: Sequence[PartialShape]) -> Values:
    """Elements of the results; None for those of which nothing is known."""
    function = _FUNCTIONS.get(c.op)
    return [None] * len(results) if function is None else function(c, results)


def _const(c: ShapeContext, results: Sequence[PartialShape]) -> Values:
    value = c.attributes.get("value")
    return [constant_value(value) if isinstance(value, DenseAttr) else None]


def _same(c: ShapeContext, results: Sequence[PartialShape]) -> Values:
    # Not IdentityN of several, as in TensorFlow.
    return [c.values[0]] if len(c) == 1 else [None] * len(results)


def _sizes(shape: PartialShape) -> np.ndarray | None:
    if shape is None:
        return None
    return np.array([element_of_size(size) for size in shape], np.int64)


def _shape(c: ShapeContext, results: Sequence[PartialShape]) -> Values:
    return [_sizes(shape) for shape in c.inputs[: len(results)]]


def _rank(c: ShapeContext, results: Sequence[PartialShape]) -> Values:
    shape = c.shape_of(0)
    return [None if shape is None else np.array(len(shape), np.int64)]


def _size(c: ShapeContext, results: Sequence[PartialShape]) -> Values:
    shape = c.shape_of(0)
    size = product(shape)
    return [None if shape is None or size == ANY == number_of(size) else np.array(element_of_size(size))]


def _integer(value: np.ndarray | None, shape: PartialShape) -> np.ndarray | None:
    """Integers, or as many unknown ones as the shape has."""
    if value is not None:
        return value if value.dtype == np.int64 else None
    if is_known(shape) and 0 <= product(shape) <= MOST_ELEMENTS:
        assert shape is not None
        return np.full(shape, UNKNOWN)
    return None


def _all_integers(c: ShapeContext, places: Sequence[int]) -> list[np.ndarray] | None:
    found = [_integer(c.values[i], c.inputs[i]) for i in places]
    known = [value for value in found if value is not None]
    return known if known and len(known) == len(found) else None


def _pack(c: ShapeContext, results: Sequence[PartialShape]) -> Values:
    values = _all_integers(c, range(len(c)))
    if values is None or any(value.shape != () for value in values):
        return [None]
    return [np.stack(values)]


def _concat(c: ShapeContext, results: Sequence[PartialShape]) -> Values:
    values = _all_integers(c, range(len(c) - 1))
    if values is None or any(value.ndim != 1 for value in values) or sum(map(len, values)) > MOST_ELEMENTS:
        return [None]
    return [np.concatenate(values)]


def _slice(c: ShapeContext, results: Sequence[PartialShape]) -> Values:
    value, begin, size = c.values[0], c.number(1), c.number(2)
    if value is None or value.ndim != 1 or begin is None or size is None:
        return [None]
    return [value[begin:] if size == -1 else value[begin : begin + size]]


def _strided_slice(c: ShapeContext, results: Sequence[PartialShape]) -> Values:
    value, specs = c.values[0], specs_of(c, 1)
    if value is None or value.ndim != 1 or specs is None or len(specs) != 1:
        return [None]
    spec = specs[0]
    if spec.ellipsis or spec.new_axis or not spec.stride:
        return [None]
    if spec.shrinks:
        return [None if spec.begin is None else np.array(value[spec.begin])]
    begin = None if spec.begin_masked else spec.begin
    end = None if spec.end_masked else spec.end
    if (begin is None and not spec.begin_masked) or (end is None and not spec.end_masked):
        return [None]
    return [value[begin : end : spec.stride]]


def _cast(c: ShapeContext, results: Sequence[PartialShape]) -> Values:
    value, target = c.values[0], c.attributes.get("DstT")
    if value is None or not isinstance(target, ElementType) or target.name not in ("i32", "i64"):
        return [None]
    if value.dtype == np.float64 and not np.isfinite(value).all():
        return [None]
    return [value.astype(np.int64)]


def _binary(compute: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[..., Values]:
    def function(c: ShapeContext, results: Sequence[PartialShape]) -> Values:
        values = _all_integers(c, range(2))
        if values is None:
            return [None]
        a, b = values
        unknown = unknown_places(a) | unknown_places(b)
        if compute in (np.floor_divide, np.mod):
            unknown = unknown | (b == 0)
        safe = np.where(unknown, 1, a), np.where(unknown, 1, b)
        found = np.where(unknown, UNKNOWN, compute(*safe))
        return [found if found.size <= MOST_ELEMENTS else None]

    return function


def _prod(c: ShapeContext, results: Sequence[PartialShape]) -> Values:
    value = c.value(0)
    if value is None or value.dtype != np.int64 or results[0] not in ((), (1,)):
        return [None]
    return [value.prod().reshape(results[0])]


def _gather(c: ShapeContext, results: Sequence[PartialShape]) -> Values:
    value, indices = _integer(c.values[0], c.inputs[0]), c.value(1)
    if value is None or value.ndim != 1 or indices is None or indices.dtype != np.int64:
        return [None]
    if ((indices < 0) | (indices >= len(value))).any():
        return [None]
    return [np.asarray(value[indices])]


def _reshaped(c: ShapeContext, results: Sequence[PartialShape]) -> Values:
    value, shape = c.values[0], results[0]
    if value is None or shape is None or not is_known(shape) or product(shape) != value.size:
        return [None]
    return [value.reshape(shape)]


def _fill(c: ShapeContext, results: Sequence[PartialShape]) -> Values:
    value, shape = c.values[1], results[0]
    if value is None or value.size != 1 or shape is None or not 0 <= product(shape) <= MOST_ELEMENTS:
        return [None]
    return [np.broadcast_to(value.reshape(()), shape)]


def _range(c: ShapeContext, results: Sequence[PartialShape]) -> Values:
    values = [c.number(i) for i in range(3)]
    shape = results[0]
    if shape is None or not 0 <= product(shape) <= MOST_ELEMENTS or None in values:
        return [None]
    start, limit, delta = (int(value or 0) for value in values)
    return [np.arange(start, limit, delta, dtype=np.int64)]


_FUNCTIONS: dict[str, Callable[[ShapeContext, Sequence[PartialShape]], Values]] = {
    "Const": _const,
    **dict.fromkeys(("Identity", "IdentityN", "StopGradient", "Snapshot", "PreventGradient", "Enter"), _same),
    **dict.fromkeys(("Shape", "ShapeN"), _shape),
    "Rank": _rank,
    "Size": _size,
    "Pack": _pack,
    "ConcatV2": _concat,
    "Slice": _slice,
    "StridedSlice": _strided_slice,
    "Cast": _cast,
    **dict.fromkeys(("Add", "AddV2"), _binary(np.add)),
    "Sub": _binary(np.subtract),
    "Mul": _binary(np.multiply),
    "FloorDiv": _binary(np.floor_divide),
    "FloorMod": _binary(np.mod),
    "Maximum": _binary(np.maximum),
    "Minimum": _binary(np.minimum),
    "Prod": _prod,
    "GatherV2": _gather,
    **dict.fromkeys(("Reshape", "ExpandDims", "Squeeze"), _reshaped),
    "Fill": _fill,
    "Range": _range,
}
