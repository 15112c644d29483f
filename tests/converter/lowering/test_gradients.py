"""Gradients of functions, and other ops that only graphs of trained steps or old ones hold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numlite.converter import convert_graph, run_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import AttrValue

from ..graphs import checked, operators, run_litert, run_numlite

FLOAT = AttrValue(type=1)
RANDOM = np.random.default_rng(5)
Y = RANDOM.uniform(0.2, 0.9, (2, 3, 4)).astype(np.float32)
DY = RANDOM.uniform(-2, 2, (2, 3, 4)).astype(np.float32)
SCALE, ALPHA = 1.0507009873554804934, 1.6732632423543772848
OF_TWO: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "SigmoidGrad": lambda y, dy: dy * y * (1 - y),
    "TanhGrad": lambda y, dy: dy * (1 - y * y),
    "SqrtGrad": lambda y, dy: dy / (2 * y),
    "RsqrtGrad": lambda y, dy: -dy * y**3 / 2,
}


def model_of(op: str, *inputs: np.ndarray, shapes: list | None = None, **attributes: object) -> bytes:
    """A model of one op of placeholders."""
    g = GraphBuilder()
    types = {np.float32: 1, np.int32: 3, np.bool_: 10}
    sizes = shapes or [list(x.shape) for x in inputs]
    names = [g.placeholder(f"x{i}", sizes[i], types[x.dtype.type]) for i, x in enumerate(inputs)]
    g.node(op, "y", *names, **attributes)
    return checked(convert_graph(g.graph_def, [f"{name}:0" for name in names], ["y:0"]))


def check(model: bytes, expected: np.ndarray, *inputs: np.ndarray) -> None:
    for run in (run_numlite, run_litert):
        np.testing.assert_allclose(run(model, *inputs)[0], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("op", OF_TWO)
def test_gradients_of_functions(op: str) -> None:
    check(model_of(op, Y, DY), OF_TWO[op](Y.astype(np.float64), DY), Y, DY)


@pytest.mark.parametrize(
    ("op", "y", "wanted"),
    [
        ("SqrtGrad", [0, np.nan, 0, 2], [0, 0, np.inf, 0.25]),
        ("RsqrtGrad", [np.inf, np.nan, np.inf, 2], [0, 0, -np.inf, -4]),
    ],
)
def test_where_no_gradient_comes_back_there_is_none(op: str, y: list[float], wanted: list[float]) -> None:
    """Also where the function has no slope; TensorFlow 2.21's values."""
    given = np.float32(y), np.float32([0, -0.0, 1, 1])
    check(model_of(op, *given), np.float32(wanted), *given)


def test_the_gradient_of_selu_takes_its_result() -> None:
    y = (Y - 0.5) * 2
    expected = np.where(y < 0, DY * (y + SCALE * ALPHA), DY * SCALE)
    check(model_of("SeluGrad", DY, y), expected, DY, y)


@pytest.mark.parametrize(("data_format", "axes"), [("NHWC", (0, 1)), ("NCHW", (0, 2))])
def test_the_gradient_of_a_bias_is_a_sum(data_format: str, axes: tuple[int, ...]) -> None:
    model = model_of("BiasAddGrad", DY, shapes=[[-1, 3, 4]], data_format=data_format)
    assert operators(model) == ["SUM"]
    check(model, DY.sum(axes), DY)


@pytest.mark.parametrize("scaled", [False, True])
def test_batch_normalization_with_global_normalization(scaled: bool) -> None:
    x = RANDOM.uniform(-1, 1, (2, 2, 3, 4)).astype(np.float32)
    mean, variance, beta, gamma = RANDOM.uniform(0.1, 1, (4, 4)).astype(np.float32)
    factor = (gamma if scaled else 1) / np.sqrt(variance + 0.25)
    model = model_of(
        "BatchNormWithGlobalNormalization",
        *(x, mean, variance, beta, gamma),
        variance_epsilon=0.25,
        scale_after_normalization=scaled,
    )
    check(model, (x - mean) * factor + beta, x, mean, variance, beta, gamma)


def test_a_product_with_many_zeros_is_a_product() -> None:
    a, b = DY[0].T.copy(), DY[1]
    model = model_of("SparseMatMul", a, b, Ta=FLOAT, Tb=FLOAT, a_is_sparse=True)
    assert operators(model) == ["BATCH_MATMUL"]
    check(model, a @ b, a, b)


@pytest.mark.parametrize("op_is_max", [True, False])
def test_approximate_top_k_is_exact(op_is_max: bool) -> None:
    x = RANDOM.permutation(24).astype(np.float32).reshape(4, 6)
    order = np.sort(x, -1)
    check(
        model_of("ApproxTopK", x, k=2, is_max_k=op_is_max), order[:, :-3:-1] if op_is_max else order[:, :2], x
    )


@pytest.mark.parametrize(
    ("x", "shape", "expected"),
    [
        (np.array(0.5, np.float32), [], True),
        (np.array(0, np.int32), [], False),
        (np.array(True), [], True),
        (np.zeros((2, 3), np.float32), [-1, 3], True),
        (np.zeros((0, 3), np.float32), [-1, 3], False),
    ],
)
def test_a_condition_of_any_rank(x: np.ndarray, shape: list, expected: bool) -> None:
    found = run_numlite(model_of("ToBool", x, shapes=[shape]), x)[0]
    assert found.dtype == bool and found.shape == () and bool(found) is expected


@pytest.mark.parametrize(
    ("a", "b"), [([3, 1, 4], [2, 1]), ([], [2, 3]), ([2, 3], [2, 3]), ([-1, 3], [1, 3]), ([-1, 1], [3])]
)
def test_angles_of_operands_that_broadcast(a: list, b: list) -> None:
    """LiteRT's ATAN2 takes operands of one shape alone."""
    y, x = (RANDOM.uniform(-1, 1, [2 if n == -1 else n for n in s]).astype(np.float32) for s in (a, b))
    check(model_of("Atan2", y, x, shapes=[a, b]), np.arctan2(y, x), y, x)


def test_zeros_like_conditions_of_any_number() -> None:
    x = np.ones((2, 3), bool)
    found = run_numlite(model_of("ZerosLike", x, shapes=[[-1, 3]]), x)[0]
    assert found.dtype == bool and found.shape == (2, 3) and not found.any()


def test_thresholds_of_boxes_may_be_halves() -> None:
    g = GraphBuilder()
    boxes = np.float32([[0, 0, 1, 1], [0, 0, 1, 0.9], [0, 2, 1, 3], [0, 4, 1, 5]])
    scores = np.float32([0.5, 0.9, 0.75, 0.1])
    names = [g.placeholder("boxes", [4, 4], 1), g.placeholder("scores", [4], 1)]
    limits = [g.constant("most", np.int32(4)), g.constant("overlap", np.float16(0.5))]
    names += [*limits, g.constant("least", np.float16(0.25))]
    g.node("NonMaxSuppressionV3", "y", *names, T=FLOAT, T_threshold=AttrValue(type=19))
    model = checked(convert_graph(g.graph_def, ["boxes:0", "scores:0"], ["y:0"]))
    check(model, np.int32([1, 2]), boxes, scores)


@pytest.mark.parametrize(
    ("logits_shape", "labels_shape"), [([-1, 3], [2, -1]), ([1, 3], [2, 3]), ([2, 1], [2, 3])]
)
def test_logits_and_labels_of_other_shapes(logits_shape: list, labels_shape: list) -> None:
    logits = RANDOM.uniform(-2, 2, [2 if n == -1 else n for n in logits_shape]).astype(np.float32)
    labels = RANDOM.uniform(0, 1, [{0: 2, 1: 3}[i] if n == -1 else n for i, n in enumerate(labels_shape)])
    labels = labels.astype(np.float32)
    wide = np.broadcast_to(logits, (2, 3)).astype(np.float64)
    logs = wide - np.log(np.exp(wide).sum(-1, keepdims=True))
    model = model_of("SoftmaxCrossEntropyWithLogits", logits, labels, shapes=[logits_shape, labels_shape])
    check(model, -(np.broadcast_to(labels, (2, 3)) * logs).sum(-1), logits, labels)


def test_places_of_the_largest_are_of_the_type_that_is_wanted() -> None:
    x = RANDOM.permutation(12).astype(np.float32).reshape(2, 6)
    g = GraphBuilder()
    names = [g.placeholder("x", [2, 6]), g.constant("k", np.int32(2))]
    g.node("TopKV2", "y", *names, index_type=AttrValue(type=9))
    model = checked(convert_graph(g.graph_def, ["x:0"], ["y:1"]))
    found = run_numlite(model, x)[0]
    assert found.dtype == np.int64 and found.tolist() == np.argsort(-x)[:, :2].tolist()


def test_a_mean_of_bytes_is_no_mean_of_quantized_numbers() -> None:
    g = GraphBuilder()
    g.node("Mean", "y", g.placeholder("x", [2, 3], 4), g.constant("axes", np.int32([1])))
    with pytest.raises(UnsupportedError, match="MEAN does not take uint8"):
        convert_graph(g.graph_def, ["x:0"], ["y:0"])


BOXES = np.float32([[0, 0, 1, 1], [0, 0, 1, 0.5], [0, 0, 1, 0.875], [0, 2, 1, 3]])
SCORES = np.float32([0.75, 0.9, 0.5, 0.25])


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("sigma", [0.0, 0.5, 5.0])
@pytest.mark.parametrize("overlap", [0.0, 0.5, 1.0])
def test_boxes_are_left_out_as_in_tensorflow(overlap: float, sigma: float, known: bool) -> None:
    """What overlaps by just a known threshold stays; a sigma has no threshold."""
    g = GraphBuilder()
    names = [g.placeholder("boxes", [4, 4]), g.placeholder("scores", [4]), g.constant("most", np.int32(4))]
    given = [BOXES, SCORES]
    numbers = {"overlap": overlap if known else overlap + 0.01, "least": 0.0, "sigma": sigma}
    for name, number in numbers.items():
        if known or name == "least":
            names.append(g.constant(name, np.float32(number)))
        else:
            names.append(g.placeholder(name, []))
            given.append(np.float32(min(number, 1)) if name == "overlap" else np.float32(number))
    g.node("NonMaxSuppressionV5", "y", *names, T=FLOAT, pad_to_max_output_size=AttrValue(b=True))
    fed = [f"{name}:0" for name in ("boxes", "scores", *(("overlap", "sigma") if not known else ()))]
    outputs = ["y:0", "y:1", "y:2"]
    model = checked(convert_graph(g.graph_def, fed, outputs))
    wanted = run_graph(g.graph_def, dict(zip(fed, given, strict=True)), outputs)
    for run in (run_numlite, run_litert):
        for found, expected in zip(run(model, *given), wanted, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-5)
