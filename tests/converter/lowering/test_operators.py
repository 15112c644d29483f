"""Each op becomes the operators that compute it, in LiteRT and in numlite, against NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.errors import PrepareError, UnsupportedError
from numlite.schema.graph_def import DT_COMPLEX64, DT_FLOAT, DT_INT32, DT_UINT32, AttrValue

from ..graphs import checked, operators, run_litert, run_numlite
from .operator_cases import CASES, IMAGE, RANDOM, TYPES, Case, X, Z, i32, one


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
@pytest.mark.parametrize("is_constant", [True, False])
def test_an_axis_that_is_shrunk_has_a_begin_whatever_its_mask(run, is_constant: bool) -> None:
    """By TensorFlow 2.21, behind an ellipsis for no axis whose begin may be computed."""
    begin = i32(0, 1, 2, 3)
    g = GraphBuilder()
    x, given = g.placeholder("x", [3, 4, 5]), g.placeholder("begin", [4], TYPES[np.int32])
    bounds = [g.constant("b", begin) if is_constant else given]
    bounds += [g.constant(name, i32(*each)) for name, each in (("e", [9] * 4), ("s", [1, 1, 2, 1]))]
    g.node("StridedSlice", "y", x, *bounds, ellipsis_mask=1, begin_mask=-1, shrink_axis_mask=2)
    values = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    arrays = [values] if is_constant else [values, begin]
    [y] = run(checked(convert_graph(g.graph_def, ["x", "begin"][: len(arrays)], ["y"])), *arrays)
    np.testing.assert_array_equal(y, values[1, ::2])


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
def test_the_gamma_function_of_halves(run) -> None:
    g = GraphBuilder()
    g.node("Lgamma", "y", g.placeholder("x", [3, 4], TYPES[np.float16]))
    x = (X + 0.1).astype(np.float16)
    [y] = run(checked(convert_graph(g.graph_def)), x)
    assert y.dtype == np.float16
    np.testing.assert_allclose(y, np.vectorize(math.lgamma)(x), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize("samples", [1, 4])
def test_a_spectrum_of_one_sample_is_the_sample(run, samples: int) -> None:
    g = GraphBuilder()
    g.node("RFFT", "y", g.placeholder("x", [3, samples]), g.constant("length", i32(1)))
    model = checked(convert_graph(g.graph_def))
    assert operators(model) == ["SLICE", "CAST"][samples == 1 :]
    [y] = run(model, X[:, :samples])
    np.testing.assert_array_equal(y, X[:, :1].astype(np.complex64))


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
def test_sums_of_unsigned_integers(run) -> None:
    """Modulo 2^32, also with constants."""
    values = np.array([[0, 1, 2**31], [2**32 - 1, 7, 2**31 - 1]], np.uint32)
    g = GraphBuilder()
    x, y = (g.placeholder(name, [2, 3], DT_UINT32) for name in "xy")
    g.node("AddV2", "sum", x, y)
    g.node("Sub", "difference", g.constant("row", values[:1]), y)
    found = run(checked(convert_graph(g.graph_def, ["x", "y"], ["sum", "difference"])), values, values[::-1])
    for each, wanted in zip(found, (values + values[::-1], values[:1] - values[::-1]), strict=True):
        np.testing.assert_array_equal(each, wanted)


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_what_has_no_elements_is_a_constant_whatever_it_is_made_from(run) -> None:
    g = GraphBuilder()
    x = g.placeholder("x", [2, -1, 3], DT_COMPLEX64)
    g.node("MulNoNan", "y", x, g.constant("nothing", np.zeros((1, 0, 3), np.complex64)))
    model = checked(convert_graph(g.graph_def, ["x"], ["y"]))
    assert operators(model) == []
    [y] = run(model, np.ones((2, 1, 3), np.complex64))
    assert y.shape == (2, 0, 3) and y.dtype == np.complex64


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_masks_of_bounds_that_only_the_ends_count(run) -> None:
    """-1 has the bits of all bounds, and of more."""
    g = GraphBuilder()
    x, begin = g.placeholder("x", [3, 4]), g.placeholder("begin", [-1], DT_INT32)
    end, step = (g.placeholder(name, [1], DT_INT32) for name in ("end", "step"))
    g.node("StridedSlice", "y", x, begin, end, step, new_axis_mask=-1, begin_mask=-1)
    model = checked(convert_graph(g.graph_def, ["x", "begin", "end", "step"], ["y"]))
    [y] = run(model, X, i32(0), i32(0), i32(1))
    np.testing.assert_array_equal(y, X[None])


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize("indices", [[[2], [0], [2]], [[[2], [0], [2]]]])
def test_the_last_update_of_an_index_counts(run, indices: list) -> None:
    g = GraphBuilder()
    places = np.array(indices, np.int32)
    x, updates = g.placeholder("x", [3, 4]), g.placeholder("updates", [*places.shape[:-1], 4])
    g.node("TensorScatterUpdate", "set", x, g.constant("indices", places), updates)
    model = checked(convert_graph(g.graph_def, ["x", "updates"], ["set"]))
    given = np.arange(12, dtype=np.float32).reshape(3, 4)
    [changed] = run(model, X, given.reshape(*places.shape[:-1], 4))
    np.testing.assert_array_equal(changed, np.stack([given[1], X[1], given[2]]))


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize("op", ["DynamicStitch", "ParallelDynamicStitch"])
@pytest.mark.parametrize("width", [2, -1])
@pytest.mark.parametrize(
    ("places", "used"),
    [([0, 1, 2, 3, 4, 5], ["CONCATENATION"]), ([3, 0, 1, 0, 2, 4], ["CONCATENATION", "GATHER"])],
)
def test_stitching_at_constant_places(run, op: str, width: int, places: list[int], used: list[str]) -> None:
    """A join and a choice; a join alone where places are in order. The last of two for a place stays."""
    x, z = np.arange(8, dtype=np.float32).reshape(2, 2, 2), np.full((2, 2), 9, np.float32)
    first, last = np.array(places[:4], np.int32).reshape(2, 2), np.array(places[4:], np.int32)
    g = GraphBuilder()
    inputs = g.placeholder("x", [2, 2, width]), g.placeholder("z", [2, width])
    constants = g.constant("first", first), g.constant("last", last)
    g.node(op, "y", *constants, *inputs, T=AttrValue(type=DT_FLOAT), N=2)
    model = checked(convert_graph(g.graph_def, ["x", "z"], ["y"]))
    assert [name for name in operators(model) if name != "RESHAPE"] == used
    [y] = run(model, x, z)
    wanted = np.zeros((max(places) + 1, 2), np.float32)
    wanted[places] = [*x.reshape(4, 2), *z]
    np.testing.assert_array_equal(y, wanted)


def test_stitching_that_leaves_a_row_out_is_refused() -> None:
    g = GraphBuilder()
    g.node(
        "DynamicStitch",
        "y",
        g.constant("places", np.array([0, 2], np.int32)),
        g.placeholder("x", [2, 3]),
        T=AttrValue(type=DT_FLOAT),
        N=1,
    )
    with pytest.raises(UnsupportedError, match="row 1 has none"):
        convert_graph(g.graph_def)


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
def test_spectra_of_a_length_that_only_a_run_tells(run) -> None:
    g = GraphBuilder()
    g.node("RFFT", "y", g.placeholder("x", [2, -1]), g.placeholder("length", [1], TYPES[np.int32]))
    model = checked(convert_graph(g.graph_def, ["x", "length"], ["y"]))
    for samples, length in ((8, 8), (16, 8), (4, 4)):
        x = RANDOM.normal(size=(2, samples)).astype(np.float32)
        [y] = run(model, x, i32(length))
        np.testing.assert_allclose(y, np.fft.rfft(x, length), rtol=1e-4, atol=1e-5)


def test_ranges_by_channel_of_an_open_number_of_channels_are_refused() -> None:
    g = GraphBuilder()
    ends = [g.constant(name, np.float32(values)) for name, values in (("low", [-1, -2]), ("high", [1, 2]))]
    g.node("FakeQuantWithMinMaxVarsPerChannel", "y", g.placeholder("x", [3, -1]), *ends)
    with pytest.raises(UnsupportedError, match="number of channels"):
        convert_graph(g.graph_def, ["x"], ["y"])
