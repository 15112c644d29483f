"""Gradients of the pools, and the gradients of those."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .conv import last_sizes, sizes
from .data_format import channels_first, from_last, to_last
from .dtypes import FLOATS, INDICES, REAL
from .half_precision import widened
from .pool import FLOAT_32, PoolAttributes, check_rank, pool_of, pool_window
from .pooling import first_greatest, first_of_equals, mean_gradient, scattered, shared_by_equals
from .registry import kernel
from .status import InvalidArgumentError
from .window import Window

Shape = tuple[int, ...]


def _check(op: str, what: str, value: np.ndarray, wanted: Shape) -> None:
    if value.shape != wanted:
        message = f"{what} (channels last) must be {list(wanted)}"
        raise InvalidArgumentError(f"{op}: {message}, got {list(value.shape)}")


def _output(x: Shape, window: Window) -> Shape:
    return (x[0], *window.output, x[-1])


def _max_gradient(
    op: str,
    rank: int,
    tensors: tuple[np.ndarray, np.ndarray, np.ndarray],
    pool: PoolAttributes,
    share: Callable[[np.ndarray, np.ndarray, np.ndarray, Window], np.ndarray],
) -> np.ndarray:
    """The gradient of a MaxPool's input, for (input, output, gradient of the output)."""
    check_rank(op, tensors[0], rank)
    first = channels_first(op, pool.data_format)
    x, y, dy = (to_last(tensor, first) for tensor in tensors)
    window = pool_window(op, x.shape, pool, first)
    _check(op, "orig_output", y, _output(x.shape, window))
    _check(op, "gradient", dy, y.shape)
    return from_last(share(dy, x, y, window), first)


def _to_first_greatest(dy: np.ndarray, x: np.ndarray, y: np.ndarray, window: Window) -> np.ndarray:
    del y
    return scattered(dy, first_greatest(x, window)[1], x.shape, window)


def _max_gradient_gradient(
    op: str, rank: int, tensors: tuple[np.ndarray, np.ndarray, np.ndarray], pool: PoolAttributes
) -> np.ndarray:
    """The gradient of a MaxPool gradient's gradient, for (input, output, its gradient)."""
    check_rank(op, tensors[0], rank)
    first = channels_first(op, pool.data_format)
    x, y, values = (to_last(tensor, first) for tensor in tensors)
    window = pool_window(op, x.shape, pool, first)
    _check(op, "orig_output", y, _output(x.shape, window))
    _check(op, "gradient", values, x.shape)
    return from_last(first_of_equals(values, x, y, window), first)


def max_pool_gradient(
    x: np.ndarray, y: np.ndarray, gradient: np.ndarray, *, pool: PoolAttributes
) -> np.ndarray:
    """gradient, given to the first greatest element under each window."""
    return _max_gradient("MaxPoolGrad", 4, (x, y, gradient), pool, _to_first_greatest)


def max_pool_gradient_v2(
    x: np.ndarray,
    y: np.ndarray,
    gradient: np.ndarray,
    ksize: np.ndarray,
    strides: np.ndarray,
    *,
    padding: str,
    data_format: str,
) -> np.ndarray:
    """MaxPoolGrad, ksize and strides being tensors."""
    op = "MaxPoolGradV2"
    pool = pool_of(op, ksize, strides, padding, data_format)
    return _max_gradient(op, 4, (x, y, gradient), pool, _to_first_greatest)


def max_pool_3d_gradient(
    x: np.ndarray, y: np.ndarray, gradient: np.ndarray, *, pool: PoolAttributes
) -> np.ndarray:
    """gradient, given to every element that equals the greatest one, y, under each window.

    Source: TensorFlow tensorflow/core/kernels/pooling_ops_3d.cc, LaunchMaxPooling3dGradOp.
    """
    return _max_gradient("MaxPool3DGrad", 5, (x, y, gradient), pool, shared_by_equals)


def max_pool_gradient_gradient(
    x: np.ndarray, y: np.ndarray, gradient: np.ndarray, *, pool: PoolAttributes
) -> np.ndarray:
    """gradient, of x's shape, where x is first as y says under each window; 0 where it never is."""
    return _max_gradient_gradient("MaxPoolGradGrad", 4, (x, y, gradient), pool)


def max_pool_gradient_gradient_v2(
    x: np.ndarray,
    y: np.ndarray,
    gradient: np.ndarray,
    ksize: np.ndarray,
    strides: np.ndarray,
    *,
    padding: str,
    data_format: str,
) -> np.ndarray:
    """MaxPoolGradGrad, ksize and strides being tensors."""
    op = "MaxPoolGradGradV2"
    pool = pool_of(op, ksize, strides, padding, data_format)
    return _max_gradient_gradient(op, 4, (x, y, gradient), pool)


def max_pool_3d_gradient_gradient(
    x: np.ndarray, y: np.ndarray, gradient: np.ndarray, *, pool: PoolAttributes
) -> np.ndarray:
    """gradient, of x's shape, where x is first as y says under each window; 0 where it never is."""
    return _max_gradient_gradient("MaxPool3DGradGrad", 5, (x, y, gradient), pool)


def _flat_places(op: str, argmax: np.ndarray, x: np.ndarray, with_batch: bool) -> np.ndarray:
    """argmax as places in the flat x; InvalidArgumentError when one is not in its image."""
    places = argmax.astype(np.int64)
    image = x[0].size if len(x) else 0
    limit = x.size if with_batch else image
    if places.size and not (places.min() >= 0 and places.max() < limit):
        message = f"argmax must be from 0 to {limit - 1}"
        raise InvalidArgumentError(f"{op}: {message}, got {places.min()} to {places.max()}")
    if with_batch:
        return places
    return places + (np.arange(len(x)) * image).reshape(-1, *(1,) * (places.ndim - 1))


def max_pool_gradient_with_argmax(
    x: np.ndarray,
    gradient: np.ndarray,
    argmax: np.ndarray,
    *,
    pool: PoolAttributes,
    include_batch_in_index: bool,
) -> np.ndarray:
    """gradient, added where argmax (MaxPoolWithArgmax's) says in zeros of x's shape."""
    op = "MaxPoolGradWithArgmax"
    check_rank(op, x, 4)
    window = pool_window(op, x.shape, pool, False)
    _check(op, "gradient", gradient, _output(x.shape, window))
    _check(op, "argmax", argmax, gradient.shape)
    dy = widened(gradient)
    dx = np.zeros(x.size, dy.dtype)
    np.add.at(dx, _flat_places(op, argmax, x, include_batch_in_index), dy)
    return dx.reshape(x.shape).astype(x.dtype)


def max_pool_gradient_gradient_with_argmax(
    x: np.ndarray,
    gradient: np.ndarray,
    argmax: np.ndarray,
    *,
    pool: PoolAttributes,
    include_batch_in_index: bool,
) -> np.ndarray:
    """gradient, of x's shape, where argmax (MaxPoolWithArgmax's) says."""
    op = "MaxPoolGradGradWithArgmax"
    check_rank(op, x, 4)
    window = pool_window(op, x.shape, pool, False)
    _check(op, "gradient", gradient, x.shape)
    _check(op, "argmax", argmax, _output(x.shape, window))
    return gradient.reshape(-1)[_flat_places(op, argmax, x, include_batch_in_index)]


def _mean_gradient(
    op: str, rank: int, shape: np.ndarray, gradient: np.ndarray, pool: PoolAttributes
) -> np.ndarray:
    first = channels_first(op, pool.data_format)
    given = sizes(op, "orig_input_shape", shape)
    if len(given) != rank or gradient.ndim != rank:
        message = f"orig_input_shape and gradient must have {rank} dimensions"
        raise InvalidArgumentError(f"{op}: {message}, got {list(given)} and {list(gradient.shape)}")
    wanted = last_sizes(given, first)
    window = pool_window(op, wanted, pool, first)
    dy = to_last(gradient, first)
    _check(op, "gradient", dy, _output(wanted, window))
    return from_last(mean_gradient(dy, wanted, window), first)


def avg_pool_gradient(shape: np.ndarray, gradient: np.ndarray, *, pool: PoolAttributes) -> np.ndarray:
    """The gradient of AvgPool's input, of the shape."""
    return _mean_gradient("AvgPoolGrad", 4, shape, gradient, pool)


def avg_pool_3d_gradient(shape: np.ndarray, gradient: np.ndarray, *, pool: PoolAttributes) -> np.ndarray:
    """The gradient of AvgPool3D's input, of the shape."""
    return _mean_gradient("AvgPool3DGrad", 5, shape, gradient, pool)


REGISTRATIONS = (
    kernel("MaxPoolGrad", max_pool_gradient, T=REAL),
    kernel("MaxPoolGradV2", max_pool_gradient_v2, T=REAL),
    kernel("MaxPool3DGrad", max_pool_3d_gradient, T=FLOAT_32, TInput=FLOAT_32),
    kernel("MaxPoolGradGrad", max_pool_gradient_gradient, T=REAL),
    kernel("MaxPoolGradGradV2", max_pool_gradient_gradient_v2, T=REAL),
    kernel("MaxPool3DGradGrad", max_pool_3d_gradient_gradient, T=FLOAT_32),
    kernel("MaxPoolGradWithArgmax", max_pool_gradient_with_argmax, T=REAL, Targmax=INDICES),
    kernel("MaxPoolGradGradWithArgmax", max_pool_gradient_gradient_with_argmax, T=REAL, Targmax=INDICES),
    kernel("AvgPoolGrad", avg_pool_gradient, T=FLOATS),
    kernel("AvgPool3DGrad", avg_pool_3d_gradient, T=FLOAT_32),
)
