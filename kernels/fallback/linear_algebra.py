"""Factors, inverses and solutions of matrices in the last two axes, all computed in double."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from .attributes import DataType
from .dtypes import COMPLEX, FLOATS, INDICES, numpy_dtype
from .registry import KernelRegistration, kernel
from .status import InvalidArgumentError

_TYPES = FLOATS | COMPLEX
_T = TypeVar("_T")


def _wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _adjoint(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


def _matrices(x: np.ndarray, square: bool = True) -> np.ndarray:
    """In double; InvalidArgumentError unless they are (square) matrices."""
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise InvalidArgumentError(f"input must be {kind}, got {list(x.shape)}")
    return _wide(x)


def _solved(call: Callable[..., _T], *inputs: np.ndarray) -> _T:
    try:
        return call(*inputs)
    except np.linalg.LinAlgError as error:
        raise InvalidArgumentError(f"Input matrix is not invertible ({error})") from None


def _decomposed(call: Callable[[np.ndarray], Sequence[np.ndarray]], x: np.ndarray) -> Sequence[np.ndarray]:
    """The parts of each matrix; all NaN for one with NaN or inf, on which LAPACK may search for ever."""
    finite = np.isfinite(x).all((-2, -1))
    parts = _solved(call, np.where(finite[..., None, None], x, 0))
    for part in parts:
        part[~finite] = np.nan
    return parts


def cholesky(x: np.ndarray) -> np.ndarray:
    """The lower triangle L with L adjoint(L) = x, NaN for an x that has none; x's lower triangle is read."""
    held = _matrices(x)
    lower = np.tril(held)
    whole = lower + _adjoint(np.tril(held, -1))
    try:
        return np.linalg.cholesky(whole).astype(x.dtype)
    except np.linalg.LinAlgError:
        parts = [_cholesky_or_nan(matrix) for matrix in whole.reshape(-1, *x.shape[-2:])]
        return np.stack(parts).reshape(x.shape).astype(x.dtype)


def _cholesky_or_nan(matrix: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        # C++'s complex numbers have no quiet NaN: it is 0.
        return np.tril(np.full_like(matrix, 0 if matrix.dtype.kind == "c" else np.nan))


def cholesky_grad(l: np.ndarray, grad: np.ndarray) -> np.ndarray:  # noqa: E741
    """Gradient by x of its Cholesky factor l: symmetric, half of it in each triangle.

    Source: Murray, Differentiation of the Cholesky decomposition.
    """
    lower = np.tril(_matrices(l))
    middle = np.tril(_adjoint(lower) @ np.tril(_matrices(grad)))
    diagonal = np.arange(l.shape[-1])
    middle[..., diagonal, diagonal] /= 2
    # What a zero of the diagonal divides is not finite.
    with np.errstate(divide="ignore", invalid="ignore"):
        half = _substituted(_adjoint(lower), middle, False)
        product = _adjoint(_substituted(_adjoint(lower), _adjoint(half), False))
        return ((product + _adjoint(product)) / 2).astype(l.dtype)


def matrix_determinant(x: np.ndarray) -> np.ndarray:
    """Determinants; 1 of empty matrices."""
    return np.asarray(_pivots(x).prod(-1)).astype(x.dtype)


def log_matrix_determinant(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Signs of the determinants and logarithms of their sizes."""
    pivots = _pivots(x)
    sizes = np.abs(pivots)
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = np.log(sizes).sum(-1)
        sign = (np.where(sizes == 0, 0, pivots / sizes) if np.iscomplexobj(x) else np.sign(pivots)).prod(-1)
    sign = np.where(np.isnan(logarithm), np.nan, sign)
    return np.asarray(sign).astype(x.dtype), np.asarray(logarithm).astype(x.dtype)


def _pivots(x: np.ndarray) -> np.ndarray:
    """[..., M]: each matrix' pivots, the first with the sign of its exchanges of rows.

    Of equal rows or columns, with which Gauss's steps do the same, nothing is left; LAPACK leaves some of it.
    """
    work = _matrices(x).copy()
    size = x.shape[-1]
    flat = work.reshape(math.prod(x.shape[:-2]), size, size)
    for matrix in flat:
        exchanges = _eliminate(matrix, np.arange(size))
        if size and exchanges % 2:
            matrix[0, 0] *= -1
    return np.diagonal(work, axis1=-2, axis2=-1)


def matrix_inverse(x: np.ndarray, *, adjoint: bool) -> np.ndarray:
    """Inverses, of the adjoints if asked."""
    held = _matrices(x)
    return _solved(np.linalg.inv, _adjoint(held) if adjoint else held).astype(x.dtype)


def matrix_solve(matrix: np.ndarray, rhs: np.ndarray, *, adjoint: bool) -> np.ndarray:
    """y with matrix y = rhs, adjoint(matrix) if asked: rhs is [..., M, K]."""
    held = _matrices(matrix)
    _check_rows(matrix, rhs)
    return _solved(np.linalg.solve, _adjoint(held) if adjoint else held, _wide(rhs)).astype(rhs.dtype)


def _check_rows(matrix: np.ndarray, rhs: np.ndarray, axis: int = -2) -> None:
    if rhs.ndim < 2 or rhs.shape[-2] != matrix.shape[axis]:
        message = f"matrix and rhs must have as many rows, got {list(matrix.shape)}"
        raise InvalidArgumentError(f"{message} and {list(rhs.shape)}")


def matrix_solve_ls(
    matrix: np.ndarray, rhs: np.ndarray, l2_regularizer: np.ndarray, *, fast: bool
) -> np.ndarray:
    """The y with the least |matrix y - rhs|^2 + l2_regularizer |y|^2 (the regularizer counts when fast)."""
    held = _matrices(matrix, square=False)
    _check_rows(matrix, rhs)
    if not fast:
        (inverse,) = _decomposed(lambda matrix: [np.linalg.pinv(matrix)], held)
        return (inverse @ _wide(rhs)).astype(rhs.dtype)
    ridge = float(l2_regularizer.reshape(-1)[0])
    if ridge < 0 and 0 not in held.shape[:-2]:
        raise InvalidArgumentError(f"l2_regularizer must not be negative, got {ridge}")
    if ridge == np.inf:
        return np.asarray(0 * (_adjoint(held) @ _wide(rhs))).astype(rhs.dtype)
    rows, columns = matrix.shape[-2:]
    if rows >= columns:
        gram = _adjoint(held) @ held + ridge * np.eye(columns)
        return _solved(np.linalg.solve, gram, _adjoint(held) @ _wide(rhs)).astype(rhs.dtype)
    gram = held @ _adjoint(held) + ridge * np.eye(rows)
    return (_adjoint(held) @ _solved(np.linalg.solve, gram, _wide(rhs))).astype(rhs.dtype)


def matrix_triangular_solve(matrix: np.ndarray, rhs: np.ndarray, *, lower: bool, adjoint: bool) -> np.ndarray:
    """y with T y = rhs, T being matrix's lower or upper triangle, or its adjoint; batches broadcast."""
    held = _matrices(matrix)
    _check_rows(matrix, rhs)
    return _substituted(_adjoint(held) if adjoint else held, _wide(rhs), lower != adjoint).astype(rhs.dtype)


def _substituted(triangle: np.ndarray, rhs: np.ndarray, lower: bool, bands: int | None = None) -> np.ndarray:
    """Row after row, from the shortest on; a zero on the diagonal gives infinities, as in TensorFlow.

    Elements outside of the bands count for nothing: zeros would make NaN of infinities.
    """
    batch = np.broadcast_shapes(triangle.shape[:-2], rhs.shape[:-2])
    made = np.broadcast_to(rhs, (*batch, *rhs.shape[-2:])).copy()
    size = triangle.shape[-1]
    for row in range(size) if lower else reversed(range(size)):
        made[..., row, :] /= triangle[..., row, row][..., None]
        reach = bands or size
        rest = slice(row + 1, row + reach) if lower else slice(max(row - reach + 1, 0), row)
        made[..., rest, :] -= triangle[..., rest, row][..., None] * made[..., row, None, :]
    return made


def banded_triangular_solve(matrix: np.ndarray, rhs: np.ndarray, *, lower: bool, adjoint: bool) -> np.ndarray:
    """y with T y = rhs; row i of matrix is a diagonal of T: the main one first (last when upper).

    Diagonals that lie outside of T count for nothing.
    """
    if matrix.ndim < 2:
        raise InvalidArgumentError(f"matrix must have two axes, got {list(matrix.shape)}")
    _check_rows(matrix, rhs, -1)
    bands, size = matrix.shape[-2:]
    if matrix.size == 0 or rhs.size == 0:
        shapes = f"{list(matrix.shape)} and {list(rhs.shape)}"
        raise InvalidArgumentError(f"BandedTriangularSolve: operands must have elements, got {shapes}")
    # TensorFlow looks at the first matrix alone; of others zeros give infinities.
    if not matrix.reshape(-1, bands, size)[0, 0 if lower else -1].all():
        raise InvalidArgumentError("BandedTriangularSolve: the matrix is not invertible")
    whole = np.zeros((*matrix.shape[:-2], size, size), _wide(matrix).dtype)
    for band in range(bands):
        offset = -band if lower else bands - 1 - band
        if abs(offset) >= size:
            continue
        places = np.arange(size - abs(offset))
        values = matrix[..., band, abs(offset) :] if lower else matrix[..., band, : size - offset]
        whole[..., places + max(-offset, 0), places + max(offset, 0)] = values
    held = _adjoint(whole) if adjoint else whole
    return _substituted(held, _wide(rhs), lower != adjoint, bands).astype(rhs.dtype)


def qr(x: np.ndarray, *, full_matrices: bool) -> tuple[np.ndarray, np.ndarray]:
    """q with orthogonal columns and the upper triangle r with q r = x."""
    q, r = np.linalg.qr(_matrices(x, square=False), "complete" if full_matrices else "reduced")
    return q.astype(x.dtype), r.astype(x.dtype)


def svd(x: np.ndarray, *, compute_uv: bool, full_matrices: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Singular values, and u and v with u diag(s) adjoint(v) = x (empty unless asked for)."""
    held = _matrices(x, square=False)
    if not compute_uv:
        (s,) = _decomposed(lambda matrix: [np.linalg.svd(matrix, compute_uv=False)], held)
        nothing = np.zeros(0, x.dtype)
        return s.astype(x.dtype), nothing, nothing
    u, s, vh = _decomposed(lambda matrix: np.linalg.svd(matrix, full_matrices=full_matrices), held)
    return s.astype(x.dtype), u.astype(x.dtype), _adjoint(vh).astype(x.dtype)


def self_adjoint_eig_v2(x: np.ndarray, *, compute_v: bool) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, rising, and eigenvectors as columns (empty unless asked for); of the lower triangle."""
    held = _matrices(x)
    if not compute_v:
        (e,) = _decomposed(lambda matrix: [np.linalg.eigvalsh(matrix)], held)
        return e.astype(x.dtype), np.zeros(0, x.dtype)
    e, v = _decomposed(np.linalg.eigh, held)
    return e.astype(x.dtype), v.astype(x.dtype)


def self_adjoint_eig(x: np.ndarray) -> np.ndarray:
    """Eigenvalues as the first row, and below them eigenvectors as columns: [..., M + 1, M]."""
    e, v = self_adjoint_eig_v2(x, compute_v=True)
    return np.concatenate([e[..., None, :], v], -2)


def eig(x: np.ndarray, *, compute_v: bool, Tout: DataType) -> tuple[np.ndarray, np.ndarray]:
    """Complex eigenvalues, and eigenvectors as columns (empty unless asked for)."""
    out, held = numpy_dtype(Tout), _matrices(x)
    if not compute_v:
        (e,) = _decomposed(lambda matrix: [np.linalg.eigvals(matrix)], held)
        return e.astype(out), np.zeros((), out)
    e, v = _decomposed(np.linalg.eig, held)
    return e.astype(out), v.astype(out)


def lu(x: np.ndarray, *, output_idx_type: DataType) -> tuple[np.ndarray, np.ndarray]:
    """l (ones on its diagonal left out) and u in one matrix, and p: row i of l u is row p[i] of x."""
    work = _matrices(x).copy()
    size = x.shape[-1]
    flat = work.reshape(math.prod(x.shape[:-2]), size, size)
    orders = np.tile(np.arange(size), (len(flat), 1))
    for matrix, order in zip(flat, orders, strict=True):
        _eliminate(matrix, order)
        if not np.diagonal(matrix).all():
            raise InvalidArgumentError("Input is not invertible.")
    return work.astype(x.dtype), orders.reshape(x.shape[:-1]).astype(numpy_dtype(output_idx_type))


def _eliminate(matrix: np.ndarray, order: np.ndarray) -> int:
    """Gauss's steps in place, each with the largest pivot unless that is 0; how often rows are exchanged.

    A NaN that comes first is the largest, as in Eigen, and no other one.
    """
    exchanges = 0
    for step in range(len(matrix)):
        sizes = np.abs(matrix[step:, step])
        pivot = step + int(np.argmax(np.nan_to_num(sizes, nan=np.inf if np.isnan(sizes[0]) else -1.0)))
        if matrix[pivot, step] == 0:
            continue
        matrix[[step, pivot]] = matrix[[pivot, step]]
        order[[step, pivot]] = order[[pivot, step]]
        exchanges += pivot != step
        matrix[step + 1 :, step] /= matrix[step, step]
        matrix[step + 1 :, step + 1 :] -= np.outer(matrix[step + 1 :, step], matrix[step, step + 1 :])
    return exchanges


def _named(ops: Iterable[str], function: Callable[..., object]) -> list[KernelRegistration]:
    return [kernel(op, function, T=_TYPES) for op in ops]


REGISTRATIONS = (
    *_named(("Cholesky", "BatchCholesky"), cholesky),
    *_named(("CholeskyGrad", "BatchCholeskyGrad"), cholesky_grad),
    *_named(("MatrixDeterminant", "BatchMatrixDeterminant"), matrix_determinant),
    *_named(("LogMatrixDeterminant",), log_matrix_determinant),
    *_named(("MatrixInverse", "BatchMatrixInverse"), matrix_inverse),
    *_named(("MatrixSolve", "BatchMatrixSolve"), matrix_solve),
    *_named(("MatrixSolveLs", "BatchMatrixSolveLs"), matrix_solve_ls),
    *_named(("MatrixTriangularSolve", "BatchMatrixTriangularSolve"), matrix_triangular_solve),
    *_named(("BandedTriangularSolve",), banded_triangular_solve),
    *_named(("Qr",), qr),
    *_named(("Svd", "BatchSvd"), svd),
    *_named(("SelfAdjointEig", "BatchSelfAdjointEig"), self_adjoint_eig),
    *_named(("SelfAdjointEigV2", "BatchSelfAdjointEigV2"), self_adjoint_eig_v2),
    *_named(("Eig",), eig),
    kernel("Lu", lu, T=_TYPES, output_idx_type=INDICES),
)
