"""Tensors put together and taken apart along an axis."""

from __future__ import annotations

import numpy as np

from ...schema import graph_def
from .attributes import PartialShape
from .axis import axis_of, scalar, vector
from .dtypes import ANY, INDICES
from .registry import kernel
from .status import InvalidArgumentError


def _concatenated(values: list[np.ndarray], axis: int) -> np.ndarray:
    along = axis_of(axis, values[0].ndim)
    for index, value in enumerate(values):
        fits = value.ndim == values[0].ndim and all(
            a == b for i, (a, b) in enumerate(zip(value.shape, values[0].shape, strict=True)) if i != along
        )
        if not fits:
            shapes = f"{list(values[0].shape)} and, at {index}, {list(value.shape)}"
            raise InvalidArgumentError(f"inputs must agree but along axis {along}, got {shapes}")
    return np.concatenate(values, along)


def concat(concat_dim: np.ndarray, values: list[np.ndarray]) -> np.ndarray:
    """The values one after another along the axis; all other sizes agree."""
    return _concatenated(values, scalar(concat_dim, "concat_dim"))


def concat_v2(values: list[np.ndarray], axis: np.ndarray) -> np.ndarray:
    """The values one after another along the axis; all other sizes agree."""
    return _concatenated(values, scalar(axis, "axis"))


def concat_offset(concat_dim: np.ndarray, shapes: list[np.ndarray]) -> list[np.ndarray]:
    """Where each of tensors of these shapes begins in their concatenation."""
    sizes = [vector(shape, "ConcatOffset: shape") for shape in shapes]
    along = axis_of(scalar(concat_dim, "concat_dim"), len(sizes[0]), "concat_dim")
    offsets, at = [], 0
    for index, (shape, held) in enumerate(zip(shapes, sizes, strict=True)):
        others = [n for i, n in enumerate(held) if i != along]
        if len(held) != len(sizes[0]) or others != [n for i, n in enumerate(sizes[0]) if i != along]:
            message = f"got {list(sizes[0])} and, at {index}, {list(held)}"
            raise InvalidArgumentError(f"ConcatOffset: shapes must agree but along {along}, {message}")
        offset = np.zeros_like(shape)
        offset[along] = at
        offsets.append(offset)
        at += held[along]
    return offsets


def pack(values: list[np.ndarray], *, axis: int) -> np.ndarray:
    """The values, of one shape, along a new axis."""
    if not values:
        raise InvalidArgumentError("Pack: there must be values, got none")
    for index, value in enumerate(values):
        if value.shape != values[0].shape:
            shapes = f"{list(values[0].shape)} and, at {index}, {list(value.shape)}"
            raise InvalidArgumentError(f"Pack: values must have one shape, got {shapes}")
    return np.stack(values, axis_of(axis, values[0].ndim + 1))


def parallel_concat(values: list[np.ndarray], *, shape: PartialShape) -> np.ndarray:
    """The values, each of size 1 along the first axis, one after another."""
    result = _concatenated(values, 0)
    if shape is None or result.shape != shape:
        raise InvalidArgumentError(f"ParallelConcat: shape must be {shape}, got {list(result.shape)}")
    return result


def unpack(value: np.ndarray, *, num: int, axis: int) -> list[np.ndarray]:
    """The slices of value along the axis, without it; there are num of them."""
    along = axis_of(axis, value.ndim)
    if value.shape[along] != num:
        message = f"axis {along} must have size {num}, got {list(value.shape)}"
        raise InvalidArgumentError(f"Unpack: {message}")
    return [np.take(value, i, along) for i in range(num)]


def split(split_dim: np.ndarray, value: np.ndarray, *, num_split: int) -> list[np.ndarray]:
    """value in num_split equal parts along the axis."""
    along = axis_of(scalar(split_dim, "split_dim"), value.ndim, "split_dim")
    if num_split < 1 or value.shape[along] % num_split:
        message = f"axis {along} of {list(value.shape)} must be a multiple of num_split"
        raise InvalidArgumentError(f"Split: {message}, got {num_split}")
    return np.split(value, num_split, along)


def split_v(
    value: np.ndarray, size_splits: np.ndarray, split_dim: np.ndarray, *, num_split: int
) -> list[np.ndarray]:
    """value in parts of these sizes along the axis; one may be -1, for what is left."""
    along = axis_of(scalar(split_dim, "split_dim"), value.ndim, "split_dim")
    sizes = list(vector(size_splits, "SplitV: size_splits"))
    whole, known = value.shape[along], sum(size for size in sizes if size != -1)
    if sizes.count(-1) == 1 and known <= whole:
        sizes[sizes.index(-1)] = whole - known
    if len(sizes) != num_split or min(sizes, default=0) < 0 or sum(sizes) != whole:
        message = f"{num_split} sizes must add up to {whole}, got {list(size_splits)}"
        raise InvalidArgumentError(f"SplitV: {message}")
    return np.split(value, np.cumsum(sizes[:-1]), along)


REGISTRATIONS = (
    kernel("Concat", concat, T=ANY),
    kernel("ConcatV2", concat_v2, T=ANY, Tidx=INDICES),
    kernel("ConcatOffset", concat_offset),
    kernel("Pack", pack, T=ANY),
    kernel("ParallelConcat", parallel_concat, T=ANY),
    kernel("Unpack", unpack, T=ANY),
    kernel("Split", split, T=ANY),
    kernel("SplitV", split_v, T=ANY, Tlen=INDICES | {graph_def.DT_INT8}),
)
