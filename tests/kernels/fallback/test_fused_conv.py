"""Fused ops against the ops that they are made of."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.node_runner import run_node
from numlite.kernels.fallback.status import InvalidArgumentError
from numlite.lite.errors import UnsupportedError

from .nodes import node, run

RANDOM = np.random.default_rng(6)
X = RANDOM.normal(size=(1, 5, 6, 2)).astype(np.float32)
W = RANDOM.normal(size=(3, 3, 2, 4)).astype(np.float32)
STRIDES = {"strides": "list(i64)$1,1,1,1", "padding": "string$VALID"}


def fused(op: str, inputs: list[np.ndarray], ops: list[bytes], **attributes: str) -> np.ndarray:
    made = node(op, T="f32", **attributes)
    made.attr["fused_ops"].list.s.extend(ops)
    made.attr["num_args"].i = len(inputs) - 2
    if op == "_FusedConv2D":
        made.attr["TArgs"].list.type.extend([1] * (len(inputs) - 2))
    return run_node(made, inputs)[0]


def test_convolution_with_bias_and_activation() -> None:
    bias = RANDOM.normal(size=4).astype(np.float32)
    wanted = np.clip(run("Conv2D", [X, W], T="f32", **STRIDES)[0] + bias, 0, 6)
    np.testing.assert_allclose(fused("_FusedConv2D", [X, W, bias], [b"BiasAdd", b"Relu6"], **STRIDES), wanted)


def test_depthwise_convolution_with_activation() -> None:
    found = fused("_FusedDepthwiseConv2dNative", [X, W], [b"Relu"], **STRIDES)
    wanted = run("DepthwiseConv2dNative", [X, W], T="f32", **STRIDES)[0]
    np.testing.assert_array_equal(found, np.maximum(wanted, 0))


def test_convolution_3d_with_bias() -> None:
    x, w = X[:, np.newaxis], W[np.newaxis]
    options = {"strides": "list(i64)$1,1,1,1,1", "padding": "string$SAME"}
    bias = RANDOM.normal(size=4).astype(np.float32)
    wanted = run("Conv3D", [x, w], T="f32", **options)[0] + bias
    found = fused("_FusedConv3D", [x, w, bias], [b"BiasAdd"], **options)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_normalization_with_side_input_and_activation() -> None:
    vectors = [RANDOM.uniform(0.5, 2, 2).astype(np.float32) for _ in range(4)]
    options = {"T": "f32", "U": "f32", "is_training": "bool$false"}
    side = RANDOM.normal(size=X.shape).astype(np.float32)
    (wanted, *_) = run("FusedBatchNormV3", [X, *vectors], **options)
    more = {"num_side_inputs": "i64$1", "activation_mode": "string$Relu"}
    (found, *_) = run("_FusedBatchNormEx", [X, *vectors, side], **options, **more)
    np.testing.assert_allclose(found, np.maximum(wanted + side, 0), rtol=1e-6)


@pytest.mark.parametrize("sides", [0, 1])
def test_gradient_of_a_normalization_behind_that_of_relu(sides: int) -> None:
    mean, variance, scale, offset = (RANDOM.uniform(0.5, 2, 2).astype(np.float32) for _ in range(4))
    dy, y = (RANDOM.normal(size=X.shape).astype(np.float32) for _ in range(2))
    options = {"T": "f32", "U": "f32", "is_training": "bool$true"}
    reserved = [mean, variance, np.zeros((), np.float32)]
    passed = np.where(y > 0, dy, 0).astype(np.float32)
    wanted = run("FusedBatchNormGradV3", [passed, X, scale, *reserved], **options)
    more = {"num_side_inputs": f"i64${sides}", "activation_mode": "string$Relu"}
    found = run("_FusedBatchNormGradEx", [dy, X, scale, *reserved, offset, y], **options, **more)
    assert len(found) == 5 + sides
    for a, b in zip(found, [*wanted, passed], strict=False):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(InvalidArgumentError, match="y_backprop must be of y's shape"):
        run("_FusedBatchNormGradEx", [dy[:, :2], X, scale, *reserved, offset, y], **options, **more)
    with pytest.raises(UnsupportedError, match="activation 'Elu' with"):
        run(
            "_FusedBatchNormGradEx",
            [dy, X, scale, *reserved, offset, y],
            **options,
            **more | {"activation_mode": "string$Elu"},
        )


def test_product_with_bias_and_another_tensor() -> None:
    a, b, bias, other = (RANDOM.normal(size=size).astype(np.float32) for size in ((3, 4), (4, 2), 2, (3, 2)))
    found = fused("_FusedMatMul", [a, b, bias, other], [b"BiasAdd", b"Add"])
    np.testing.assert_allclose(found, a @ b + bias + other, rtol=1e-6)
    with pytest.raises(InvalidArgumentError, match="what is added must be of the product's shape"):
        fused("_FusedMatMul", [a, b, bias, other[:1]], [b"BiasAdd", b"Add"])


def test_product_with_bias_and_activation() -> None:
    a, b, bias = (RANDOM.normal(size=size).astype(np.float32) for size in ((3, 4), (4, 2), 2))
    wanted = np.tanh(a @ b + bias)
    found = fused("_FusedMatMul", [a, b, bias], [b"BiasAdd", b"Tanh"])
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_unknown_fusions_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="Sin"):
        fused("_FusedMatMul", [np.ones((1, 1), np.float32)] * 3, [b"Sin"])


def test_padded_convolution_is_the_convolution_of_the_padded() -> None:
    paddings = np.array([[0, 0], [2, 1], [0, 3], [0, 0]], np.int32)
    (y,) = run("FusedPadConv2D", [X, paddings, W], T="f32", mode="string$REFLECT", **STRIDES)
    wanted = run("Conv2D", [np.pad(X, paddings, mode="reflect"), W], T="f32", **STRIDES)[0]
    np.testing.assert_array_equal(y, wanted)
    with pytest.raises(InvalidArgumentError, match="paddings"):
        run("FusedPadConv2D", [X, paddings * 3, W], T="f32", mode="string$REFLECT", **STRIDES)


def test_doubles_are_resized_as_doubles() -> None:
    """A pixel between two: float32 would lose half of its digits."""
    x = RANDOM.normal(size=(1, 2, 2, 1))
    inputs = [x, np.int32([3, 3]), np.zeros((4, 2), np.int32), np.ones((1, 1, 1, 1))]
    kinds = {"T": "f64", "mode": "string$REFLECT", "resize_align_corners": "bool$true", **STRIDES}
    (found,) = run("FusedResizeAndPadConv2D", inputs, **kinds)
    np.testing.assert_allclose(found[0, 1, 1, 0], x.mean(), rtol=1e-14)
