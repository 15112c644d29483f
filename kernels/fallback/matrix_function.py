"""Functions of matrices, and products and solutions of tridiagonal ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .dtypes import COMPLEX, FLOATS
from .registry import kernel
from .schur import schur, triangular_root
from .status import InvalidArgumentError


def _square(x: np.ndarray) -> np.ndarray:
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise InvalidArgumentError(f"input must be square matrices, got {list(x.shape)}")
    return x.astype(np.complex128)


def _as_type(value: np.ndarray, like: np.ndarray) -> np.ndarray:
    return (value if like.dtype.kind == "c" else value.real).astype(like.dtype)


def matrix_exponential(x: np.ndarray) -> np.ndarray:
    """exp of matrices: by the series of x / 2^s, squared s times; NaNs of what is not finite."""
    held = _square(x)
    finite = np.isfinite(held).all((-1, -2), keepdims=True)
    held = np.where(finite, held, 0)
    norm = np.abs(held).sum(-1).max(-1, initial=0)[..., None, None] if held.size else np.zeros((1, 1))
    steps = np.maximum(np.ceil(np.log2(np.maximum(norm, 1e-300))) + 4, 0)
    small = held / np.exp2(steps)
    total = term = np.broadcast_to(np.eye(x.shape[-1], dtype=np.complex128), held.shape)
    for n in range(1, 20):
        term = term @ small / n
        total = total + term
    for step in range(int(steps.max(initial=0))):
        total = np.where(step < steps, total @ total, total)
    return _as_type(np.where(finite, total, np.nan), x)


def matrix_square_root(x: np.ndarray) -> np.ndarray:
    """The root whose eigenvalues have no negative real part, by Schur's form.

    NaNs where there is none, for a real matrix none that is real.
    """

    def root(t: np.ndarray) -> np.ndarray:
        values = np.diagonal(t)
        sizes = np.abs(values).max(initial=0) * 1e-12
        if x.dtype.kind != "c" and np.any((np.abs(values.imag) <= sizes) & (values.real < -sizes)):
            return np.full_like(t, np.nan)
        return triangular_root(t)

    return _by_schur(x, root)


def _by_schur(x: np.ndarray, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The function of matrices [..., n, n] that a function of triangular ones tells."""
    held = _square(x)
    made = np.empty_like(held)
    for place in np.ndindex(held.shape[:-2]):
        if not np.isfinite(held[place]).all():
            made[place] = np.nan
            continue
        t, u = schur(held[place])
        with np.errstate(invalid="ignore"):
            made[place] = u @ function(t) @ u.conj().T
    return _as_type(made, x)


def matrix_logarithm(x: np.ndarray) -> np.ndarray:
    """The principal logarithm, by Schur's form; NaNs of a singular matrix."""
    return _by_schur(x, _triangular_logarithm)


def _triangular_logarithm(t: np.ndarray) -> np.ndarray:
    """Roots until the matrix is near 1, then the series of artanh; the diagonal's logarithms as they are."""
    identity, held, times = np.eye(len(t)), t, 0
    values = np.diagonal(t)
    if not np.all(values):
        return np.full_like(t, np.nan)
    while held.size and np.abs(held - identity).max() > 0.1:
        held, times = triangular_root(held), times + 1
        if not np.isfinite(held).all() or times > 2000:
            return np.full_like(t, np.nan)
    z = np.linalg.solve(held + identity, held - identity)
    square, power, total = z @ z, z, np.zeros_like(held)
    for n in range(1, 40, 2):
        total, power = total + power / n, power @ square
    total = total * 2.0 ** (times + 1)
    np.fill_diagonal(total, np.log(values))
    return total


def tridiagonal_mat_mul(
    superdiag: np.ndarray, maindiag: np.ndarray, subdiag: np.ndarray, rhs: np.ndarray
) -> np.ndarray:
    """The product of tridiagonal matrices, diagonals [..., 1, M], with rhs [..., M, N].

    The last of superdiag and the first of subdiag count for nothing.
    """
    wanted = (*rhs.shape[:-2], 1, rhs.shape[-2]) if rhs.ndim >= 2 else ()
    for diagonal in (superdiag, maindiag, subdiag):
        if rhs.ndim < 2 or diagonal.shape != wanted:
            message = f"diagonals must be {list(wanted)} for {list(rhs.shape)}, got {list(diagonal.shape)}"
            raise InvalidArgumentError(f"TridiagonalMatMul: {message}")
    above, main, below = (np.swapaxes(diagonal, -1, -2) for diagonal in (superdiag, maindiag, subdiag))
    made = main * rhs
    made[..., :-1, :] += above[..., :-1, :] * rhs[..., 1:, :]
    made[..., 1:, :] += below[..., 1:, :] * rhs[..., :-1, :]
    return made


def tridiagonal_solve(
    diagonals: np.ndarray, rhs: np.ndarray, *, partial_pivoting: bool, perturb_singular: bool
) -> np.ndarray:
    """y with T y = rhs: diagonals [..., 3, M] are T's upper, main and lower ones; rhs is [..., M, K]."""
    del partial_pivoting
    if (
        diagonals.ndim < 2
        or diagonals.shape[-2] != 3
        or rhs.shape[:-1]
        != (
            *diagonals.shape[:-2],
            diagonals.shape[-1],
        )
    ):
        message = f"must be [..., 3, M] and [..., M, K], got {list(diagonals.shape)} and {list(rhs.shape)}"
        raise InvalidArgumentError(f"TridiagonalSolve: {message}")
    size = diagonals.shape[-1]
    wide = np.result_type(diagonals.dtype, np.float64)
    whole = np.zeros((*diagonals.shape[:-2], size, size), wide)
    i = np.arange(size)
    whole[..., i[:-1], i[1:]] = diagonals[..., 0, :-1]
    whole[..., i, i] = diagonals[..., 1, :]
    whole[..., i[1:], i[:-1]] = diagonals[..., 2, 1:]
    try:
        return np.linalg.solve(whole, rhs.astype(wide)).astype(rhs.dtype)
    except np.linalg.LinAlgError:
        if not perturb_singular:
            raise InvalidArgumentError("The matrix is singular.") from None
    nudged = whole + np.eye(size) * np.finfo(rhs.dtype).eps
    return np.linalg.solve(nudged, rhs.astype(wide)).astype(rhs.dtype)


REGISTRATIONS = (
    kernel("MatrixExponential", matrix_exponential, T=FLOATS | COMPLEX),
    kernel("MatrixSquareRoot", matrix_square_root, T=FLOATS | COMPLEX),
    kernel("MatrixLogarithm", matrix_logarithm, T=COMPLEX),
    kernel("TridiagonalMatMul", tridiagonal_mat_mul, T=FLOATS | COMPLEX),
    kernel("TridiagonalSolve", tridiagonal_solve, T=FLOATS | COMPLEX),
)
