"""The remapper: what is fused on which device, and that it runs."""

import numpy as np
import pytest
from numlite.schema.graph_def import AttrValue

from .optimized import Net, check, ops, optimized, values

CPU, GPU = "/device:CPU:0", "/device:GPU:0"


def conv(net: Net, channels: int = 2) -> str:
    weights = net.c(np.arange(18 * channels).reshape(3, 3, 2, channels) / (9 * channels) - 1)
    strides = AttrValue(list=AttrValue.ListValue(i=[1, 1, 1, 1]))
    return net.op("Conv2D", net.x(1, 4, 4, 2), weights, strides=strides, padding="SAME")


def norm(net: Net, x: str, channels: int = 2) -> str:
    pairs = ([1.5, 2], [0.5, -1], [0.25, 0.5], [1, 2])
    parts = [net.c(np.resize(values, channels)) for values in pairs]
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
    ("device", "relu", "channels", "expected"),
    [
        (CPU, True, 2, {"_FusedConv2D": 1, "Const": 5}),
        ("", True, 4, {"Conv2D": 1, "_FusedBatchNormEx": 1, "Const": 5}),
        # TensorFlow does not import such a norm with another number of channels.
        ("", True, 2, {"Conv2D": 1, "Relu": 1, "Const": 6, "Add": 2, "Mul": 3, "Rsqrt": 1, "Sub": 1}),
        ("", False, 2, {"Conv2D": 1, "Const": 6, "Add": 2, "Mul": 3, "Rsqrt": 1, "Sub": 1}),
    ],
)
def test_batch_norms(device: str, relu: bool, channels: int, expected: dict[str, int]) -> None:
    net = Net()
    value = norm(net, conv(net, channels), channels)
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


def product(net: Net) -> str:
    """A product of matrices with bias."""
    weights = net.c(np.arange(12).reshape(3, 4) / 6 - 1)
    return net.op("BiasAdd", net.op("MatMul", net.x(2, 3), weights), net.c([1, -3, 0, 2]))


def cubed(net: Net, m: str, form: str) -> str:
    if form == "power":
        return net.op("Pow", m, net.c(3))
    return net.op("Mul", m, net.op("Square", m) if form == "square" else net.op("Mul", m, m))


def gelu(net: Net, m: str, form: str, small: float = 0.044715) -> str:
    inside = net.op("AddV2", m, net.op("Mul", net.c(small), cubed(net, m, form)))
    tangent = net.op("Tanh", net.op("Mul", net.c(np.sqrt(2 / np.pi)), inside))
    return net.op("Mul", net.op("Mul", net.c(0.5), m), net.op("AddV2", net.c(1), tangent))


@pytest.mark.parametrize("form", ["power", "square", "products"])
def test_the_gelu_by_a_tangent(form: str) -> None:
    net = Net()
    net.out(gelu(net, product(net), form))
    after = check(placed(net, CPU), "_FusedMatMul Const Const", "remap", "pruning")
    found = next(node for node in after.node if node.op == "_FusedMatMul")
    assert list(found.attr["fused_ops"].list.s) == [b"BiasAdd", b"GeluApproximate"]
    assert ops(optimized(placed(net, GPU).graph_def, ["x0"], net.fetches, "remap"))["_FusedMatMul"] == 0


@pytest.mark.parametrize("other", ["factor", "use"])
def test_what_is_nearly_that_gelu_stays(other: str) -> None:
    net = Net()
    m = product(net)
    net.out(gelu(net, m, "square", 0.05 if other == "factor" else 0.044715))
    if other == "use":
        net.out(net.op("Neg", m))
    after = optimized(placed(net, CPU).graph_def, ["x0"], net.fetches, "remap")
    assert ops(after)["Tanh"] == 1


def layer_norm(columns: int = 4, scale: float = 1, form: str = "NCHW") -> Net:
    net = Net()
    x = net.op("Neg", net.x(2, 3, 4))
    rows = net.op("Reshape", x, net.c([1, 24 // columns, columns, 1], np.int32))
    ones, zeros = (net.op("Fill", net.c([24 // columns], np.int32), net.c(each)) for each in (scale, 0))
    none = net.c(np.zeros(0))
    held = {"is_training": True, "epsilon": 0.01, "U": AttrValue(type=1), "data_format": form}
    value = net.op("FusedBatchNormV3", rows, ones, zeros, none, none, **held)
    value = net.op("Mul", net.op("Reshape", value, net.c([2, 3, 4], np.int32)), net.c([1, 2, 3, 4]))
    return placed(net.out(net.op("AddV2", net.c([0, 1, -1, 0.5]), value)), CPU)


def test_a_layer_norm_by_a_batch_norm() -> None:
    after = check(layer_norm(), "Neg _MklLayerNorm Const Const", "remap", "pruning", assume_valid_feeds=True)
    found = next(node for node in after.node if node.op == "_MklLayerNorm")
    assert found.attr["epsilon"].f == pytest.approx(0.01)


@pytest.mark.parametrize("net", [layer_norm(8), layer_norm(scale=2)], ids=["rows", "scale"])
def test_what_is_no_layer_norm_stays(net: Net) -> None:
    after = optimized(net.graph_def, ["x0"], net.fetches, "remap", assume_valid_feeds=True)
    assert ops(after)["_MklLayerNorm"] == 0 and ops(after)["FusedBatchNormV3"] == 1


@pytest.mark.parametrize(
    ("kind", "relu", "trusted", "expected"),
    [
        ("conv", False, True, "_FusedConv2D Const Const"),
        ("conv", True, True, "_FusedConv2D Const Const"),
        ("product", False, True, "_FusedMatMul Const Const"),
        ("product", True, True, "_FusedMatMul Relu Const Const"),
        ("conv", True, False, "_FusedConv2D AddV2 Relu Const Const"),
    ],
)
def test_another_tensor_is_added_where_shapes_are_known(
    kind: str, relu: bool, trusted: bool, expected: str
) -> None:
    net = Net()
    value = product(net) if kind == "product" else net.op("BiasAdd", conv(net), net.c([1, -3]))
    other = net.x(2, 4) if kind == "product" else net.x(1, 4, 4, 2)
    total = net.op("AddV2", other, value)
    net.out(net.op("Relu", total) if relu else total)
    check(placed(net, CPU), expected, "remap", assume_valid_feeds=trusted)


def test_a_tensor_that_stretches_a_product_is_added_by_itself() -> None:
    net = Net()
    net.out(net.op("AddV2", product(net), net.x(1, 4)))
    check(placed(net, CPU), "_FusedMatMul AddV2 Const Const", "remap", assume_valid_feeds=True)


def training(half: bool, channels: int) -> Net:
    """A normalization in training, Relu, and the gradients of both."""
    net = Net()
    x, dy = net.x(2, 3, 3, channels), net.x(2, 3, 3, channels)
    element = AttrValue(type=19 if half else 1)
    if half:
        x, dy = (net.op("Cast", each, SrcT=AttrValue(type=1), DstT=element) for each in (x, dy))
    scale, offset = net.c(np.linspace(0.5, 1.5, channels)), net.c(np.linspace(-2, 2, channels))
    empty, kinds = net.c(np.zeros(0)), {"T": element, "U": AttrValue(type=1), "is_training": True}
    normed = net.op("FusedBatchNormV3", x, scale, offset, empty, empty, **kinds)
    y = net.op("Relu", normed, T=element)
    passed = net.op("ReluGrad", dy, y, T=element)
    reserved = [f"{normed}:{i}" for i in (3, 4, 5)]
    made = net.op("FusedBatchNormGradV3", passed, x, scale, *reserved, **kinds)
    results = [y, made, f"{made}:1", f"{made}:2"]
    for name in results:
        kind = element if name in (y, made) else AttrValue(type=1)
        made_float = net.op("Cast", name, SrcT=kind, DstT=AttrValue(type=1))
        net.out(made_float)
    return net


@pytest.mark.parametrize(
    ("half", "channels", "fuses"), [(True, 4, True), (False, 4, False), (True, 6, False)]
)
def test_norms_of_halves_in_training_on_the_gpu(half: bool, channels: int, fuses: bool) -> None:
    net = placed(training(half, channels), GPU)
    after = optimized(net.graph_def, list(net.feeds), net.fetches, "remap", "pruning")
    found = ops(after)
    assert found["_FusedBatchNormEx"] == found["_FusedBatchNormGradEx"] == fuses
    assert found["Relu"] == found["ReluGrad"] == found["FusedBatchNormGradV3"] == (not fuses)
    for a, b in zip(values(net.graph_def, net), values(after, net), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-2, atol=1e-2)


def test_the_gradient_of_a_side_input_comes_from_the_same_node() -> None:
    net = training(True, 4)
    nodes = {node.op: node for node in net.graph_def.node}
    norm, relu = nodes["FusedBatchNormV3"], nodes["Relu"]
    side = net.op("Cast", net.x(2, 3, 3, 4), SrcT=AttrValue(type=1), DstT=AttrValue(type=19))
    norm.op, norm.attr["num_side_inputs"].i, norm.attr["activation_mode"].s = "_FusedBatchNormEx", 1, b"Relu"
    norm.input.append(side)
    relu.op = "Identity"
    passed = nodes["ReluGrad"].name
    net.out(net.op("Cast", passed, SrcT=AttrValue(type=19), DstT=AttrValue(type=1)))
    placed(net, GPU)
    after = optimized(net.graph_def, list(net.feeds), net.fetches, "remap")
    [made] = [node for node in after.node if node.op == "_FusedBatchNormGradEx"]
    assert made.attr["num_side_inputs"].i == 1 and "ReluGrad" not in ops(after)
    for a, b in zip(values(net.graph_def, net), values(after, net), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-2, atol=1e-2)
