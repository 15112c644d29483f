"""What a shape function sees of a node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...lite.errors import ModelError
from ..ir.attribute_access import AttributeAccess
from ..ir.attributes import Attribute
from ..ir.signature import registered
from ..ir.types import ElementType, TensorType
from .dimensions import ANY, PartialShape, Symbol, both, merged, number_of, shape_text

# Stands for an element of an integer value that is not known. A size with a symbol lies so far above as
# the symbol's number below 0.
UNKNOWN = int(np.iinfo(np.int64).min)
_MOST_SYMBOLS = 1 << 32
# Shapes and axes are small; the values of larger tensors are no one's shape.
MOST_ELEMENTS = 1 << 12


def unknown_places(value: np.ndarray) -> np.ndarray:
    """Where integers are not known, with a symbol or without."""
    return value < UNKNOWN + _MOST_SYMBOLS


def is_open(value: np.ndarray | None) -> bool:
    """Whether not all elements of a value are known."""
    return value is None or (value.dtype == np.int64 and bool(unknown_places(value).any()))


def element_of_size(size: int) -> int:
    """The size as an element of an integer value."""
    if size != ANY:
        return size
    return UNKNOWN if number_of(size) == ANY else UNKNOWN - number_of(size)


def size_of_element(element: int) -> int | None:
    """The integer, a Symbol, or None for one not known."""
    if element == UNKNOWN:
        return None
    return element if element >= UNKNOWN + _MOST_SYMBOLS else Symbol(UNKNOWN - element)


@dataclass
class Demands:
    """What an op asks of its inputs' shapes: true wherever the op runs, though not known beforehand.

    shapes are inputs of unknown rank with the shape, or the other such input, that each must be as; sizes are
    pairs that must be equal.
    """

    shapes: list[tuple[int, int | tuple[int, ...]]] = field(default_factory=list)
    sizes: list[tuple[int, int]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.shapes or self.sizes)


class ShapeContext(AttributeAccess):
    """An op's attributes, with its defaults, and what is known of its data inputs.

    inputs and elements are their shapes and element types, lists one after another. values are their
    elements where known (int64 with UNKNOWN among them, float64 or bool), None where not. held are the
    tensors that a resource or variant refers to. given are the types that the results have so far.
    demands is what the op asks of its inputs beyond what is known; unknown makes the sizes of those.
    """

    __slots__ = (
        *("attributes", "demands", "elements", "given", "held", "inputs", "op", "unknown", "values"),
    )

    def __init__(
        self,
        op: str,
        attributes: Mapping[str, Attribute],
        inputs: Sequence[TensorType],
        values: Sequence[np.ndarray | None] = (),
        given: Sequence[TensorType] = (),
        unknown: Callable[[], int] = lambda: ANY,
    ) -> None:
        self.op = op
        self.demands = Demands()
        self.unknown = unknown
        signature = registered(op)
        defaults = signature.defaults if signature else {}
        self.attributes = {**defaults, **attributes}
        self.inputs: list[PartialShape] = [type.shape for type in inputs]
        self.elements = [_element(type) for type in inputs]
        self.held = [element.subtypes for element in self.elements]
        self.values = [*values, *[None] * (len(inputs) - len(values))]
        self.given = list(given)

    def __len__(self) -> int:
        return len(self.inputs)

    def fault(self, message: str) -> ModelError:
        return ModelError(f"{self.op}: {message}")

    def shape_of(self, index: int) -> PartialShape:
        """An input's shape; ModelError when there is no such input."""
        if index >= len(self.inputs):
            raise self.fault(f"input {index} is missing, got {len(self.inputs)} inputs")
        return self.inputs[index]

    def ranked(self, index: int, rank: int) -> tuple[int, ...]:
        """An input's shape, which must be of the rank; all unknown when it is."""
        shape = self.shape_of(index)
        if shape is None:
            shape = tuple(self.unknown() for _ in range(rank))
            self.demands.shapes.append((index, shape))
            return shape
        if len(shape) != rank:
            raise self.fault(f"input {index} must have rank {rank}, got {shape_text(shape)}")
        return shape

    def at_least(self, index: int, rank: int) -> PartialShape:
        """An input's shape, which must not be of a lower rank."""
        shape = self.shape_of(index)
        if shape is not None and len(shape) < rank:
            raise self.fault(f"input {index} must have rank {rank} or more, got {shape_text(shape)}")
        return shape

    def merged(self, *shapes: PartialShape) -> PartialShape:
        """The shape that is all of them."""
        found: PartialShape = None
        for shape in shapes:
            before, found = found, merged(found, shape)
            if before is not None and shape is not None:
                self.demands.sizes += zip(before, shape, strict=True)
        return found

    def alike(self, *indices: int) -> PartialShape:
        """The shape that all these inputs have."""
        first, *others = indices
        found = self.shape_of(first)
        for index in others:
            shape = self.shape_of(index)
            if found is None:
                self.demands.shapes.append((first, index if shape is None else shape))
            elif shape is None:
                self.demands.shapes.append((index, found))
            found = self.merged(found, shape)
        return found

    def same(self, one: int, other: int, what: str = "sizes") -> int:
        """The size that is both; ModelError, which says what it is a size of, when there is none."""
        found = both(one, other)
        if found is None:
            raise self.fault(f"{what} must be equal, got {one} and {other}")
        self.demands.sizes.append((one, other))
        return found

    def numbers(self, index: int) -> list[int | None] | None:
        """An input's integers, None for one not known; None when not even their count is known."""
        value = self.values[index] if index < len(self.values) else None
        if value is not None and value.dtype == np.int64 and value.ndim <= 1:
            unknown = unknown_places(value).reshape(-1)
            return [
                None if hidden else int(number) for number, hidden in zip(value.flat, unknown, strict=True)
            ]
        shape = self.shape_of(index)
        if shape is not None and len(shape) == 1 and 0 <= shape[0] <= MOST_ELEMENTS:
            return [None] * shape[0]
        return None

    def sizes(self, index: int) -> list[int | None] | None:
        """As numbers, with a Symbol for a size that is not known but has one."""
        value = self.values[index] if index < len(self.values) else None
        if value is not None and value.dtype == np.int64 and value.ndim <= 1:
            return [size_of_element(int(number)) for number in value.flat]
        return self.numbers(index)

    def known_numbers(self, index: int) -> list[int] | None:
        """An input's integers when all are known."""
        numbers = self.numbers(index)
        if numbers is None or None in numbers:
            return None
        return [number for number in numbers if number is not None]

    def number(self, index: int) -> int | None:
        """The integer that an input is, if it is known and one."""
        value = self.values[index] if index < len(self.values) else None
        if value is None or value.size != 1 or value.dtype != np.int64:
            return None
        number = int(value.reshape(-1)[0])
        return None if number < UNKNOWN + _MOST_SYMBOLS else number

    def value(self, index: int) -> np.ndarray | None:
        """An input's elements when all are known."""
        value = self.values[index] if index < len(self.values) else None
        if value is None or (value.dtype == np.int64 and unknown_places(value).any()):
            return None
        return value


def _element(type: TensorType) -> ElementType:
    return type.element if isinstance(type.element, ElementType) else ElementType("variant")


Results = Sequence[PartialShape]
# Shapes of all results. ValueError and ModelError say that the inputs do not fit.
ShapeFunction = Callable[[ShapeContext], Results]


def axis_of(c: ShapeContext, axis: int, rank: int) -> int:
    """The axis counted from the front; ModelError when there is none such."""
    if not -rank <= axis < rank:
        raise c.fault(f"axis must be in [{-rank}, {rank}), got {axis}")
    return axis % rank


def axes_of(c: ShapeContext, axes: Iterable[int], rank: int) -> set[int]:
    return {axis_of(c, axis, rank) for axis in axes}
