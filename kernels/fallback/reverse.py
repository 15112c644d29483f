"""Tensors reversed, rolled and repeated."""

from __future__ import annotations

import numpy as np

from .axis import axes_of, axis_of, integers, vector
from .dtypes import ANY, INDICES
from .kernel import checked_shape
from .registry import kernel
from .status import InvalidArgumentError


def reverse(x: np.ndarray, dims: np.ndarray) -> np.ndarray:
    """x with the axes reversed where dims, a bool for each, says so."""
    if dims.shape != (x.ndim,):
        raise InvalidArgumentError(f"Reverse: dims must be [{x.ndim}], got {list(dims.shape)}")
    return np.flip(x, tuple(int(axis) for axis in np.flatnonzero(dims)))


def reverse_v2(x: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """x with these axes reversed; a scalar, or nothing, whatever they are."""
    return np.flip(x, axes_of(axis, x.ndim)) if x.ndim and x.size else x


def reverse_sequence(x: np.ndarray, seq_lengths: np.ndarray, *, seq_dim: int, batch_dim: int) -> np.ndarray:
    """For each entry of the batch its first elements, seq_lengths of them, reversed along seq_dim."""
    along, batch = seq_dim, batch_dim
    if not (0 <= along < x.ndim and 0 <= batch < x.ndim):
        message = f"seq_dim and batch_dim must be in [0, {x.ndim}), got {seq_dim} and {batch_dim}"
        raise InvalidArgumentError(f"ReverseSequence: {message}")
    lengths = vector(seq_lengths, "ReverseSequence: seq_lengths")
    if along == batch or len(lengths) != x.shape[batch]:
        message = f"must be one length for each of {x.shape[batch]} in another axis than {along}"
        raise InvalidArgumentError(f"ReverseSequence: {message}, got {len(lengths)} in {batch}")
    if any(not 0 <= length <= x.shape[along] for length in lengths):
        message = f"lengths must be 0 to {x.shape[along]}, got {list(lengths)[:16]}"
        raise InvalidArgumentError(f"ReverseSequence: {message}")
    made = np.moveaxis(x.copy(), (batch, along), (0, 1))
    source = np.moveaxis(x, (batch, along), (0, 1))
    for entry, length in enumerate(lengths):
        made[entry, :length] = source[entry, :length][::-1]
    return np.moveaxis(made, (0, 1), (batch, along))


def roll(x: np.ndarray, shift: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """x rolled by shift along axis: each a scalar, or vectors of one length."""
    if shift.shape != axis.shape or shift.ndim > 1 or not x.ndim:
        message = f"shift and axis must be scalars or vectors of one length, got {list(shift.shape)}"
        raise InvalidArgumentError(f"Roll: {message} and {list(axis.shape)}")
    axes = [axis_of(a, x.ndim) for a in integers(axis, "axis")]
    places = dict.fromkeys(axes, 0)
    for along, number in zip(axes, integers(shift, "shift"), strict=True):
        places[along] += number
    for along, number in places.items():
        x = np.roll(x, number, along)
    return x


def tile(x: np.ndarray, multiples: np.ndarray) -> np.ndarray:
    """x repeated, multiples of times along each axis."""
    counts = vector(multiples, "Tile: multiples")
    if len(counts) != x.ndim or any(count < 0 for count in counts):
        message = f"multiples must be {x.ndim} of 0 or more, got {list(counts)}"
        raise InvalidArgumentError(f"Tile: {message}")
    checked_shape([size * count for size, count in zip(x.shape, counts, strict=True)], x.dtype)
    return np.tile(x, counts)


REGISTRATIONS = (
    kernel("Reverse", reverse, T=ANY),
    kernel("ReverseV2", reverse_v2, T=ANY, Tidx=INDICES),
    kernel("ReverseSequence", reverse_sequence, T=ANY, Tlen=INDICES),
    kernel("Roll", roll, T=ANY),
    kernel("Tile", tile, T=ANY, Tmultiples=INDICES),
)
