"""Each rule makes what its docstring says, and leaves alone what it must."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.operator_rules.register import LAST_RULES, RULES
from numlite.lite import debug
from numlite.schema import tflite

from .graphs import checked, operators, run_litert

RANDOM = np.random.default_rng(6)
X = RANDOM.uniform(-1, 1, (1, 6, 6, 3)).astype(np.float32)
FILTERS = RANDOM.uniform(-1, 1, (3, 3, 3, 4)).astype(np.float32)
FACTORS = np.array([0.5, 2, -1, 3], np.float32)


class Net(GraphBuilder):
    """A graph that starts with an input and a convolution."""

    def __init__(self, padding: str = "VALID") -> None:
        super().__init__()
        x = self.placeholder("x", [1, 6, 6, 3])
        filters = self.constant("filters", FILTERS)
        self.conv = self.node("Conv2D", "conv", x, filters, strides=(1, 1, 1, 1), padding=padding)


def convolved() -> np.ndarray:
    y = np.zeros((1, 4, 4, 4))
    for i in range(3):
        for j in range(3):
            y += X[:, i : i + 4, j : j + 4].astype(np.float64) @ FILTERS[i, j]
    return y


def check(graph: GraphBuilder, expected_operators: list[str], *expected: np.ndarray) -> bytes:
    model = checked(convert_graph(graph.graph_def))
    assert operators(model) == expected_operators
    for y, e in zip(run_litert(model, X), expected, strict=True):
        # 27 products in float32.
        np.testing.assert_allclose(y, e, rtol=1e-5, atol=1e-5)
    return model


def test_every_rule_has_a_name_of_its_own_and_shows_given_and_result() -> None:
    assert len({each.name for each in (*RULES, *LAST_RULES)}) == len(RULES) + len(LAST_RULES)
    for each in (*RULES, *LAST_RULES):
        assert "Given:" in each.given_and_result and "Result:" in each.given_and_result


@pytest.mark.parametrize("constant_first", [False, True])
@pytest.mark.parametrize("shape", [(4,), (1, 1, 1, 4)])
def test_multiplication_goes_into_weights(shape: tuple[int, ...], constant_first: bool) -> None:
    net = Net()
    operands = [net.conv, net.constant("m", FACTORS.reshape(shape))]
    net.node("Mul", "y", *(reversed(operands) if constant_first else operands))
    check(net, ["CONV_2D"], convolved() * FACTORS)


def test_multiplication_after_a_bias_scales_it_too() -> None:
    net = Net()
    biased = net.node("BiasAdd", "b", net.conv, net.constant("bias", FACTORS))
    net.node("Mul", "y", biased, net.constant("m", np.float32(0.5).reshape(())))
    check(net, ["CONV_2D"], (convolved() + FACTORS) * 0.5)


def test_multiplication_along_another_axis_stays() -> None:
    net = Net()
    net.node("Mul", "y", net.conv, net.constant("m", FACTORS.reshape(4, 1)))
    check(net, ["CONV_2D", "MUL"], convolved() * FACTORS.reshape(4, 1))


def test_multiplication_by_a_larger_tensor_stays() -> None:
    net = Net()
    net.node("Mul", "y", net.conv, net.constant("m", np.ones((2, 1, 1, 4), np.float32)))
    check(net, ["CONV_2D", "MUL"], np.concatenate([convolved(), convolved()]))


def test_subtraction_becomes_bias_only_on_the_right() -> None:
    right, left = Net(), Net()
    right.node("Sub", "y", right.conv, right.constant("c", FACTORS))
    left.node("Sub", "y", left.constant("c", FACTORS), left.conv)
    check(right, ["CONV_2D"], convolved() - FACTORS)
    check(left, ["CONV_2D", "SUB"], FACTORS - convolved())


def test_activation_is_fused_after_bias() -> None:
    net = Net()
    net.node("Relu", "y", net.node("AddV2", "b", net.conv, net.constant("c", FACTORS)))
    check(net, ["CONV_2D"], np.maximum(convolved() + FACTORS, 0))


def test_nothing_is_fused_behind_an_activation() -> None:
    net = Net()
    net.node("Mul", "y", net.node("Relu", "r", net.conv), net.constant("m", FACTORS))
    check(net, ["CONV_2D", "MUL"], np.maximum(convolved(), 0) * FACTORS)


def test_a_second_user_prevents_fusing() -> None:
    net = Net()
    net.node("Relu", "r", net.conv)
    net.node("Mul", "m", net.conv, net.constant("c", FACTORS))
    check(net, ["CONV_2D", "RELU", "MUL"], np.maximum(convolved(), 0), convolved() * FACTORS)


def test_an_output_is_a_user() -> None:
    net = Net()
    net.node("Relu", "r", net.conv)
    model = convert_graph(net.graph_def, output_arrays=["conv", "r"])
    assert operators(model) == ["CONV_2D", "RELU"]


def test_shared_weights_are_scaled_once_only() -> None:
    net = Net()
    negative = net.node("Neg", "negative", "x")
    again = net.node("Conv2D", "again", negative, "filters", strides=(1, 1, 1, 1), padding="VALID")
    net.node("Sub", "y", net.node("Mul", "m", net.conv, net.constant("c", FACTORS)), again)
    check(net, ["CONV_2D", "NEG", "CONV_2D", "SUB"], convolved() * FACTORS + convolved())


def test_equal_constants_are_stored_once() -> None:
    net = Net()
    # The same values twice, as two constants.
    other = net.constant("filters_2", FILTERS)
    negative = net.node("Neg", "negative", "x")
    again = net.node("Conv2D", "again", negative, other, strides=(1, 1, 1, 1), padding="VALID")
    net.node("AddV2", "y", net.node("Relu", "r", net.conv), again)
    model = check(net, ["CONV_2D", "NEG", "CONV_2D", "ADD"], np.maximum(convolved(), 0) - convolved())
    sizes = [len(buffer.data) for buffer in tflite.read(model).buffers]
    assert sizes.count(FILTERS.nbytes) == 1


def test_equal_operators_are_one() -> None:
    net = Net()
    other = net.constant("filters_2", FILTERS)
    again = net.node("Conv2D", "again", "x", other, strides=(1, 1, 1, 1), padding="VALID")
    net.node("AddV2", "y", net.conv, again)
    check(net, ["CONV_2D", "ADD"], 2 * convolved())


def test_constants_are_folded() -> None:
    net = Net()
    total = net.node("AddV2", "total", net.constant("a", FACTORS), net.constant("b", FACTORS))
    net.node("BiasAdd", "y", net.conv, total)
    check(net, ["CONV_2D"], convolved() + 2 * FACTORS)


@pytest.mark.parametrize("batch", [1, -1])
@pytest.mark.parametrize(
    ("paddings", "stride", "fused"),
    [([1, 1], 1, True), ([0, 1], 2, True), ([1, 1], 2, False), ([2, 2], 1, False), ([1, 0], 1, False)],
    ids=str,
)
def test_padding_like_same_is_fused(paddings: list[int], stride: int, fused: bool, batch: int) -> None:
    g = GraphBuilder()
    amounts = g.constant("p", np.array([[0, 0], paddings, paddings, [0, 0]], np.int32))
    x = g.node("Pad", "padded", g.placeholder("x", [batch, 6, 6, 3]), amounts)
    strides = (1, stride, stride, 1)
    g.node("Conv2D", "y", x, g.constant("filters", FILTERS), strides=strides, padding="VALID")
    size = 6 + sum(paddings) - 2
    padded = np.pad(X, ((0, 0), paddings, paddings, (0, 0))).astype(np.float64)
    y = sum(padded[:, i : i + size, j : j + size] @ FILTERS[i, j] for i in range(3) for j in range(3))
    check(g, ["CONV_2D"] if fused else ["PAD", "CONV_2D"], y[:, ::stride, ::stride])


def test_reshapes_are_merged() -> None:
    g = GraphBuilder()
    x = g.placeholder("x", [1, 6, 6, 3])
    for i, shape in enumerate(([108], [12, 9], [9, 12])):
        x = g.node("Reshape", f"r{i}", x, g.constant(f"s{i}", np.array(shape, np.int32)))
    check(g, ["RESHAPE"], X.reshape(9, 12))


def test_reshapes_around_a_dense_layer_go() -> None:
    g = GraphBuilder()
    weights = RANDOM.uniform(-1, 1, (3, 5)).astype(np.float32)
    rows = g.node(
        "Reshape", "rows", g.placeholder("x", [1, 6, 6, 3]), g.constant("s", np.array([-1, 3], np.int32))
    )
    product = g.node("MatMul", "product", rows, g.constant("w", weights))
    g.node("Reshape", "y", product, g.constant("t", np.array([1, 6, 6, 5], np.int32)))
    check(g, ["FULLY_CONNECTED"], X @ weights)


def test_what_rules_did_is_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    net = Net()
    net.node("Relu", "y", net.node("Mul", "m", net.conv, net.constant("c", FACTORS)))
    for level, shown in ((0, []), (1, ["fold_batch_norm 1"]), (2, ["fold_batch_norm 1: m"])):
        monkeypatch.setattr(debug, "level", level)
        convert_graph(net.graph_def)
        lines = [line for line in capsys.readouterr().err.splitlines() if "fold_batch_norm" in line]
        assert lines == [f"numlite: graph main: {text}" for text in shown]
