"""Step: an operation as the rule of its name sees it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ..building.body import Body
from ..building.tensor import Tensor
from ..ir.attributes import Attribute as GraphAttribute
from .held import Held
from .program import ArrayType, Attribute, Block, Dense, Name, Operation

if TYPE_CHECKING:
    from .graph_import import Importer

# Numbers of an attribute that is read whole.
_MOST_NUMBERS = 1 << 16
Result = Held | Tensor | Sequence[Held | Tensor]
Rule = Callable[["Step"], Result]


class Step:
    """An operation with its operands. Each method raises ModelError when the operation has no such part."""

    def __init__(self, importer: Importer, operation: Operation, operands: Sequence[Held]) -> None:
        self.importer = importer
        self.body: Body = importer.body
        self.operation = operation
        self.operands = operands

    @property
    def keeps_nan(self) -> bool:
        """Whether extremes of numbers and NaN are to be NaN."""
        return self.importer.shared.keep_nan

    def held(self, place: int) -> Held:
        """An operand, as it is."""
        if place >= len(self.operands):
            raise ModelError(f"operand {place} must be there, got {len(self.operands)}")
        return self.operands[place]

    def input(self, place: int) -> Tensor:
        """An operand with all its elements."""
        return self.held(place).whole

    def inputs(self) -> list[Tensor]:
        """All operands with all their elements."""
        return [each.whole for each in self.operands]

    def result_type(self, place: int = 0) -> ArrayType:
        """The type of a result; UnsupportedError where it is no tensor."""
        results = self.operation.results
        if place >= len(results):
            raise ModelError(f"result {place} must be there, got {len(results)}")
        type = results[place].type
        if not isinstance(type, ArrayType):
            raise UnsupportedError(f"results of type {type}")
        return type

    @property
    def shape(self) -> tuple[int, ...]:
        """The first result's shape, -1 where a size is not known."""
        return self.result_type().shape

    def region(self, place: int) -> Block:
        """A computation that belongs to the operation."""
        if place >= len(self.operation.regions):
            raise ModelError(f"region {place} must be there, got {len(self.operation.regions)}")
        return self.operation.regions[place]

    def has(self, name: str) -> bool:
        return self.operation.attributes.get(name) is not None

    def integer(self, name: str) -> int:
        found = self._found(name)
        if isinstance(found, bool) or not isinstance(found, int):
            raise ModelError(f"attribute {name!r} must be an integer, got {found!r}")
        return found

    def flag(self, name: str) -> bool:
        """A truth value, false where it is left out."""
        found = self.operation.attributes.get(name)
        return bool(found) if isinstance(found, bool | int) else False

    def real(self, name: str) -> float:
        found = self._found(name)
        if not isinstance(found, int | float):
            raise ModelError(f"attribute {name!r} must be a number, got {found!r}")
        return float(found)

    def text(self, name: str) -> str:
        found = self._found(name)
        if isinstance(found, Name):
            return found.text
        if not isinstance(found, str):
            raise ModelError(f"attribute {name!r} must be a text, got {found!r}")
        return found

    def integers(self, name: str) -> list[int]:
        """A list of integers, which is stored as a constant."""
        return [int(each) for each in self.array(name).reshape(-1)]

    def array(self, name: str) -> np.ndarray:
        """A constant among the attributes."""
        found = self._found(name)
        if isinstance(found, Dense):
            if math.prod(found.type.shape) > _MOST_NUMBERS:
                raise ModelError(f"attribute {name!r} must be a few numbers for each axis, got {found.type}")
            return found.array()
        if isinstance(found, list):
            numbers = [each for each in found if isinstance(each, int)]
            if len(numbers) == len(found):
                return np.array(numbers, np.int64)
        raise ModelError(f"attribute {name!r} must be numbers, got {found!r}")

    def axes(self, name: str, rank: int) -> list[int]:
        """A list of different axes of so many; an empty one where the attribute is left out."""
        axes = self.integers(name) if self.has(name) else []
        if len(set(axes)) != len(axes) or any(not 0 <= axis < rank for axis in axes):
            raise ModelError(f"attribute {name!r} must name different axes of {rank}, got {axes}")
        return axes

    def axis(self, name: str, rank: int) -> int:
        """An axis of so many."""
        axis = self.integer(name)
        if not 0 <= axis < rank:
            raise ModelError(f"attribute {name!r} must be one of {rank} axes, got {axis}")
        return axis

    def for_each(self, name: str, rank: int, default: int, least: int = 1) -> list[int]:
        """A number for each axis, the default where the attribute is left out or empty."""
        numbers = self.integers(name) if self.has(name) else []
        if not numbers:
            return [default] * rank
        if len(numbers) != rank or min(numbers) < least:
            raise ModelError(f"attribute {name!r} must be {rank} numbers from {least} on, got {numbers}")
        return numbers

    def pairs(self, name: str, rank: int) -> list[tuple[int, int]]:
        """Two numbers for each axis, zeros where the attribute is left out or empty."""
        numbers = self.integers(name) if self.has(name) else []
        if not numbers:
            return [(0, 0)] * rank
        if len(numbers) != 2 * rank:
            raise ModelError(f"attribute {name!r} must be {rank} pairs, got {numbers}")
        return [(numbers[2 * i], numbers[2 * i + 1]) for i in range(rank)]

    def _found(self, name: str) -> Attribute:
        found = self.operation.attributes.get(name)
        if found is None:
            raise ModelError(f"attribute {name!r} is missing")
        return found

    def make(self, op: str, *inputs: Tensor, **attributes: GraphAttribute | str | Sequence[int]) -> Tensor:
        """The first result of a TensorFlow op. See Body.ops."""
        return self.body.op(op, *inputs, **attributes)
