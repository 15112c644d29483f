"""Cholesky factors and triangular systems."""

from __future__ import annotations

from collections.abc import Mapping

from ...schema.graph_def import DT_INT32
from ..building.linear_algebra import cholesky_factor, triangular_solved
from ..building.tensor import Tensor
from .program import Attribute
from .step import Result, Rule, Step

# Letters by which LAPACK is told what is given.
_LOWER, _LEFT, _UNIT, _AS_IT_IS, _CONJUGATE = (ord(letter) for letter in "LLUNC")


def cholesky(step: Step) -> Result:
    """The triangular factor; the other triangle is 0."""
    return cholesky_factor(step.importer.shared, step.input(0), step.flag("lower"))


def triangular_solve(step: Step) -> Result:
    """x of a x = b or of x a = b."""
    transposed = step.text("transpose_a") in ("TRANSPOSE", "ADJOINT")
    flags = [step.flag(name) for name in ("left_side", "lower", "unit_diagonal")]
    return _solved(step, flags[0], flags[1], flags[2], transposed)


def lapack_cholesky(step: Step, attributes: Mapping[str, Attribute]) -> Result:
    """What JAX calls on a CPU: the factor, and whether there is none."""
    y = cholesky_factor(step.importer.shared, step.input(0), attributes.get("uplo") == _LOWER)
    wrong = step.make("Any", step.make("IsNan", y), step.body.integers([y.rank - 2, y.rank - 1]))
    return [y, step.body.cast(wrong, DT_INT32)]


def lapack_solve(step: Step, attributes: Mapping[str, Attribute]) -> Result:
    """What JAX calls on a CPU for triangular systems."""
    transposed = attributes.get("trans_x", _AS_IT_IS) != _AS_IT_IS
    names = (("side", _LEFT), ("uplo", _LOWER), ("diag", _UNIT))
    left, lower, unit = (attributes.get(name) == letter for name, letter in names)
    return _solved(step, left, lower, unit, transposed)


def _solved(step: Step, left: bool, lower: bool, unit: bool, transposed: bool) -> Tensor:
    a, b = step.input(0), step.input(1)
    return triangular_solved(step.importer.shared, a, b, left, lower, unit, transposed)


REGISTRATIONS: dict[str, Rule] = {"cholesky": cholesky, "triangular_solve": triangular_solve}
