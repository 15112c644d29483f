"""Patterns of several operators that become fewer, and what is like them but must stay."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder

from .graphs import checked, operators, run_litert, run_numlite

RANDOM = np.random.default_rng(7)
X = RANDOM.uniform(-3, 3, (2, 5, 5, 4)).astype(np.float32)
FILTERS = RANDOM.uniform(-1, 1, (3, 3, 4, 6)).astype(np.float32)
CONV = {"strides": (1, 1, 1, 1), "padding": "VALID"}


class Net(GraphBuilder):
    """Nodes with names of their own, and constants on the way."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def op(self, op: str, *inputs: str | float | np.ndarray, **attributes: object) -> str:
        self.count += 1
        names = [x if isinstance(x, str) else self._constant(x) for x in inputs]
        return self.node(op, f"{op}_{self.count}", *names, **attributes)

    def _constant(self, value: float | np.ndarray) -> str:
        self.count += 1
        held = value if isinstance(value, np.ndarray) else np.array(value, np.float32)
        return self.constant(f"constant_{self.count}", held)


def i32(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def convolved(x: np.ndarray, filters: np.ndarray = FILTERS, dilation: int = 1) -> np.ndarray:
    reach = 2 * dilation
    y = np.zeros((*x.shape[:1], x.shape[1] - reach, x.shape[2] - reach, filters.shape[3]))
    for i in range(3):
        for j in range(3):
            top, left = i * dilation, j * dilation
            window = x[:, top : top + y.shape[1], left : left + y.shape[2]]
            y += window.astype(np.float64) @ filters[i, j]
    return y


def gelu(x: np.ndarray) -> np.ndarray:
    from math import erf

    return 0.5 * x * (1 + np.vectorize(erf)(x / np.sqrt(2)))


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def by_erfc(n: Net, x: str) -> str:
    half = n.op("Mul", 0.5, x)
    return n.op("Mul", half, n.op("Erfc", n.op("Mul", n.op("Neg", x), np.sqrt(0.5))))


def by_erf(n: Net, x: str) -> str:
    curve = n.op("AddV2", 1.0, n.op("Erf", n.op("RealDiv", x, np.sqrt(2))))
    return n.op("Mul", n.op("Mul", x, curve), 0.5)


def by_tanh(n: Net, x: str) -> str:
    cube = n.op("Mul", 0.044715, n.op("Pow", x, 3.0))
    inner = n.op("Mul", np.sqrt(2 / np.pi), n.op("AddV2", x, cube))
    return n.op("Mul", n.op("Mul", 0.5, x), n.op("AddV2", 1.0, n.op("Tanh", inner)))


def hard_swish(n: Net, x: str) -> str:
    return n.op("RealDiv", n.op("Mul", x, n.op("Relu6", n.op("AddV2", x, 3.0))), 6.0)


def l2_norm(n: Net, x: str, epsilon: float = 1e-12) -> str:
    total = n.op("Sum", n.op("Square", x), i32(-1), keep_dims=True)
    return n.op("Mul", x, n.op("Rsqrt", n.op("Maximum", total, epsilon)))


def dilated(n: Net, x: str, paddings: np.ndarray, crops: np.ndarray) -> str:
    blocks = n.op("SpaceToBatchND", x, i32(2, 2), paddings)
    blocks = n.op("Conv2D", blocks, FILTERS, **CONV)
    return n.op("BatchToSpaceND", blocks, i32(2, 2), crops)


def nchw(n: Net, x: str) -> str:
    there = n.op("Transpose", x, i32(0, 3, 1, 2))
    scaled = n.op("Mul", n.op("Tanh", there), np.arange(4, dtype=np.float32).reshape(1, 4, 1, 1))
    return n.op("Transpose", scaled, i32(0, 2, 3, 1))


def flat_conv(n: Net, x: str) -> str:
    flat = n.op("Reshape", n.op("Conv2D", x, FILTERS, **CONV), i32(2, 9, 6))
    return n.op("Relu", n.op("BiasAdd", flat, np.arange(6, dtype=np.float32)))


SCALES = np.array([1, 2, 0.5, -1], np.float32)
NORM = np.sqrt((X.astype(np.float64) ** 2).sum(-1, keepdims=True))
PATTERNS: dict[str, tuple[Callable[[Net, str], str], str, np.ndarray]] = {
    "gelu by erfc": (by_erfc, "GELU", gelu(X)),
    "gelu by erf": (by_erf, "GELU", gelu(X)),
    "gelu by tanh": (by_tanh, "GELU", gelu_tanh(X)),
    "gelu by erfc of a multiple": (
        lambda n, x: by_erfc(n, n.op("Mul", x, 0.3)),
        "MUL GELU",
        gelu(np.float32(0.3) * X),
    ),
    "gelu by erf of a negated square": (
        lambda n, x: by_erf(n, n.op("Neg", n.op("Mul", x, x))),
        "MUL NEG GELU",
        gelu(-X * X),
    ),
    "gelu by tanh of a multiple": (
        lambda n, x: by_tanh(n, n.op("Mul", x, 0.3)),
        "MUL GELU",
        gelu_tanh(np.float32(0.3) * X),
    ),
    "hard swish": (hard_swish, "HARD_SWISH", X * np.clip(X + 3, 0, 6) / 6),
    "hard swish of a product": (
        lambda n, x: hard_swish(n, n.op("Mul", x, 0.5)),
        "MUL HARD_SWISH",
        X / 2 * np.clip(X / 2 + 3, 0, 6) / 6,
    ),
    "l2 norm": (l2_norm, "L2_NORMALIZATION", X / NORM),
    "l2 norm with a large number": (
        lambda n, x: l2_norm(n, x, 1.0),
        "SQUARE SUM MAXIMUM RSQRT MUL",
        X / np.maximum(NORM, 1),
    ),
    "neutral arithmetic": (
        lambda n, x: n.op(
            "Tanh", n.op("Sub", n.op("AddV2", 0.0, n.op("Mul", n.op("RealDiv", x, 1.0), 1.0)), 0.0)
        ),
        "TANH",
        np.tanh(X),
    ),
    "nothing but neutral arithmetic": (lambda n, x: n.op("Mul", x, 1.0), "", X),
    "0 on the left of SUB": (lambda n, x: n.op("Sub", 0.0, x), "SUB", -X),
    "1 that stretches": (
        lambda n, x: n.op("Mul", x, np.ones((3, 1, 1, 1, 1), np.float32)),
        "MUL",
        np.stack([X] * 3),
    ),
    "squared difference": (
        lambda n, x: n.op("Square", n.op("Sub", x, SCALES)),
        "SQUARED_DIFFERENCE",
        (X - SCALES) ** 2,
    ),
    "cut off at -1 and 1": (
        lambda n, x: n.op("Maximum", n.op("Minimum", x, 1.0), -1.0),
        "RELU_N1_TO_1",
        np.clip(X, -1, 1),
    ),
    "cut off at 0 and 1": (
        lambda n, x: n.op("Minimum", n.op("Maximum", x, 0.0), 1.0),
        "RELU_0_TO_1",
        np.clip(X, 0, 1),
    ),
    "cut off elsewhere": (
        lambda n, x: n.op("Minimum", n.op("Maximum", x, 0.0), 2.0),
        "RELU MINIMUM",
        np.clip(X, 0, 2),
    ),
    "transposes that meet": (
        lambda n, x: n.op("Transpose", n.op("Transpose", x, i32(0, 2, 1, 3)), i32(0, 3, 1, 2)),
        "TRANSPOSE",
        X.transpose(0, 2, 1, 3).transpose(0, 3, 1, 2),
    ),
    "transposes around elementwise operators": (nchw, "TANH MUL", np.tanh(X) * np.arange(4)),
    "kept axes": (
        lambda n, x: n.op("Reshape", n.op("Mean", x, i32(1, 2)), i32(2, 1, 1, 4)),
        "MEAN",
        X.mean((1, 2), keepdims=True),
    ),
    "broadcast before arithmetic": (
        lambda n, x: n.op("Mul", x, n.op("BroadcastTo", n.op("Mean", x, i32(0, 1, 2)), i32(2, 5, 5, 4))),
        "MEAN MUL",
        X * X.mean((0, 1, 2)),
    ),
    "leading ones before arithmetic": (
        lambda n, x: n.op("AddV2", x, n.op("Reshape", n.op("Mean", x, i32(0, 1, 2)), i32(1, 1, 1, 4))),
        "MEAN ADD",
        X + X.mean((0, 1, 2)),
    ),
    "scale before weights": (
        lambda n, x: n.op("Conv2D", n.op("Mul", x, SCALES), FILTERS, **CONV),
        "CONV_2D",
        convolved(X * SCALES),
    ),
    "quotient before padded weights": (
        lambda n, x: n.op(
            "Conv2D",
            n.op("Pad", n.op("RealDiv", x, 4.0), np.array([[0, 0], [2, 1], [1, 1], [0, 0]], np.int32)),
            FILTERS,
            **CONV,
        ),
        "PAD CONV_2D",
        convolved(np.pad(X / 4, ((0, 0), (2, 1), (1, 1), (0, 0)))),
    ),
    "quotient after weights": (
        lambda n, x: n.op("RealDiv", n.op("Conv2D", x, FILTERS, **CONV), 4.0),
        "CONV_2D",
        convolved(X) / 4,
    ),
    "bias behind a reshape": (
        flat_conv,
        "CONV_2D RESHAPE",
        np.maximum(convolved(X).reshape(2, 9, 6) + np.arange(6), 0),
    ),
    "blocks without padding": (
        lambda n, x: dilated(
            n, x, np.array([[0, 1], [0, 1]], np.int32), np.array([[0, 1], [0, 1]], np.int32)
        ),
        "CONV_2D",
        convolved(X, dilation=2),
    ),
    "blocks padded as SAME": (
        lambda n, x: dilated(
            n, x, np.array([[2, 3], [2, 3]], np.int32), np.array([[0, 1], [0, 1]], np.int32)
        ),
        "CONV_2D",
        convolved(np.pad(X, ((0, 0), (2, 2), (2, 2), (0, 0))), dilation=2),
    ),
}


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize("name", PATTERNS)
def test_pattern(name: str, run) -> None:
    build, expected_operators, expected = PATTERNS[name]
    net = Net()
    output = build(net, net.placeholder("x", list(X.shape)))
    model = checked(convert_graph(net.graph_def, ["x"], [output]))
    assert operators(model) == expected_operators.split()
    [y] = run(model, X)
    # Sums of 36 products in float32, and GELU's own error.
    np.testing.assert_allclose(y, expected, rtol=2e-5, atol=3e-5)


def test_equal_operators_with_other_options_stay_two() -> None:
    net = Net()
    x = net.placeholder("x", [2, 4])
    net.op("AddV2", net.op("LeakyRelu", x, alpha=0.1), net.op("LeakyRelu", x, alpha=0.3))
    assert operators(convert_graph(net.graph_def)) == ["LEAKY_RELU", "LEAKY_RELU", "ADD"]


def test_outputs_keep_their_names_where_an_operator_goes() -> None:
    from numlite.schema import tflite

    net = Net()
    y = net.op("Mul", net.op("Tanh", net.placeholder("x", [3])), 1.0)
    subgraph = tflite.read(convert_graph(net.graph_def)).subgraphs[0]
    assert len(subgraph.operators) == 1
    assert subgraph.tensors[subgraph.outputs[0]].name == y
