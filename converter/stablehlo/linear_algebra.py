"""Cholesky factors and triangular systems: loops over columns and rows, of matrices of any known size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32
from ..building.body import Body
from ..building.contraction import product
from ..building.control_flow import while_loop
from ..building.tensor import Tensor
from .program import Attribute
from .step import Result, Rule, Step

Turn = Callable[[Tensor, Sequence[Tensor], dict[str, Tensor]], list[Tensor]]
# Letters by which LAPACK is told what is given.
_LOWER, _LEFT, _UNIT, _AS_IT_IS, _CONJUGATE = (ord(letter) for letter in "LLUNC")


def cholesky(step: Step) -> Result:
    """The triangular factor; the other triangle is 0."""
    return _factor(step, step.input(0), step.flag("lower"))


def triangular_solve(step: Step) -> Result:
    """x of a x = b or of x a = b."""
    transposed = step.text("transpose_a") in ("TRANSPOSE", "ADJOINT")
    flags = [step.flag(name) for name in ("left_side", "lower", "unit_diagonal")]
    return _solved(step, flags[0], flags[1], flags[2], transposed)


def lapack_cholesky(step: Step, attributes: Mapping[str, Attribute]) -> Result:
    """What JAX calls on a CPU: the factor, and whether there is none."""
    y = _factor(step, step.input(0), attributes.get("uplo") == _LOWER)
    wrong = step.make("Any", step.make("IsNan", y), step.body.integers([y.rank - 2, y.rank - 1]))
    return [y, step.body.cast(wrong, DT_INT32)]


def lapack_solve(step: Step, attributes: Mapping[str, Attribute]) -> Result:
    """What JAX calls on a CPU for triangular systems."""
    transposed = attributes.get("trans_x", _AS_IT_IS) != _AS_IT_IS
    names = (("side", _LEFT), ("uplo", _LOWER), ("diag", _UNIT))
    left, lower, unit = (attributes.get(name) == letter for name, letter in names)
    return _solved(step, left, lower, unit, transposed)


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
    step: Step, count: int, carried: Sequence[Tensor], held: dict[str, Tensor], turn: Turn
) -> list[Tensor]:
    """turn(place, what is carried, what is held) gives what is carried on; for each place below the count."""

    def taken(inner: Body, place: Tensor, state: Sequence[Tensor], seen: dict[str, Tensor]) -> list[Tensor]:
        here = {
            name: seen[name] if name in seen else inner.constant(np.asarray(tensor.data))
            for name, tensor in held.items()
        }
        return [inner.scalar(True, DT_BOOL), *turn(place, state, here)]

    body, outer = step.body, {name: tensor for name, tensor in held.items() if tensor.data is None}
    turns, begins = body.scalar(count, DT_INT32), body.scalar(True, DT_BOOL)
    return while_loop(step.importer.shared, body, outer, carried, 0, taken, turns, begins)


def _factor(step: Step, a: Tensor, lower: bool) -> Tensor:
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

    _, factor = counted_loop(step, count, [rest, rest.apply("ZerosLike")], {}, turn)
    whole = step.body.reshaped(factor, step.body.sizes_of(a))
    return whole if lower else _turned(whole)


def _solved(step: Step, left: bool, lower: bool, unit: bool, transposed: bool) -> Tensor:
    """Row by row; other systems are this one with matrices transposed or turned round."""
    a, b = step.input(0), step.input(1)
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

    [found] = counted_loop(step, count, [rows.apply("ZerosLike")], {"a": matrix, "b": rows}, turn)
    found = found if lower else _backwards(found, 1)
    return step.body.reshaped(found if left else _turned(found), step.body.sizes_of(b))


def _backwards(x: Tensor, axis: int) -> Tensor:
    return x.body.op("ReverseV2", x, x.body.integers([axis]))


REGISTRATIONS: dict[str, Rule] = {"cholesky": cholesky, "triangular_solve": triangular_solve}
