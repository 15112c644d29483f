"""Systems of linear equations, factors and determinants: loops over columns of matrices of any known size."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32
from ..ir.types import element_type
from .body import Body
from .contraction import product
from .control_flow import while_loop
from .module_builder import ModuleBuilder
from .tensor import Tensor

Turn = Callable[[Tensor, Sequence[Tensor], dict[str, Tensor]], list[Tensor]]


def matrices(x: Tensor) -> Tensor:
    """[batch, rows, columns] of known sizes."""
    if x.type != DT_FLOAT:
        raise UnsupportedError("matrices of other types than floats")
    if x.rank < 2 or -1 in x.sizes[-2:]:
        raise UnsupportedError("the sizes of matrices must be known")
    return x if x.rank == 3 else x.body.reshaped(x, [-1, *x.sizes[-2:]])


def _turned(x: Tensor) -> Tensor:
    return x.body.transposed(x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])


def _count(matrix: Tensor) -> int:
    rows, columns = matrix.sizes[-2:]
    if rows != columns:
        raise ModelError(f"the matrix must be square, got {rows}x{columns}")
    return rows


def places_of(body: Body, count: int) -> Tensor:
    """0, 1 ... below the count."""
    return body.constant(np.arange(count, dtype=np.int32))


def widened(x: Tensor, *axes: int) -> Tensor:
    """x with axes of one element put in, one after another."""
    for axis in axes:
        x = x.body.op("ExpandDims", x, x.body.scalar(axis, DT_INT32))
    return x


def along(x: Tensor, place: Tensor, axis: int) -> Tensor:
    """What lies at a place of an axis, without it."""
    return x.body.op("GatherV2", x, place, x.body.scalar(axis, DT_INT32))


def counted_loop(
    builder: ModuleBuilder,
    body: Body,
    count: int,
    carried: Sequence[Tensor],
    held: dict[str, Tensor],
    turn: Turn,
) -> list[Tensor]:
    """turn(place, what is carried, what is held) gives what is carried on; for each place below the count."""

    def taken(inner: Body, place: Tensor, state: Sequence[Tensor], seen: dict[str, Tensor]) -> list[Tensor]:
        here = {
            name: seen[name] if name in seen else inner.constant(np.asarray(tensor.data))
            for name, tensor in held.items()
        }
        return [inner.scalar(True, DT_BOOL), *turn(place, state, here)]

    outer = {name: tensor for name, tensor in held.items() if tensor.data is None}
    turns, begins = body.scalar(count, DT_INT32), body.scalar(True, DT_BOOL)
    return while_loop(builder, body, outer, carried, 0, taken, turns, begins)


def cholesky_factor(builder: ModuleBuilder, a: Tensor, lower: bool) -> Tensor:
    """Column by column: what a column explains is taken from the rest."""
    rest = matrices(a if lower else _turned(a))
    count = _count(rest)

    def turn(place: Tensor, state: Sequence[Tensor], _: dict[str, Tensor]) -> list[Tensor]:
        left, found = state
        places = places_of(place.body, count)
        column = along(left, place, 2)
        pivot = widened(along(column, place, 1).apply("Rsqrt"), 1)
        column = (places >= place).choose(column, 0.0) * pivot
        deep = widened(column, 2)
        return [left - deep * widened(column, 1), places.equals(place).choose(deep, found)]

    _, factor = counted_loop(builder, a.body, count, [rest, rest.apply("ZerosLike")], {}, turn)
    whole = a.body.reshaped(factor, a.body.sizes_of(a))
    return whole if lower else _turned(whole)


def triangular_solved(
    builder: ModuleBuilder, a: Tensor, b: Tensor, left: bool, lower: bool, unit: bool, transposed: bool
) -> Tensor:
    """Row by row; other systems are this one with matrices transposed or turned round."""
    matrix, rows = matrices(a), matrices(b)
    if not left:
        matrix, rows, lower = _turned(matrix), _turned(rows), not lower
    if transposed:
        matrix, lower = _turned(matrix), not lower
    count = _count(matrix)
    if rows.sizes[1] != count:
        raise ModelError(f"the matrix must have as many rows as there are equations, got {count} and {rows}")
    if not lower:
        matrix, rows = (_backwards(_backwards(matrix, 1), 2), _backwards(rows, 1))

    def turn(place: Tensor, state: Sequence[Tensor], held: dict[str, Tensor]) -> list[Tensor]:
        [found] = state
        places = places_of(place.body, count)
        row = along(held["a"], place, 1)
        known = product(widened((places < place).choose(row, 0.0), 1), found)
        new = widened(along(held["b"], place, 1), 1) - known
        if not unit:
            new = new / widened(along(row, place, 1), 1, 2)
        return [widened(places.equals(place), 1).choose(new, found)]

    [found] = counted_loop(builder, a.body, count, [rows.apply("ZerosLike")], {"a": matrix, "b": rows}, turn)
    found = found if lower else _backwards(found, 1)
    return a.body.reshaped(found if left else _turned(found), a.body.sizes_of(b))


def _backwards(x: Tensor, axis: int) -> Tensor:
    return x.body.op("ReverseV2", x, x.body.integers([axis]))


def swapped_rows(left: Tensor, place: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
    """The matrices with the largest element of a column, from the place on, at the place; where it was."""
    body = place.body
    sizes = (row >= place).choose(along(left, place, 2).apply("Abs"), -1.0)
    pivot = body.op("ArgMax", sizes, body.scalar(1, DT_INT32), output_type=element_type(DT_INT32))
    deep = widened(pivot, 1)
    order = row.equals(place).choose(deep, row.equals(deep).choose(place, row))
    return body.op("GatherV2", left, order, body.scalar(1, DT_INT32), batch_dims=1), pivot


def eliminated(builder: ModuleBuilder, a: Tensor, b: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """x of a x = b [batch, n, m] (1 without b), the pivots [batch, n], and the sign of their order.

    Column by column: the largest element that is left comes to the diagonal, and the column goes from all
    other rows.
    """
    matrix = matrices(a)
    count, body = _count(matrix), a.body
    whole = matrix if b is None else body.op("ConcatV2", matrix, b, body.scalar(2, DT_INT32))
    ones = body.op("Max", matrix.apply("OnesLike"), body.integers([2]), keep_dims=False)
    signs = body.op("Max", ones, body.integers([1]), keep_dims=True)

    def turn(place: Tensor, state: Sequence[Tensor], _: dict[str, Tensor]) -> list[Tensor]:
        left, pivots, sign = state
        row = places_of(place.body, count)
        left, pivot = swapped_rows(left, place, row)
        lead = along(left, place, 2)
        diagonal = widened(along(lead, place, 1), 1)
        top = widened(along(left, place, 1) / diagonal, 1)
        others = row.equals(place).choose(0.0, lead)
        left = widened(row.equals(place), 1).choose(top, left - widened(others, 2) * top)
        stays = widened(pivot.equals(place), 1)
        return [left, row.equals(place).choose(diagonal, pivots), stays.choose(sign, -sign)]

    made, pivots, sign = counted_loop(builder, body, count, [whole, ones, signs], {}, turn)
    if b is None:
        return made, pivots, sign
    return body.op("Slice", made, body.integers([0, 0, count]), body.integers([-1, -1, -1])), pivots, sign
