"""Fourier transforms: products with matrices of cosines and sines, of long rows in two steps."""

from __future__ import annotations

import math

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from .contraction import product
from .tensor import Tensor

# Rows up to so many numbers are one product; longer ones two shorter transforms, where there are factors.
_SHORT = 64
_MOST_PRIME = 2048
# Real and imaginary parts of rows.
Rows = tuple[Tensor, Tensor]


def _matrices(rows: int, columns: int, length: int, inverse: bool) -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines of the angles of each row's and column's product."""
    turns = np.outer(np.arange(rows), np.arange(columns)) % length * (2 * np.pi / length)
    return np.cos(turns), np.sin(turns) if inverse else -np.sin(turns)


def _times(x: Tensor, matrix: np.ndarray) -> Tensor:
    return product(x, x.body.constant(matrix.astype(np.float32)))


def of_real(x: Tensor, length: int) -> Rows:
    """The first half, as the others mirror it: by RFFT2D where the length is a power of 2."""
    body = x.body
    half = length // 2 + 1
    if length & (length - 1) == 0 and length > 1:
        found = body.op("RFFT", x, body.integers([length]))
        return body.op("Real", found), body.op("Imag", found)
    if length <= _SHORT:
        cosines, sines = _matrices(length, half, length, False)
        return _times(x, cosines), _times(x, sines)
    whole = _transformed((x, x * 0.0), length, False)
    first = [[0] * x.rank, [-1] * (x.rank - 1) + [half]]
    real, imaginary = (body.op("Slice", each, *map(body.integers, first)) for each in whole)
    return real, imaginary


def to_real(rows: Rows, length: int) -> Tensor:
    """All numbers of the half of what was made of real ones: what is not at an end counts twice."""
    half = length // 2 + 1
    if length > _MOST_PRIME:
        raise UnsupportedError(f"inverse transforms to more than {_MOST_PRIME} real numbers")
    if rows[0].sizes[-1] != half:
        raise ModelError(f"the last axis must have {half} numbers for {length}, got {rows[0]}")
    twice = np.full((half, 1), 2 / length)
    twice[0] = 1 / length
    if length % 2 == 0:
        twice[-1] = 1 / length
    cosines, sines = _matrices(half, length, length, True)
    return _times(rows[0], cosines * twice) - _times(rows[1], sines * twice)


def along(rows: Rows, axis: int, length: int, inverse: bool) -> Rows:
    """The transform of one axis, of the sum's size; the inverse one divided by it."""
    x = rows[0]
    if x.sizes[axis] != length:
        raise ModelError(f"axis {axis} must have {length} numbers, got {x}")
    order = [*range(axis), *range(axis + 1, x.rank), axis]
    moved = rows[0].body.transposed(rows[0], order), rows[1].body.transposed(rows[1], order)
    made = _transformed(moved, length, inverse)
    if inverse:
        made = made[0] * (1 / length), made[1] * (1 / length)
    back = [int(place) for place in np.argsort(order)]
    return x.body.transposed(made[0], back), x.body.transposed(made[1], back)


def _transformed(rows: Rows, length: int, inverse: bool) -> Rows:
    """The transform of the last axis. Of n = a b numbers: b of a, turned, then a of b."""
    first = max((n for n in range(2, math.isqrt(length) + 1) if length % n == 0), default=1)
    if length <= _SHORT or first == 1:
        if length > _MOST_PRIME:
            raise UnsupportedError(f"transforms of {length} numbers, which has no factors")
        cosines, sines = _matrices(length, length, length, inverse)
        return _multiplied(rows, cosines, sines)
    second, body = length // first, rows[0].body
    sizes = body.sizes_of(rows[0])[:-1]
    count = len(sizes)
    swap = [*range(count), count + 1, count]

    def turned(pair: Rows) -> Rows:
        return body.transposed(pair[0], swap), body.transposed(pair[1], swap)

    split = tuple(body.reshaped(each, [*sizes, first, second]) for each in rows)
    inner = _transformed(turned((split[0], split[1])), first, inverse)
    cosines, sines = (each.astype(np.float32) for each in _matrices(second, first, length, inverse))
    c, s = body.constant(cosines), body.constant(sines)
    mixed = inner[0] * c - inner[1] * s, inner[0] * s + inner[1] * c
    outer = turned(_transformed(turned(mixed), second, inverse))
    whole = [body.reshaped(each, [*sizes, length]) for each in outer]
    return whole[0], whole[1]


def _multiplied(rows: Rows, cosines: np.ndarray, sines: np.ndarray) -> Rows:
    real, imaginary = rows
    return (
        _times(real, cosines) - _times(imaginary, sines),
        _times(real, sines) + _times(imaginary, cosines),
    )
