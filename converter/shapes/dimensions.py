"""Arithmetic of sizes, -1 being a size that is not known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

# Sizes with -1 where they are not known; None where not even the rank is.
PartialShape = tuple[int, ...] | None
ANY = -1


class Symbol(int):
    """A size that is not known, but has a number (-2 or less): equal numbers are equal sizes.

    It equals ANY, so that whoever knows nothing of symbols takes it for a size that is not known, and
    whoever only passes sizes on passes the symbol on.
    """

    number: int

    def __new__(cls, number: int) -> Symbol:
        made = super().__new__(cls, ANY)
        made.number = number
        return made

    def __repr__(self) -> str:
        return f"Symbol({self.number})"


def number_of(size: int) -> int:
    """The size, or a symbol's number; ANY where nothing is known."""
    return size.number if isinstance(size, Symbol) else size


def same_size(one: int, other: int) -> bool:
    """Whether two sizes are surely equal."""
    return one == other and (one != ANY or number_of(one) == number_of(other) != ANY)


def same_shape(one: PartialShape, other: PartialShape) -> bool:
    """Whether two shapes are surely equal, by their symbols where sizes are not known."""
    if one is None or other is None or len(one) != len(other):
        return False
    return all(map(same_size, one, other))


def both(one: int, other: int) -> int | None:
    """The size that is both, None when there is none."""
    if one == ANY:
        return one if other == ANY and isinstance(one, Symbol) else other
    return one if other in (ANY, one) else None


def merged(one: PartialShape, other: PartialShape) -> PartialShape:
    """The shape that is both; ValueError when they contradict each other."""
    if one is None or other is None:
        return other if one is None else one
    sizes = [both(a, b) for a, b in zip(one, other, strict=False)]
    if len(one) != len(other) or None in sizes:
        raise ValueError(f"shapes must be equal, got {shape_text(one)} and {shape_text(other)}")
    return tuple(size for size in sizes if size is not None)


def either(one: PartialShape, other: PartialShape) -> PartialShape:
    """What is sure of a value that has the one shape or the other."""
    if one is None or other is None or len(one) != len(other):
        return None
    return tuple(a if same_size(a, b) else ANY for a, b in zip(one, other, strict=True))


def plus(*sizes: int) -> int:
    added = [size for size in sizes if size]
    if len(added) == 1:
        return added[0]
    return ANY if ANY in sizes else sum(sizes)


def minus(one: int, other: int) -> int:
    if not other:
        return one
    return ANY if ANY in (one, other) else one - other


def times(*sizes: int) -> int:
    """The product; a factor of 0 settles it."""
    result = 1
    for size in sizes:
        if size == 0:
            return 0
        if 1 in (result, size):
            result = size if result == 1 else result
        else:
            result = ANY if ANY in (result, size) else result * size
    return result


def product(shape: Sequence[int] | None) -> int:
    """Number of elements."""
    return ANY if shape is None else times(*shape)


def quotient(size: int, divisor: int) -> int:
    """ValueError when the known size is no multiple of the known divisor."""
    if divisor == 1:
        return size
    if ANY in (size, divisor):
        return ANY
    if divisor <= 0 or size % divisor:
        raise ValueError(f"size must be a multiple of {divisor}, got {size}")
    return size // divisor


def is_known(shape: PartialShape) -> bool:
    return shape is not None and ANY not in shape


def broadcast(*shapes: PartialShape) -> PartialShape:
    """The shape that all stretch to; ValueError when they do not.

    An unknown size against a known one above 1 is that one; against 1 or another unknown it stays so.
    """
    found: PartialShape = ()
    for shape in shapes:
        found = _broadcast_pair(found, shape)
    return found


def _broadcast_pair(one: PartialShape, other: PartialShape) -> PartialShape:
    if one is None or other is None:
        return None
    rank = max(len(one), len(other))
    pairs = zip((1,) * (rank - len(one)) + one, (1,) * (rank - len(other)) + other, strict=True)
    sizes = []
    for a, b in pairs:
        if a == 1 or b == 1:
            sizes.append(b if a == 1 else a)
        elif a == ANY or b == ANY:
            sizes.append(max(a, b) if a != b else a if same_size(a, b) else ANY)
        elif a == b:
            sizes.append(a)
        else:
            raise ValueError(f"shapes must broadcast, got {shape_text(one)} and {shape_text(other)}")
    return tuple(sizes)


def shape_text(shape: PartialShape) -> str:
    if shape is None:
        return "<*>"
    return f"<{'x'.join('?' if size == ANY else str(size) for size in shape)}>"


def shape_of_sizes(sizes: Iterable[int | None]) -> tuple[int, ...]:
    """A shape of sizes that a value gives, None for those not known; ValueError for one below -1."""
    found = tuple(ANY if size is None else size for size in sizes)
    if any(size < ANY for size in found):
        raise ValueError(f"sizes must not be negative, got {list(found)}")
    return found
