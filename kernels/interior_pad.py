"""STABLEHLO_PAD and DILATE: a value around the input and between its elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor
from .fill import fill_calls
from .index_vector import check_counts, check_index_type, check_same_type, check_sizes, integers, output_of
from .operators import registration
from .strided_copy import StridedCopy, element_bytes, row_major_strides, strided_copy_calls, strided_copy_now

# Per axis: elements before, behind (negative ones are cut off) and between.
Padding = tuple[int, int, int]


def interior_padded(operator: str, shape: Shape, padding: Sequence[Padding]) -> Shape:
    """Output shape; PrepareError unless each axis has a padding whose interior is not negative."""
    if len(padding) != len(shape) or any(between < 0 for _, _, between in padding):
        raise PrepareError(
            f"{operator}: each axis must have a padding with an interior of at least 0, "
            f"got {list(padding)} for {list(shape)}"
        )
    spread = [n + max(n - 1, 0) * between for n, (_, _, between) in zip(shape, padding, strict=True)]
    sizes = [n + before + behind for n, (before, behind, _) in zip(spread, padding, strict=True)]
    return check_sizes(operator, tuple(max(n, 0) for n in sizes))


def interior_copy(item_bytes: int, shape: Shape, out: Shape, padding: Sequence[Padding]) -> StridedCopy:
    """The copy that places the elements which padding does not cut off."""
    source, target = row_major_strides(shape, item_bytes), row_major_strides(out, item_bytes)
    sizes, steps = [], []
    source_at = target_at = 0
    for d, (before, _, between) in enumerate(padding):
        step = between + 1
        first = max(0, -(before // step))
        last = min(shape[d], (out[d] - 1 - before) // step + 1)
        sizes.append(max(last - first, 0))
        steps.append(step * target[d])
        source_at += first * source[d]
        target_at += (before + first * step) * target[d]
    return StridedCopy(item_bytes, tuple(sizes), source_at, source, target_at, tuple(steps))


def interior_pad_now(x: np.ndarray, value: np.ndarray, padding: Sequence[Padding]) -> np.ndarray:
    """The padded array, whose sizes the caller has checked."""
    out = np.full(interior_padded("padding", x.shape, padding), value, x.dtype)
    copy = interior_copy(x.dtype.itemsize, x.shape, out.shape, padding)
    flat = out.reshape(-1).view(np.uint8)
    strided_copy_now(copy, np.ascontiguousarray(x).reshape(-1).view(np.uint8), flat)
    return out


def _scalar(operator: str, x: Tensor, value: Tensor) -> Tensor:
    check_same_type(operator, x, value)
    if value.shape != ():
        raise PrepareError(f"{operator}: the padding value must be a scalar, got {value!r}")
    return value


def _calls(
    context: Context, operator: str, x: Tensor, value: Tensor, y: Tensor, padding: Sequence[Padding]
) -> list[KernelCall]:
    shape = interior_padded(operator, x.shape, padding)
    context.resize_tensor(y, shape)
    if 0 in shape:
        return []
    item_bytes = element_bytes(x, operator)
    calls = fill_calls(context, y, item_bytes, y.size, value)
    return [*calls, *strided_copy_calls(context, interior_copy(item_bytes, x.shape, shape, padding), x, y)]


def _prepare_pad(context: Context, node: Node) -> Sequence[KernelCall]:
    check_counts("STABLEHLO_PAD", node, 2)
    x, value = context.input(node, 0), context.input(node, 1)
    y = output_of(context, node, "STABLEHLO_PAD", x)
    _scalar("STABLEHLO_PAD", x, value)
    if node.options is None:
        raise PrepareError("STABLEHLO_PAD: options must give the padding, got none")
    parts = (node.options.edge_padding_low, node.options.edge_padding_high, node.options.interior_padding)
    lists = [[int(n) for n in ([] if part is None else part)] for part in parts]
    if len({len(part) for part in lists}) != 1:
        raise PrepareError(f"STABLEHLO_PAD: paddings must be equally many, got {lists}")
    calls = _calls(context, "STABLEHLO_PAD", x, value, y, list(zip(*lists, strict=True)))
    if not calls:  # LiteRT makes all sizes 0 where one is
        context.resize_tensor(y, (0,) * len(y.shape))
    return calls


def _dilation(context: Context, node: Node) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    check_counts("DILATE", node, 3)
    x, dilations, value = (context.input(node, i) for i in range(3))
    check_index_type("DILATE", "dilations", dilations)
    return x, dilations, _scalar("DILATE", x, value), output_of(context, node, "DILATE", x)


def _spread(x: Tensor, dilations: Tensor) -> list[Padding]:
    factors = integers(dilations)
    if dilations.shape != (len(x.shape),) or any(factor < 1 for factor in factors):
        raise PrepareError(f"DILATE: each axis must have a dilation of at least 1, got {factors} for {x!r}")
    return [(0, 0, factor - 1) for factor in factors]


def _prepare_dilate(context: Context, node: Node) -> Sequence[KernelCall] | None:
    x, dilations, value, y = _dilation(context, node)
    if not dilations.is_constant:
        element_bytes(x, "DILATE")
        context.set_dynamic(y)
        return None
    return _calls(context, "DILATE", x, value, y, _spread(x, dilations))


def _invoke_dilate(context: Context, node: Node) -> None:
    x, dilations, value, y = _dilation(context, node)
    padding = _spread(x, dilations)
    context.resize_tensor(y, interior_padded("DILATE", x.shape, padding))
    if y.size:
        y.array()[...] = interior_pad_now(x.array(), value.array(), padding)


REGISTRATIONS = (
    registration("STABLEHLO_PAD", _prepare_pad),
    registration("DILATE", _prepare_dilate, _invoke_dilate),
)
