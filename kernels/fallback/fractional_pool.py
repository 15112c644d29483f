"""FractionalMaxPool and FractionalAvgPool: pools over regions of random sizes, and their gradients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...schema import graph_def
from ..philox import PhiloxStream, uniform_f64
from .conv import sizes
from .kernel import KernelConstruction, KernelContext, OpKernel
from .pooling import lowest
from .registry import kernel, kernel_class
from .status import InvalidArgumentError, UnimplementedError

_TYPES = frozenset((graph_def.DT_FLOAT, graph_def.DT_DOUBLE, graph_def.DT_INT32, graph_def.DT_INT64))


class FractionalPool(OpKernel):
    """Pools x [N, H, W, C]; pooling_ratio is of the four axes, 1 at batch and channels.

    Gives the pooled tensor and the boundaries of the rows' and the columns' regions, int64. A region
    reaches to the next boundary, which it includes if overlapping.
    Source: TensorFlow tensorflow/core/kernels/fractional_pool_common.cc.
    """

    stateful = True

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        self._ratios = construction.get_attr("pooling_ratio", list[float])
        self._pseudo_random = construction.get_attr("pseudo_random", bool)
        self._overlapping = construction.get_attr("overlapping", bool)
        self._deterministic = construction.get_attr("deterministic", bool)
        self._borders: tuple[np.ndarray, np.ndarray] | None = None
        seeds = [construction.get_attr(name, int) for name in ("seed", "seed2")]
        if not any(seeds):
            seeds = np.random.default_rng().integers(1 << 62, size=2).tolist()
        self._stream = PhiloxStream(*seeds)

    def compute(self, context: KernelContext) -> None:
        x = context.input(0)
        pooled = self._output_sizes(x)
        if self._borders is None or not self._deterministic:
            self._borders = (self._draw(x.shape[1], pooled[0]), self._draw(x.shape[2], pooled[1]))
        rows, columns = self._borders
        if rows[-1] != x.shape[1] or columns[-1] != x.shape[2]:
            message = "a deterministic pool's input must keep its size"
            raise InvalidArgumentError(f"{self.construction.op}: {message}, got {list(x.shape)}")
        pool = _greatest if self.construction.op == "FractionalMaxPool" else _mean
        context.set_output(0, pool(x, rows, columns, self._overlapping))
        context.set_output(1, rows)
        context.set_output(2, columns)

    def _output_sizes(self, x: np.ndarray) -> tuple[int, int]:
        op, ratios = self.construction.op, self._ratios
        if len(ratios) != 4 or x.ndim != 4:
            message = "input and pooling_ratio must have 4 dimensions"
            raise InvalidArgumentError(f"{op}: {message}, got {list(x.shape)} and {ratios}")
        if ratios[0] != 1 or ratios[3] != 1:
            raise UnimplementedError(f"{op}: pooling_ratio must be 1 at batch and channels, got {ratios}")
        if not all(1 <= ratio <= max(n, 1) for ratio, n in zip(ratios[1:3], x.shape[1:3], strict=True)):
            message = "pooling_ratio must be at least 1 and leave an element"
            raise InvalidArgumentError(f"{op}: {message}, got {ratios} for {list(x.shape)}")
        if 0 in x.shape:
            raise InvalidArgumentError(f"{op}: input must not be empty, got {list(x.shape)}")
        single = np.asarray(ratios, np.float32)
        rows, columns = (int(np.float32(n) / r) for n, r in zip(x.shape[1:3], single[1:3], strict=True))
        return rows, columns

    def _draw(self, length: int, regions: int) -> np.ndarray:
        """The boundaries of the regions, from 0 to length."""
        sizes = self._pseudo_random_sizes if self._pseudo_random else self._shuffled_sizes
        return np.concatenate([[0], np.cumsum(sizes(length, regions))]).astype(np.int64)

    def _pseudo_random_sizes(self, length: int, regions: int) -> np.ndarray:
        """Borders are alpha (i + u) rounded up, u so small that no region is out of the ordinary."""
        alpha, least = length / regions, length // regions
        limit = min((least + 2) / alpha - 1, (length + 1 - least) / alpha - (regions - 1))
        u = float(uniform_f64(self._stream.blocks(1))[0]) * limit
        boundaries = np.ceil(alpha * (np.arange(regions + 1) + u))
        boundaries[0], boundaries[-1] = 1, length + 1
        return np.diff(boundaries)

    def _shuffled_sizes(self, length: int, regions: int) -> np.ndarray:
        """length / regions each, as many as needed one more, in random order."""
        found = np.full(regions, length // regions)
        found[: length % regions] += 1
        words = self._stream.blocks(-(-regions // 4)).reshape(-1)
        for i in range(regions - 1):
            other = i + int(words[i]) % (regions - i)
            found[i], found[other] = found[other], found[i]
        return found


def _regions(
    shape: Sequence[int], rows: np.ndarray, columns: np.ndarray, overlapping: bool
) -> Iterator[tuple[tuple[slice, slice, slice], tuple[slice, slice, slice]]]:
    """Places in the output [N, rows, columns, C] with those that they pool in the input."""
    reach = 1 if overlapping else 0
    for i in range(len(rows) - 1):
        high = slice(int(rows[i]), min(int(rows[i + 1]) + reach, shape[1]))
        for j in range(len(columns) - 1):
            wide = slice(int(columns[j]), min(int(columns[j + 1]) + reach, shape[2]))
            everything = slice(None)
            yield (everything, slice(i, i + 1), slice(j, j + 1)), (everything, high, wide)


def _greatest(x: np.ndarray, rows: np.ndarray, columns: np.ndarray, overlapping: bool) -> np.ndarray:
    y = np.full((len(x), len(rows) - 1, len(columns) - 1, x.shape[3]), lowest(x.dtype), x.dtype)
    for out, region in _regions(x.shape, rows, columns, overlapping):
        y[out] = np.fmax(y[out], np.fmax.reduce(x[region], axis=(1, 2), keepdims=True))
    return y


def _mean(x: np.ndarray, rows: np.ndarray, columns: np.ndarray, overlapping: bool) -> np.ndarray:
    y = np.empty((len(x), len(rows) - 1, len(columns) - 1, x.shape[3]), x.dtype)
    for out, region in _regions(x.shape, rows, columns, overlapping):
        seen = x[region]
        total = seen.sum(axis=(1, 2), dtype=x.dtype, keepdims=True)
        count = x.dtype.type(seen.shape[1] * seen.shape[2])
        # Integers are divided as C does it: towards zero.
        y[out] = np.trunc(total / count) if x.dtype.kind == "i" else total / count
    return y


def _check_borders(op: str, rows: np.ndarray, columns: np.ndarray, shape: Sequence[int]) -> None:
    """InvalidArgumentError unless the boundaries ascend within an input [N, H, W, C] that is not empty."""
    for what, boundaries, limit in (("row", rows, shape[1]), ("col", columns, shape[2])):
        good = boundaries.ndim == 1 and len(boundaries) > 1 and boundaries[0] >= 0 and boundaries[-1] <= limit
        if not good or np.any(np.diff(boundaries) < 1):
            message = f"{what}_pooling_sequence must ascend from 0 to at most {limit}"
            raise InvalidArgumentError(f"{op}: {message}, got {boundaries.tolist()}")


def fractional_max_pool_gradient(
    x: np.ndarray,
    y: np.ndarray,
    gradient: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    *,
    overlapping: bool,
) -> np.ndarray:
    """gradient, given to the first greatest element of each region of x."""
    op = "FractionalMaxPoolGrad"
    if x.ndim != 4:
        raise InvalidArgumentError(f"{op}: input must have 4 dimensions, got {list(x.shape)}")
    _check_borders(op, rows, columns, x.shape)
    wanted = (len(x), len(rows) - 1, len(columns) - 1, x.shape[3])
    if y.shape != wanted or gradient.shape != wanted:
        message = f"orig_output and out_backprop must be {list(wanted)}"
        raise InvalidArgumentError(f"{op}: {message}, got {list(y.shape)} and {list(gradient.shape)}")
    dx = np.zeros(x.shape, x.dtype)
    batch, channels = np.ogrid[: len(x), : x.shape[3]]
    for out, (_, high, wide) in _regions(x.shape, rows, columns, overlapping):
        seen = x[:, high, wide].reshape(len(x), -1, x.shape[3])
        place = seen.argmax(axis=1)
        down, across = np.divmod(place, wide.stop - wide.start)
        dx[batch, high.start + down, wide.start + across, channels] += gradient[out][:, 0, 0]
    return dx


def fractional_avg_pool_gradient(
    shape: np.ndarray, gradient: np.ndarray, rows: np.ndarray, columns: np.ndarray, *, overlapping: bool
) -> np.ndarray:
    """gradient, shared out evenly over each region of an input of the shape."""
    op = "FractionalAvgPoolGrad"
    given = sizes(op, "orig_input_tensor_shape", shape)
    if len(given) != 4:
        raise InvalidArgumentError(f"{op}: input must have 4 dimensions, got {list(given)}")
    _check_borders(op, rows, columns, given)
    wanted = (given[0], len(rows) - 1, len(columns) - 1, given[3])
    if gradient.shape != wanted:
        raise InvalidArgumentError(f"{op}: out_backprop must be {list(wanted)}, got {list(gradient.shape)}")
    dx = np.zeros(given, np.float64)
    for out, region in _regions(given, rows, columns, overlapping):
        count = (region[1].stop - region[1].start) * (region[2].stop - region[2].start)
        dx[region] += gradient[out].astype(np.float64) / count
    return dx.astype(gradient.dtype)


REGISTRATIONS = (
    kernel_class("FractionalMaxPool", FractionalPool, T=_TYPES),
    kernel_class("FractionalAvgPool", FractionalPool, T=_TYPES),
    kernel("FractionalMaxPoolGrad", fractional_max_pool_gradient, T=_TYPES),
    kernel("FractionalAvgPoolGrad", fractional_avg_pool_gradient, T=_TYPES),
)
