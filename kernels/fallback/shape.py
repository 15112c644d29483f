"""Shapes of tensors, and tensors in other shapes: x is of any type and shape."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .attributes import DataType, PartialShape
from .axis import axis_of, scalar, vector
from .dtypes import ANY, INDICES, numpy_dtype
from .kernel import checked_shape
from .registry import kernel
from .status import InvalidArgumentError


def _sizes(x: np.ndarray, out: np.dtype) -> np.ndarray:
    if any(size > np.iinfo(out).max for size in x.shape):
        raise InvalidArgumentError(f"sizes must fit {out}, got {list(x.shape)}")
    return np.array(x.shape, out)


def shape(x: np.ndarray, *, out_type: DataType) -> np.ndarray:
    """x's sizes: [rank]."""
    return _sizes(x, numpy_dtype(out_type))


def shape_n(inputs: list[np.ndarray], *, out_type: DataType) -> list[np.ndarray]:
    """Each input's sizes: [rank]."""
    return [_sizes(x, numpy_dtype(out_type)) for x in inputs]


def size(x: np.ndarray, *, out_type: DataType) -> np.ndarray:
    """How many elements x has: []."""
    return np.array(x.size, numpy_dtype(out_type))


def rank(x: np.ndarray) -> np.ndarray:
    """How many axes x has: int32 []."""
    return np.array(x.ndim, np.int32)


def reshape(x: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """x's elements in another shape; one size may be -1, for what is left.

    Raises InvalidArgumentError when the elements do not fill the shape.
    """
    return x.reshape(_reshaped(x, vector(shape, "Reshape: shape")))


def _reshaped(x: np.ndarray, wanted: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with its -1 replaced. Beside a size of 0 it is what the other sizes of x make.

    Source: TensorFlow tensorflow/core/kernels/reshape_op.h.
    """
    if any(size < -1 for size in wanted) or wanted.count(-1) > 1:
        raise InvalidArgumentError(f"Reshape: sizes must be 0 or more, at most one -1, got {list(wanted)}")
    missing = 1
    if -1 in wanted:
        given = [size for size in wanted if size != -1]
        whole = [size for size in x.shape if size or 0 not in given]
        missing = math.prod(whole) // math.prod(size for size in given if size)
    found = tuple(missing if size == -1 else size for size in wanted)
    if math.prod(found) != x.size:
        raise InvalidArgumentError(f"Reshape: {x.size} elements do not fill the shape {list(wanted)}")
    return found


def ensure_shape(x: np.ndarray, *, shape: PartialShape) -> np.ndarray:
    """x itself; InvalidArgumentError unless its shape is as said, -1 being any size."""
    agrees = shape is None or (
        len(shape) == x.ndim and all(a in (-1, b) for a, b in zip(shape, x.shape, strict=True))
    )
    if not agrees:
        raise InvalidArgumentError(f"EnsureShape: shape must be {shape}, got {x.shape}")
    return x


def expand_dims(x: np.ndarray, dim: np.ndarray) -> np.ndarray:
    """x with an axis of size 1 before dim, -1 being after the last."""
    return np.expand_dims(x, axis_of(scalar(dim, "dim"), x.ndim + 1, "dim"))


def squeeze(x: np.ndarray, *, squeeze_dims: list[int]) -> np.ndarray:
    """x without those axes, or without all axes of size 1 when none are named."""
    axes = [axis_of(axis, x.ndim, "squeeze_dims") for axis in squeeze_dims]
    wide = [axis for axis in axes if x.shape[axis] != 1]
    if wide:
        raise InvalidArgumentError(f"Squeeze: axis {wide[0]} must have size 1, got {list(x.shape)}")
    return np.squeeze(x, tuple(dict.fromkeys(axes)) if axes else None)


def _permutation(perm: np.ndarray, rank: int) -> tuple[int, ...]:
    axes = vector(perm, "perm")
    wrapped = tuple(axis_of(axis, rank, "perm") for axis in axes)
    if len(wrapped) != rank or len(set(wrapped)) != rank:
        raise InvalidArgumentError(f"perm must be a permutation of {rank} axes, got {list(axes)}")
    return wrapped


def transpose(x: np.ndarray, perm: np.ndarray) -> np.ndarray:
    """x with its axes in the order of perm."""
    return x.transpose(_permutation(perm, x.ndim))


def conjugate_transpose(x: np.ndarray, perm: np.ndarray) -> np.ndarray:
    """conj(x) with its axes in the order of perm."""
    return np.conj(x).transpose(_permutation(perm, x.ndim)) if x.dtype.kind == "c" else transpose(x, perm)


def invert_permutation(x: np.ndarray) -> np.ndarray:
    """y with y[x[i]] = i; x has each of 0 to n - 1 once."""
    places = vector(x, "InvertPermutation: x")
    if sorted(places) != list(range(len(places))):
        raise InvalidArgumentError(f"InvertPermutation: x must be a permutation, got {list(places)[:16]}")
    inverse = np.empty_like(x)
    inverse[x] = np.arange(len(places), dtype=x.dtype)
    return inverse


def bitcast(x: np.ndarray, *, type: DataType) -> np.ndarray:
    """x's bytes as another type: an axis is added or taken away at the end where the sizes differ."""
    out = numpy_dtype(type)
    if x.dtype.itemsize >= out.itemsize:
        ratio = x.dtype.itemsize // out.itemsize
        parts = np.ascontiguousarray(x).reshape(*x.shape, 1).view(out)
        return parts if ratio > 1 else parts.reshape(x.shape)
    ratio = out.itemsize // x.dtype.itemsize
    if not x.ndim or x.shape[-1] != ratio:
        raise InvalidArgumentError(f"Bitcast: the last axis must have size {ratio}, got {list(x.shape)}")
    return np.ascontiguousarray(x).view(out).reshape(x.shape[:-1])


def broadcast_to(x: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """x repeated along axes of size 1, and new ones in front, to fill the shape."""
    wanted = checked_shape(vector(shape, "BroadcastTo: shape"), x.dtype)
    try:
        return np.broadcast_to(x, wanted)
    except ValueError:
        message = f"{list(x.shape)} cannot be broadcast to {list(wanted)}"
        raise InvalidArgumentError(f"BroadcastTo: {message}") from None


def broadcast_args(s0: np.ndarray, s1: np.ndarray) -> np.ndarray:
    """The shape that tensors of the shapes s0 and s1 are broadcast to."""
    shapes = [vector(s, "BroadcastArgs: shape") for s in (s0, s1)]
    return np.array(_broadcast(shapes), s0.dtype)


def _broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    found = []
    for sizes in zip(*padded, strict=True):
        wide = {size for size in sizes if size != 1}
        if len(wide) > 1:
            raise InvalidArgumentError(
                f"shapes cannot be broadcast: {', '.join(map(str, map(list, shapes)))}"
            )
        found.append(wide.pop() if wide else 1)
    return tuple(found)


def broadcast_gradient_args(s0: np.ndarray, s1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Axes of the broadcast shape along which the gradient of each operand is summed.

    Axes where both have size 1 count for both.
    Source: TensorFlow tensorflow/core/util/bcast.h.
    """
    shapes = [vector(s, "BroadcastGradientArgs: shape") for s in (s0, s1)]
    rank = len(_broadcast(shapes))
    if shapes[0] == shapes[1]:
        return np.empty(0, s0.dtype), np.empty(0, s0.dtype)
    first, second = ((1,) * (rank - len(s)) + s for s in shapes)
    axes = ([i for i in range(rank) if shape[i] == 1] for shape in (first, second))
    one, other = (np.array(found, s0.dtype) for found in axes)
    return one, other


REGISTRATIONS = (
    kernel("Shape", shape, T=ANY),
    kernel("ShapeN", shape_n, T=ANY),
    kernel("Size", size, T=ANY),
    kernel("Rank", rank, T=ANY),
    kernel("Reshape", reshape, T=ANY, Tshape=INDICES),
    kernel("EnsureShape", ensure_shape, T=ANY),
    kernel("ExpandDims", expand_dims, T=ANY, Tdim=INDICES),
    kernel("Squeeze", squeeze, T=ANY),
    kernel("Transpose", transpose, T=ANY, Tperm=INDICES),
    kernel("ConjugateTranspose", conjugate_transpose, T=ANY, Tperm=INDICES),
    kernel("InvertPermutation", invert_permutation, T=INDICES),
    kernel("Bitcast", bitcast),
    kernel("BroadcastTo", broadcast_to, T=ANY, Tidx=INDICES),
    kernel("BroadcastArgs", broadcast_args, T=INDICES),
    kernel("BroadcastGradientArgs", broadcast_gradient_args, T=INDICES),
)
