"""What TensorFlow's optimizer makes for oneDNN, from the definitions."""

import numpy as np
import pytest
from numlite.kernels.fallback.fused_conv import FusedOps, fused_matmul
from numlite.kernels.fallback.onednn import fused_batch_mat_mul, fused_instance_norm, mish, swish
from numlite.kernels.fallback.string_hash import string_to_hash_bucket_fast, tensor_to_hash_bucket_fast
from numlite.lite.errors import UnsupportedError

X = np.linspace(-4, 4, 48, dtype=np.float32).reshape(1, 4, 4, 3)


def test_swish_and_mish_keep_the_type_and_do_not_overflow() -> None:
    np.testing.assert_allclose(swish(X), X / (1 + np.exp(-X)), rtol=1e-6)
    np.testing.assert_allclose(mish(X), X * np.tanh(np.log1p(np.exp(X))), rtol=1e-5)
    far = np.array([-1000, 1000], np.float32)
    np.testing.assert_array_equal(swish(far), [0, 1000])
    np.testing.assert_array_equal(mish(far), [0, 1000])
    assert swish(X.astype(np.float16)).dtype == np.float16


def test_a_batch_of_products_is_scaled_and_added_to() -> None:
    a, b = X.reshape(1, 4, 4, 3), X.reshape(1, 4, 3, 4)
    found = fused_batch_mat_mul(
        a,
        b,
        [np.float32(0.5), np.ones((1, 1, 4, 4), np.float32)],
        adj_x=False,
        adj_y=False,
        fused_ops=["Mul", "Add"],
    )
    np.testing.assert_allclose(found, a @ b * 0.5 + 1, rtol=1e-6)
    with pytest.raises(UnsupportedError, match="fused_ops must be Mul and Add"):
        fused_batch_mat_mul(a, b, [], adj_x=False, adj_y=False, fused_ops=["Add"])


@pytest.mark.parametrize("fused", ["", "Relu", "LeakyRelu"])
def test_an_instance_norm(fused: str) -> None:
    gamma, beta = np.array([1, 2, 3], np.float32), np.array([0, -1, 1], np.float32)
    mean, variance = X.mean((1, 2), keepdims=True), X.var((1, 2), keepdims=True)
    expected = (X - mean) / np.sqrt(variance + 0.001) * gamma + beta
    slope = {"": 1.0, "Relu": 0.0, "LeakyRelu": 0.2}[fused]
    found = fused_instance_norm(
        X,
        gamma,
        beta,
        fused_ops=[fused] if fused else [],
        epsilon=0.001,
        leakyrelu_alpha=0.2,
        reduction_axes=[1, 2],
    )
    np.testing.assert_allclose(found, np.where(expected > 0, expected, slope * expected), atol=1e-5)


def test_numbers_hash_as_they_are_written() -> None:
    numbers = np.array([[0, -7], [12345, 2**31 - 1]], np.int32)
    texts = np.array([[str(n).encode() for n in row] for row in numbers.tolist()], object)
    np.testing.assert_array_equal(
        tensor_to_hash_bucket_fast(numbers, num_buckets=97), string_to_hash_bucket_fast(texts, num_buckets=97)
    )


def test_an_exact_gelu_follows_a_product() -> None:
    from math import erf

    fused = FusedOps(fused_ops=["GeluExact"], epsilon=0.0, leakyrelu_alpha=0.0)
    a, b = X.reshape(16, 3), np.eye(3, dtype=np.float32)
    found = fused_matmul(a, b, [], transpose_a=False, transpose_b=False, fused=fused)
    expected = 0.5 * a * (1 + np.vectorize(erf)(a * np.sqrt(0.5)))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
