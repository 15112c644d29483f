"""Quantized ONNX models: operators on integers, as near to the model's own arithmetic as a step or two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter
from numlite.lite.errors import ModelError
from numlite.schema.onnx import ModelProto, NodeProto

from ...onnx_builder import model, node, value
from ..graphs import checked, run_litert
from .test_layout import counted

RANDOM = np.random.default_rng(9)
F32 = np.float32


def uniform(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-1, 1, shape).astype(F32)


class Net:
    """Nodes in the form QDQ: each float tensor is quantized and made real again; run() does it in NumPy."""

    def __init__(self, dtype: type = np.uint8) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, np.ndarray] = {}
        self.zero = dtype(3 if dtype is np.int8 else 131)

    def paired(self, name: str, scale: float) -> str:
        """The tensor after the pair."""
        self.constants |= {f"{name}_s": F32(scale), f"{name}_z": np.array(self.zero)}
        grid = [f"{name}_s", f"{name}_z"]
        self.nodes.append(node("QuantizeLinear", [name, *grid], f"{name}_q"))
        self.nodes.append(node("DequantizeLinear", [f"{name}_q", *grid], f"{name}_d"))
        return f"{name}_d"

    def weights(self, name: str, shape: Sequence[int], axis: int) -> str:
        """Constant int8 with a scale for each index of the axis."""
        count = shape[axis]
        self.constants |= {
            f"{name}_q": RANDOM.integers(-127, 128, shape).astype(np.int8),
            f"{name}_s": (RANDOM.uniform(0.5, 1.5, count) / 127).astype(F32),
            f"{name}_z": np.zeros(count, np.int8),
        }
        self.nodes.append(node("DequantizeLinear", [f"{name}_q", f"{name}_s", f"{name}_z"], name, axis=axis))
        return name

    def add(self, op: str, inputs: Sequence[str], output: str, **attributes: object) -> str:
        self.nodes.append(node(op, inputs, output, **attributes))
        return output

    def model(self, shape: Sequence[int], output: str) -> ModelProto:
        return model(self.nodes, [value("x", shape)], [value(output, None)], self.constants)


def floats_of(made: ModelProto) -> ModelProto:
    """The same model without the pairs, its weights as floats: what the integers stand near to."""
    plain = ModelProto.FromString(made.SerializeToString())
    del plain.graph.node[:]
    held = {proto.name: proto for proto in made.graph.initializer}
    for each in made.graph.node:
        if each.op_type == "QuantizeLinear" or (
            each.op_type == "DequantizeLinear" and each.input[0] not in held
        ):
            plain.graph.node.append(node("Identity", [each.input[0]], each.output[0]))
        else:
            plain.graph.node.append(each)
    return plain


def compare(made: ModelProto, x: np.ndarray, output: str, expected: set[str], error: float) -> bytes:
    """Converted, it has no floats but at its ends, and is as near to the float model as its steps are."""
    content = checked(Converter.from_onnx(made).convert())
    assert set(counted(content)) <= expected | {"QUANTIZE", "DEQUANTIZE", "TRANSPOSE"}, counted(content)
    found = Interpreter(model_content=content).get_signature_runner()(x=x)[output]
    wanted = Interpreter(model_content=Converter.from_onnx(floats_of(made)).convert()).get_signature_runner()(
        x=x
    )
    np.testing.assert_allclose(found, wanted[output], atol=error)
    np.testing.assert_allclose(run_litert(content, x)[0], found, atol=error)
    return content


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_a_convolutional_network_is_one_of_integers(dtype: type) -> None:
    """Convolution with bias and ReLU, padded pooling, depthwise, residual, global mean, dense."""
    net = Net(dtype)
    net.constants |= {"b": uniform(8), "c": uniform(5)}
    x = net.paired("x", 2 / 255)
    a = net.add(
        "Relu", [net.add("Conv", [x, net.weights("w", (8, 3, 3, 3), 0), "b"], "a0", pads=[1] * 4)], "a"
    )
    a = net.paired(a, 8 / 255)
    m = net.paired(net.add("MaxPool", [a], "m", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 8 / 255)
    d = net.add("Conv", [m, net.weights("v", (8, 1, 3, 3), 0)], "d", group=8, pads=[1] * 4)
    s = net.paired(net.add("Add", [net.paired(d, 30 / 255), m], "s"), 32 / 255)
    g = net.paired(net.add("GlobalAveragePool", [s], "g"), 16 / 255)
    f = net.paired(net.add("Flatten", [g], "f"), 16 / 255)
    y = net.paired(net.add("Gemm", [f, net.weights("u", (8, 5), 1), "c"], "y"), 40 / 255)
    expected = {
        "CONV_2D",
        "DEPTHWISE_CONV_2D",
        "PAD",
        "PADV2",
        "MAX_POOL_2D",
        "ADD",
        "MEAN",
        "FULLY_CONNECTED",
        "RESHAPE",
    }
    content = compare(net.model([1, 3, 12, 12], y), uniform(1, 3, 12, 12), y, expected, 1.0)
    counts = counted(content)
    assert counts["QUANTIZE"] == counts["DEQUANTIZE"] == 1, counts
    types = {
        each["dtype"]
        for each in Interpreter(model_content=content).get_tensor_details()
        if "bias" in each["name"]
    }
    assert types == {np.int32}


CASES = {
    "sigmoid": ("Sigmoid", {}, {"LOGISTIC"}, 1 / 120, 1),
    "softmax": ("Softmax", {"axis": -1}, {"SOFTMAX"}, 1 / 120, 1),
    "tanh": ("Tanh", {}, {"TANH"}, 1 / 100, 1),
    "leaky": ("LeakyRelu", {"alpha": 0.25}, {"LEAKY_RELU"}, 1 / 100, 1),
    "product": ("Mul", {}, {"MUL"}, 1 / 100, 2),
    "difference": ("Sub", {}, {"SUB"}, 2 / 100, 2),
    "join of other scales": ("Concat", {"axis": 1}, {"CONCATENATION"}, 1 / 100, 2),
}


@pytest.mark.parametrize("name", CASES)
def test_other_operators(name: str) -> None:
    op, attributes, expected, scale, count = CASES[name]
    net = Net(np.int8)
    parts = [net.paired("x", 2.2 / 255)]
    if count == 2:
        parts.append(net.paired(net.add("Neg", ["x"], "t"), 2.2 / 255))
    y = net.paired(net.add(op, parts, "y", **attributes), scale)
    compare(net.model([4, 6], y), uniform(4, 6), y, expected | {"NEG"} if count == 2 else expected, 0.05)


def test_an_operator_without_its_own_integers_stays_one_of_floats() -> None:
    net = Net()
    y = net.paired(net.add("Sin", [net.paired("x", 2 / 255)], "y"), 2 / 255)
    content = compare(net.model([4, 6], y), uniform(4, 6), y, {"SIN"}, 0.02)
    assert counted(content)["SIN"] == 1


def test_a_network_may_end_in_integers_with_channels_first() -> None:
    """The transpose and what makes floats of integers may change places; one of the two stays last."""
    net = Net()
    x = net.paired("x", 2 / 255)
    y = net.paired(net.add("Conv", [x, net.weights("w", (4, 3, 1, 1), 0)], "y"), 6 / 255)
    content = compare(net.model([1, 3, 4, 4], y), uniform(1, 3, 4, 4), y, {"CONV_2D"}, 0.1)
    assert counted(content) == {"QUANTIZE": 1, "TRANSPOSE": 2, "CONV_2D": 1, "DEQUANTIZE": 1}


def test_weights_alone_become_floats() -> None:
    """Without pairs around, nothing is quantized."""
    net = Net()
    y = net.add("MatMul", ["x", net.weights("w", (6, 3), 1)], "y")
    content = compare(net.model([4, 6], y), uniform(4, 6), y, {"FULLY_CONNECTED"}, 1e-5)
    assert counted(content) == {"FULLY_CONNECTED": 1}


@pytest.mark.parametrize(("name", "count"), [("w_s", 2), ("w_z", 4), ("w_s", 4)])
def test_scales_that_are_not_one_for_each_index_are_a_fault_of_the_model(name: str, count: int) -> None:
    net = Net()
    y = net.add("MatMul", ["x", net.weights("w", (6, 3), 1)], "y")
    held = {each: np.ones(count, net.constants[each].dtype) for each in ("w_s", "w_z") if each >= name}
    net.constants |= held
    with pytest.raises(ModelError, match="must be one for each"):
        Converter.from_onnx(net.model([4, 6], y).SerializeToString())


def test_a_constant_that_is_added_keeps_its_scale() -> None:
    """Positions of patches: int8 added to what a convolution gives, in the convolution's order."""
    net = Net(np.int8)
    net.constants |= {
        "p_q": RANDOM.integers(-127, 128, (1, 4, 9)).astype(np.int8),
        "p_s": F32(1 / 127),
        "p_z": np.array(0, np.int8),
        "rows": np.array([1, 4, 9]),
    }
    net.nodes.append(node("DequantizeLinear", ["p_q", "p_s", "p_z"], "p"))
    a = net.paired(
        net.add("Conv", [net.paired("x", 2 / 255), net.weights("w", (4, 3, 2, 2), 0)], "a"), 8 / 255
    )
    r = net.paired(net.add("Reshape", [a, "rows"], "r"), 8 / 255)
    s = net.paired(net.add("Add", [r, "p"], "s"), 10 / 255)
    y = net.paired(net.add("MatMul", [s, net.weights("v", (9, 5), 1)], "y"), 30 / 255)
    expected = {"CONV_2D", "RESHAPE", "ADD", "FULLY_CONNECTED", "BATCH_MATMUL"}
    compare(net.model([1, 3, 4, 4], y), uniform(1, 3, 4, 4), y, expected, 0.5)
