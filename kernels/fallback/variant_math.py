"""AddN and ZerosLike of variants, which the gradients of loops are made of."""

from __future__ import annotations

from functools import reduce

import numpy as np

from ...schema.graph_def import DT_VARIANT
from .dtypes import numpy_dtype
from .kernel import zeros
from .partial_shape import merged
from .registry import kernel
from .status import InvalidArgumentError, UnimplementedError
from .tensor_list import TensorList
from .variable import handle_of


def add_n(inputs: list[np.ndarray]) -> np.ndarray:
    """The sum of lists of one length, element by element; elements that were never set are zeros.

    Source: TensorFlow tensorflow/core/kernels/tensor_list.h, TensorListBinaryAdd.
    """
    return reduce(_added, inputs)


def _added(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    a, b = _content("AddN", x), _content("AddN", y)
    if not isinstance(a, TensorList) or not isinstance(b, TensorList):
        kinds = f"{type(a).__name__} and {type(b).__name__}"
        raise UnimplementedError(f"AddN: variants must hold lists, got {kinds}")
    if a.data_type != b.data_type or len(a.elements) != len(b.elements):
        sizes = f"{len(a.elements)} and {len(b.elements)}"
        raise InvalidArgumentError(f"AddN: lists must be of one type and length, got {sizes} elements")
    shape = merged("AddN", a.element_shape, b.element_shape)
    pairs = zip(a.elements, b.elements, strict=True)
    elements = tuple(_sum(a.data_type, one, other) for one, other in pairs)
    return handle_of(TensorList(a.data_type, shape, elements))


def _sum(data_type: int, a: np.ndarray | None, b: np.ndarray | None) -> np.ndarray | None:
    if a is None or b is None:
        return b if a is None else a
    if data_type == DT_VARIANT:
        return _added(a, b)
    if a.shape != b.shape:
        message = f"elements must have one shape, got {list(a.shape)} and {list(b.shape)}"
        raise InvalidArgumentError(f"AddN: {message}")
    return np.asarray(a + b)


def zeros_like(x: np.ndarray) -> np.ndarray:
    """A list with zeros for the elements that are set."""
    tensors = _content("ZerosLike", x)
    if not isinstance(tensors, TensorList):
        raise UnimplementedError(f"ZerosLike: a variant must hold a list, got {type(tensors).__name__}")
    return handle_of(tensors.with_elements(_zero(tensors.data_type, element) for element in tensors.elements))


def _zero(data_type: int, element: np.ndarray | None) -> np.ndarray | None:
    if element is None:
        return None
    return zeros_like(element) if data_type == DT_VARIANT else zeros(element.shape, numpy_dtype(data_type))


def _content(op: str, variant: np.ndarray) -> object:
    if variant.shape != ():
        raise InvalidArgumentError(f"{op}: a variant must be a scalar, got {list(variant.shape)}")
    content: object = variant[()]
    return content


REGISTRATIONS = (
    kernel("AddN", add_n, T=(DT_VARIANT,)),
    kernel("ZerosLike", zeros_like, T=(DT_VARIANT,)),
)
