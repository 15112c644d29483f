"""Values of images between their pixels, at places that are computed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT, DT_INT32
from ..building.movement import channels_last
from ..building.tensor import Tensor

# Of cubic interpolation.
_CUBIC = -0.75


@dataclass(frozen=True)
class Tap:
    """Places along an axis, which are inside, as int32, and the share of what is there; None for all."""

    place: Tensor
    share: Tensor | None


class Image:
    """Pixels of [n, c, ...], whose sizes but n are known; sets makes so many of each, of parts of c.

    Raises UnsupportedError where they are not known.
    """

    def __init__(self, x: Tensor, sets: int = 1) -> None:
        self.sizes = [*x.sizes[2:], *([sets] if sets > 1 else [])]
        if -1 in self.sizes or x.sizes[1] == -1:
            raise UnsupportedError("the image's channels and sizes must be known")
        self.body = x.body
        self._rows = self.body.reshaped(channels_last(x), [-1, x.sizes[1] // sets])
        self._batch = x.sizes[0]
        self._x = x

    def batches(self, rank: int) -> Tensor:
        """0, 1 ... for each image, int32 [n, 1 ...] of a rank."""
        shape = [-1, *[1] * (rank - 1)]
        if self._batch != -1:
            return self.body.constant(np.arange(self._batch, dtype=np.int32).reshape(shape))
        zero, one = self.body.scalar(0, DT_INT32), self.body.scalar(1, DT_INT32)
        return self.body.reshaped(self.body.op("Range", zero, self.body.size(self._x, 0), one), shape)

    def at(self, batch: Tensor, places: Sequence[Tensor]) -> Tensor:
        """Pixels [..., c] of int32 places [...] along each axis, which are stretched to each other."""
        index = batch
        for place, size in zip(places, self.sizes, strict=True):
            index = index * size + place
        return self.body.op("GatherV2", self._rows, index, self.body.scalar(0, DT_INT32))


def sampled(
    image: Image,
    batch: Tensor,
    taps: Sequence[Sequence[Tap]],
    joined: Callable[[Tensor, Tensor], Tensor] = Tensor.__add__,
) -> Tensor:
    """Pixels [..., c] between others, one list of taps for each axis."""
    parts = []
    for corner in itertools.product(*taps):
        pixels = image.at(batch, [tap.place for tap in corner])
        shares = [tap.share for tap in corner if tap.share is not None]
        if shares:
            share = reduce(Tensor.__mul__, shares)
            pixels = pixels * image.body.op("ExpandDims", share, image.body.scalar(share.rank, DT_INT32))
        parts.append(pixels)
    return reduce(joined, parts)


def taps_of(at: Tensor, size: int, mode: str, around: str, aligned: bool = False) -> list[Tap]:
    """What is taken of an axis for places at, 0 to size - 1.

    mode is nearest, linear or cubic; around zeros, border or reflection (at the centers of the outer pixels
    where aligned, else at their edges).
    """
    if around not in ("zeros", "border", "reflection"):
        raise ModelError(f"padding_mode must be zeros, border or reflection, got {around!r}")
    if mode != "cubic":
        at = _inside(at, size, around, aligned)
    if mode == "nearest":
        return [_tap(at.apply("Round"), size, around, aligned, None)]
    low = at.apply("Floor")
    share = at - low
    if mode in ("linear", "bilinear"):
        shares = [(0, 1 - share), (1, share)]
    elif mode in ("cubic", "bicubic"):
        shares = [(-1, _far(share + 1)), (0, _near(share)), (1, _near(1 - share)), (2, _far(2 - share))]
    else:
        raise ModelError(f"mode must be nearest, linear or cubic, got {mode!r}")
    return [_tap(low + step if step else low, size, around, aligned, part) for step, part in shares]


def _tap(place: Tensor, size: int, around: str, aligned: bool, share: Tensor | None) -> Tap:
    """The nearest place inside; outside of zeros has no share."""
    if around == "reflection":
        place = _inside(place, size, around, aligned)
    kept = place.maximum(0).minimum(size - 1)
    if around == "zeros":
        inside = place.body.cast(kept.equals(place), DT_FLOAT)
        share = inside if share is None else share * inside
    return Tap(place.body.cast(kept, DT_INT32), share)


def _inside(at: Tensor, size: int, around: str, aligned: bool) -> Tensor:
    """The place inside that stands for one outside; as it is among zeros."""
    if around == "zeros":
        return at
    if around == "reflection":
        low, long = (0.0, size - 1.0) if aligned else (-0.5, float(size))
        if not long:
            return at * 0
        away = (at - low).apply("Abs")
        turn = away.body.op("FloorMod", away, away.body.scalar(2 * long, DT_FLOAT))
        at = turn.minimum(2 * long - turn) + low
    return at.maximum(0).minimum(size - 1)


def _near(x: Tensor) -> Tensor:
    return ((x * (_CUBIC + 2) - (_CUBIC + 3)) * x) * x + 1


def _far(x: Tensor) -> Tensor:
    return ((x * _CUBIC - 5 * _CUBIC) * x + 8 * _CUBIC) * x - 4 * _CUBIC
