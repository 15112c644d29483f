"""Decompositions and solutions of matrices."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction
from .dimensions import ANY, broadcast


def _least(a: int, b: int) -> int:
    return ANY if ANY in (a, b) else min(a, b)


def determinant(c: ShapeContext) -> Results:
    x = c.at_least(0, 2)
    one = None if x is None else x[:-2]
    return [one] * max(len(c.given), 1)


def qr(c: ShapeContext) -> Results:
    x = c.at_least(0, 2)
    if x is None:
        return [None, None]
    m, n = x[-2:]
    if c.flag("full_matrices"):
        return [(*x[:-2], m, m), x]
    p = _least(m, n)
    return [(*x[:-2], m, p), (*x[:-2], p, n)]


def svd(c: ShapeContext) -> Results:
    x = c.at_least(0, 2)
    if x is None:
        return [None, None, None]
    m, n = x[-2:]
    p = _least(m, n)
    values = (*x[:-2], p)
    if not c.flag("compute_uv"):
        return [values, None, None]
    if c.flag("full_matrices"):
        return [values, (*x[:-2], m, m), (*x[:-2], n, n)]
    return [values, (*x[:-2], m, p), (*x[:-2], n, p)]


def eig(c: ShapeContext) -> Results:
    """SelfAdjointEigV2, Eig: values, and vectors if wanted; else TensorFlow leaves that result open."""
    x = c.at_least(0, 2)
    if x is None:
        return [None, None]
    return [x[:-1], x if c.flag("compute_v") else None]


def solve(c: ShapeContext) -> Results:
    """As many rows as the matrix has columns."""
    a, b = c.at_least(0, 2), c.at_least(1, 2)
    if a is None or b is None:
        return [None]
    if c.op in ("MatrixSolve", "BatchMatrixSolve"):
        batch = c.merged(a[:-2], b[:-2])
    else:
        batch = broadcast(a[:-2], b[:-2])
    assert batch is not None
    rows = a[-1] if c.op == "MatrixSolveLs" else max(a[-1], a[-2], b[-2])
    return [(*batch, rows, b[-1])]


def lu(c: ShapeContext) -> Results:
    x = c.at_least(0, 2)
    return [None, None] if x is None else [x, x[:-1]]


def cross(c: ShapeContext) -> Results:
    return [c.alike(0, 1)]


def tridiagonal_solve(c: ShapeContext) -> Results:
    return [c.at_least(1, 2)]


REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(("MatrixDeterminant", "LogMatrixDeterminant", "BatchMatrixDeterminant"), determinant),
    "Qr": qr,
    "Svd": svd,
    **dict.fromkeys(("SelfAdjointEigV2", "Eig"), eig),
    **dict.fromkeys(("MatrixSolve", "MatrixTriangularSolve", "MatrixSolveLs", "BatchMatrixSolve"), solve),
    "Lu": lu,
    "Cross": cross,
    "TridiagonalSolve": tridiagonal_solve,
}
