"""Constants as arrays and back."""

from __future__ import annotations

import math

import numpy as np

from ....kernels.fallback.tensor_proto import array_of
from ....lite.errors import ModelError, UnsupportedError
from ...ir.attributes import DenseAttr
from ...ir.dense import FORMS, dense_attr, element_name, tensor_proto
from ...ir.node import Node, Value
from ...ir.types import ElementType, TensorType

# Larger constants are not made (bytes), unless they are no larger than those that they are made of.
MOST_BYTES = 100 * 1024
# Larger ones are not computed with.
MOST_OPERAND_BYTES = 64 << 20


def constant_of(value: Value) -> DenseAttr | None:
    """The constant that a value is, None when it is none."""
    if not isinstance(value.owner, Node) or value.owner.op != "Const":
        return None
    held = value.owner.attributes.get("value")
    return held if isinstance(held, DenseAttr) else None


def array_of_constant(dense: DenseAttr, most_bytes: int = MOST_BYTES) -> np.ndarray | None:
    """The elements; None for a constant that is too large or of a type without a form in NumPy."""
    if element_name(dense) in FORMS and dense.count * FORMS[element_name(dense)][0].itemsize > most_bytes:
        return None
    if dense.count > most_bytes:
        return None
    try:
        return array_of(tensor_proto(dense))
    except (ModelError, UnsupportedError):
        return None


def known_array(value: Value, most_bytes: int = MOST_BYTES) -> np.ndarray | None:
    """The elements of a value that is a constant of at most so many bytes."""
    dense = constant_of(value)
    return None if dense is None else array_of_constant(dense, most_bytes)


def known_integers(value: Value) -> list[int] | None:
    """The elements of a constant scalar or vector of integers."""
    array = known_array(value)
    if array is None or array.dtype.kind not in "iu" or array.ndim > 1:
        return None
    return [int(number) for number in array.reshape(-1)]


def constant_of_array(
    array: np.ndarray, element: ElementType, most_bytes: int = MOST_BYTES
) -> DenseAttr | None:
    """A constant of the elements; None for one that is too large or of a type without a dense form."""
    type = TensorType(element, array.shape)
    if element.name == "string" and array.dtype == object:
        strings = tuple(array.reshape(-1).tolist())
        if not all(isinstance(item, bytes) for item in strings) or sum(map(len, strings)) > most_bytes:
            return None
        return dense_attr(type, strings)
    if element.name not in FORMS or array.nbytes > most_bytes or array.dtype == object:
        return None
    form = FORMS[element.name][0]
    if array.dtype.itemsize != form.itemsize:
        return None
    ordered = np.ascontiguousarray(array)
    if ordered.dtype.kind not in "biufc":
        # A type that NumPy has from elsewhere (bfloat16): its bits.
        ordered = ordered.view(form)
    return dense_attr(type, ordered.astype(form, copy=False).tobytes())


def splat(number: float, type: TensorType) -> DenseAttr | None:
    """A constant of one number; it takes no more room for being large."""
    if not isinstance(type.element, ElementType) or type.element.name not in FORMS or type.shape is None:
        return None
    if -1 in type.shape or type.element.name == "bf16":
        return None
    if math.prod(type.shape) == 0:
        return DenseAttr(type, b"")
    return DenseAttr(type, np.array(number).astype(FORMS[type.element.name][0]).tobytes())
