"""Fourier transforms of powers of two: their passes, and the roots of unity that these turn by."""

from __future__ import annotations

import math

import numpy as np

from ..schema.named_tuple import NamedTuple


class Passes(NamedTuple):
    """rows int64 [passes, 4]: radix, run, count and the address of complex128 twiddles, [.., radix - 1] each.

    A pass makes transforms of radix * run numbers, or takes them apart.
    """

    rows: np.ndarray
    twiddles: np.ndarray


def real_passes(length: int) -> Passes:
    """The passes of a real transform in NumPy's order: short transforms are joined to longer ones."""
    made = []
    for radix, above in _steps(_radices(length, (4,))):
        run = length // (radix * above)
        indices = np.outer(np.arange(1, (run - 1) // 2 + 1), np.arange(1, radix) * above)
        made.append((radix, run, above, indices))
    return _passes(length, made[::-1])


def complex_passes(length: int) -> Passes:
    """The passes of a complex transform in NumPy's order: long transforms are taken apart to shorter ones."""
    made = []
    for radix, above in _steps(_radices(length, (8, 4))):
        run = length // (radix * above)
        made.append((radix, run, above, np.outer(np.arange(run), np.arange(1, radix) * above)))
    return _passes(length, made)


def _passes(length: int, made: list[tuple[int, int, int, np.ndarray]]) -> Passes:
    rows = np.zeros((len(made), 4), np.int64)
    twiddles = roots_of_unity(length, np.concatenate([indices.reshape(-1) for *_, indices in made]))
    at = twiddles.ctypes.data
    for row, (radix, run, count, indices) in zip(rows, made, strict=True):
        row[:] = radix, run, count, at
        at += indices.size * twiddles.itemsize
    return Passes(rows, twiddles)


def _radices(length: int, large: tuple[int, ...]) -> list[int]:
    """The factors of a power of two: the larger ones, and one 2 where that is left, first."""
    found = []
    for radix in large:
        while length % radix == 0:
            found.append(radix)
            length //= radix
    if length == 2:
        found.append(2)
        found[0], found[-1] = found[-1], found[0]
    return found


def _steps(radices: list[int]) -> list[tuple[int, int]]:
    """(radix, the product of those before)."""
    return [(radix, math.prod(radices[:k])) for k, radix in enumerate(radices)]


def roots_of_unity(length: int, indices: np.ndarray) -> np.ndarray:
    """exp(2 pi i k / length) as complex128, by the product of two roots, as NumPy's transforms round them."""
    count = (length + 2) // 2
    shift = 1
    while 1 << 2 * shift < count:
        shift += 1
    fine = np.array([_root(length, k) for k in range(1 << shift)])
    coarse = np.array([_root(length, k << shift) for k in range((count + (1 << shift) - 1) >> shift)])
    mirrored = 2 * indices > length
    k = np.where(mirrored, length - indices, indices)
    x, y = fine[k & (1 << shift) - 1], coarse[k >> shift]
    real = x.real * y.real - x.imag * y.imag
    imaginary = x.real * y.imag + x.imag * y.real
    out = np.empty(k.shape, np.complex128)
    out.real, out.imag = real, np.where(mirrored, -imaginary, imaginary)
    return out


def _root(length: int, k: int) -> complex:
    """exp(2 pi i k / length) for 0 <= k, from an angle of 45 degrees at most."""
    if k == 0:
        return 1 + 0j
    step = 0.25 * math.pi / length
    octant, rest = divmod(8 * k, length)
    angle = step * (rest if octant % 2 == 0 else length - rest)
    near, far = math.cos(angle), math.sin(angle)
    if octant % 2:
        near, far = far, near
    turns: tuple[complex, ...] = (
        complex(near, far),
        complex(-far, near),
        complex(-near, -far),
        complex(far, -near),
    )
    return turns[octant // 2 % 4]
