"""keras.ops on images: sizes, edges, parts, channels, pooling."""

from __future__ import annotations

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ..building.movement import padded
from ..building.tensor import Tensor
from .call import Call, Rule
from .images import as_batch, box, resized_as_told
from .kind import Kind
from .pool import pooled
from .window import Window

# What red, green and blue weigh.
_GREY = (0.2989, 0.587, 0.114)


def _moved(op: str) -> Rule:
    """Blocks of places as channels, or the other way."""
    return lambda c: c.back(c.make(op, c.last(c.x), block_size=c.config.positive("block_size")))


def rgb_to_grayscale(c: Call) -> Tensor:
    def change(x: Tensor) -> Tensor:
        x = c.floats(x)
        weights = c.body.constant(np.array(_GREY, np.float32).reshape(3, 1))
        flat = c.make("MatMul", c.body.reshaped(x, [-1, 3]), weights)
        return c.body.reshaped(flat, [*c.body.sizes_of(x)[:-1], 1])

    return as_batch(c, change)


def resize(c: Call) -> Tensor:
    size = c.config.sizes("size", 2)
    return as_batch(c, lambda x: resized_as_told(c, x, list(size), c.config.flag("crop_to_aspect_ratio")))


def _amounts(c: Call, kind: str, spare: tuple[int, int], target: str) -> list[tuple[int, int]]:
    """What is before and behind height and width; of three numbers two are told. spare is what all is."""
    found = []
    for (first, second), whole in zip((("top", "bottom"), ("left", "right")), spare, strict=True):
        ends = [c.config.get(f"{side}_{kind}") for side in (first, second)]
        before, behind = (None if end is None else int(str(end)) for end in ends)
        if before is None and behind is None:
            raise ModelError(f"{first}_{kind} or {second}_{kind} must be told")
        before = whole - int(behind or 0) if before is None else before
        behind = whole - before if behind is None else behind
        if min(before, behind) < 0:
            raise ModelError(f"{kind} must not be negative, got {before} and {behind} ({target})")
        found.append((before, behind))
    return found


def _spare(c: Call, x: Tensor, sign: int) -> tuple[int, int]:
    """How much larger the result is (or, with -1, smaller), where its size is told."""
    wanted = [c.config.get(f"target_{name}") for name in ("height", "width")]
    sizes = x.sizes[1:3]
    if -1 in sizes and any(each is not None for each in wanted):
        raise UnsupportedError("height and width must be known; input_shapes tells them")
    pairs = zip(wanted, sizes, strict=True)
    spare = [0 if each is None else sign * (int(str(each)) - size) for each, size in pairs]
    return spare[0], spare[1]


def pad_images(c: Call) -> Tensor:
    """Zeros around."""

    def change(x: Tensor) -> Tensor:
        pairs = _amounts(c, "padding", _spare(c, x, 1), "target")
        return padded(x, [(0, 0), *pairs, (0, 0)], c.body.scalar(0, x.type))

    return as_batch(c, change)


def crop_images(c: Call) -> Tensor:
    """Edges cut off."""

    def change(x: Tensor) -> Tensor:
        pairs = _amounts(c, "cropping", _spare(c, x, -1), "target")
        height, width = x.sizes[1:3]
        if -1 in (height, width):
            raise UnsupportedError("height and width must be known; input_shapes tells them")
        ends = zip((height, width), pairs, strict=True)
        return box(x, [first for first, _ in pairs], [size - sum(pair) for size, pair in ends])

    return as_batch(c, change)


def _pooling(op: str) -> Rule:
    """Over windows of one to three dimensions."""

    def rule(c: Call) -> Tensor:
        x = c.last(c.x)
        rank = x.rank - 2
        kernel = c.config.sizes("pool_size", rank)
        strides = c.config.sizes("strides", rank) if c.config.has("strides") else kernel
        padding = c.config.choice("padding", ("valid", "same"), "valid").upper()
        return c.back(pooled(x, Window(kernel, strides, (1,) * rank, padding), op))

    return rule


REGISTRATIONS: dict[str, Kind] = {
    "ops.AveragePool": Kind(_pooling("AvgPool")),
    "ops.CropImages": Kind(crop_images),
    "ops.DepthToSpace": Kind(_moved("DepthToSpace")),
    "ops.MaxPool": Kind(_pooling("MaxPool")),
    "ops.PadImages": Kind(pad_images),
    "ops.RGBToGrayscale": Kind(rgb_to_grayscale),
    "ops.Resize": Kind(resize),
    "ops.SpaceToDepth": Kind(_moved("SpaceToDepth")),
}
