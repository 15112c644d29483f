"""Sparse matrices by rows (CSR), one or a batch of one size, that variants hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...lite.available_memory import check_room
from ...schema import graph_def
from .attributes import DataType
from .axis import scalar
from .dtypes import numpy_dtype
from .kernel import checked_shape, zeros
from .registry import kernel
from .sparse_tensor import SparseTensor
from .status import InvalidArgumentError
from .variable import handle_of, held

_TYPES = frozenset((graph_def.DT_FLOAT, graph_def.DT_DOUBLE, graph_def.DT_COMPLEX64, graph_def.DT_COMPLEX128))


@dataclass(frozen=True)
class Matrix:
    """The elements of one matrix, row by row: their rows, columns and values."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    def transposed(self) -> Matrix:
        order = np.lexsort((self.rows, self.columns))
        return Matrix(self.columns[order], self.rows[order], self.values[order])

    def conjugated(self) -> Matrix:
        return Matrix(self.rows, self.columns, np.conj(self.values))


@dataclass(frozen=True)
class SparseMatrix:
    """What a variant holds: the shape [rows, columns] or [batch, rows, columns], and each matrix."""

    shape: tuple[int, ...]
    dtype: np.dtype
    matrices: Sequence[Matrix]

    @classmethod
    def of(cls, op: str, tensor: SparseTensor) -> SparseMatrix:
        """Of a sparse tensor, whose rows should ascend; the order within a row stays."""
        if len(tensor.shape) not in (2, 3):
            raise InvalidArgumentError(f"{op}: there must be 2 or 3 axes, got {list(tensor.shape)}")
        places = tensor.indices
        if len(tensor.shape) == 2:
            return cls(tensor.shape, tensor.values.dtype, [Matrix(places[:, 0], places[:, 1], tensor.values)])
        check_room(64 * tensor.shape[0])
        ends = np.searchsorted(places[:, 0], np.arange(tensor.shape[0] + 1))
        parts = [slice(a, b) for a, b in pairwise(ends)]
        return cls(
            tensor.shape,
            tensor.values.dtype,
            [Matrix(places[p, 1], places[p, 2], tensor.values[p]) for p in parts],
        )

    def tensor(self) -> SparseTensor:
        """As a sparse tensor."""
        parts = []
        for number, matrix in enumerate(self.matrices):
            batch = [np.full(len(matrix.rows), number)] if len(self.shape) == 3 else []
            parts.append(np.stack([*batch, matrix.rows, matrix.columns], -1).reshape(-1, len(self.shape)))
        indices = np.concatenate([np.zeros((0, len(self.shape)), np.int64), *parts]).astype(np.int64)
        values = np.concatenate([np.zeros(0, self.dtype), *(m.values for m in self.matrices)])
        return SparseTensor(indices, values, self.shape)

    def turned(self, transpose: bool, conjugate: bool) -> SparseMatrix:
        """With rows and columns exchanged, or the values conjugated, or both."""
        matrices = [m.transposed() for m in self.matrices] if transpose else list(self.matrices)
        shape = (*self.shape[:-2], self.shape[-1], self.shape[-2]) if transpose else self.shape
        return SparseMatrix(shape, self.dtype, [m.conjugated() for m in matrices] if conjugate else matrices)


def _matrix(op: str, handle: np.ndarray) -> SparseMatrix:
    return held(handle, SparseMatrix, op)


def from_sparse_tensor(indices: np.ndarray, values: np.ndarray, dense_shape: np.ndarray) -> np.ndarray:
    """The sparse matrix of a sparse tensor."""
    made = SparseMatrix.of("SparseTensorToCSRSparseMatrix", SparseTensor.of(indices, values, dense_shape))
    return handle_of(made)


def from_dense(dense: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The elements of a dense tensor at indices."""
    if indices.ndim != 2 or indices.shape[1] != dense.ndim:
        message = f"indices must be [n, {dense.ndim}], got {list(indices.shape)}"
        raise InvalidArgumentError(f"DenseToCSRSparseMatrix: {message}")
    shape = np.array(dense.shape, np.int64)
    inside = SparseTensor.of(indices, np.zeros(len(indices), dense.dtype), shape)
    values = dense[tuple(inside.indices.T)]
    tensor = SparseTensor(inside.indices, values, inside.shape)
    return handle_of(SparseMatrix.of("DenseToCSRSparseMatrix", tensor))


def to_sparse_tensor(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices, values and shape."""
    return _matrix("CSRSparseMatrixToSparseTensor", matrix).tensor().parts()


def to_dense(matrix: np.ndarray, *, type: DataType) -> np.ndarray:
    """With zeros where there are no elements."""
    found = _matrix("CSRSparseMatrixToDense", matrix).tensor()
    made = zeros(found.shape, numpy_dtype(type))
    made[tuple(found.indices.T)] = found.values
    return made


def components(matrix: np.ndarray, index: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of one matrix of the batch: where each row begins and the last ends, the columns, and the values."""
    op = "CSRSparseMatrixComponents"
    whole, at = _matrix(op, matrix), scalar(index, "index")
    if not 0 <= at < len(whole.matrices):
        raise InvalidArgumentError(f"{op}: index must be in [0, {len(whole.matrices)}), got {at}")
    one = whole.matrices[at]
    counts = np.bincount(one.rows, minlength=checked_shape(whole.shape[-2:-1], np.dtype(np.int64))[0])
    starts = np.concatenate([[0], np.cumsum(counts)])
    return starts.astype(np.int32), one.columns.astype(np.int32), one.values


def number_of_elements(matrix: np.ndarray) -> np.ndarray:
    """For each matrix of the batch, or of the one: int32."""
    whole = _matrix("SparseMatrixNNZ", matrix)
    counts = np.array([len(m.values) for m in whole.matrices], np.int32)
    return counts if len(whole.shape) == 3 else counts[0]


def transpose(matrix: np.ndarray, *, conjugate: bool) -> np.ndarray:
    """With rows and columns exchanged, conjugated if wished."""
    return handle_of(_matrix("SparseMatrixTranspose", matrix).turned(True, conjugate))


def _dense_turned(x: np.ndarray, transposes: bool, conjugates: bool) -> np.ndarray:
    turned = np.swapaxes(x, -1, -2) if transposes else x
    return np.conj(turned) if conjugates else turned


def _check(op: str, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    if len(a) != len(b) or a[:-2] != b[:-2] or a[-1] != b[-2]:
        message = "matrices must be of one rank and batch and have inner sizes that agree"
        raise InvalidArgumentError(f"{op}: {message}, got {list(a)} and {list(b)}")


def matrix_by_dense(
    a: np.ndarray,
    b: np.ndarray,
    *,
    transpose_a: bool,
    transpose_b: bool,
    adjoint_a: bool,
    adjoint_b: bool,
    transpose_output: bool,
    conjugate_output: bool,
) -> np.ndarray:
    """The product of sparse matrices and dense ones, dense."""
    op = "SparseMatrixMatMul"
    _not_both(op, transpose_a and adjoint_a, transpose_b and adjoint_b)
    left = _matrix(op, a).turned(transpose_a or adjoint_a, adjoint_a)
    right = _dense_turned(b, transpose_b or adjoint_b, adjoint_b)
    _check(op, left.shape, right.shape)
    made = zeros((*left.shape[:-1], right.shape[-1]), b.dtype)
    batches = (len(left.matrices), left.shape[-2], right.shape[-1])
    rights = right.reshape(len(left.matrices), *right.shape[-2:])
    for target, matrix, one in zip(made.reshape(batches), left.matrices, rights, strict=True):
        np.add.at(target, matrix.rows, matrix.values[:, None] * one[matrix.columns])
    return _dense_turned(made, transpose_output, conjugate_output)


def _not_both(op: str, a: bool, b: bool) -> None:
    if a or b:
        raise InvalidArgumentError(f"{op}: only one of adjoint and transpose may be true for an operand")


def matrix_by_matrix(
    a: np.ndarray,
    b: np.ndarray,
    *,
    transpose_a: bool,
    transpose_b: bool,
    adjoint_a: bool,
    adjoint_b: bool,
) -> np.ndarray:
    """The product of sparse matrices, sparse: elements wherever terms meet, be their sum 0."""
    op = "SparseMatrixSparseMatMul"
    _not_both(op, transpose_a and adjoint_a, transpose_b and adjoint_b)
    left = _matrix(op, a).turned(transpose_a or adjoint_a, adjoint_a)
    right = _matrix(op, b).turned(transpose_b or adjoint_b, adjoint_b)
    _check(op, left.shape, right.shape)
    pairs = zip(left.matrices, right.matrices, strict=True)
    shape = (*left.shape[:-1], right.shape[-1])
    made = [_product(*pair, right.shape[-2:]) for pair in pairs]
    return handle_of(SparseMatrix(shape, left.dtype, made))


def _product(a: Matrix, b: Matrix, shape: tuple[int, ...]) -> Matrix:
    starts = np.searchsorted(b.rows, np.arange(checked_shape(shape[:1], np.dtype(np.int64))[0] + 1))
    counts = (starts[1:] - starts[:-1])[a.columns]
    check_room(64 * int(counts.sum()))
    # Each element of a meets those of one row of b.
    which = np.repeat(np.arange(len(counts)), counts)
    behind = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    met = starts[a.columns][which] + behind
    terms = a.values[which] * b.values[met]
    places = np.stack([a.rows[which], b.columns[met]], -1).reshape(-1, 2)
    kept, of_each = np.unique(places, axis=0, return_inverse=True)
    values = np.zeros(len(kept), terms.dtype)
    np.add.at(values, of_each.reshape(-1), terms)
    return Matrix(kept[:, 0], kept[:, 1], values)


REGISTRATIONS = (
    kernel("SparseTensorToCSRSparseMatrix", from_sparse_tensor, T=_TYPES),
    kernel("DenseToCSRSparseMatrix", from_dense, T=_TYPES),
    kernel("CSRSparseMatrixToSparseTensor", to_sparse_tensor, type=_TYPES),
    kernel("CSRSparseMatrixToDense", to_dense, type=_TYPES),
    kernel("CSRSparseMatrixComponents", components, type=_TYPES),
    kernel("SparseMatrixNNZ", number_of_elements),
    kernel("SparseMatrixTranspose", transpose, type=_TYPES),
    kernel("SparseMatrixMatMul", matrix_by_dense, T=_TYPES),
    kernel("SparseMatrixSparseMatMul", matrix_by_matrix, type=_TYPES),
)
