"""Lists of tensors as VARIANT tensors hold them: read, given, and checked against what operators say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError, UnsupportedError
from ..lite.node import Node
from ..lite.tensor import NUMPY_DTYPES, AllocationType, Shape, Tensor, TensorType
from .index_vector import check_index_type, integers


@dataclass(frozen=True)
class TensorList:
    """What a VARIANT tensor holds; an operator that changes a list makes another one.

    elements are arrays of the type, which nothing writes to, by their place in the list; a place
    without one was never set. element_shape has -1 where a size is open; () stands, as in
    TFLite, for scalars and for elements of any shape.
    """

    type: int
    element_shape: Shape
    length: int
    elements: Mapping[int, np.ndarray]

    def shape_of_set(self) -> Shape | None:
        """The one shape that all set elements have, None when none is set; InvokeError when they differ."""
        shapes = {element.shape for element in self.elements.values()}
        if len(shapes) > 1:
            raise InvokeError(f"the list's elements must have one shape, got {sorted(shapes)}")
        return next(iter(shapes), None)

    def resized(self, length: int) -> TensorList:
        kept = {at: element for at, element in self.elements.items() if at < length}
        return TensorList(self.type, self.element_shape, length, kept)

    def with_element(self, at: int, element: np.ndarray) -> TensorList:
        """The list with another element, longer when that lies behind its end."""
        elements = {**self.elements, at: element}
        return TensorList(self.type, self.element_shape, max(self.length, at + 1), elements)


def merged(a: Shape, b: Shape) -> Shape:
    """The shape that fits both, where -1 is any size and () any shape; InvokeError when there is none.

    Source: LiteRT tflite/kernels/variants/list_ops_util.cc, MergeShapesOrNull.
    """
    if not a or not b:
        return a or b
    if len(a) != len(b) or any(n != m and -1 not in (n, m) for n, m in zip(a, b, strict=True)):
        raise InvokeError(f"element shapes must fit one another, got {list(a)} and {list(b)}")
    return tuple(max(n, m) for n, m in zip(a, b, strict=True))


def held_list(x: Tensor) -> TensorList:
    """The list that a VARIANT tensor holds."""
    held = x.data[0] if x.data is not None and x.data.dtype == object and len(x.data) == 1 else None
    if not isinstance(held, TensorList):
        raise InvokeError(f"tensor {x!r}: it must hold a list, and nothing gave it one")
    return held


def give_list(y: Tensor, value: TensorList) -> None:
    held = np.empty(1, object)
    held[0] = value
    y.bind(held)


def check_list(node: Node, x: Tensor) -> None:
    if x.type != TensorType.VARIANT:
        raise PrepareError(f"{node.registration.name}: a list must be of type variant, got {x!r}")


def list_output(context: Context, node: Node) -> None:
    y = context.output(node, 0)
    check_list(node, y)
    y.allocation_type = AllocationType.VARIANT_OBJECT


def told_shape(tensor: Tensor) -> Shape:
    """The element shape that a tensor tells: a vector; any scalar stands for any shape."""
    shape = tuple(integers(tensor)) if tensor.shape else ()
    if any(n < -1 for n in shape):
        raise InvokeError(f"element shapes must have sizes of at least -1, got {list(shape)}")
    return shape


def check_told_shape(node: Node, tensor: Tensor) -> None:
    check_index_type(node.registration.name, "element shape", tensor)
    if len(tensor.shape) > 1:
        raise PrepareError(f"{node.registration.name}: element shape must be a vector, got {tensor!r}")


def copy_of(x: Tensor) -> np.ndarray:
    return np.zeros(x.shape, x.dtype) if x.size == 0 else x.array().copy()


def check_element(node: Node, element: Tensor) -> None:
    if element.type not in NUMPY_DTYPES:
        raise UnsupportedError(
            f"{node.registration.name}: elements of the types that NumPy has are built, got {element!r}"
        )


def check_type(held: TensorList, x: Tensor) -> None:
    if held.type != x.type:
        raise InvokeError(f"the list's elements are {TensorType(held.type).name.lower()}, got {x!r}")
