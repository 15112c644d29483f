"""Each op becomes the operators that compute it, in LiteRT and in numlite, against NumPy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.errors import PrepareError, UnsupportedError
from numlite.schema.graph_def import AttrValue

from ..graphs import checked, operators, run_litert, run_numlite

TYPES = {np.float32: 1, np.int32: 3, np.int64: 9, np.bool_: 10, np.uint8: 4, np.complex64: 8}
RANDOM = np.random.default_rng(11)
X = RANDOM.uniform(-3, 3, (3, 4)).astype(np.float32)
Z = RANDOM.uniform(0.5, 3, (3, 4)).astype(np.float32)
Z[1, 2] = 0
IMAGE = RANDOM.uniform(-1, 1, (2, 4, 4, 8)).astype(np.float32)
L = RANDOM.integers(-9, 9, (4, 3))
NUMBERS = np.array([[4, -7, 0], [9, 3, -2]], np.int32)


@dataclass
class Case:
    """An op of placeholders, then constants; what it must give, and which operators."""

    op: str
    inputs: Sequence[np.ndarray]
    expected: np.ndarray
    operators: str
    constants: Sequence[np.ndarray] = ()
    attributes: dict = field(default_factory=dict)
    name: str = ""

    @property
    def id(self) -> str:
        return f"{self.op}{self.name and '-'}{self.name}"

    def graph(self, shapes: Sequence[Sequence[int] | None] | None = None) -> GraphBuilder:
        g = GraphBuilder()
        names = []
        for i, value in enumerate(self.inputs):
            shape = list(value.shape) if shapes is None else shapes[i]
            names.append(g.placeholder(f"x{i}", shape, TYPES[value.dtype.type]))
        names += [g.constant(f"c{i}", value) for i, value in enumerate(self.constants)]
        g.node(self.op, "y", *names, **self.attributes)
        return g


def i32(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def one(value: int) -> np.ndarray:
    return np.array(value, np.int32)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def zero_where(zero: np.ndarray, value: np.ndarray) -> np.ndarray:
    return np.where(zero == 0, 0, value).astype(np.float32)


with np.errstate(all="ignore"):
    CASES = [
        Case("Reciprocal", [Z + 1], 1 / (Z + 1), "DIV"),
        Case("Square", [NUMBERS], NUMBERS**2, "MUL", name="integers"),
        Case("Log1p", [Z], np.log1p(Z), "ADD LOG"),
        Case("Expm1", [X], np.expm1(X), "EXP SUB"),
        Case("Roll", [X], np.roll(X, -1, 1), "SLICE SLICE CONCATENATION", [one(-1), one(1)]),
        Case("Roll", [X[0]], X[0], "", [i32(4), i32(0)], name="whole"),
        Case(
            "Roll",
            [IMAGE],
            np.roll(IMAGE, (5, -1), (1, -1)),
            "SLICE SLICE CONCATENATION SLICE SLICE CONCATENATION",
            [i32(5, -1), i32(1, -1)],
            name="two-axes",
        ),
        Case("SquaredDifference", [L[:1], L], (L - L[:1]) ** 2, "SUB MUL", name="int64"),
        Case("Max", [X], X, "", [i32()], name="of-no-axes"),
        Case("DivNoNan", [X], X / (Z + 1), "DIV", [Z + 1], name="constant"),
        Case("DivNoNan", [X], zero_where(Z, X / Z), "DIV SELECT_V2", [Z], name="constant-with-0"),
        Case("Rint", [X], np.rint(X), "ROUND"),
        Case("IsNan", [Z / Z - 1], np.isnan(Z / Z), "NOT_EQUAL"),
        Case("IsInf", [1 / Z], np.isinf(1 / Z), "ABS EQUAL"),
        Case("IsFinite", [1 / Z], np.isfinite(1 / Z), "SUB EQUAL"),
        Case("L2Loss", [X], np.float32((X**2).sum() / 2), "SQUARE SUM MUL"),
        Case("Relu", [NUMBERS], np.maximum(NUMBERS, 0), "MAXIMUM", name="integers"),
        Case("LeakyRelu", [X], np.where(X > 0, X, X * 0.3), "LEAKY_RELU", attributes={"alpha": 0.3}),
        Case("Softplus", [X], np.log1p(np.exp(X)), "EXP ADD LOG"),
        Case("Softsign", [X], X / (1 + abs(X)), "ABS ADD DIV"),
        Case(
            "Selu",
            [X],
            1.0507009873554805 * np.where(X > 0, X, 1.6732632423543772 * np.expm1(X)),
            "EXP SUB MUL MUL GREATER SELECT",
        ),
        Case("LogSoftmax", [X], np.log(softmax(X)), "LOG_SOFTMAX"),
        Case("DivNoNan", [X, Z], zero_where(Z, X / Z), "EQUAL DIV SELECT_V2"),
        Case("MulNoNan", [1 / Z, Z], zero_where(Z, 1 / Z * Z), "EQUAL MUL SELECT_V2"),
        Case("Xdivy", [Z, X], zero_where(Z, Z / X), "EQUAL DIV SELECT_V2"),
        Case("Xlogy", [Z, Z], zero_where(Z, Z * np.log(Z)), "EQUAL LOG MUL SELECT_V2"),
        Case("Xlog1py", [Z, Z], zero_where(Z, Z * np.log1p(Z)), "EQUAL ADD LOG MUL SELECT_V2"),
        Case("TruncateDiv", [NUMBERS, NUMBERS * 0 + 2], np.trunc(NUMBERS / 2).astype(np.int32), "DIV"),
        Case("Lgamma", [X + 0.1], np.vectorize(math.lgamma)(X + np.float32(0.1)), ""),
        Case("Cast", [X], X.astype(np.int32), "CAST", attributes={"DstT": AttrValue(type=3)}),
        Case("Select", [X > 0, X, Z], np.where(X > 0, X, Z), "SELECT"),
        Case("SelectV2", [X > 0, X[:1], Z], np.where(X > 0, X[:1], Z), "SELECT_V2"),
        Case("ZerosLike", [X], X * 0, "", name="known"),
        Case("Max", [X], X.max((0, 1)), "REDUCE_MAX", [i32(0, 1)]),
        Case("Prod", [X], X.prod(-1, keepdims=True), "REDUCE_PROD", [i32(-1)], {"keep_dims": True}),
        Case("Any", [X > 1], (X > 1).any(0), "REDUCE_ANY", [i32(0)]),
        Case("ConcatV2", [X, Z], np.concatenate([X, Z], 1), "CONCATENATION", [one(-1)]),
        Case("Transpose", [IMAGE], IMAGE.transpose(0, 3, 1, 2), "TRANSPOSE", [i32(0, 3, 1, 2)]),
        Case("Transpose", [X], X, "", [i32(0, 1)], name="same"),
        Case("Slice", [X], X[1:, 1:3], "SLICE", [i32(1, 1), i32(-1, 2)]),
        Case("Slice", [X], X, "", [i32(0, 0), i32(-1, 4)], name="all"),
        Case(
            "StridedSlice",
            [X],
            X[::-1, 1],
            "STRIDED_SLICE",
            [i32(0, 1), i32(0, 2), i32(-1, 1)],
            {"begin_mask": 1, "end_mask": 1, "shrink_axis_mask": 2},
        ),
        Case("StridedSlice", [X], X, "", [i32(0), i32(3), i32(1)], name="all"),
        Case("Pack", [X, Z], np.stack([X, Z], 1), "PACK", attributes={"axis": 1}),
        Case("GatherV2", [X], X[:, [3, 0]], "GATHER", [i32(3, 0), one(1)]),
        Case("GatherNd", [X], X[[2, 0], [1, 3]], "GATHER_ND", [np.array([[2, 1], [0, 3]], np.int32)]),
        Case(
            "OneHot",
            [i32(2, 0)],
            np.eye(3, dtype=np.float32)[[2, 0]] * 5,
            "ONE_HOT",
            [one(3), np.float32(5), np.float32(0)],
            {"axis": -1},
        ),
        Case("Shape", [X], i32(3, 4), ""),
        Case("Size", [X], one(12), ""),
        Case("Rank", [X], one(2), ""),
        Case("Squeeze", [X[None]], X, "RESHAPE", attributes={"squeeze_dims": (0,)}),
        Case("ExpandDims", [X], X[:, None], "RESHAPE", [one(1)]),
        Case("Tile", [X], np.tile(X, (2, 1)), "TILE", [i32(2, 1)]),
        Case("Tile", [X], X, "", [i32(1, 1)], name="once"),
        Case("BroadcastTo", [X], np.broadcast_to(X, (2, 3, 4)), "BROADCAST_TO", [i32(2, 3, 4)]),
        Case("LogicalNot", [X > 0], ~(X > 0), "LOGICAL_NOT"),
        Case("ArgMax", [X], X.argmax(1), "ARG_MAX", [one(1)]),
        Case("Cumsum", [X], X.cumsum(1), "CUMSUM", [one(1)]),
        Case("ReverseV2", [X], X[:, ::-1], "REVERSE_V2", [i32(1)]),
        Case("AddN", [X], X, "", attributes={"N": 1}, name="one"),
        Case(
            "Bucketize",
            [X],
            np.digitize(X, [-1, 1]).astype(np.int32),
            "BUCKETIZE",
            attributes={"boundaries": AttrValue(list=AttrValue.ListValue(f=[-1, 1]))},
        ),
        Case("SegmentSum", [X], np.stack([X[0] + X[1], X[2]]), "SEGMENT_SUM", [np.array([0, 0, 1])]),
        Case(
            "UnsortedSegmentMax",
            [X],
            np.stack([X[2], np.maximum(X[0], X[1])]),
            "UNSORTED_SEGMENT_MAX",
            [i32(1, 1, 0), one(2)],
        ),
        Case("Where", [X > 0], np.argwhere(X > 0), "WHERE"),
        Case("InvertPermutation", [i32(2, 0, 1)], i32(1, 2, 0), "RESHAPE SCATTER_ND"),
        Case("MatrixDiag", [X[0]], np.diag(X[0]), "MATRIX_DIAG"),
        Case("MatrixSetDiag", [X, Z[:, 0]], np.where(np.eye(3, 4) > 0, Z[:, :1], X), "MATRIX_SET_DIAG"),
        Case("MatrixBandPart", [X], np.triu(np.tril(X, 1), -1), "SELECT_V2", [one(1), one(1)]),
        Case(
            "PadV2",
            [X],
            np.pad(X, ((1, 0), (0, 2)), constant_values=7),
            "PADV2",
            [np.array([[1, 0], [0, 2]], np.int32), np.float32(7)],
        ),
        Case(
            "MirrorPad",
            [X],
            np.pad(X, ((1, 1), (2, 0)), "reflect"),
            "MIRROR_PAD",
            [np.array([[1, 1], [2, 0]], np.int32)],
            {"mode": "REFLECT"},
        ),
        Case(
            "DepthToSpace",
            [IMAGE],
            IMAGE.reshape(2, 4, 4, 2, 2, 2).transpose(0, 1, 3, 2, 4, 5).reshape(2, 8, 8, 2),
            "DEPTH_TO_SPACE",
            attributes={"block_size": 2},
        ),
        Case("RFFT", [X], np.fft.rfft(X).astype(np.complex64), "RESHAPE RFFT2D RESHAPE", [i32(4)]),
        Case(
            "RFFT",
            [X],
            np.fft.rfft(X[:, :3]).astype(np.complex64),
            "FULLY_CONNECTED RESHAPE BITCAST",
            [i32(3)],
            name="of-three",
        ),
        Case(
            "RFFT",
            [X],
            np.fft.rfft(X, 6).astype(np.complex64),
            "FULLY_CONNECTED RESHAPE BITCAST",
            [i32(6)],
            name="longer",
        ),
        Case("MatMul", [X, Z], X.T @ Z, "BATCH_MATMUL", attributes={"transpose_a": True}),
        Case("MatMul", [X], X @ Z.T, "FULLY_CONNECTED", [Z], {"transpose_b": True}, name="constant"),
        Case(
            "Einsum",
            [X, Z],
            np.einsum("ij,kj->ki", X, Z),
            "BATCH_MATMUL TRANSPOSE",
            attributes={"equation": "ij,kj->ki"},
        ),
        Case(
            "Einsum",
            [IMAGE],
            np.einsum("bhwc,cd->dbhw", IMAGE, IMAGE[0, :, :, 0].repeat(2, 0)),
            "FULLY_CONNECTED TRANSPOSE",
            [IMAGE[0, :, :, 0].repeat(2, 0)],
            {"equation": "bhwc,cd->dbhw"},
            name="dense",
        ),
        Case(
            "Einsum",
            [IMAGE, IMAGE[0, 0].T],
            IMAGE @ IMAGE[0, 0].T,
            "BATCH_MATMUL",
            attributes={"equation": "bhwc,cd->bhwd"},
            name="stretched-matrix",
        ),
        Case(
            "Einsum",
            [IMAGE],
            IMAGE.sum((1, 3)).T,
            "SUM TRANSPOSE",
            attributes={"equation": "bhwc->wb"},
            name="sum",
        ),
        Case(
            "Einsum",
            [IMAGE, IMAGE],
            IMAGE @ IMAGE.swapaxes(-1, -2),
            "BATCH_MATMUL",
            attributes={"equation": "...ij,...kj->...ik"},
            name="ellipsis",
        ),
    ]


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_op(case: Case, run) -> None:
    model = checked(convert_graph(case.graph().graph_def, [f"x{i}" for i in range(len(case.inputs))], ["y"]))
    if case.op != "Lgamma":
        assert operators(model) == case.operators.split()
    [y] = run(model, *case.inputs)
    assert y.shape == case.expected.shape
    if case.expected.dtype.kind in "fc":
        # A few roundings in float32.
        np.testing.assert_allclose(y, case.expected, rtol=2e-5, atol=2e-5)
    else:
        np.testing.assert_array_equal(y, case.expected)


DYNAMIC = [case for case in CASES if case.inputs[0].ndim == 2 and case.inputs[0].dtype == np.float32]


@pytest.mark.parametrize("case", DYNAMIC, ids=lambda case: case.id)
def test_op_with_a_first_size_that_is_not_known(case: Case) -> None:
    shapes = [[-1, *value.shape[1:]] for value in case.inputs]
    graph = case.graph(shapes).graph_def
    try:
        model = checked(convert_graph(graph, [f"x{i}" for i in range(len(case.inputs))], ["y"]))
    except UnsupportedError as error:
        assert case.op in ("MatrixBandPart",) and "must be known" in str(error)
        return
    [y] = run_numlite(model, *case.inputs)
    np.testing.assert_allclose(y, case.expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_a_depthwise_filter_that_is_computed(run) -> None:
    g = GraphBuilder()
    x, filters = g.placeholder("x", [2, 4, 4, 8]), g.placeholder("f", [3, 2, 8, 2])
    g.node("DepthwiseConv2dNative", "y", x, filters, strides=(1, 1, 1, 1), padding="VALID")
    model = checked(convert_graph(g.graph_def, ["x", "f"], ["y"]))
    assert operators(model) == ["RESHAPE", "DEPTHWISE_CONV_2D"]
    weights = RANDOM.uniform(-1, 1, (3, 2, 8, 2)).astype(np.float32)
    [y] = run(model, IMAGE, weights)
    windows = np.lib.stride_tricks.sliding_window_view(IMAGE, (3, 2), (1, 2))
    expected = np.einsum("bhwckl,klcm->bhwcm", windows, weights).reshape(2, 2, 3, 16)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize("op", ["Slice", "Pad"])
def test_bounds_of_int64_that_are_computed_stay(op: str, run) -> None:
    g = GraphBuilder()
    names = [g.placeholder(name, [2], TYPES[np.int64]) for name in ("begin", "size")]
    if op == "Pad":
        names = [g.placeholder("pads", [2, 2], TYPES[np.int64])]
    g.node(op, "y", g.placeholder("x", [3, 4]), *names)
    model = checked(convert_graph(g.graph_def, ["x", *names], ["y"]))
    assert operators(model) == [op.upper()]
    given = [np.array([[1, 0], [0, 2]])] if op == "Pad" else [np.array([1, 1]), np.array([2, 3])]
    [y] = run(model, X, *given)
    np.testing.assert_array_equal(y, np.pad(X, ((1, 0), (0, 2))) if op == "Pad" else X[1:3, 1:4])


@pytest.mark.parametrize(
    ("shape", "other"),
    [
        ((-1, 4), ()),
        ((3, 4), (3, 1)),
        ((2, 3, 4), (3, 4)),
        ((-1, 4), (-1, 4)),
        ((-1,), (-1, 4)),
        ((3, 4), (-1,)),
    ],
    ids=str,
)
def test_equality_of_operands_that_need_not_fit_but_do(
    shape: tuple[int, ...], other: tuple[int, ...]
) -> None:
    g = GraphBuilder()
    a, b = g.placeholder("a", shape), g.placeholder("b", other)
    g.node("NotEqual", "y", a, b, incompatible_shape_error=False)
    model = checked(convert_graph(g.graph_def, ["a", "b"], ["y"]))
    assert operators(model) == ["NOT_EQUAL"]
    given = [np.ones([abs(size) for size in each], np.float32) for each in (shape, other)]
    [y] = run_numlite(model, *given)
    np.testing.assert_array_equal(y, given[0] != given[1])


def test_equality_of_operands_that_turn_out_not_to_fit_is_an_error() -> None:
    g = GraphBuilder()
    g.node("Equal", "y", g.placeholder("a", [-1]), g.placeholder("b", [-1]), incompatible_shape_error=False)
    model = convert_graph(g.graph_def, ["a", "b"], ["y"])
    with pytest.raises(PrepareError, match="EQUAL"):
        run_numlite(model, np.ones(2, np.float32), np.ones(3, np.float32))


def test_equality_of_operands_that_never_fit_is_refused() -> None:
    g = GraphBuilder()
    a, b = g.placeholder("a", [-1, 2]), g.placeholder("b", [3])
    g.node("Equal", "y", a, b, incompatible_shape_error=False)
    with pytest.raises(UnsupportedError, match="do not broadcast"):
        convert_graph(g.graph_def, ["a", "b"], ["y"])


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize(
    ("begin", "end", "masks", "wanted"),
    [
        ([0, 1], [0, 3], {"ellipsis_mask": 1}, np.s_[..., 1:3]),
        ([1, 0], [3, 0], {"ellipsis_mask": 2, "end_mask": 1}, np.s_[1:, ...]),
        ([0, 0, 2], [0, 0, 0], {"ellipsis_mask": 1, "new_axis_mask": 2, "end_mask": 4}, np.s_[..., None, 2:]),
        (
            [0, 0, 2],
            [0, 0, 3],
            {"ellipsis_mask": 2, "new_axis_mask": 1, "shrink_axis_mask": 4},
            np.s_[None, ..., 2],
        ),
    ],
    ids=str,
)
def test_an_ellipsis_that_stands_for_no_axis(run, begin, end, masks, wanted) -> None:
    g = GraphBuilder()
    names = [
        g.constant(name, i32(*each)) for name, each in (("b", begin), ("e", end), ("s", [1] * len(begin)))
    ]
    g.node("StridedSlice", "y", g.placeholder("x", [-1]), *names, **masks)
    x = np.arange(4, dtype=np.float32)
    [y] = run(convert_graph(g.graph_def, ["x"], ["y"]), x)
    np.testing.assert_array_equal(y, x[wanted])


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_the_only_element_of_a_list_is_the_list(run) -> None:
    g = GraphBuilder()
    count, shape = g.constant("count", one(1)), g.constant("shape", i32(3, 4))
    held = g.node("TensorListReserve", "held", shape, count, element_dtype=AttrValue(type=1))
    index = g.placeholder("index", [], TYPES[np.int32])
    held = g.node("TensorListSetItem", "set", held, index, g.placeholder("x", [3, 4]))
    g.node("TensorListStack", "y", held, shape, element_dtype=AttrValue(type=1))
    model = checked(convert_graph(g.graph_def, ["index", "x"], ["y"]))
    assert operators(model) == ["RESHAPE"]
    [y] = run(model, one(0), X)
    np.testing.assert_array_equal(y, X[None])


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_the_last_element_of_a_list_is_taken_off(run) -> None:
    g = GraphBuilder()
    shape, float32 = g.constant("shape", i32(3, 4)), AttrValue(type=1)
    held = g.node("TensorListFromTensor", "held", g.placeholder("x", [-1, 3, 4]), shape)
    held = g.node("TensorListPopBack", "popped", held, shape, element_dtype=float32)
    g.node("Identity", "last", f"{held}:1")
    g.node("TensorListStack", "rest", held, shape, element_dtype=float32)
    model = checked(convert_graph(g.graph_def, ["x"], ["last", "rest"]))
    for n in (3, 1):
        x = np.arange(n * 12, dtype=np.float32).reshape(n, 3, 4)
        last, rest = run(model, x)
        np.testing.assert_array_equal(last, x[-1])
        np.testing.assert_array_equal(rest, x[:-1])


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_the_elements_of_a_list_end_to_end(run) -> None:
    g = GraphBuilder()
    shape = g.constant("shape", i32(4, 4, 8))
    held = g.node("TensorListFromTensor", "held", g.placeholder("x", IMAGE.shape), shape)
    leading = g.constant("leading", np.zeros(0, np.int64))
    float32 = AttrValue(type=1)
    joined = g.node("TensorListConcatV2", "joined", held, shape, leading, element_dtype=float32)
    g.node("Identity", "lengths", f"{joined}:1")
    model = checked(convert_graph(g.graph_def, ["x"], ["joined", "lengths"]))
    assert operators(model) == ["RESHAPE"]
    y, lengths = run(model, IMAGE)
    np.testing.assert_array_equal(y, IMAGE.reshape(8, 4, 8))
    np.testing.assert_array_equal(lengths, [4, 4])


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_spectra_of_any_number_of_rows(run) -> None:
    g = GraphBuilder()
    g.node("RFFT", "y", g.placeholder("x", [-1, -1, 8]), g.constant("length", i32(8)))
    model = checked(convert_graph(g.graph_def, ["x"], ["y"]))
    assert operators(model) == ["EXPAND_DIMS", "RFFT2D", "SQUEEZE"]
    rows = RANDOM.uniform(-1, 1, (2, 3, 8)).astype(np.float32)
    [y] = run(model, rows)
    np.testing.assert_allclose(y, np.fft.rfft(rows), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize("shapes", [([3, 4], [2, 4]), ([3, 4], [-1, 4]), ([-1, -1], [-1, -1])])
def test_tensors_with_some_elements_changed(run, shapes: tuple[list[int], list[int]]) -> None:
    g = GraphBuilder()
    x, updates = g.placeholder("x", shapes[0]), g.placeholder("updates", shapes[1])
    indices = g.constant("indices", np.array([[2], [0]], np.int32))
    g.node("TensorScatterUpdate", "set", x, indices, updates)
    g.node("TensorScatterAdd", "added", x, indices, updates)
    model = checked(convert_graph(g.graph_def, ["x", "updates"], ["set", "added"]))
    changed, added = run(model, X, Z[:2])
    expected = X.copy()
    expected[[2, 0]] = Z[:2]
    np.testing.assert_array_equal(changed, expected)
    expected = X.copy()
    expected[[2, 0]] += Z[:2]
    np.testing.assert_array_equal(added, expected)


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize(("bits", "narrow"), [(8, False), (8, True), (4, False), (12, False)])
def test_fake_quantization(run, bits: int, narrow: bool) -> None:
    g = GraphBuilder()
    x = g.placeholder("x", [3, 4])
    attributes = {"min": -1.0, "max": 2.0, "num_bits": bits, "narrow_range": narrow}
    g.node("FakeQuantWithMinMaxArgs", "y", x, **attributes)
    [y] = run(checked(convert_graph(g.graph_def)), X)
    low, high = int(narrow), 2**bits - 1
    scale = np.float32(3) / np.float32(high - low)
    zero = round(low + 1 / scale)
    q = np.clip(np.round(X / scale) + zero, low, high)
    np.testing.assert_allclose(y, (q - zero) * scale, atol=1e-5)


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_shapes_computed_in_the_graph(run) -> None:
    g = GraphBuilder()
    x = g.placeholder("x", [-1, 4, 4, 8])
    shape = g.node("Shape", "shape", x)
    begin, end, step = (g.constant(n, i32(v)) for n, v in (("begin", 0), ("end", 1), ("step", 1)))
    batch = g.node("StridedSlice", "batch", shape, begin, end, step, shrink_axis_mask=1)
    sizes = g.node("Pack", "sizes", batch, g.constant("rest", one(128)))
    g.node("Reshape", "y", x, sizes)
    model = checked(convert_graph(g.graph_def))
    # The vector is [-1, 128] for all that matters.
    assert operators(model) == ["RESHAPE"]
    [y] = run(model, IMAGE)
    np.testing.assert_array_equal(y, IMAGE.reshape(2, 128))


def test_non_max_suppression_without_padding() -> None:
    boxes = np.array([[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3]], np.float32)
    g = GraphBuilder()
    b, s = g.placeholder("b", [3, 4]), g.placeholder("s", [3])
    limits = [g.constant(f"c{i}", v) for i, v in enumerate((one(3), np.float32(0.5), np.float32(0.1)))]
    g.node("NonMaxSuppressionV3", "y", b, s, *limits)
    model = checked(convert_graph(g.graph_def, ["b", "s"], ["y"]))
    [y] = run_numlite(model, boxes, np.array([0.5, 0.9, 0.05], np.float32))
    np.testing.assert_array_equal(y, [1])


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_bytes_are_filled_by_broadcasting(run) -> None:
    g = GraphBuilder()
    g.node("Fill", "y", g.constant("sizes", i32(2, 3)), g.placeholder("x", [], TYPES[np.uint8]))
    g.node("OnesLike", "ones", g.placeholder("like", None, TYPES[np.uint8]))
    model = checked(convert_graph(g.graph_def, ["x", "like"], ["y", "ones"]))
    y, ones = run(model, np.array(7, np.uint8), np.zeros(4, np.uint8))
    np.testing.assert_array_equal(y, np.full((2, 3), 7, np.uint8))
    np.testing.assert_array_equal(ones, np.ones(4, np.uint8))


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize(("lower", "upper"), [(1, 0), (-1, 1), (2, -1), (-1, -1)])
def test_bands_of_matrices_of_any_size(run, lower: int, upper: int) -> None:
    g = GraphBuilder()
    x = g.placeholder("x", [2, -1, -1])
    widths = [g.constant(name, np.array(width)) for name, width in (("lower", lower), ("upper", upper))]
    g.node("MatrixBandPart", "y", x, *widths)
    model = checked(convert_graph(g.graph_def, ["x"], ["y"]))
    for rows, columns in ((3, 5), (4, 2)):
        given = np.ones((2, rows, columns), np.float32)
        below = np.arange(rows)[:, None] - np.arange(columns)
        kept = ((lower < 0) | (below <= lower)) & ((upper < 0) | (-below <= upper))
        [y] = run(model, given)
        np.testing.assert_array_equal(y, given * kept)


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_lists_are_cut_or_filled_up_to_a_length(run, known: bool, size: int) -> None:
    g = GraphBuilder()
    shape, float32 = g.constant("shape", i32(2)), AttrValue(type=1)
    held = g.node("TensorListFromTensor", "held", g.placeholder("x", [3 if known else -1, 2]), shape)
    length = g.constant("size", one(size)) if known else g.placeholder("size", [], TYPES[np.int32])
    held = g.node("TensorListResize", "sized", held, length)
    g.node("TensorListStack", "y", held, shape, element_dtype=float32)
    model = checked(convert_graph(g.graph_def, ["x"] if known else ["x", "size"], ["y"]))
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    [y] = run(model, *([x] if known else [x, one(size)]))
    np.testing.assert_array_equal(y, np.concatenate([x, np.zeros((5, 2), np.float32)])[:size])


def test_growing_lists_of_elements_of_unknown_shape_are_refused() -> None:
    g = GraphBuilder()
    count, shape = g.constant("count", one(0)), g.constant("shape", i32(-1, 3))
    held = g.node("TensorListReserve", "held", shape, count, element_dtype=AttrValue(type=1))
    item = [g.constant("index", one(0)), g.placeholder("x", [-1, 3])]
    held = g.node("TensorListSetItem", "set", held, *item, resize_if_index_out_of_bounds=True)
    g.node("TensorListStack", "y", held, shape, element_dtype=AttrValue(type=1))
    with pytest.raises(UnsupportedError, match="the shape of a growing list's elements must be known"):
        convert_graph(g.graph_def, ["x"], ["y"])


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_spectra_of_a_length_that_only_a_run_tells(run) -> None:
    g = GraphBuilder()
    g.node("RFFT", "y", g.placeholder("x", [2, -1]), g.placeholder("length", [1], TYPES[np.int32]))
    model = checked(convert_graph(g.graph_def, ["x", "length"], ["y"]))
    for samples, length in ((8, 8), (16, 8), (4, 4)):
        x = RANDOM.normal(size=(2, samples)).astype(np.float32)
        [y] = run(model, x, i32(length))
        np.testing.assert_allclose(y, np.fft.rfft(x, length), rtol=1e-4, atol=1e-5)
