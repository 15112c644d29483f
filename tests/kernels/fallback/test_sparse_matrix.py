"""Sparse matrices that variants hold, against NumPy's dense ones."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

RANDOM = np.random.default_rng(4)
TYPES = {"f32": np.float32, "complex128": np.complex128}
CASES = [(text, batch) for text in TYPES for batch in ((), (3,))]
adjoint = lambda x: np.conj(np.swapaxes(x, -1, -2))  # noqa: E731


def some(text: str, *shape: int) -> np.ndarray:
    """Half of the elements are zeros."""
    x = RANDOM.normal(size=shape) + (1j * RANDOM.normal(size=shape) if text == "complex128" else 0)
    return np.where(RANDOM.random(shape) < 0.5, x, 0).astype(TYPES[text])


def sparse(text: str, x: np.ndarray) -> np.ndarray:
    [handle] = run("DenseToCSRSparseMatrix", [x, np.argwhere(x)], T=text)
    return handle


def dense(text: str, handle: np.ndarray) -> np.ndarray:
    [x] = run("CSRSparseMatrixToDense", [handle], type=text)
    return x


@pytest.mark.parametrize(("text", "batch"), CASES)
def test_there_and_back(text: str, batch: tuple[int, ...]) -> None:
    x = some(text, *batch, 3, 4)
    np.testing.assert_array_equal(dense(text, sparse(text, x)), x)
    parts = run("CSRSparseMatrixToSparseTensor", [sparse(text, x)], type=text)
    np.testing.assert_array_equal(parts[0], np.argwhere(x))
    np.testing.assert_array_equal(parts[1], x[x != 0])
    assert parts[2].tolist() == list(x.shape)
    [again] = run("SparseTensorToCSRSparseMatrix", parts, T=text)
    np.testing.assert_array_equal(dense(text, again), x)


@pytest.mark.parametrize(("text", "batch"), CASES)
def test_parts_of_one_matrix(text: str, batch: tuple[int, ...]) -> None:
    x = some(text, *batch, 3, 4)
    handle = sparse(text, x)
    one = x.reshape(-1, 3, 4)[-1]
    at = len(x.reshape(-1, 3, 4)) - 1
    starts, columns, values = run("CSRSparseMatrixComponents", [handle, np.int32(at)], type=text)
    assert starts.tolist() == [0, *np.cumsum((one != 0).sum(1)).tolist()]
    assert columns.tolist() == np.nonzero(one)[1].tolist() and starts.dtype == columns.dtype == np.int32
    np.testing.assert_array_equal(values, one[one != 0])
    [count] = run("SparseMatrixNNZ", [handle])
    np.testing.assert_array_equal(count, (x != 0).sum((-1, -2)))
    with pytest.raises(InvalidArgumentError, match=r"index must be in \[0, "):
        run("CSRSparseMatrixComponents", [handle, np.int32(at + 1)], type=text)


@pytest.mark.parametrize("conjugate", [False, True])
def test_transposition(conjugate: bool) -> None:
    x = some("complex128", 2, 3, 4)
    flag = f"bool${str(conjugate).lower()}"
    [turned] = run("SparseMatrixTranspose", [sparse("complex128", x)], type="complex128", conjugate=flag)
    wanted = np.swapaxes(x, -1, -2)
    np.testing.assert_array_equal(dense("complex128", turned), np.conj(wanted) if conjugate else wanted)


FLAGS = {"transpose_a", "transpose_b", "adjoint_a", "adjoint_b", "transpose_output", "conjugate_output"}


@pytest.mark.parametrize(
    "chosen", [(), ("transpose_a",), ("adjoint_a", "transpose_b"), ("adjoint_b", "conjugate_output")]
)
@pytest.mark.parametrize(("text", "batch"), CASES)
def test_products(text: str, batch: tuple[int, ...], chosen: tuple[str, ...]) -> None:
    a, b = some(text, *batch, 3, 4), some(text, *batch, 4, 2)
    given = []
    for x, end in ((a, "_a"), (b, "_b")):
        turned = np.swapaxes(x, -1, -2) if f"transpose{end}" in chosen else x
        given.append(np.ascontiguousarray(adjoint(x) if f"adjoint{end}" in chosen else turned))
    flags = {name: f"bool${str(name in chosen).lower()}" for name in FLAGS}
    [found] = run("SparseMatrixMatMul", [sparse(text, given[0]), given[1]], T=text, **flags)
    wanted = a @ b
    np.testing.assert_allclose(
        found, np.conj(wanted) if "conjugate_output" in chosen else wanted, rtol=1e-5, atol=1e-6
    )
    inner = {name: flag for name, flag in flags.items() if not name.endswith("output")}
    handles = [sparse(text, x) for x in given]
    [product] = run("SparseMatrixSparseMatMul", handles, type=text, **inner)
    np.testing.assert_allclose(dense(text, product), wanted, rtol=1e-5, atol=1e-6)


def test_terms_that_cancel_stay_elements() -> None:
    """As TensorFlow 2.21 has it."""
    a, b = np.float32([[1, -1]]), np.float32([[2], [2]])
    flags = dict.fromkeys(("transpose_a", "transpose_b", "adjoint_a", "adjoint_b"), "bool$false")
    [product] = run("SparseMatrixSparseMatMul", [sparse("f32", a), sparse("f32", b)], type="f32", **flags)
    assert run("SparseMatrixNNZ", [product])[0] == 1


def test_sizes_that_do_not_agree() -> None:
    a = sparse("f32", some("f32", 3, 4))
    flags = dict.fromkeys(FLAGS, "bool$false")
    with pytest.raises(InvalidArgumentError, match="inner sizes that agree"):
        run("SparseMatrixMatMul", [a, some("f32", 3, 2)], T="f32", **flags)
    with pytest.raises(InvalidArgumentError, match="only one of adjoint and transpose"):
        both = {**flags, "transpose_a": "bool$true", "adjoint_a": "bool$true"}
        run("SparseMatrixMatMul", [a, some("f32", 3, 2)], T="f32", **both)


def test_no_matrices() -> None:
    handle = sparse("f32", np.zeros((0, 3, 4), np.float32))
    assert dense("f32", handle).shape == (0, 3, 4)
    assert run("SparseMatrixNNZ", [handle])[0].shape == (0,)
