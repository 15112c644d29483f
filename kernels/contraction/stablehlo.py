"""STABLEHLO_DOT_GENERAL and STABLEHLO_CONVOLUTION: sums of products, with NumPy's matrix product."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from ...lite.context import Context
from ...lite.errors import PrepareError
from ...lite.node import Node
from ...lite.tensor import Shape, Tensor
from ...schema.named_tuple import NamedTuple
from ..index_vector import check_counts, check_sizes
from ..interior_pad import Padding, interior_pad_now
from ..operators import registration
from ..reduce_window import Window, windows


def _list(values: Sequence[int] | None) -> list[int]:
    return [] if values is None else [int(n) for n in values]


def _operands(context: Context, node: Node, operator: str) -> tuple[Tensor, Tensor, Tensor]:
    check_counts(operator, node, 2)
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if node.options is None:
        raise PrepareError(f"{operator}: options must give the dimensions, got none")
    if any(tensor.dtype.kind not in "iufcb" for tensor in (x, w, y)):
        raise PrepareError(f"{operator}: operands must be numbers, got {x!r} and {w!r}")
    return x, w, y


class _Contraction(NamedTuple):
    """Axes of both operands: those of batches, those that are summed, and the others."""

    x_batch: list[int]
    w_batch: list[int]
    x_summed: list[int]
    w_summed: list[int]

    def shape(self, x: Shape, w: Shape) -> Shape:
        """Batches, then what is left of x, then what is left of w."""
        for axes, shape in ((self.x_batch + self.x_summed, x), (self.w_batch + self.w_summed, w)):
            if len(set(axes)) != len(axes) or any(not 0 <= d < len(shape) for d in axes):
                raise PrepareError(f"STABLEHLO_DOT_GENERAL: axes must be different ones, got {axes}")
        for x_axes, w_axes in ((self.x_batch, self.w_batch), (self.x_summed, self.w_summed)):
            if [x[d] for d in x_axes] != [w[d] for d in w_axes]:
                raise PrepareError(
                    f"STABLEHLO_DOT_GENERAL: axes that belong together must have one size, "
                    f"got {x_axes} of {list(x)} and {w_axes} of {list(w)}"
                )
        return check_sizes(
            "STABLEHLO_DOT_GENERAL",
            (
                *(x[d] for d in self.x_batch),
                *(x[d] for d in _others(x, self.x_batch + self.x_summed)),
                *(w[d] for d in _others(w, self.w_batch + self.w_summed)),
            ),
        )


def _others(shape: Shape, axes: Sequence[int]) -> list[int]:
    return [d for d in range(len(shape)) if d not in axes]


def _matrices(x: np.ndarray, groups: Sequence[Sequence[int]]) -> np.ndarray:
    """The array with its axes in three groups, each joined into one."""
    sizes = [int(np.prod([x.shape[d] for d in group], dtype=np.int64)) for group in groups]
    return x.transpose([d for group in groups for d in group]).reshape(sizes)


def _contraction(node: Node) -> _Contraction:
    options = node.options
    return _Contraction(
        _list(options.lhs_batching_dimensions),
        _list(options.rhs_batching_dimensions),
        _list(options.lhs_contracting_dimensions),
        _list(options.rhs_contracting_dimensions),
    )


def _prepare_dot(context: Context, node: Node) -> None:
    x, w, y = _operands(context, node, "STABLEHLO_DOT_GENERAL")
    context.resize_tensor(y, _contraction(node).shape(x.shape, w.shape))


def _invoke_dot(context: Context, node: Node) -> None:
    x, w, y = _operands(context, node, "STABLEHLO_DOT_GENERAL")
    if not y.size:
        return
    axes = _contraction(node)
    x_left, w_left = (
        _others(x.shape, axes.x_batch + axes.x_summed),
        _others(w.shape, axes.w_batch + axes.w_summed),
    )
    a = _matrices(x.array().astype(y.dtype), (axes.x_batch, x_left, axes.x_summed))
    b = _matrices(w.array().astype(y.dtype), (axes.w_batch, axes.w_summed, w_left))
    y.array()[...] = (a @ b).reshape(y.shape)


class _Convolution(NamedTuple):
    """The window, and axes in the order (batch, feature, spatial...); the filter's: (input, output, ...)."""

    x_axes: list[int]
    w_axes: list[int]
    y_axes: list[int]
    strides: list[int]
    padding: list[Padding]
    dilations: list[int]
    reversed_axes: list[bool]
    feature_groups: int
    batch_groups: int


def _or_default(values: Sequence[int] | None, count: int, default: int) -> list[int]:
    return _list(values) or [default] * count


def _convolution(node: Node, x: Tensor, w: Tensor) -> _Convolution:
    operator, options = "STABLEHLO_CONVOLUTION", node.options
    rank = len(x.shape)
    spatial = rank - 2
    x_axes = [options.input_batch_dimension, options.input_feature_dimension]
    w_axes = [options.kernel_input_feature_dimension, options.kernel_output_feature_dimension]
    y_axes = [options.output_batch_dimension, options.output_feature_dimension]
    x_axes = [*map(int, x_axes), *_list(options.input_spatial_dimensions)]
    w_axes = [*map(int, w_axes), *_list(options.kernel_spatial_dimensions)]
    y_axes = [*map(int, y_axes), *_list(options.output_spatial_dimensions)]
    if len(w.shape) != rank or any(sorted(axes) != list(range(rank)) for axes in (x_axes, w_axes, y_axes)):
        raise PrepareError(
            f"{operator}: each of {rank} axes must be named once, got {x_axes}, {w_axes} and {y_axes}"
        )
    pads = _or_default(options.padding, 2 * spatial, 0)
    base = _or_default(options.lhs_dilation, spatial, 1)
    reversal = options.window_reversal
    flags = [False] * spatial if reversal is None or not len(reversal) else [bool(flag) for flag in reversal]
    if len(pads) != 2 * spatial or len(base) != spatial or len(flags) != spatial or any(n < 1 for n in base):
        raise PrepareError(f"{operator}: paddings and dilations must be given for {spatial} axes")
    return _Convolution(
        x_axes,
        w_axes,
        y_axes,
        _or_default(options.window_strides, spatial, 1),
        [(pads[2 * d], pads[2 * d + 1], base[d] - 1) for d in range(spatial)],
        _or_default(options.rhs_dilation, spatial, 1),
        flags,
        int(options.feature_group_count),
        int(options.batch_group_count),
    )


def _convolved(x: Tensor, w: Tensor, c: _Convolution) -> list[int]:
    """Sizes of the output in the order (batch, feature, spatial...)."""
    n, features, *spatial = (x.shape[d] for d in c.x_axes)
    w_in, w_out, *sizes = (w.shape[d] for d in c.w_axes)
    groups, batches = c.feature_groups, c.batch_groups
    if (
        groups < 1
        or batches < 1
        or features != w_in * groups
        or w_out % groups
        or n % batches
        or w_out % batches
    ):
        raise PrepareError(
            f"STABLEHLO_CONVOLUTION: features and batches must fit their groups, got {x!r} and {w!r} "
            f"in {groups} and {batches} groups"
        )
    window = Window(sizes, c.strides, c.dilations, c.padding)
    return [n // batches, w_out, *windows("STABLEHLO_CONVOLUTION", tuple(spatial), window)]


def _prepare_convolution(context: Context, node: Node) -> None:
    x, w, y = _operands(context, node, "STABLEHLO_CONVOLUTION")
    c = _convolution(node, x, w)
    sizes = _convolved(x, w, c)
    context.resize_tensor(y, tuple(sizes[c.y_axes.index(d)] for d in range(len(sizes))))


def _invoke_convolution(context: Context, node: Node) -> None:
    x, w, y = _operands(context, node, "STABLEHLO_CONVOLUTION")
    if not y.size:
        return
    c = _convolution(node, x, w)
    sizes = _convolved(x, w, c)
    image = x.array().astype(y.dtype).transpose(c.x_axes)
    kernel = w.array().astype(y.dtype).transpose(c.w_axes)
    kernel = np.flip(kernel, tuple(d + 2 for d, flag in enumerate(c.reversed_axes) if flag))
    padded = interior_pad_now(image, np.zeros((), y.dtype), [(0, 0, 0), (0, 0, 0), *c.padding])
    groups = max(c.feature_groups, c.batch_groups)
    parts = np.split(padded, groups, 1 if c.feature_groups > 1 else 0)
    results = [
        _window_products(part, filters, sizes[2:], c)
        for part, filters in zip(parts, np.split(kernel, groups, 1), strict=True)
    ]
    y.array()[...] = np.concatenate(results, 1).transpose(np.argsort(c.y_axes))


def _window_products(x: np.ndarray, w: np.ndarray, spatial: Sequence[int], c: _Convolution) -> np.ndarray:
    """[n, i, spatial...] times [i, o, window...]: [n, o, spatial...]."""
    result = np.zeros((x.shape[0], *spatial, w.shape[1]), x.dtype)
    filters = np.moveaxis(w, (0, 1), (-2, -1))
    for at in product(*(range(n) for n in w.shape[2:])):
        spans = tuple(
            slice(i * d, i * d + (n - 1) * stride + 1, stride)
            for i, d, n, stride in zip(at, c.dilations, spatial, c.strides, strict=True)
        )
        view = np.moveaxis(x, 1, -1)[(slice(None), *spans)]
        result += view @ filters[at]
    return np.moveaxis(result, -1, 1)


REGISTRATIONS = (
    registration("STABLEHLO_CONVOLUTION", _prepare_convolution, _invoke_convolution),
    registration("STABLEHLO_DOT_GENERAL", _prepare_dot, _invoke_dot),
)
