"""Tensor: a value of a graph that is being made, with all that is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...lite.errors import UnsupportedError
from ..ir.node import Value
from ..shapes.dimensions import PartialShape

if TYPE_CHECKING:
    from .body import Body


class Integers(NamedTuple):
    """Constant integers with their scales and zero points: scalars, or vectors along an axis (else -1)."""

    tensor: Tensor
    scales: np.ndarray
    zeros: np.ndarray
    axis: int

    def transposed(self, order: Sequence[int]) -> Integers:
        """The same with the axes in another order."""
        axis = self.axis if self.axis == -1 else list(order).index(self.axis)
        old = self.tensor
        assert old.data is not None
        data = np.ascontiguousarray(old.data.transpose(order))
        return self._replace(
            tensor=Tensor(old.body, old.type, data.shape, data=data, name=old.name), axis=axis
        )


class Tensor:
    """A value, or a constant that may become one.

    type is TensorFlow's number. data are the elements where they are known; numbers what is known of
    integers (see ShapeContext.values). Arithmetic adds nodes to the body; numbers become constants.
    """

    __slots__ = ("_value", "body", "data", "integers", "name", "numbers", "shape", "type")

    def __init__(
        self,
        body: Body,
        type: int,
        shape: PartialShape,
        value: Value | None = None,
        data: np.ndarray | None = None,
        numbers: np.ndarray | None = None,
        name: str = "",
    ) -> None:
        self.body = body
        self.type = type
        self.shape = shape
        self._value = value
        self.data = data
        self.numbers = numbers
        self.name = name
        # What constant floats were before they were made of integers.
        self.integers: Integers | None = None

    @property
    def value(self) -> Value:
        """The value; a constant's node is made when it is first asked for."""
        if self._value is None:
            self._value = self.body.constant_value(self)
        return self._value

    @property
    def made(self) -> Value | None:
        """The value, None of a constant that no node has asked for yet."""
        return self._value

    @property
    def rank(self) -> int:
        """How many axes it has; UnsupportedError where that is not known."""
        return len(self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Its shape, -1 where a size is not known; UnsupportedError where the rank is not known."""
        if self.shape is None:
            raise UnsupportedError("the rank of its input must be known")
        return self.shape

    @property
    def is_known(self) -> bool:
        """Whether all sizes are known."""
        return self.shape is not None and -1 not in self.shape

    def __add__(self, other: Tensor | float) -> Tensor:
        return self._with("AddV2", other)

    def __sub__(self, other: Tensor | float) -> Tensor:
        return self._with("Sub", other)

    def __mul__(self, other: Tensor | float) -> Tensor:
        return self._with("Mul", other)

    def __truediv__(self, other: Tensor | float) -> Tensor:
        return self._with("RealDiv", other)

    def __radd__(self, other: float) -> Tensor:
        return self._number(other) + self

    def __rsub__(self, other: float) -> Tensor:
        return self._number(other) - self

    def __rmul__(self, other: float) -> Tensor:
        return self._number(other) * self

    def __rtruediv__(self, other: float) -> Tensor:
        return self._number(other) / self

    def __neg__(self) -> Tensor:
        return self.body.op("Neg", self)

    def __lt__(self, other: Tensor | float) -> Tensor:
        return self._with("Less", other)

    def __le__(self, other: Tensor | float) -> Tensor:
        return self._with("LessEqual", other)

    def __gt__(self, other: Tensor | float) -> Tensor:
        return self._with("Greater", other)

    def __ge__(self, other: Tensor | float) -> Tensor:
        return self._with("GreaterEqual", other)

    def equals(self, other: Tensor | float) -> Tensor:
        return self._with("Equal", other)

    def maximum(self, other: Tensor | float) -> Tensor:
        return self._with("Maximum", other)

    def minimum(self, other: Tensor | float) -> Tensor:
        return self._with("Minimum", other)

    def apply(self, op: str) -> Tensor:
        """An op of one operand."""
        return self.body.op(op, self)

    def choose(self, yes: Tensor | float, no: Tensor | float) -> Tensor:
        """Elements of one where this is true, else of the other; one of them is a tensor."""
        like = yes if isinstance(yes, Tensor) else no
        assert isinstance(like, Tensor)
        x, y = (each if isinstance(each, Tensor) else like._number(each) for each in (yes, no))
        return self.body.op("SelectV2", self, x, y)

    def _with(self, op: str, other: Tensor | float) -> Tensor:
        return self.body.op(op, self, other if isinstance(other, Tensor) else self._number(other))

    def _number(self, value: float) -> Tensor:
        return self.body.scalar(value, self.type)

    def __repr__(self) -> str:
        return f"Tensor({self.name!r}, type {self.type}, {self.shape})"
