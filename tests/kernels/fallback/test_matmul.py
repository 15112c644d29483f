"""Products of matrices and sums of products against loops over their elements."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

A = np.arange(24, dtype=np.float64).reshape(2, 3, 4) - 7
B = np.arange(40, dtype=np.float64).reshape(2, 4, 5) - 11


@pytest.mark.parametrize("adj_x", [True, False])
@pytest.mark.parametrize("adj_y", [True, False])
def test_batches(adj_x: bool, adj_y: bool) -> None:
    x, y = A * (1 + 2j), B * (2 - 1j)
    wanted = np.zeros((2, 3, 5), np.complex128)
    for n, i, j in product(range(2), range(3), range(5)):
        wanted[n, i, j] = sum(x[n, i, k] * y[n, k, j] for k in range(4))
    inputs = [np.conj(x.swapaxes(1, 2)) if adj_x else x, np.conj(y.swapaxes(1, 2)) if adj_y else y]
    flags = {"adj_x": f"bool${adj_x}".lower(), "adj_y": f"bool${adj_y}".lower()}
    for op in ("BatchMatMul", "BatchMatMulV2"):
        np.testing.assert_allclose(run(op, inputs, T="complex128", **flags)[0], wanted)


def test_only_the_second_version_broadcasts() -> None:
    found = run("BatchMatMulV2", [A[:, None], B], T="f64")[0]
    assert found.shape == (2, 2, 3, 5)
    np.testing.assert_allclose(found[1, 0], A[1] @ B[0])
    with pytest.raises(InvalidArgumentError, match="must agree but in the last two axes"):
        run("BatchMatMul", [A[:, None], B], T="f64")


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ki", [(2, 3), (3, 4)]),
        ("ii->i", [(3, 3)]),
        ("i->ii", [(3,)]),
        ("ij->", [(2, 3)]),
        ("iji,jk->k", [(2, 3, 2), (3, 4)]),
        (",i->i", [(), (4,)]),
    ],
)
def test_einsum_by_all_its_terms(equation: str, shapes: list[tuple[int, ...]]) -> None:
    inputs = [np.arange(np.prod(shape, dtype=int), dtype=np.float64).reshape(shape) + 1 for shape in shapes]
    left, right = equation.split("->")
    terms = left.split(",")
    sizes = {
        name: size
        for term, shape in zip(terms, shapes, strict=True)
        for name, size in zip(term, shape, strict=True)
    }
    wanted = np.zeros([sizes[name] for name in right])
    for places in product(*map(range, sizes.values())):
        at = dict(zip(sizes, places, strict=True))
        value = np.prod([x[tuple(at[n] for n in term)] for x, term in zip(inputs, terms, strict=True)])
        wanted[tuple(at[n] for n in right)] += value
    found = run("Einsum", inputs, T="f64", N=f"i64${len(inputs)}", equation=f"string${equation}")[0]
    np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize(
    "equation", ["ij,jk", "ij->ik", "i1,j->i", "ij,jk,kl->il", "ij,jk->i-k", "ijk,jk->i"]
)
def test_equations_that_are_none(equation: str) -> None:
    with pytest.raises(InvalidArgumentError, match="Einsum: "):
        run("Einsum", [np.ones((2, 2))] * 2, T="f64", N="i64$2", equation=f"string${equation}")


@pytest.mark.parametrize(("x", "y"), [((2, 3), (2, 3)), ((3,), (3, 2)), ((), ()), ((1, 2, 3), (3, 2))])
def test_matrices_that_do_not_fit(x: tuple[int, ...], y: tuple[int, ...]) -> None:
    with pytest.raises(InvalidArgumentError):
        run("MatMul", [np.ones(x), np.ones(y)], T="f64")


NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("a_is_sparse", "b_is_sparse", "wanted"),
    [
        (False, False, [[NAN, NAN], [INF, NAN]]),
        (True, False, [[3, NAN], [INF, 2]]),
        (True, True, [[3, NAN], [INF, 2]]),
        (False, True, [[NAN, NAN], [INF, NAN]]),
    ],
)
@pytest.mark.parametrize("transposed", [False, True])
def test_zeros_of_sparse_matrices_do_not_count(
    a_is_sparse: bool, b_is_sparse: bool, wanted: list[list[float]], transposed: bool
) -> None:
    a, b = np.float32([[0, 1], [2, 0]]), np.float32([[INF, 1], [3, NAN]])
    flags = {"a_is_sparse": a_is_sparse, "b_is_sparse": b_is_sparse}
    flags |= {"transpose_a": transposed, "transpose_b": transposed}
    given = [a.T.copy(), b.T.copy()] if transposed else [a, b]
    texts = {name: f"bool${str(flag).lower()}" for name, flag in flags.items()}
    np.testing.assert_array_equal(run("SparseMatMul", given, **texts)[0], wanted)
    # The same product, turned round.
    texts |= {name: f"bool${str(not transposed).lower()}" for name in ("transpose_a", "transpose_b")}
    texts |= {"a_is_sparse": texts["b_is_sparse"], "b_is_sparse": texts["a_is_sparse"]}
    turned = run("SparseMatMul", given[::-1], **texts)[0].T
    both = a_is_sparse and b_is_sparse
    np.testing.assert_array_equal(turned, [[NAN, NAN], [INF, NAN]] if both else wanted)
