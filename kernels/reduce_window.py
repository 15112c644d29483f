"""REDUCE_WINDOW, STABLEHLO_REDUCE_WINDOW and STABLEHLO_REDUCE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor
from ..schema.named_tuple import NamedTuple
from .index_vector import check_counts, check_index_type, check_same_type, check_sizes, integers
from .interior_pad import Padding, interior_pad_now, interior_padded
from .operators import registration
from .reduction_body import FOLDS, FUNCTIONS, Body, body_of

# By ReduceWindowFunction.
_FUNCTIONS = {1: "ADD", 2: "MUL", 3: "MINIMUM", 4: "MAXIMUM", 5: "LOGICAL_AND", 6: "LOGICAL_OR"}
_MAX_PADDED = 1 << 31


class Window(NamedTuple):
    """Per axis: the window's size, its strides and dilations, and the padding of the input."""

    sizes: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    padding: Sequence[Padding]


def windows(operator: str, x: Shape, window: Window) -> Shape:
    """Output shape: how often the window fits along each axis of the padded input."""
    parts = (window.sizes, window.strides, window.dilations)
    if any(len(part) != len(x) or any(n < 1 for n in part) for part in parts):
        raise PrepareError(
            f"{operator}: each axis must have a window size, stride and dilation of at least 1, "
            f"got {[list(part) for part in parts]} for {list(x)}"
        )
    padded = interior_padded(operator, x, window.padding)
    if prod(padded) > _MAX_PADDED:
        raise UnsupportedError(f"{operator}: padded inputs of {_MAX_PADDED} elements are built, got {padded}")
    shape = []
    for n, size, stride, dilation in zip(padded, *parts, strict=True):
        reach = (size - 1) * dilation + 1
        shape.append((n - reach) // stride + 1 if n >= reach else 0)
    return check_sizes(operator, tuple(shape))


Join = Callable[[Sequence[np.ndarray], Sequence[np.ndarray]], Sequence[np.ndarray]]


def reduced_windows(
    inputs: Sequence[np.ndarray], starts: Sequence[np.ndarray], window: Window, shape: Shape, join: Join
) -> Sequence[np.ndarray]:
    """Each window's elements joined to the starts in row-major order."""
    padded = [interior_pad_now(x, start, window.padding) for x, start in zip(inputs, starts, strict=True)]
    results: Sequence[np.ndarray] = [
        np.full(shape, start, x.dtype) for x, start in zip(inputs, starts, strict=True)
    ]
    for at in product(*(range(n) for n in window.sizes)):
        spans = zip(at, window.dilations, window.strides, shape, strict=True)
        places = tuple(slice(i * d, i * d + (n - 1) * stride + 1, stride) for i, d, stride, n in spans)
        results = join(results, [x[places] for x in padded])
    return results


def reduced_windows_of_one(
    x: np.ndarray, start: np.ndarray, window: Window, shape: Shape, name: str
) -> np.ndarray:
    """The same for one input and a function of FUNCTIONS."""
    if name in FOLDS and prod(window.sizes) > prod(shape):
        padded = interior_pad_now(x, start, window.padding)
        return _folded(padded, np.full(shape, start, x.dtype), window, FOLDS[name])

    def join(first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [FUNCTIONS[name](first[0], second[0]).astype(x.dtype, copy=False)]

    with np.errstate(all="ignore"):
        return reduced_windows([x], [start], window, shape, join)[0]


def _folded(padded: np.ndarray, result: np.ndarray, window: Window, fold: np.ufunc) -> np.ndarray:
    """The same, a window at a time, for few large windows; result holds the initial value."""
    with np.errstate(all="ignore"):
        for at in np.ndindex(*result.shape):
            spans = zip(at, window.strides, window.sizes, window.dilations, strict=True)
            view = padded[
                tuple(slice(i * stride, i * stride + (n - 1) * d + 1, d) for i, stride, n, d in spans)
            ]
            joined = np.concatenate([result[at].reshape(1), view.ravel()])
            # Accumulation keeps the order, which a reduction does not.
            result[at] = fold.accumulate(joined, dtype=result.dtype)[-1]
    return result


class Operands(NamedTuple):
    """Inputs of one shape, the values that their reductions start from, and the outputs."""

    inputs: list[Tensor]
    starts: list[Tensor]
    outputs: list[Tensor]

    @property
    def types(self) -> list[int]:
        return [x.type for x in self.inputs]


def _operands(context: Context, node: Node, operator: str, count: int) -> Operands:
    """Checked operands of a reduction of so many inputs."""
    inputs = [context.input(node, i) for i in range(count)]
    starts = [context.input(node, count + i) for i in range(count)]
    outputs = [context.output(node, i) for i in range(count)]
    for x, start, y in zip(inputs, starts, outputs, strict=True):
        check_same_type(operator, x, start)
        check_same_type(operator, x, y)
        if start.size != 1:
            raise PrepareError(f"{operator}: the initial value must be a scalar, got {start!r}")
        if x.shape != inputs[0].shape:
            raise PrepareError(f"{operator}: inputs must have one shape, got {inputs[0]!r} and {x!r}")
        x.dtype  # noqa: B018 - an error for types that NumPy lacks
    return Operands(inputs, starts, outputs)


def _arrays(inputs: Sequence[Tensor]) -> list[np.ndarray]:
    return [np.zeros(x.shape, x.dtype) if x.size == 0 else x.array() for x in inputs]


def _start_values(operands: Operands) -> list[np.ndarray]:
    return [start.array().reshape(()) for start in operands.starts]


def _stablehlo_operands(context: Context, node: Node, operator: str) -> Operands:
    count = len(node.inputs) // 2
    if count == 0 or len(node.inputs) != 2 * count or len(node.outputs) != count:
        raise PrepareError(
            f"{operator}: must have as many initial values and outputs as inputs, "
            f"got {len(node.inputs)} tensors for {len(node.outputs)} outputs"
        )
    if node.options is None:
        raise PrepareError(f"{operator}: options must name the body, got none")
    return _operands(context, node, operator, count)


def _body(context: Context, node: Node, operator: str, operands: Operands) -> Body:
    return body_of(context, node, operator, int(node.options.body_subgraph_index), operands.types)


# STABLEHLO_REDUCE_WINDOW: the window is in the options, the function a subgraph.
def _list(values: Sequence[int] | None, rank: int, default: int) -> list[int]:
    return [default] * rank if values is None or not len(values) else [int(n) for n in values]


def _stablehlo_window(node: Node, x: Tensor) -> Window:
    options, rank = node.options, len(x.shape)
    if options is None:
        raise PrepareError("STABLEHLO_REDUCE_WINDOW: options must give the window, got none")
    padding = _list(options.padding, 2 * rank, 0)
    base = _list(options.base_dilations, rank, 1)
    if len(padding) != 2 * rank or len(base) != rank or any(n < 1 for n in base):
        raise PrepareError(
            f"STABLEHLO_REDUCE_WINDOW: each axis must have two paddings and a base dilation of at least 1, "
            f"got {padding} and {base} for {x!r}"
        )
    return Window(
        _list(options.window_dimensions, rank, 1),
        _list(options.window_strides, rank, 1),
        _list(options.window_dilations, rank, 1),
        [(padding[2 * d], padding[2 * d + 1], base[d] - 1) for d in range(rank)],
    )


def _prepare_stablehlo(context: Context, node: Node) -> None:
    operator = "STABLEHLO_REDUCE_WINDOW"
    operands = _stablehlo_operands(context, node, operator)
    window = _stablehlo_window(node, operands.inputs[0])
    _body(context, node, operator, operands)
    for x, y in zip(operands.inputs, operands.outputs, strict=True):
        context.resize_tensor(y, windows(operator, x.shape, window))


def _invoke_stablehlo(context: Context, node: Node) -> None:
    operator = "STABLEHLO_REDUCE_WINDOW"
    operands = _stablehlo_operands(context, node, operator)
    shape = operands.outputs[0].shape
    if not prod(shape):
        return
    window = _stablehlo_window(node, operands.inputs[0])
    body = _body(context, node, operator, operands)
    inputs, starts = _arrays(operands.inputs), _start_values(operands)
    if body.name:
        results = [reduced_windows_of_one(inputs[0], starts[0], window, shape, body.name)]
    else:
        results = [*reduced_windows(inputs, starts, window, shape, body.join)]
    for y, result in zip(operands.outputs, results, strict=True):
        y.array()[...] = result


# REDUCE_WINDOW: the window is in tensors, the function in the options.
def _function(node: Node) -> str:
    code = 0 if node.options is None else int(node.options.reduce_function)
    if code not in _FUNCTIONS:
        raise PrepareError(f"REDUCE_WINDOW: the function must be one of {_FUNCTIONS}, got {code}")
    return _FUNCTIONS[code]


def _window_of(context: Context, node: Node, rank: int) -> Window:
    tensors = [context.input(node, i) for i in (2, 3, 4)]
    for what, tensor in zip(("window shape", "strides", "dilations"), tensors, strict=True):
        check_index_type("REDUCE_WINDOW", what, tensor)
    sizes, strides, dilations = (integers(tensor) for tensor in tensors)
    return Window(sizes, strides, dilations, [(0, 0, 0)] * rank)


def _prepare(context: Context, node: Node) -> None:
    check_counts("REDUCE_WINDOW", node, 5)
    (x,), _, (y,) = _operands(context, node, "REDUCE_WINDOW", 1)
    _function(node)
    if all(context.input(node, i).is_constant for i in (2, 3, 4)):
        shape = windows("REDUCE_WINDOW", x.shape, _window_of(context, node, len(x.shape)))
        context.resize_tensor(y, shape)
    else:
        context.set_dynamic(y)


def _invoke(context: Context, node: Node) -> None:
    operands = _operands(context, node, "REDUCE_WINDOW", 1)
    (x,), _, (y,) = operands
    window = _window_of(context, node, len(x.shape))
    context.resize_tensor(y, windows("REDUCE_WINDOW", x.shape, window))
    if y.size:
        (values,), (start,) = _arrays(operands.inputs), _start_values(operands)
        y.array()[...] = reduced_windows_of_one(values, start, window, y.shape, _function(node))


# STABLEHLO_REDUCE: whole axes.
def _reduced_axes(node: Node, x: Tensor) -> list[int]:
    values = None if node.options is None else node.options.dimensions
    axes = [int(axis) for axis in ([] if values is None else values)]
    if len(set(axes)) != len(axes) or any(not 0 <= axis < len(x.shape) for axis in axes):
        raise PrepareError(f"STABLEHLO_REDUCE: axes must be different ones of {x!r}, got {axes}")
    return axes


def _prepare_reduce(context: Context, node: Node) -> None:
    operator = "STABLEHLO_REDUCE"
    operands = _stablehlo_operands(context, node, operator)
    axes = _reduced_axes(node, operands.inputs[0])
    _body(context, node, operator, operands)
    for x, y in zip(operands.inputs, operands.outputs, strict=True):
        context.resize_tensor(y, tuple(n for d, n in enumerate(x.shape) if d not in axes))


def _invoke_reduce(context: Context, node: Node) -> None:
    """Elements are joined in row-major order."""
    operands = _stablehlo_operands(context, node, "STABLEHLO_REDUCE")
    outputs = operands.outputs
    if not outputs[0].size:
        return
    axes = tuple(_reduced_axes(node, operands.inputs[0]))
    body = _body(context, node, "STABLEHLO_REDUCE", operands)
    inputs, starts = _arrays(operands.inputs), _start_values(operands)
    if body.name:
        with np.errstate(all="ignore"):
            fold = FOLDS[body.name]
            outputs[0].array()[...] = fold.reduce(
                inputs[0], axis=axes, initial=starts[0], dtype=inputs[0].dtype
            )
        return
    results = [np.full(y.shape, start, y.dtype) for y, start in zip(outputs, starts, strict=True)]
    columns = [np.moveaxis(x, sorted(axes), range(len(axes))).reshape(-1, *outputs[0].shape) for x in inputs]
    for elements in zip(*columns, strict=True):
        results = body.join(results, elements)
    for y, result in zip(outputs, results, strict=True):
        y.array()[...] = result


REGISTRATIONS = (
    registration("REDUCE_WINDOW", _prepare, _invoke),
    registration("STABLEHLO_REDUCE_WINDOW", _prepare_stablehlo, _invoke_stablehlo),
    registration("STABLEHLO_REDUCE", _prepare_reduce, _invoke_reduce),
)
