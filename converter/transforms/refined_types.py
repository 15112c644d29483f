"""Types made more precise by what else is known of a value."""

from __future__ import annotations

from ..ir.attributes import Attribute, ShapeAttr
from ..ir.types import ElementType, TensorType, Type

Shape = tuple[int, ...] | None


def merged_shape(one: Shape, other: Shape) -> Shape:
    """The shape that is both; the first where they contradict each other."""
    if other is None or one is None:
        return other if one is None else one
    if len(one) != len(other):
        return one
    if any(a >= 0 and b >= 0 and a != b for a, b in zip(one, other, strict=True)):
        return one
    return tuple(max(a, b) for a, b in zip(one, other, strict=True))


def reshaped_type(type: Type, shape: ShapeAttr) -> Type:
    """The type of a value that has the shape, too; unchanged for another shape and for opaque types."""
    if not isinstance(type, TensorType) or shape.sizes is None:
        return type
    sizes = tuple(-1 if size is None or size < 0 else size for size in shape.sizes)
    merged = merged_shape(type.shape, sizes)
    return type if merged == type.shape else TensorType(type.element, merged)


def shape_of(type: Type) -> ShapeAttr:
    """The type's shape as an attribute."""
    if not isinstance(type, TensorType) or type.shape is None:
        return ShapeAttr(None)
    return ShapeAttr(tuple(None if size < 0 else size for size in type.shape))


def listed_shapes(attribute: Attribute | None, count: int) -> list[ShapeAttr] | None:
    """The shapes in the attribute, None when it is not a list of that many shapes."""
    if not isinstance(attribute, tuple) or len(attribute) != count:
        return None
    shapes = [item for item in attribute if isinstance(item, ShapeAttr)]
    return shapes if len(shapes) == count else None


def element_of(type: Type) -> Type:
    """The element type without subtypes; for an opaque type, itself."""
    if not isinstance(type, TensorType):
        return type
    if isinstance(type.element, ElementType) and type.element.subtypes:
        return ElementType(type.element.name)
    return type.element


def with_subtypes(type: Type, subtypes: tuple[TensorType, ...]) -> Type:
    """The resource's or variant's type with the tensors that it holds."""
    if not isinstance(type, TensorType) or not isinstance(type.element, ElementType):
        return type
    return TensorType(ElementType(type.element.name, subtypes), type.shape)


def subtypes_of(type: Type) -> tuple[TensorType, ...]:
    if isinstance(type, TensorType) and isinstance(type.element, ElementType):
        return type.element.subtypes
    return ()
