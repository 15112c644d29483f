"""Held: a value of a StableHLO program while it becomes a graph, stretched only where it has to be."""

from __future__ import annotations

from collections.abc import Sequence

from ...lite.errors import ModelError, UnsupportedError
from ..building.tensor import Tensor
from .program import UNKNOWN


class Held:
    """A tensor that stands for one in which some axes are repeated, as broadcasts make them.

    shape is the whole one. The tensor has one element along stretched axes, and none of these in front: so
    it fits elementwise operators as it is. sizes are the whole shape when the model runs, for shapes that are
    not known.
    """

    __slots__ = ("_whole", "shape", "sizes", "stretched", "tensor")

    def __init__(
        self,
        tensor: Tensor,
        shape: Sequence[int],
        stretched: frozenset[int] = frozenset(),
        sizes: Tensor | None = None,
    ) -> None:
        self.tensor = tensor
        self.shape = tuple(shape)
        self.stretched = stretched
        self.sizes = sizes
        self._whole: Tensor | None = None if stretched else tensor

    @property
    def whole(self) -> Tensor:
        """The tensor with all its elements."""
        if self._whole is None:
            if all(self.shape[axis] == 1 for axis in self.stretched):
                self._whole = self.with_rank()
            else:
                self._whole = self.tensor.body.op("BroadcastTo", self.tensor, self.whole_sizes())
        return self._whole

    def whole_sizes(self) -> Tensor:
        """The whole shape as an int32 vector. ModelError where nothing tells it."""
        if UNKNOWN not in self.shape:
            return self.tensor.body.integers(self.shape)
        if self.sizes is not None:
            return self.sizes
        if any(self.shape[axis] != 1 for axis in self.stretched):
            raise ModelError(f"the sizes of what is broadcast must be known, got {list(self.shape)}")
        return self.tensor.body.shape(self.whole)

    def with_rank(self) -> Tensor:
        """The tensor with all axes, of one element along those that are stretched."""
        x = self.tensor
        if x.rank == len(self.shape):
            return x
        sizes = x.body.sizes_of(x)
        return x.body.reshaped(x, [1] * (len(self.shape) - len(sizes)) + sizes)

    @property
    def is_constant(self) -> bool:
        return self.tensor.data is not None


class Complex(Held):
    """Complex numbers: two values of floats. Rules that know of floats alone are refused it."""

    __slots__ = ("imaginary", "real")

    def __init__(self, real: Held, imaginary: Held) -> None:
        super().__init__(real.tensor, real.shape, real.stretched, real.sizes)
        self.real = real
        self.imaginary = imaginary

    @property
    def whole(self) -> Tensor:
        raise UnsupportedError(_NO_COMPLEX)

    def with_rank(self) -> Tensor:
        raise UnsupportedError(_NO_COMPLEX)

    @property
    def is_constant(self) -> bool:
        return self.real.is_constant and self.imaginary.is_constant


class Words(Held):
    """Numbers of 64 bits as pairs of 32 along a last axis, the lower one first."""

    __slots__ = ()

    @property
    def whole(self) -> Tensor:
        raise UnsupportedError(NO_WORDS)

    def with_rank(self) -> Tensor:
        raise UnsupportedError(NO_WORDS)


NO_WORDS = "values of type ui64 have no operators in a .tflite model"
_NO_COMPLEX = "complex numbers here have no operators; give it their real and imaginary parts"


def tensors_of(values: Sequence[Held]) -> list[Tensor]:
    """The values whole, of complex numbers both parts, as functions take and give them."""
    found = []
    for each in values:
        parts = (each.real, each.imaginary) if isinstance(each, Complex) else (each,)
        found += [part.whole for part in parts]
    return found


def values_of(tensors: Sequence[Tensor], like: Sequence[tuple[bool, Sequence[int]]]) -> list[Held]:
    """Tensors as the values that they were: each a complex number or not, and its shape."""
    rest, found = iter(tensors), list[Held]()
    for is_complex, shape in like:
        first = Held(next(rest), shape)
        found.append(Complex(first, Held(next(rest), shape)) if is_complex else first)
    return found


def stretched_tensor(
    x: Tensor, shape: Sequence[int], stretched: frozenset[int], sizes: Tensor | None = None
) -> Held:
    """Of a tensor of all axes, one element along those that are stretched."""
    first = 0
    while first in stretched:
        first += 1
    if first:
        x = x.body.reshaped(x, x.body.sizes_of(x)[first:])
    return Held(x, shape, stretched, sizes)


def joined(made: Tensor, operands: Sequence[Held], shape: Sequence[int]) -> Held:
    """The result of an elementwise operator: stretched where all operands are."""
    same = [each for each in operands if len(each.shape) == len(shape)]
    stretched = frozenset.intersection(*(each.stretched for each in same)) if same else frozenset()
    if not stretched:
        return Held(made, shape)
    sizes = next((each.sizes for each in same if each.sizes is not None), None)
    return Held(made, shape, stretched, sizes)


def known_shape(tensor: Tensor, declared: Sequence[int]) -> Tensor:
    """The tensor, which is known to have the declared sizes where its own are not known."""
    own = tensor.shape
    if own is None:
        tensor.shape = tuple(declared)
    elif len(own) == len(declared) and UNKNOWN in own:
        tensor.shape = tuple(b if a == UNKNOWN else a for a, b in zip(own, declared, strict=True))
    return tensor
