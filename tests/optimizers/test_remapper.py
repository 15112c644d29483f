"""The remapper: what is fused on which device, and that it runs."""

import numpy as np
import pytest
from numlite.schema.graph_def import AttrValue

from .optimized import Net, check, ops, optimized

CPU, GPU = "/device:CPU:0", "/device:GPU:0"


def conv(net: Net) -> str:
    weights = net.c(np.arange(36).reshape(3, 3, 2, 2) / 18 - 1)
    strides = AttrValue(list=AttrValue.ListValue(i=[1, 1, 1, 1]))
    return net.op("Conv2D", net.x(1, 4, 4, 2), weights, strides=strides, padding="SAME")


def norm(net: Net, x: str) -> str:
    parts = [net.c(values) for values in ([1.5, 2], [0.5, -1], [0.25, 0.5], [1, 2])]
    return net.op("FusedBatchNormV3", x, *parts, is_training=False, epsilon=0.001, U=AttrValue(type=1))


def placed(net: Net, device: str) -> Net:
    for node in net.graph_def.node:
        node.device = device
    return net


def biased(op: str) -> Net:
    net = Net()
    value = net.op("BiasAdd", conv(net), net.c([1, -3]))
    return net.out(net.op(op, value) if op else value)


@pytest.mark.parametrize(
    ("op", "device", "expected"),
    [
        ("", CPU, "_FusedConv2D Const Const"),
        ("Relu6", CPU, "_FusedConv2D Const Const"),
        ("Tanh", CPU, "_FusedConv2D Tanh Const Const"),
        ("Relu", GPU, "_FusedConv2D Const Const"),
        ("Elu", GPU, "Conv2D BiasAdd Elu Const Const"),
        ("Relu", "", "Conv2D BiasAdd Relu Const Const"),
    ],
)
def test_convolutions_with_bias(op: str, device: str, expected: str) -> None:
    check(placed(biased(op), device), expected, "remap")


def test_graphs_of_public_ops_have_no_private_ones() -> None:
    check(placed(biased("Relu"), CPU), "Conv2D BiasAdd Relu Const Const", "remap", target="portable")


@pytest.mark.parametrize(
    ("device", "relu", "expected"),
    [
        (CPU, True, {"_FusedConv2D": 1, "Const": 5}),
        ("", True, {"Conv2D": 1, "_FusedBatchNormEx": 1, "Const": 5}),
        ("", False, {"Conv2D": 1, "Const": 6, "Add": 2, "Mul": 3, "Rsqrt": 1, "Sub": 1}),
    ],
)
def test_batch_norms(device: str, relu: bool, expected: dict[str, int]) -> None:
    net = Net()
    value = norm(net, conv(net))
    check(placed(net.out(net.op("Relu", value) if relu else value), device), expected, "remap")


def test_a_split_norm_goes_into_the_convolution() -> None:
    net = Net()
    net.out(norm(net, conv(net)))
    after = optimized(net.graph_def, list(net.feeds), net.fetches)
    assert ops(after) == {"Conv2D": 1, "Add": 1, "Const": 2}


def test_without_onednn_nothing_is_fused_that_needs_it() -> None:
    net = Net()
    net.out(net.op("Relu", norm(net, conv(net))))
    after = optimized(net.graph_def, list(net.feeds), net.fetches, "remap", onednn=False)
    assert "_FusedBatchNormEx" not in ops(after)


@pytest.mark.parametrize(("alpha", "expected"), [(0.2, "LeakyRelu"), (1.2, "Maximum Mul Const")])
def test_the_larger_multiple_is_leaky_relu_only_up_to_one(alpha: float, expected: str) -> None:
    """TensorFlow 2.21 makes LeakyRelu of any, with other results."""
    net = Net()
    x = net.op("Neg", net.x(5))
    net.out(net.op("Maximum", net.op("Mul", net.c(alpha), x), x))
    check(net, f"Neg {expected}", "remap")


def test_a_contraction_that_is_fetched_stays() -> None:
    net = biased("Relu")
    net.fetches.append(next(node.name for node in net.graph_def.node if node.op == "Conv2D"))
    check(placed(net, CPU), "Conv2D BiasAdd Relu Const Const", "remap")


def test_a_vector_added_to_channels_is_a_bias() -> None:
    for shape in ((4,), (1, 1, 1, 4)):
        net = Net()
        conv = net.op(
            "Conv2D", net.x(1, 4, 4, 2), net.c(np.ones((3, 3, 2, 4))), strides=[1, 1, 1, 1], padding="SAME"
        )
        total = net.op("AddV2", conv, net.c(np.arange(4).reshape(shape)))
        net.out(net.op("Relu", total)).on("/device:CPU:0")
        check(net, "_FusedConv2D Const Const", "remap", "pruning")
        check(net, "Conv2D AddV2 Relu Const Const", "remap", "pruning", onednn=False)


def test_a_vector_along_another_axis_is_no_bias() -> None:
    net = Net()
    conv = net.op(
        "Conv2D", net.x(1, 4, 4, 2), net.c(np.ones((3, 3, 2, 4))), strides=[1, 1, 1, 1], padding="SAME"
    )
    net.out(net.op("AddV2", conv, net.c(np.arange(4).reshape(1, 1, 4, 1)))).on("/device:CPU:0")
    check(net, "Conv2D AddV2 Const Const", "remap", "pruning")
