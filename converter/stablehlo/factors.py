"""What LAPACK computes for JAX on a CPU: triangular factors with pivots, orthogonal ones by reflections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...lite.errors import ModelError
from ...schema.graph_def import DT_INT32
from ..building.linear_algebra import along, counted_loop, matrices, places_of, swapped_rows, widened
from ..building.tensor import Tensor
from .program import Attribute
from .step import Result, Step


def lapack_lu(step: Step, attributes: Mapping[str, Attribute]) -> Result:
    """Both factors in one matrix, the rows that change places (from 1 on), and 0 for each matrix.

    Column by column: the largest element of what is left of it comes to the diagonal.
    """
    a = step.input(0)
    matrix = matrices(a)
    rows, columns = matrix.sizes[-2:]
    count = min(rows, columns)
    pivots = step.body.cast(matrix.apply("ZerosLike"), DT_INT32)
    pivots = step.body.op("Max", pivots, step.body.integers([2]), keep_dims=False)
    pivots = _first(pivots, count)

    def turn(place: Tensor, state: Sequence[Tensor], _: dict[str, Tensor]) -> list[Tensor]:
        left, found = state
        body = place.body
        row, column = places_of(body, rows), places_of(body, columns)
        left, pivot = swapped_rows(left, place, row)
        lead = along(left, place, 2)
        diagonal = widened(along(lead, place, 1), 1)
        # LAPACK leaves a column of zeros as it is.
        factors = (row > place).choose(lead / diagonal.equals(0).choose(1.0, diagonal), 0.0)
        top = (column > place).choose(along(left, place, 1), 0.0)
        left = left - widened(factors, 2) * widened(top, 1)
        is_below = body.op("LogicalAnd", widened(row > place, 1), column.equals(place))
        left = is_below.choose(widened(factors, 2), left)
        return [left, places_of(body, count).equals(place).choose(widened(pivot + 1, 1), found)]

    made, swaps = counted_loop(step.importer.shared, step.body, count, [matrix, pivots], {}, turn)
    outer = step.body.sizes_of(a)[:-2]
    exchanged = step.body.reshaped(swaps, [*outer, count])
    last = step.body.integers([len(outer)])
    none = step.body.op("Max", exchanged, last, keep_dims=False).apply("ZerosLike")
    return [step.body.reshaped(made, step.body.sizes_of(a)), exchanged, none]


def _first(x: Tensor, count: int) -> Tensor:
    """The first so many of each row."""
    body = x.body
    return body.op("Slice", x, body.integers([0, 0]), body.integers([-1, count]))


def lapack_qr(step: Step, attributes: Mapping[str, Attribute]) -> Result:
    """The triangular factor with reflections' vectors below it, and the reflections' factors."""
    a = step.input(0)
    matrix = matrices(a)
    rows, columns = matrix.sizes[-2:]
    count = min(rows, columns)
    across = step.body.integers([1 if rows > columns else 2])
    zeros = step.body.op("Max", matrix.apply("ZerosLike"), across, keep_dims=False)
    zeros = _first(zeros, count)

    def turn(place: Tensor, state: Sequence[Tensor], _: dict[str, Tensor]) -> list[Tensor]:
        left, found = state
        body = place.body
        row, column = places_of(body, rows), places_of(body, columns)
        lead = along(left, place, 2)
        alpha = widened(along(lead, place, 1), 1)
        below = (row > place).choose(lead, 0.0)
        rest = body.op("Sum", below.apply("Square"), body.integers([1]), keep_dims=True)
        norm = (alpha.apply("Square") + rest).apply("Sqrt")
        is_done = rest.equals(0)
        beta = is_done.choose(alpha, (alpha < 0).choose(norm, -norm))
        gap = is_done.choose(1.0, alpha - beta)
        factor = is_done.choose(0.0, (beta - alpha) / is_done.choose(1.0, beta))
        vector = row.equals(place).choose(1.0, below / gap)
        left = _reflected(left, vector, factor, column > place)
        is_column = column.equals(place)
        made = row.equals(place).choose(beta, (row > place).choose(vector, lead))
        left = is_column.choose(widened(made, 2), left)
        return [left, places_of(body, count).equals(place).choose(factor, found)]

    made, factors = counted_loop(step.importer.shared, step.body, count, [matrix, zeros], {}, turn)
    sizes = step.body.sizes_of(a)
    return [step.body.reshaped(made, sizes), step.body.reshaped(factors, [*sizes[:-2], count])]


def _reflected(left: Tensor, vector: Tensor, factor: Tensor, mask: Tensor | None) -> Tensor:
    """Columns less the factor times the vector times their products with it; those of the mask alone."""
    body = left.body
    products = body.op("Sum", left * widened(vector, 2), body.integers([1]), keep_dims=True)
    if mask is not None:
        products = mask.choose(products, 0.0)
    return left - widened(vector * factor, 2) * products


def lapack_orthogonal(step: Step, attributes: Mapping[str, Attribute]) -> Result:
    """The orthogonal factor of reflections, from the last to the first."""
    a, factors = step.input(0), step.input(1)
    matrix = matrices(a)
    rows, columns = matrix.sizes[-2:]
    count = factors.sizes[-1]
    if not 0 <= count <= columns <= rows:
        raise ModelError(f"reflections must be at most {columns} for {rows}x{columns}, got {count}")
    flat = step.body.reshaped(factors, [-1, count])
    row, column = places_of(step.body, rows), places_of(step.body, columns)
    unit = step.body.cast(widened(row, 1).equals(column), matrix.type)

    def turn(place: Tensor, state: Sequence[Tensor], held: dict[str, Tensor]) -> list[Tensor]:
        [found] = state
        at = count - 1 - place
        row = places_of(place.body, rows)
        vector = row.equals(at).choose(1.0, (row > at).choose(along(held["a"], at, 2), 0.0))
        factor = widened(along(held["factors"], at, 1), 1)
        return [_reflected(found, vector, factor, None)]

    given = {"a": matrix, "factors": flat}
    [made] = counted_loop(
        step.importer.shared, step.body, count, [matrix.apply("ZerosLike") + unit], given, turn
    )
    return step.body.reshaped(made, step.body.sizes_of(a))
