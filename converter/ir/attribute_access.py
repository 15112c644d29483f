"""Reading of a node's attributes by kind, with errors that name what is missing or wrong."""

from __future__ import annotations

from typing import TypeVar

from ...lite.errors import ModelError
from .attributes import Attribute, Attributes, DenseAttr, FuncAttr, ShapeAttr, TensorProtoAttr
from .types import ElementType

_Kind = TypeVar("_Kind")


class AttributeAccess:
    """What has attributes. Each method raises ModelError when there is none of the kind."""

    __slots__ = ()

    attributes: Attributes

    def integer(self, name: str) -> int:
        return _of_kind(self.attributes, name, int, "a number")

    def integers(self, name: str) -> list[int]:
        return _listed(self.attributes, name, int, "numbers")

    def real(self, name: str) -> float:
        return _of_kind(self.attributes, name, float, "a real number")

    def reals(self, name: str) -> list[float]:
        return _listed(self.attributes, name, float, "real numbers")

    def flag(self, name: str) -> bool:
        return _of_kind(self.attributes, name, bool, "true or false")

    def text(self, name: str) -> str:
        """A string; bytes that are no UTF-8 are replaced."""
        return _of_kind(self.attributes, name, bytes, "a string").decode(errors="replace")

    def texts(self, name: str) -> list[str]:
        found = _listed(self.attributes, name, bytes, "strings")
        return [item.decode(errors="replace") for item in found]

    def type(self, name: str) -> int:
        """TensorFlow's number of a type."""
        return _of_kind(self.attributes, name, ElementType, "a type").number

    def types(self, name: str) -> list[int]:
        return [item.number for item in _listed(self.attributes, name, ElementType, "types")]

    def shape(self, name: str) -> tuple[int, ...] | None:
        """A shape: -1 where a size is not known, None where not even the rank is."""
        return _sizes(_of_kind(self.attributes, name, ShapeAttr, "a shape"))

    def shapes(self, name: str) -> list[tuple[int, ...] | None]:
        return [_sizes(item) for item in _listed(self.attributes, name, ShapeAttr, "shapes")]

    def tensor(self, name: str) -> DenseAttr | TensorProtoAttr:
        value = self.attributes.get(name)
        if isinstance(value, DenseAttr | TensorProtoAttr):
            return value
        raise _wrong(self.attributes, name, "a tensor")

    def function(self, name: str) -> FuncAttr:
        return _of_kind(self.attributes, name, FuncAttr, "a function")

    def functions(self, name: str) -> list[FuncAttr]:
        return _listed(self.attributes, name, FuncAttr, "functions")


def _of_kind(attributes: Attributes, name: str, kind: type[_Kind], what: str) -> _Kind:
    value = attributes.get(name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise _wrong(attributes, name, what)
    return value


def _listed(attributes: Attributes, name: str, kind: type[_Kind], what: str) -> list[_Kind]:
    values = attributes.get(name)
    if not isinstance(values, tuple):
        raise _wrong(attributes, name, f"a list of {what}")
    items: list[_Kind] = [value for value in values if isinstance(value, kind)]
    if len(items) != len(values):
        raise _wrong(attributes, name, f"a list of {what}")
    return items


def _wrong(attributes: Attributes, name: str, what: str) -> ModelError:
    if name not in attributes:
        return ModelError(f"attribute {name!r} is missing")
    return ModelError(f"attribute {name!r} must be {what}, got {_shown(attributes[name])}")


def _sizes(shape: ShapeAttr) -> tuple[int, ...] | None:
    if shape.sizes is None:
        return None
    return tuple(-1 if size is None or size < 0 else size for size in shape.sizes)


def _shown(value: Attribute) -> str:
    text = repr(value)
    return text if len(text) < 80 else f"{text[:77]}..."
