"""Fourier transforms against sums written out."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

RANDOM = np.random.default_rng(4)


def transform(x: np.ndarray, axis: int) -> np.ndarray:
    n = x.shape[axis]
    matrix = np.exp(-2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n)
    return np.moveaxis(np.tensordot(x, matrix, (axis, 0)), -1, axis)


@pytest.mark.parametrize(("op", "rank"), [("FFT", 1), ("FFT2D", 2), ("FFT3D", 3)])
def test_transform_is_its_sum_and_has_an_inverse(op: str, rank: int) -> None:
    x = RANDOM.normal(size=(2, 3, 4, 5)) + 1j * RANDOM.normal(size=(2, 3, 4, 5))
    wanted = x
    for axis in range(-rank, 0):
        wanted = transform(wanted, axis)
    (y,) = run(op, [x], Tcomplex="complex128")
    np.testing.assert_allclose(y, wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(run(f"I{op}", [y], Tcomplex="complex128")[0], x, atol=1e-12)


def test_single_precision_stays() -> None:
    assert run("FFT", [np.ones(4, np.complex64)], Tcomplex="complex64")[0].dtype == np.complex64


def test_real_transform_cuts_to_its_length() -> None:
    x = RANDOM.normal(size=(2, 9))
    (y,) = run("RFFT", [x, np.array([6], np.int32)], Treal="f64", Tcomplex="complex128")
    np.testing.assert_allclose(y, transform(x[:, :6], 1)[:, :4], atol=1e-12)
    (back,) = run("IRFFT", [y, np.array([6], np.int32)], Treal="f64", Tcomplex="complex128")
    np.testing.assert_allclose(back, x[:, :6], atol=1e-12)


@pytest.mark.parametrize("length", [[5], [-1], [2, 2]])
def test_lengths_that_do_not_fit_are_refused(length: list[int]) -> None:
    with pytest.raises(InvalidArgumentError):
        run("RFFT", [np.zeros(4, np.float32), np.array(length, np.int32)], Treal="f32", Tcomplex="complex64")
