"""Products of matrices, in batches, and sums of products by an equation."""

from __future__ import annotations

import numpy as np

from .attributes import DataType
from .dtypes import NUMBERS, REAL, numpy_dtype
from .half_precision import in_float32, widened
from .registry import kernel
from .status import InvalidArgumentError


def _adjoint(x: np.ndarray, adjoint: bool) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2)) if adjoint else x


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.shape[-1] != b.shape[-2]:
        raise InvalidArgumentError(
            f"matrices must have as many columns as rows, got {list(a.shape)} and {list(b.shape)}"
        )
    return np.asarray(in_float32(np.matmul)(a, b))


def mat_mul(a: np.ndarray, b: np.ndarray, *, transpose_a: bool, transpose_b: bool) -> np.ndarray:
    """a b, each transposed first if asked: a is [M, K], b [K, N], the result [M, N]."""
    if a.ndim != 2 or b.ndim != 2:
        raise InvalidArgumentError(f"MatMul: must have matrices, got {list(a.shape)} and {list(b.shape)}")
    return _product(a.T if transpose_a else a, b.T if transpose_b else b)


def batch_mat_mul(x: np.ndarray, y: np.ndarray, *, adj_x: bool, adj_y: bool) -> np.ndarray:
    """x y for matrices in the last two axes, the axes before alike; adj is conjugate transposed."""
    if x.shape[:-2] != y.shape[:-2]:
        message = f"must agree but in the last two axes, got {list(x.shape)} and {list(y.shape)}"
        raise InvalidArgumentError(f"BatchMatMul: {message}")
    return batch_mat_mul_v2(x, y, adj_x=adj_x, adj_y=adj_y)


def batch_mat_mul_v2(x: np.ndarray, y: np.ndarray, *, adj_x: bool, adj_y: bool) -> np.ndarray:
    """x y for matrices in the last two axes, the axes before broadcast; adj is conjugate transposed."""
    _check_ranks(x, y)
    return _product(_adjoint(x, adj_x), _adjoint(y, adj_y))


def batch_mat_mul_v3(x: np.ndarray, y: np.ndarray, *, adj_x: bool, adj_y: bool, Tout: DataType) -> np.ndarray:
    """As batch_mat_mul_v2, with products and sums in the type Tout; x and y may be of two types."""
    _check_ranks(x, y)
    out = numpy_dtype(Tout)
    if out.kind != "c" and "c" in (x.dtype.kind, y.dtype.kind):
        raise InvalidArgumentError(f"Tout must be complex for complex matrices, got {out}")
    inner = np.dtype(np.float32) if out.itemsize == 2 and out.kind != "i" else out
    product = _product(_adjoint(x, adj_x).astype(inner), _adjoint(y, adj_y).astype(inner))
    return product.astype(out)


def _check_ranks(x: np.ndarray, y: np.ndarray) -> None:
    if x.ndim < 2 or y.ndim < 2:
        raise InvalidArgumentError(f"must have at least two axes, got {list(x.shape)} and {list(y.shape)}")


def sparse_mat_mul(
    a: np.ndarray,
    b: np.ndarray,
    *,
    transpose_a: bool,
    transpose_b: bool,
    a_is_sparse: bool,
    b_is_sparse: bool,
) -> np.ndarray:
    """a b in float32; either may be bfloat16. Zeros of a sparse one, of a where both are, do not count.

    Source: TensorFlow tensorflow/core/kernels/sparse_matmul_op.cc.
    """
    a, b = widened(a), widened(b)
    plain = mat_mul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    dense = b if a_is_sparse else a
    if not (a_is_sparse or b_is_sparse) or np.isfinite(dense).all():
        return plain
    a, b = a.T if transpose_a else a, b.T if transpose_b else b
    total = np.zeros((len(a), b.shape[1]), np.float32)
    for column, row in zip(a.T, b, strict=True):
        sparse = column[:, None] if a_is_sparse else row
        with np.errstate(invalid="ignore", over="ignore"):
            total += np.where(sparse != 0, np.outer(column, row), np.float32(0))
    return total


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross products of vectors of three in the last axis; a and b have one shape."""
    if a.shape != b.shape or not a.ndim or a.shape[-1] != 3:
        message = f"must have one shape that ends in 3, got {list(a.shape)} and {list(b.shape)}"
        raise InvalidArgumentError(f"Cross: {message}")
    parts = [a[..., i - 2] * b[..., i - 1] - a[..., i - 1] * b[..., i - 2] for i in range(3)]
    return np.stack(parts, -1)


REGISTRATIONS = (
    kernel("MatMul", mat_mul, T=NUMBERS),
    kernel("BatchMatMul", batch_mat_mul, T=NUMBERS),
    kernel("BatchMatMulV2", batch_mat_mul_v2, T=NUMBERS),
    kernel("BatchMatMulV3", batch_mat_mul_v3, Ta=NUMBERS, Tb=NUMBERS, Tout=NUMBERS),
    kernel("SparseMatMul", sparse_mat_mul),
    kernel("Cross", in_float32(cross), T=REAL),
)
