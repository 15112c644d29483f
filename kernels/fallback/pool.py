"""MaxPool, AvgPool and MaxPoolWithArgmax, in two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...schema import graph_def
from .attributes import DataType
from .data_format import channels_first, from_last, spatial, to_last
from .dtypes import FLOATS, INDICES, REAL, numpy_dtype
from .kernel import checked_shape
from .pooling import first_greatest, greatest, mean
from .registry import kernel
from .status import InvalidArgumentError, UnimplementedError
from .window import Window, sliding_window

FLOAT_32 = frozenset((graph_def.DT_FLOAT, graph_def.DT_BFLOAT16))
Shape = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class PoolAttributes:
    """A pool's attributes, as in the node: for every axis in the layout's order."""

    ksize: list[int]
    strides: list[int]
    padding: str
    explicit_paddings: list[int] = field(default_factory=list)
    data_format: str = "NHWC"


def pool_window(op: str, x: Shape, pool: PoolAttributes, first: bool) -> Window:
    """The pool's window over [N, spatial, C]."""
    rank, explicit = len(x), pool.padding == "EXPLICIT"
    size = spatial(op, "ksize", pool.ksize, first, rank)
    steps = spatial(op, "strides", _strides(op, pool, first, rank), first, rank)
    pads = spatial(op, "explicit_paddings", pool.explicit_paddings, first, rank, 2) if explicit else ()
    window = sliding_window(op, x[1:-1], size, steps, (1,) * (rank - 2), pool.padding, pads)
    low = [max(a, b) >= k for a, b, k in zip(window.before, window.after, size, strict=True)]
    if explicit and any(low):
        message = f"explicit paddings must be smaller than the window {list(size)}"
        raise InvalidArgumentError(f"{op}: {message}, got {pool.explicit_paddings}")
    checked_shape((x[0], *window.output, x[-1]), np.dtype(np.float64))
    return window


def _strides(op: str, pool: PoolAttributes, first: bool, rank: int) -> list[int]:
    """The strides; that of an image's channels is 1, whatever is said, but for gradients of MaxPool.

    Source: TensorFlow tensorflow/core/kernels/pooling_ops_common.cc, PoolParameters.
    """
    if rank != 4 or len(pool.strides) != rank or op.startswith("MaxPoolGrad"):
        return pool.strides
    channel = 1 if first else rank - 1
    return [1 if axis == channel else stride for axis, stride in enumerate(pool.strides)]


def check_rank(op: str, x: np.ndarray, rank: int) -> None:
    if x.ndim != rank:
        raise InvalidArgumentError(f"{op}: input must have {rank} dimensions, got {list(x.shape)}")


def _pooled(
    op: str,
    rank: int,
    x: np.ndarray,
    pool: PoolAttributes,
    reduce: Callable[[np.ndarray, Window], np.ndarray],
) -> np.ndarray:
    """x, in the pool's layout, with each window of it reduced."""
    check_rank(op, x, rank)
    first = channels_first(op, pool.data_format)
    x = to_last(x, first)
    return from_last(reduce(x, pool_window(op, x.shape, pool, first)), first)


def max_pool(x: np.ndarray, *, pool: PoolAttributes) -> np.ndarray:
    """The greatest element under each window of x [N, H, W, C]; NCHW too.

    A window over channels alone (ksize [1, 1, 1, k]) is possible as well.
    Source: TensorFlow tensorflow/core/kernels/maxpooling_op.cc.
    """
    op = "MaxPool"
    check_rank(op, x, 4)
    if not channels_first(op, pool.data_format) and len(pool.ksize) == 4 and pool.ksize[3] != 1:
        return _max_over_channels(x, pool.ksize, pool.strides)
    return _pooled(op, 4, x, pool, greatest)


def _max_over_channels(x: np.ndarray, ksize: list[int], strides: list[int]) -> np.ndarray:
    size = ksize[3]
    if ksize[:3] != [1, 1, 1] or strides != [1, 1, 1, size]:
        message = f"a window over channels must have size and stride [1, 1, 1, {size}]"
        raise UnimplementedError(f"MaxPool: {message}, got {ksize} and {strides}")
    if size < 1 or x.shape[3] % size:
        raise UnimplementedError(f"MaxPool: {size} must divide the channels, got {list(x.shape)}")
    return np.asarray(x.reshape(*x.shape[:3], -1, size).max(axis=-1))


def pool_of(
    op: str, ksize: np.ndarray, strides: np.ndarray, padding: str, data_format: str
) -> PoolAttributes:
    """The attributes of a pool whose ksize and strides are tensors of 4 elements."""
    for what, values in (("ksize", ksize), ("strides", strides)):
        if values.shape != (4,):
            raise InvalidArgumentError(f"{op}: {what} must be of 4 elements, got {list(values.shape)}")
    size, steps = ksize.tolist(), strides.tolist()
    return PoolAttributes(ksize=size, strides=steps, padding=padding, data_format=data_format)


def max_pool_v2(
    x: np.ndarray, ksize: np.ndarray, strides: np.ndarray, *, padding: str, data_format: str
) -> np.ndarray:
    """MaxPool, ksize and strides being tensors."""
    return max_pool(x, pool=pool_of("MaxPoolV2", ksize, strides, padding, data_format))


def max_pool_3d(x: np.ndarray, *, pool: PoolAttributes) -> np.ndarray:
    """The greatest element under each window of x [N, D, H, W, C]; NCDHW too."""
    return _pooled("MaxPool3D", 5, x, pool, greatest)


def avg_pool(x: np.ndarray, *, pool: PoolAttributes) -> np.ndarray:
    """The mean under each window of x [N, H, W, C], padding not counted; NCHW too."""
    return _pooled("AvgPool", 4, x, pool, mean)


def avg_pool_3d(x: np.ndarray, *, pool: PoolAttributes) -> np.ndarray:
    """The mean under each window of x [N, D, H, W, C], padding not counted; NCDHW too."""
    return _pooled("AvgPool3D", 5, x, pool, mean)


def max_pool_with_argmax(
    x: np.ndarray, *, pool: PoolAttributes, include_batch_in_index: bool, Targmax: DataType
) -> tuple[np.ndarray, np.ndarray]:
    """MaxPool of x [N, H, W, C], and where in x each comes from: (h W + w) C + c.

    With include_batch_in_index, ((n H + h) W + w) C + c. Of equals it is the first.
    """
    op = "MaxPoolWithArgmax"
    check_rank(op, x, 4)
    window = pool_window(op, x.shape, pool, False)
    best, places = first_greatest(x, window)
    height, width, channels = x.shape[1:]
    taps_h, taps_w = np.divmod(places.astype(np.int64), window.size[1])
    rows, columns = (
        np.arange(n) * s - low for n, s, low in zip(window.output, window.strides, window.before, strict=True)
    )
    flat = (rows[:, None, None] + taps_h) * width + columns[:, None] + taps_w
    flat = flat * channels + np.arange(channels)
    if include_batch_in_index:
        flat += (np.arange(len(x)) * height * width * channels)[:, None, None, None]
    return best, flat.astype(numpy_dtype(Targmax))


REGISTRATIONS = (
    kernel("MaxPool", max_pool, T=REAL),
    kernel("MaxPoolV2", max_pool_v2, T=REAL),
    kernel("MaxPool3D", max_pool_3d, T=FLOAT_32),
    kernel("AvgPool", avg_pool, T=FLOATS),
    kernel("AvgPool3D", avg_pool_3d, T=FLOAT_32),
    kernel("MaxPoolWithArgmax", max_pool_with_argmax, T=REAL, Targmax=INDICES),
)
