"""Tensors with a border: of a value, or of their own mirrored elements."""

from __future__ import annotations

import numpy as np

from .dtypes import ANY, INDICES
from .kernel import checked_shape, zeros
from .registry import kernel
from .status import InvalidArgumentError


def _paddings(x: np.ndarray, paddings: np.ndarray) -> list[tuple[int, int]]:
    if paddings.shape != (x.ndim, 2):
        raise InvalidArgumentError(f"paddings must be [{x.ndim}, 2], got {list(paddings.shape)}")
    pairs = [(int(before), int(after)) for before, after in paddings]
    if any(n < 0 for pair in pairs for n in pair):
        raise InvalidArgumentError(f"paddings must not be negative, got {pairs}")
    sizes = [size + before + after for size, (before, after) in zip(x.shape, pairs, strict=True)]
    checked_shape(sizes, x.dtype)
    return pairs


def pad(x: np.ndarray, paddings: np.ndarray) -> np.ndarray:
    """x with zeros around: paddings is [rank, 2], how many before and after each axis."""
    return pad_v2(x, paddings, zeros((), x.dtype))


def pad_v2(x: np.ndarray, paddings: np.ndarray, constant_values: np.ndarray) -> np.ndarray:
    """x with constant_values, a scalar, around: paddings is [rank, 2]."""
    pairs = _paddings(x, paddings)
    sizes = [size + before + after for size, (before, after) in zip(x.shape, pairs, strict=True)]
    made = np.full(sizes, constant_values[()], x.dtype)
    made[tuple(slice(b, b + size) for (b, _), size in zip(pairs, x.shape, strict=True))] = x
    return made


def _mirrored(size: int, before: int, after: int, symmetric: bool) -> np.ndarray:
    """Which element of an axis stands at each place of the padded axis."""
    most = size if symmetric else size - 1
    if max(before, after) > most:
        raise InvalidArgumentError(f"paddings must be at most {most}, got {before} and {after}")
    edge = 0 if symmetric else 1
    places = np.arange(-before, size + after)
    places = np.where(places < 0, -places - 1 + edge, places)
    return np.where(places >= size, 2 * size - 1 - places - edge, places)


def mirror_pad(x: np.ndarray, paddings: np.ndarray, *, mode: str) -> np.ndarray:
    """x with its own elements mirrored at the edges: with the edge (SYMMETRIC) or without (REFLECT)."""
    for axis, (before, after) in enumerate(_paddings(x, paddings)):
        if before or after:
            x = np.take(x, _mirrored(x.shape[axis], before, after, mode == "SYMMETRIC"), axis)
    return x


def mirror_pad_grad(dy: np.ndarray, paddings: np.ndarray, *, mode: str) -> np.ndarray:
    """Gradient of mirror_pad: dy's border is added to the elements that it mirrors."""
    pairs = _paddings(dy, paddings)
    for axis, (before, after) in enumerate(pairs):
        size = dy.shape[axis] - before - after
        if size < 0:
            raise InvalidArgumentError(f"paddings must be within {list(dy.shape)}, got {pairs}")
        folded = np.zeros((size, *np.delete(dy.shape, axis)), dy.dtype)
        places = _mirrored(size, before, after, mode == "SYMMETRIC")
        np.add.at(folded, places, np.moveaxis(dy, axis, 0))
        dy = np.moveaxis(folded, 0, axis)
    return dy


REGISTRATIONS = (
    kernel("Pad", pad, T=ANY, Tpaddings=INDICES),
    kernel("PadV2", pad_v2, T=ANY, Tpaddings=INDICES),
    kernel("MirrorPad", mirror_pad, T=ANY, Tpaddings=INDICES),
    kernel("MirrorPadGrad", mirror_pad_grad, T=ANY, Tpaddings=INDICES),
)
