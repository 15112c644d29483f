"""ONNX operators: converted, run, and compared with what NumPy computes by their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema.onnx import ModelProto, NodeProto

from ...onnx_builder import model, node, value
from ..graphs import checked, run_litert

RANDOM = np.random.default_rng(17)


def random(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def windows(x: np.ndarray, kernel: Sequence[int], strides: Sequence[int]) -> np.ndarray:
    """[n, c, oh, ow, kh, kw] of x [n, c, h, w]."""
    seen = np.lib.stride_tricks.sliding_window_view(x, kernel, (2, 3))
    return seen[:, :, :: strides[0], :: strides[1]]


def convolved(
    x: np.ndarray, w: np.ndarray, strides: Sequence[int] = (1, 1), pads: int = 0, groups: int = 1
) -> np.ndarray:
    x = np.pad(x, ((0, 0), (0, 0), (pads, pads), (pads, pads)))
    parts = zip(np.split(x, groups, 1), np.split(w, groups, 0), strict=True)
    found = [np.einsum("nchwij,ocij->nohw", windows(a, w.shape[2:], strides), b) for a, b in parts]
    return np.concatenate(found, 1)


def scattered(x: np.ndarray, w: np.ndarray, stride: int) -> np.ndarray:
    """The transposed convolution of x [n, i, h, w] and w [i, o, kh, kw]."""
    n, _, height, width = x.shape
    kh, kw = w.shape[2:]
    y = np.zeros((n, w.shape[1], (height - 1) * stride + kh, (width - 1) * stride + kw), np.float32)
    for i in range(height):
        for j in range(width):
            part = np.einsum("nc,cokl->nokl", x[:, :, i, j], w)
            y[:, :, i * stride : i * stride + kh, j * stride : j * stride + kw] += part
    return y


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def erf(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf)(x)


@dataclass(frozen=True)
class Case:
    """One node of inputs x0, x1 ..., of which the constant ones are named k0, k1 ...; and its outputs."""

    op: str
    inputs: Sequence[np.ndarray]
    wanted: Callable[..., object]
    attributes: dict[str, object] = field(default_factory=dict)
    constants: Sequence[np.ndarray] = ()
    opset: int = 21
    error: float = 1e-5


IMAGE, SIGNAL = random(2, 4, 9, 7), random(2, 4, 11)
CASES = {
    "conv": Case(
        "Conv",
        [IMAGE],
        lambda x, w: convolved(x, w, (2, 1)),
        {"strides": [2, 1]},
        [random(6, 4, 3, 3)],
    ),
    "conv padded": Case(
        "Conv",
        [IMAGE],
        lambda x, w: convolved(x, w, pads=1),
        {"pads": [1] * 4},
        [random(6, 4, 3, 3)],
    ),
    "conv groups": Case(
        "Conv",
        [IMAGE],
        lambda x, w: convolved(x, w, groups=2),
        {"group": 2},
        [random(6, 2, 3, 3)],
    ),
    "conv depthwise": Case(
        "Conv",
        [IMAGE],
        lambda x, w: convolved(x, w, groups=4),
        {"group": 4},
        [random(8, 1, 3, 3)],
    ),
    "conv bias": Case(
        "Conv",
        [IMAGE],
        lambda x, w, b: convolved(x, w) + b[:, None, None],
        {},
        [random(6, 4, 3, 3), random(6)],
    ),
    "conv 1d": Case(
        "Conv", [SIGNAL], lambda x, w: convolved(x[:, :, None], w[:, :, None])[:, :, 0], {}, [random(5, 4, 3)]
    ),
    "transposed": Case(
        "ConvTranspose",
        [IMAGE],
        lambda x, w: scattered(x, w, 2),
        {"strides": [2, 2]},
        [random(4, 3, 3, 3)],
    ),
    "transposed cut": Case(
        "ConvTranspose",
        [IMAGE],
        lambda x, w: np.pad(scattered(x, w, 2), ((0, 0), (0, 0), (0, 1), (0, 1)))[:, :, 1:-1, 1:-1],
        {"strides": [2, 2], "pads": [1] * 4, "output_padding": [1, 1]},
        [random(4, 3, 3, 3)],
    ),
    "max pool": Case(
        "MaxPool",
        [IMAGE],
        lambda x: windows(x, (3, 3), (2, 2)).max((4, 5)),
        {"kernel_shape": [3, 3], "strides": [2, 2]},
    ),
    "average pool": Case(
        "AveragePool", [IMAGE], lambda x: windows(x, (2, 3), (1, 1)).mean((4, 5)), {"kernel_shape": [2, 3]}
    ),
    "average of what is there": Case(
        "AveragePool",
        [np.ones((1, 1, 5, 5), np.float32)],
        np.array,
        {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]},
    ),
    "global average": Case("GlobalAveragePool", [IMAGE], lambda x: x.mean((2, 3), keepdims=True)),
    "batch norm": Case(
        "BatchNormalization",
        [IMAGE],
        lambda x, s, b, m, v: (
            (x - m[:, None, None]) / np.sqrt(v + 1e-5)[:, None, None] * s[:, None, None] + b[:, None, None]
        ),
        {},
        [random(4), random(4), random(4), random(4) ** 2],
    ),
    "layer norm": Case(
        "LayerNormalization",
        [SIGNAL],
        lambda x, s: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * s,
        {},
        [random(11)],
    ),
    "gemm": Case(
        "Gemm",
        [random(5, 3), random(4, 5)],
        lambda a, b, c: 2 * a.T @ b.T + c,
        {"alpha": 2.0, "transA": 1, "transB": 1},
        [random(4)],
    ),
    "matmul of vectors": Case("MatMul", [random(2, 3, 4), random(4)], np.matmul),
    "matmul of stacks": Case("MatMul", [random(2, 3, 4), random(2, 4, 5)], np.matmul),
    "einsum": Case("Einsum", [random(2, 3), random(3, 4)], np.matmul, {"equation": "ij , jk"}),
    "softmax of channels": Case("Softmax", [IMAGE], lambda x: softmax(x, 1), {"axis": 1}),
    "softmax before opset 13": Case(
        "Softmax", [SIGNAL], lambda x: softmax(x.reshape(2, -1), 1).reshape(x.shape), {}, opset=12
    ),
    "gelu": Case("Gelu", [SIGNAL], lambda x: x * (1 + erf(x / np.sqrt(2))) / 2),
    "erf": Case("Erf", [SIGNAL * 4], erf),
    "atan": Case("Atan", [SIGNAL * 4], np.arctan),
    "asin": Case("Asin", [SIGNAL], np.arcsin),
    "sinh": Case("Sinh", [SIGNAL * 3], np.sinh),
    "hard swish": Case("HardSwish", [SIGNAL * 4], lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    "prelu": Case("PRelu", [IMAGE], lambda x, s: np.where(x < 0, x * s, x), {}, [random(4, 1, 1)]),
    "clip": Case(
        "Clip",
        [SIGNAL],
        lambda x, low, high: np.clip(x, low, high),
        {},
        [np.float32(-0.5), np.float32(0.25)],
    ),
    "mod of C": Case("Mod", [SIGNAL * 9, random(11)], np.fmod, {"fmod": 1}),
    "division of integers": Case(
        "Div",
        [np.array([-7, 7, 9], np.int32), np.array([2, -2, 3], np.int32)],
        lambda a, b: np.trunc(a / b).astype(int),
    ),
    "sum of bytes": Case("Add", [np.array([250, 3], np.uint8), np.array([10, 4], np.uint8)], np.add),
    "slice backwards": Case(
        "Slice",
        [SIGNAL],
        lambda x, *_: x[:, ::-2, 1:-1],
        {},
        [np.array([-1, 1]), np.array([-(2**62), -1]), np.array([1, 2]), np.array([-2, 1])],
    ),
    "pad edge": Case(
        "Pad",
        [SIGNAL],
        lambda x, _: np.pad(x, ((0, 0), (1, 0), (0, 2)), "edge"),
        {"mode": "edge"},
        [np.array([0, 1, 0, 0, 0, 2])],
    ),
    "pad and cut": Case(
        "Pad",
        [SIGNAL],
        lambda x, _: np.pad(x[:, :, 1:], ((0, 0), (1, 0), (0, 0))),
        {},
        [np.array([0, 1, -1, 0, 0, 0])],
    ),
    "reshape with zeros": Case(
        "Reshape",
        [SIGNAL],
        lambda x, _: x.reshape(2, 2, 22),
        {},
        [np.array([0, 2, -1])],
    ),
    "expand": Case(
        "Expand",
        [random(3, 1)],
        lambda x, _: np.broadcast_to(x, (2, 3, 4)),
        {},
        [np.array([2, 1, 4])],
    ),
    "gather from behind": Case(
        "Gather",
        [SIGNAL],
        lambda x, i: x[:, i],
        {"axis": 1},
        [np.array([[-1, 0], [2, -3]])],
    ),
    "gather elements": Case(
        "GatherElements",
        [SIGNAL],
        lambda x, i: np.take_along_axis(x, i, 2),
        {"axis": 2},
        [RANDOM.integers(-11, 11, (2, 4, 3))],
    ),
    "one hot": Case(
        "OneHot",
        [np.array([0, -1, 2])],
        lambda i, *_: np.where(np.eye(4)[i % 4] > 0, 5, -5),
        {},
        [np.array(4), np.array([-5, 5], np.float32)],
    ),
    "scatter": Case(
        "ScatterND",
        [random(4, 3), random(2, 3)],
        lambda x, u, i: np.stack([x[0], u[1], x[2], u[0]]),
        {},
        [np.array([[3], [1]])],
    ),
    "top k smallest": Case(
        "TopK",
        [SIGNAL],
        lambda x, _: np.sort(x, 1)[:, :2],
        {"axis": 1, "largest": 0},
        [np.array([2])],
    ),
    "last of the largest": Case(
        "ArgMax",
        [np.array([[1, 3, 3, 2]], np.float32)],
        lambda x: [[2]],
        {"axis": 1, "select_last_index": 1},
    ),
    "log of sums": Case(
        "ReduceLogSumExp",
        [SIGNAL * 90],
        lambda x, _: np.logaddexp.reduce(x.astype(float), 2),
        {"keepdims": 0},
        [np.array([2])],
    ),
    "depth to space by columns": Case(
        "DepthToSpace",
        [IMAGE],
        lambda x: x.reshape(2, 1, 2, 2, 9, 7).transpose(0, 1, 4, 2, 5, 3).reshape(2, 1, 18, 14),
        {"blocksize": 2, "mode": "CRD"},
    ),
    "resize to the nearest": Case(
        "Resize",
        [random(1, 2, 3, 3)],
        lambda x, *_: x.repeat(2, 2).repeat(2, 3),
        {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
        [np.zeros(0, np.float32), np.array([1, 1, 2, 2], np.float32)],
    ),
    "resize a line": Case(
        "Resize",
        [np.array([[[0, 1, 2, 3]]], np.float32)],
        lambda x, *_: [[[0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3]]],
        {"mode": "linear"},
        [np.zeros(0, np.float32), np.array([1, 1, 2], np.float32)],
    ),
    "lower triangle": Case("Trilu", [random(2, 3, 4)], np.tril, {"upper": 0}),
}


def of_case(case: Case) -> ModelProto:
    names = [f"x{i}" for i in range(len(case.inputs))] + [f"k{i}" for i in range(len(case.constants))]
    if case.op == "ScatterND":
        names = ["x0", "k0", "x1"]
    if case.op == "Resize":
        names = ["x0", *names[1:]]
    inputs = [value(f"x{i}", x.shape, x.dtype.type) for i, x in enumerate(case.inputs)]
    dtype = (
        np.int64 if case.op == "ArgMax" else case.inputs[0].dtype.type if case.op != "OneHot" else np.float32
    )
    outputs = ["y", "places"] if case.op == "TopK" else ["y"]
    held = {f"k{i}": np.asarray(k) for i, k in enumerate(case.constants)}
    made = node(case.op, names, outputs, **case.attributes)
    return model([made], inputs, [value("y", None, dtype)], held, case.opset)


@pytest.mark.parametrize("name", CASES)
def test_an_operator_computes_what_its_definition_says(name: str) -> None:
    case = CASES[name]
    content = checked(Converter.from_onnx(of_case(case)).convert())
    wanted = np.asarray(case.wanted(*case.inputs, *case.constants))
    runner = Interpreter(model_content=content).get_signature_runner()
    found = runner(**{f"x{i}": x for i, x in enumerate(case.inputs)})["y"]
    for y in (found, run_litert(content, *case.inputs)[0]):
        assert y.shape == wanted.shape
        np.testing.assert_allclose(y, wanted, rtol=case.error, atol=case.error)


def sizes(
    nodes: Sequence[NodeProto], shape: Sequence[str | int], *given: tuple[int, ...], **constants: np.ndarray
) -> None:
    """The nodes reshape x, whatever its open sizes are, to [first size, the rest]."""
    made = model(nodes, [value("x", shape)], [value("y", None)], constants)
    interpreter = Interpreter(model_content=Converter.from_onnx(made).convert())
    for each in given:
        x = random(*each)
        y = interpreter.get_signature_runner()(x=x)["y"]
        np.testing.assert_array_equal(y, x.reshape(each[0], -1))


def test_shapes_that_exporters_compute_follow_open_sizes() -> None:
    nodes = [
        node("Shape", ["x"], "s"),
        node("Gather", ["s", "zero"], "n"),
        node("Unsqueeze", ["n", "axes"], "first"),
        node("Concat", ["first", "rest"], "wanted", axis=0),
        node("Reshape", ["x", "wanted"], "y"),
    ]
    held = {"zero": np.array(0), "axes": np.array([0]), "rest": np.array([-1])}
    sizes(nodes, ["n", 3, "w"], (2, 3, 4), (5, 3, 1), **held)
    sizes([node("Flatten", ["x"], "y")], ["n", "c", 2], (2, 3, 2), (1, 4, 2))
    sizes(
        [node("Reshape", ["x", "wanted"], "y")], ["n", 3, 4], (2, 3, 4), (7, 3, 4), wanted=np.array([0, -1])
    )


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (node("BitShift", ["x", "x"], "y", direction="RIGHT"), "a shift of 64 bits to the right"),
        (node("ArgMax", ["x"], "y"), "places of extremes of int64"),
    ],
)
def test_what_has_no_form_says_why(made: NodeProto, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        Converter.from_onnx(model([made], [value("x", [4], np.int64)], [value("y", None, np.int64)]))


def test_no_parts_are_refused() -> None:
    made = node("Split", ["x"], ["a", "b"], num_outputs=0)
    with pytest.raises(ModelError, match="parts must be 1 or more, got 0"):
        Converter.from_onnx(model([made], [value("x", [4])], [value("a", None), value("b", None)]))
