"""Products of matrices and of tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT
from ..building.tensor import Tensor
from .element_types import inner_type
from .step import Result, Rule, Step

# Products of integers are computed as elements of a larger tensor, of so many elements.
_MOST_PRODUCTS = 1 << 22
Sizes = list[int | Tensor]


def dot_general(step: Step) -> Result:
    """FULLY_CONNECTED or BATCH_MATMUL between transposes and reshapes."""
    x, y = step.input(0), step.input(1)
    x_batch, x_sum = (step.axes(f"lhs_{what}_dimensions", x.rank) for what in ("batching", "contracting"))
    y_batch, y_sum = (step.axes(f"rhs_{what}_dimensions", y.rank) for what in ("batching", "contracting"))
    if len(x_batch) != len(y_batch) or len(x_sum) != len(y_sum):
        raise ModelError("both operands must have as many batches and summed axes")
    if set(x_batch) & set(x_sum) or set(y_batch) & set(y_sum):
        raise ModelError("an axis must not be a batch and be summed over")
    type = inner_type(step.result_type())
    if type == DT_FLOAT:
        x, y = (step.body.cast(each, DT_FLOAT) for each in (x, y))
    return product(x, y, (x_batch, x_sum), (y_batch, y_sum), type)


def dot(step: Step) -> Result:
    """The last axis of the first operand by the first one of the second."""
    x, y = step.input(0), step.input(1)
    return product(x, y, ([], [x.rank - 1]), ([], [0]), inner_type(step.result_type()))


def product(
    x: Tensor,
    y: Tensor,
    x_axes: tuple[Sequence[int], Sequence[int]],
    y_axes: tuple[Sequence[int], Sequence[int]],
    type: int,
) -> Tensor:
    """Products summed over axes: batches, x's own axes, y's own axes. Axes are (batch, summed)."""
    (x_batch, x_sum), (y_batch, y_sum) = x_axes, y_axes
    x_own = [axis for axis in range(x.rank) if axis not in (*x_batch, *x_sum)]
    y_own = [axis for axis in range(y.rank) if axis not in (*y_batch, *y_sum)]
    # Summed axes may be named in any order, the same for both.
    pairs = sorted(zip(x_sum, y_sum, strict=True))
    x_sum, y_sum = [a for a, _ in pairs], [b for _, b in pairs]
    body = x.body
    x_sizes, y_sizes = body.sizes_of(x), body.sizes_of(y)
    batch = [x_sizes[axis] for axis in x_batch]
    result: Sizes = [*batch, *(x_sizes[axis] for axis in x_own), *(y_sizes[axis] for axis in y_own)]
    if type != DT_FLOAT:
        return _of_integers(x, y, (x_batch, x_own, x_sum), (y_batch, y_own, y_sum), type)
    depth = [x_sizes[axis] for axis in x_sum]
    left, adj_x = _matrix(x, x_batch, x_own, x_sum)
    right, adj_y = _matrix(y, y_batch, y_sum, y_own)
    if not batch and not adj_x and y.data is not None and len(x_sum) == 1 and x_own:
        # The operator has all axes of the first operand but the last as batches.
        rows = [x_sizes[axis] for axis in x_own]
        whole = body.reshaped(left, [*rows, _joined(depth)])
        made = body.op("BatchMatMulV2", whole, _flat(right, y_sizes, y_sum, y_own, adj_y), adj_y=adj_y)
        return made if len(y_own) == 1 else body.reshaped(made, result)
    left = _flat(left, x_sizes, x_own, x_sum, adj_x, batch)
    right = _flat(right, y_sizes, y_sum, y_own, adj_y, batch)
    made = body.op("BatchMatMulV2", left, right, adj_x=adj_x, adj_y=adj_y)
    if len(x_own) == len(y_own) == 1:
        return made
    return body.reshaped(made, result)


def _joined(sizes: Sequence[int | Tensor]) -> int | Tensor:
    """The product of the sizes."""
    return math.prod(sizes) if sizes else 1


def _matrix(
    x: Tensor, batch: Sequence[int], rows: Sequence[int], columns: Sequence[int]
) -> tuple[Tensor, bool]:
    """x with axes (batch, rows, columns), or with the last two kinds exchanged where that moves nothing."""
    order = [*batch, *rows, *columns]
    exchanged = [*batch, *columns, *rows]
    if order != sorted(order) and exchanged == sorted(exchanged):
        return x, True
    return x.body.transposed(x, order), False


def _flat(
    x: Tensor,
    sizes: Sequence[int | Tensor],
    rows: Sequence[int],
    columns: Sequence[int],
    is_exchanged: bool,
    batch: Sequence[int | Tensor] = (),
) -> Tensor:
    """With one axis for all rows and one for all columns."""
    if len(rows) == len(columns) == 1:
        return x
    both = [_joined([sizes[axis] for axis in axes]) for axes in (rows, columns)]
    return x.body.reshaped(x, [*batch, *(both[::-1] if is_exchanged else both)])


def _of_integers(
    x: Tensor,
    y: Tensor,
    x_axes: tuple[Sequence[int], Sequence[int], Sequence[int]],
    y_axes: tuple[Sequence[int], Sequence[int], Sequence[int]],
    type: int,
) -> Tensor:
    """Each product as an element, then their sums: no operator multiplies matrices of integers exactly."""
    body = x.body
    x_sizes, y_sizes = x.sizes, y.sizes
    count = math.prod(x_sizes) * math.prod(y_sizes[axis] for axis in y_axes[1])
    if min((*x_sizes, *y_sizes), default=0) < 0 or count > _MOST_PRODUCTS:
        raise UnsupportedError(f"products of integers: at most {_MOST_PRODUCTS} are built")
    x = body.cast(body.transposed(x, [*x_axes[0], *x_axes[1], *x_axes[2]]), type)
    y = body.cast(body.transposed(y, [*y_axes[0], *y_axes[1], *y_axes[2]]), type)
    batch, rows, columns = len(x_axes[0]), len(x_axes[1]), len(y_axes[1])
    depth = len(x_axes[2])
    x = body.reshaped(x, [*x.sizes[: batch + rows], *[1] * columns, *x.sizes[batch + rows :]])
    y = body.reshaped(y, [*y.sizes[:batch], *[1] * rows, *y.sizes[batch:]])
    total = batch + rows + columns
    return body.op("Sum", x * y, body.integers(list(range(total, total + depth))), keep_dims=False)


REGISTRATIONS: dict[str, Rule] = {"dot": dot, "dot_general": dot_general}
