"""Pooling over windows, over whole images, and into so many parts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_INT32
from ..building.tensor import Tensor
from ..building.window import plane_by_plane
from .call import Call, Rule
from .interpolation import by_matrix
from .kind import Kind
from .merge import concatenated
from .window import Window, window_of, with_height, without_height

# Windows of adaptive pooling along an axis: each has operators of its own.
_MOST_WINDOWS = 4096


def _pooling(op: str, rank: int) -> Rule:
    def rule(c: Call) -> Tensor:
        kernel = c.config.sizes("pool_size", rank, 2)
        window = window_of(c, rank, kernel)
        strides = c.config.sizes("strides", rank) if c.config.has("strides") else kernel
        return c.back(pooled(c.last(c.x), Window(kernel, strides, (1,) * rank, window.padding), op))

    return rule


def pooled(x: Tensor, window: Window, op: str) -> Tensor:
    """MaxPool or AvgPool of an image with channels last."""
    if window.rank == 1:
        plane = Window((1, *window.kernel), (1, *window.strides), (1, 1), window.padding)
        return without_height(pooled(with_height(x), plane, op))
    if window.rank == 3:
        return _volume(x, window, op)
    ksize, strides = [1, *window.kernel, 1], [1, *window.strides, 1]
    return x.body.op(op, x, ksize=ksize, strides=strides, padding=window.padding)


def _volume(x: Tensor, window: Window, op: str) -> Tensor:
    flat = Window(window.kernel[1:], window.strides[1:], (1, 1), window.padding)
    through = Window((window.kernel[0], 1), (window.strides[0], 1), (1, 1), window.padding)
    return plane_by_plane(
        x, lambda planes: pooled(planes, flat, op), lambda stacks: pooled(stacks, through, op)
    )


def _global(op: str, rank: int) -> Rule:
    """Over all places of each channel."""

    def rule(c: Call) -> Tensor:
        x = c.x
        if x.rank != rank + 2:
            raise ModelError(f"its input must have {rank + 2} dimensions, got {x.rank}")
        first = 2 if c.is_channels_first else 1
        axes = c.body.integers(range(first, first + rank))
        if rank == 1 and op == "Mean" and c.mask is not None:
            return _masked_mean(c, x, c.mask)
        return c.make(op, x, axes, keep_dims=c.config.flag("keepdims"))

    return rule


def _masked_mean(c: Call, x: Tensor, mask: Tensor) -> Tensor:
    """The mean of the steps that are not masked."""
    axis, keep = (2, 1) if c.is_channels_first else (1, 2)
    kept = c.make("ExpandDims", c.floats(mask), c.body.scalar(keep, DT_INT32))
    axes, keeps = c.body.integers([axis]), c.config.flag("keepdims")
    total = c.make("Sum", x * kept, axes, keep_dims=keeps)
    return total / c.make("Sum", kept, axes, keep_dims=keeps)


def _adaptive(op: str, rank: int) -> Rule:
    """So many windows along each axis, as equal as they can be."""

    def rule(c: Call) -> Tensor:
        x = c.last(c.x)
        sizes = c.config.sizes("output_size", rank)
        if x.rank != rank + 2 or min(x.sizes[1:-1]) < 1:
            raise UnsupportedError(
                f"its input must have {rank + 2} dimensions of known sizes above 0, got {list(x.sizes)}"
            )
        if max(sizes) > _MOST_WINDOWS:
            raise UnsupportedError(
                f"output_size: at most {_MOST_WINDOWS} windows along an axis, got {max(sizes)}"
            )
        for axis, new in enumerate(sizes, 1):
            x = _parts(x, axis, new, op)
        return c.back(x)

    return rule


def _parts(x: Tensor, axis: int, new: int, op: str) -> Tensor:
    old = x.sizes[axis]
    bounds = [(place * old // new, math.ceil((place + 1) * old / new)) for place in range(new)]
    if op == "Mean":
        matrix = np.zeros((new, old))
        for place, (start, end) in enumerate(bounds):
            matrix[place, start:end] = 1 / (end - start)
        return by_matrix(x, axis, matrix)
    return concatenated([_largest(x, axis, bound) for bound in bounds], axis)


def _largest(x: Tensor, axis: int, bound: Sequence[int]) -> Tensor:
    body = x.body
    start, end = bound
    places = body.integers(range(start, end))
    part = body.op("GatherV2", x, places, body.scalar(axis, DT_INT32))
    return body.op("Max", part, body.integers([axis]), keep_dims=True)


def _rows() -> dict[str, Kind]:
    found = {}
    for rank in (1, 2, 3):
        found[f"MaxPooling{rank}D"] = Kind(_pooling("MaxPool", rank))
        found[f"AveragePooling{rank}D"] = Kind(_pooling("AvgPool", rank))
        found[f"GlobalMaxPooling{rank}D"] = Kind(_global("Max", rank))
        found[f"GlobalAveragePooling{rank}D"] = Kind(_global("Mean", rank))
        found[f"AdaptiveMaxPooling{rank}D"] = Kind(_adaptive("Max", rank))
        found[f"AdaptiveAveragePooling{rank}D"] = Kind(_adaptive("Mean", rank))
    return found


REGISTRATIONS: dict[str, Kind] = _rows()
