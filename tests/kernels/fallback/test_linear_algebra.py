"""Factors of matrices, multiplied together again."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

TYPES = {"f32": np.float32, "f64": np.float64, "complex64": np.complex64, "complex128": np.complex128}
CLOSE = {"f32": 1e-4, "complex64": 1e-4, "f64": 1e-10, "complex128": 1e-10}


def matrices(type: str, *shape: int) -> np.ndarray:
    draw = np.random.default_rng(5)
    made = draw.standard_normal(shape)
    if type.startswith("complex"):
        made = made + 1j * draw.standard_normal(shape)
    return made.astype(TYPES[type])


def adjoint(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


def hermitian(type: str, *shape: int) -> np.ndarray:
    x = matrices(type, *shape)
    return (x @ adjoint(x) + np.eye(shape[-1])).astype(TYPES[type])


@pytest.mark.parametrize("type", TYPES)
def test_cholesky(type: str) -> None:
    x = hermitian(type, 2, 3, 3)
    lower = run("Cholesky", [x], T=type)[0]
    assert not np.triu(lower, 1).any()
    np.testing.assert_allclose(lower @ adjoint(lower), x, atol=CLOSE[type])


@pytest.mark.parametrize("shape", [(2, 5, 3), (2, 3, 5)])
def test_an_infinite_regularizer_leaves_zeros(shape: tuple[int, ...]) -> None:
    (y,) = run(
        "MatrixSolveLs", [matrices("f64", *shape), matrices("f64", *shape[:2], 4), np.array(np.inf)], T="f64"
    )
    np.testing.assert_array_equal(y, np.zeros((2, shape[2], 4)))


@pytest.mark.parametrize("op", ["MatrixSolveLs", "BatchMatrixSolveLs"])
def test_a_negative_regularizer_is_refused_where_there_is_a_matrix(op: str) -> None:
    left, right, below = np.ones((0, 3, 2)), np.ones((0, 3, 1)), np.array(-0.1)
    assert run(op, [left, right, below], T="f64")[0].shape == (0, 2, 1)
    with pytest.raises(InvalidArgumentError, match="l2_regularizer must not be negative"):
        run(op, [np.ones((1, 3, 2)), np.ones((1, 3, 1)), below], T="f64")


def test_a_matrix_without_a_cholesky_factor_is_nan_and_the_others_are_not() -> None:
    lower = run("Cholesky", [np.stack([-np.eye(2), 4 * np.eye(2)])], T="f64")[0]
    assert np.isnan(np.tril(lower[0])[[0, 1, 1], [0, 0, 1]]).all()
    assert lower[1].tolist() == [[2, 0], [0, 2]]


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("full", ["true", "false"])
@pytest.mark.parametrize("shape", [(2, 4, 3), (3, 4), (0, 2, 2)])
def test_svd_and_qr(type: str, full: str, shape: tuple[int, ...]) -> None:
    x = matrices(type, *shape)
    s, u, v = run("Svd", [x], T=type, full_matrices=f"bool${full}")
    least = min(shape[-2:])
    whole = (u[..., :least] * s[..., None, :]) @ adjoint(v[..., :least])
    np.testing.assert_allclose(whole, x, atol=CLOSE[type])
    assert np.all(s[..., 1:] <= s[..., :-1])
    q, r = run("Qr", [x], T=type, full_matrices=f"bool${full}")
    np.testing.assert_allclose(q @ r, x, atol=CLOSE[type])


@pytest.mark.parametrize("type", TYPES)
def test_eigenvectors(type: str) -> None:
    x = hermitian(type, 2, 3, 3)
    e, v = run("SelfAdjointEigV2", [x], T=type)
    np.testing.assert_allclose(x @ v, v * e[..., None, :], atol=10 * CLOSE[type])
    assert np.all(np.diff(e.real) >= 0)


@pytest.mark.parametrize("type", TYPES)
def test_lu(type: str) -> None:
    x = matrices(type, 2, 3, 3)
    both, order = run("Lu", [x], T=type, output_idx_type="i64")
    product = (np.tril(both, -1) + np.eye(3)) @ np.triu(both)
    np.testing.assert_allclose(product, np.take_along_axis(x, order[..., None], -2), atol=CLOSE[type])


@pytest.mark.parametrize("op", ["Svd", "SelfAdjointEigV2"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_has_no_parts(op: str, bad: float) -> None:
    x = np.stack([np.full((3, 3), bad), np.eye(3)])
    parts = run(op, [x], T="f64")
    assert all(np.isnan(part[0]).all() for part in parts)
    np.testing.assert_allclose(parts[0][1], [1, 1, 1])


@pytest.mark.parametrize("lower", [True, False])
def test_bands_outside_of_the_matrix_count_for_nothing(lower: bool) -> None:
    bands = np.array([[3.0] * 3, [1] * 3, [0.5] * 3])
    more = np.concatenate([bands, [[8.0] * 3]] if lower else [[[8.0] * 3], bands])
    kinds = {"T": "f64", "lower": f"bool${str(lower).lower()}", "adjoint": "bool$false"}
    solved = [run("BandedTriangularSolve", [each, np.ones((3, 1))], **kinds)[0] for each in (bands, more)]
    np.testing.assert_array_equal(*solved)


def test_infinities_reach_no_further_than_the_bands() -> None:
    """By TensorFlow 2.21: zeros outside of the bands are not multiplied."""
    kinds = {"T": "f64", "lower": "bool$true", "adjoint": "bool$false"}
    rhs = np.array([[1], [np.inf], [1], [1.0]])
    [y] = run("BandedTriangularSolve", [np.array([[2.0, 2, 2, 2]]), rhs], **kinds)
    np.testing.assert_array_equal(y[:, 0], [0.5, np.inf, 0.5, 0.5])


def test_only_the_first_banded_matrix_is_looked_at_for_zeros() -> None:
    kinds = {"T": "f64", "lower": "bool$true", "adjoint": "bool$false"}
    bands = np.array([[[1.0, 1]], [[0, 1]]])
    [y] = run("BandedTriangularSolve", [bands, np.ones((2, 2, 1))], **kinds)
    np.testing.assert_array_equal(y[..., 0], [[1, 1], [np.inf, 1]])
    with pytest.raises(InvalidArgumentError, match="not invertible"):
        run("BandedTriangularSolve", [bands[::-1], np.ones((2, 2, 1))], **kinds)


@pytest.mark.parametrize("op", ["MatrixInverse", "Lu"])
def test_singular_matrices_are_refused(op: str) -> None:
    with pytest.raises(InvalidArgumentError, match="not invertible"):
        run(op, [np.zeros((2, 2))], T="f64")


@pytest.mark.parametrize("x", [[[1, 2], [np.nan, 3]], [[np.nan, 1], [5, 2]]])
def test_a_pivot_is_nan_only_where_it_comes_first(x: list) -> None:
    """By TensorFlow 2.21."""
    order = run("Lu", [np.array(x, np.float64)], T="f64", output_idx_type="i32")[1]
    np.testing.assert_array_equal(order, [0, 1])


@pytest.mark.parametrize("type", TYPES)
def test_determinants(type: str) -> None:
    x = matrices(type, 2, 3, 5, 5)
    [y], (sign, logarithm) = run("MatrixDeterminant", [x], T=type), run("LogMatrixDeterminant", [x], T=type)
    wanted = np.linalg.det(x.astype(np.complex128))
    np.testing.assert_allclose(y, wanted, rtol=1e-3)
    np.testing.assert_allclose(sign * np.exp(logarithm), wanted, rtol=1e-3)


def test_nothing_is_left_of_equal_columns() -> None:
    """By TensorFlow 2.21; LAPACK's blocks leave 1.4e-19."""
    x = np.array(
        [[-0.10513969, -0.10513969, 0.02122849], [0.47481674, 0.47481674, 0.2869091], [0.02122849] * 3]
    )
    for each in (x, x.T):
        assert run("MatrixDeterminant", [each], T="f64")[0] == 0
        sign, logarithm = run("LogMatrixDeterminant", [each], T="f64")
        assert (sign, logarithm) == (0, -np.inf)


@pytest.mark.parametrize(
    ("x", "sign", "logarithm"),
    [
        ([[np.inf, 1], [1, 2]], 1, np.inf),
        ([[0, 1], [1, 0]], -1, 0),
        ([[1, np.nan], [0, 0]], np.nan, np.nan),
        ([[0, 0, 0], [0, 0, np.nan], [0, 1, 0]], np.nan, np.nan),
    ],
)
def test_signs_of_determinants(x: list, sign: float, logarithm: float) -> None:
    """By TensorFlow 2.21."""
    found = run("LogMatrixDeterminant", [np.array(x, np.float64)], T="f64")
    np.testing.assert_array_equal(found, [sign, logarithm])


@pytest.mark.parametrize("op", ["Cholesky", "MatrixInverse", "MatrixDeterminant", "Lu", "SelfAdjointEigV2"])
def test_matrices_must_be_square(op: str) -> None:
    for shape in ((2, 3), (3,), ()):
        with pytest.raises(InvalidArgumentError, match="square"):
            run(op, [np.ones(shape)], T="f64")


@pytest.mark.parametrize(
    ("matrix", "root"),
    [
        ([[1, 2], [2, 4]], np.array([[1, 2], [2, 4]]) / np.sqrt(5)),
        ([[0, 1], [-1, 0]], np.array([[1, 1], [-1, 1]]) / np.sqrt(2)),
        ([[-4, 0], [0, 9]], np.full((2, 2), np.nan)),
        ([[4, 1, 0], [0, 4, 1], [0, 0, 4]], [[2, 1 / 4, -1 / 64], [0, 2, 1 / 4], [0, 0, 2]]),
    ],
)
def test_roots_of_singular_defective_and_negative_matrices(matrix: list, root: np.ndarray) -> None:
    [y] = run("MatrixSquareRoot", [np.array(matrix, np.float64)], T="f64")
    np.testing.assert_allclose(y, root, rtol=1e-12, atol=1e-12)


def test_logarithms_of_defective_and_negative_matrices() -> None:
    matrices = np.array([[[1, 1], [0, 1]], [[-1, 0], [0, 2]]], np.complex128)
    [y] = run("MatrixLogarithm", [matrices], T="complex128")
    np.testing.assert_allclose(y[0], [[0, 1], [0, 0]], atol=1e-12)
    np.testing.assert_allclose(y[1], np.diag([np.pi * 1j, np.log(2)]), atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 5, 12])
def test_functions_of_any_matrix_are_undone(size: int) -> None:
    held = np.random.default_rng(size).normal(size=(3, 2, size, size, 2)) @ np.array([1, 1j])
    [root] = run("MatrixSquareRoot", [held], T="complex128")
    np.testing.assert_allclose(root @ root, held, atol=1e-9)
    [logarithm] = run("MatrixLogarithm", [held], T="complex128")
    np.testing.assert_allclose(run("MatrixExponential", [logarithm], T="complex128")[0], held, atol=1e-7)


def test_the_gradient_of_a_singular_factor_is_not_refused() -> None:
    [y] = run("CholeskyGrad", [np.array([[0.0, 0], [1, 2]]), np.ones((2, 2))], T="f64")
    assert not np.isfinite(y[0]).any() and y[1, 1] == 0.25


@pytest.mark.parametrize(("type", "wanted"), [("f32", np.nan), ("complex64", 0)])
def test_a_matrix_that_has_no_cholesky_factor(type: str, wanted: float) -> None:
    x = np.array([[[1, 0], [0, -4]], [[4, 0], [2, 5]]], np.complex64 if type == "complex64" else np.float32)
    (y,) = run("Cholesky", [x], T=type)
    np.testing.assert_array_equal(y, np.array([[[wanted, 0], [wanted, wanted]], [[2, 0], [1, 2]]], x.dtype))
