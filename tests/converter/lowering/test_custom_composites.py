"""Functions that say they are a custom operator: one where it fits and the body computes the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pytest
from numlite.converter.conversion import convert
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.target_spec import Settings
from numlite.lite.errors import UnsupportedError
from numlite.schema import tflite
from numlite.schema.graph_def import AttrValue, NameAttrList

from ..functions import add_function, types
from ..graphs import checked, run_numlite

FLOAT, DOUBLE, INT, STRING, LONG = 1, 2, 3, 7, 9
CUSTOM = Settings(custom_ops=True)
Body = Callable[[GraphBuilder], Sequence[str]]


def graph(
    says: NameAttrList | bytes,
    arguments: Sequence[tuple[int, list[int]]],
    results: Sequence[int],
    body: Body | None,
) -> GraphBuilder:
    """A call of a function of x0, x1 ... whose results are the outputs; without a body it gives constants."""
    inner, outer = GraphBuilder(), GraphBuilder()
    for i, (kind, shape) in enumerate(arguments):
        inner.placeholder(f"x{i}", None, kind)
        outer.placeholder(f"x{i}", shape, kind)
    if body is None:
        zeros = {
            FLOAT: np.zeros((1, 2), np.float32),
            STRING: np.array([b""], object),
            LONG: np.zeros(2, np.int64),
        }
        given = [inner.constant(f"zero{i}", zeros[kind]) + ":output:0" for i, kind in enumerate(results)]
    else:
        given = list(body(inner))
    function = add_function(outer, "own", inner, given)
    held = outer.graph_def.library.function[-1]
    for output, kind in zip(held.signature.output_arg, results, strict=True):
        output.type = kind
    if isinstance(says, bytes):
        held.attr["_implements"].s = says
    else:
        held.attr["_implements"].func.CopyFrom(says)
    names = [f"x{i}" for i in range(len(arguments))]
    kinds = types(*(kind for kind, _ in arguments))
    outer.node("StatefulPartitionedCall", "call", *names, f=function, Tin=kinds, Tout=types(*results))
    for i, kind in enumerate(results):
        outer.node("Identity", f"y{i}", f"call:{i}", T=AttrValue(type=kind))
    return outer


def named(name: str, **attributes: object) -> NameAttrList:
    """A name with attributes: integers, floats, texts, lists of integers."""
    made = {}
    for key, value in attributes.items():
        if isinstance(value, bool):
            made[key] = AttrValue(b=value)
        elif isinstance(value, int):
            made[key] = AttrValue(i=value)
        elif isinstance(value, float):
            made[key] = AttrValue(f=value)
        elif isinstance(value, bytes):
            made[key] = AttrValue(s=value)
        elif isinstance(value, list):
            made[key] = AttrValue(list=AttrValue.ListValue(i=value))
    return NameAttrList(name=name, attr=made)


def made(builder: GraphBuilder, settings: Settings = CUSTOM) -> tuple[bytes, list[str]]:
    """The model, and its operators: custom ones by their codes."""
    content = checked(convert(builder.graph_def, settings=settings).model)
    model = tflite.read(content)
    codes = [model.operator_codes[op.opcode_index] for op in model.subgraphs[0].operators]
    return content, [code.custom_code or tflite.BuiltinOperator(code.builtin_code).name for code in codes]


TEXTS = np.array([b"a b", b"", b"  c d e"], object)


def test_a_tokenizer_is_its_operator() -> None:
    """Its body is an op that only tftext has a kernel for."""

    def body(g: GraphBuilder) -> list[str]:
        g.node("WhitespaceTokenizeWithOffsets", "w", "x0")
        return ["w:output_values:0", "w:output_row_splits:0"]

    model, codes = made(graph(named("tftext:WhitespaceTokenizer"), [(STRING, [-1])], [STRING, LONG], body))
    assert codes == ["tftext:WhitespaceTokenizer"]
    words, splits = run_numlite(model, TEXTS)
    assert words.tolist() == [b"a", b"b", b"c", b"d", b"e"] and splits.tolist() == [0, 2, 2, 5]


@pytest.mark.parametrize(
    "settings", [CUSTOM, Settings(custom_ops=True, select=True)], ids=["custom", "select"]
)
def test_words_that_are_made_dense(settings: Settings) -> None:
    def body(g: GraphBuilder) -> list[str]:
        g.node("WhitespaceTokenizeWithOffsets", "w", "x0")
        return ["w:output_values:0", "w:output_row_splits:0"]

    g = graph(named("tftext:WhitespaceTokenizer"), [(STRING, [-1])], [STRING, LONG], body)
    g.constant("shape", np.array([-1, -1]))
    g.constant("none", np.array(b"", object))
    kinds = {"T": AttrValue(type=STRING), "Tindex": AttrValue(type=LONG), "Tshape": AttrValue(type=LONG)}
    splits = AttrValue(list=AttrValue.ListValue(s=[b"ROW_SPLITS"]))
    kinds |= {"num_row_partition_tensors": AttrValue(i=1), "row_partition_types": splits}
    g.node("RaggedTensorToTensor", "dense", "shape", "y0", "none", "y1", **kinds)
    model, codes = made(g, settings)
    assert codes == ["tftext:WhitespaceTokenizer", f"{'Flex' * settings.select}RaggedTensorToTensor"]
    found = run_numlite(model, TEXTS)[0].tolist()
    assert found == [[b"a", b"b", b""], [b"", b"", b""], [b"c", b"d", b"e"]]


def pairs_body(separator: bytes) -> Body:
    """Each string of x [.., n] joined with the next."""

    def body(g: GraphBuilder) -> list[str]:
        numbers = {"zero": [0, 0], "minus": [0, -1], "one": [0, 1], "step": [1, 1]}
        at = {name: g.constant(name, np.array(x, np.int32)) + ":output:0" for name, x in numbers.items()}
        first = {"begin_mask": AttrValue(i=3), "end_mask": AttrValue(i=1)}
        second = {"begin_mask": AttrValue(i=1), "end_mask": AttrValue(i=3)}
        kind = {"T": AttrValue(type=STRING), "Index": AttrValue(type=INT)}
        g.node("StridedSlice", "a", "x0", at["zero"], at["minus"], at["step"], **first, **kind)
        g.node("StridedSlice", "b", "x0", at["one"], at["zero"], at["step"], **second, **kind)
        held = {"N": AttrValue(i=2), "separator": AttrValue(s=separator)}
        g.node("StringJoin", "j", "a:output:0", "b:output:0", **held)
        return ["j:output:0"]

    return body


NGRAMS = named("tftext:Ngrams", width=2, axis=-1, reduction_type=b"STRING_JOIN", string_separator=b"_")


def test_neighbours_are_their_operator_where_the_body_joins_them() -> None:
    shape = [(STRING, [-1, -1])]
    model, codes = made(graph(NGRAMS, shape, [STRING], pairs_body(b"_")))
    assert codes == ["tftext:Ngrams"]
    for x in (np.array([[b"a", b"b", b"c"]], object), np.array([[b"d", b"e"], [b"", b"f"]], object)):
        expected = [[a + b"_" + b for a, b in pairwise(row)] for row in x.tolist()]
        assert run_numlite(model, x)[0].tolist() == expected
    select = Settings(custom_ops=True, select=True)
    _, codes = made(graph(NGRAMS, shape, [STRING], pairs_body(b"-")), select)
    assert "FlexStringJoin" in codes and "tftext:Ngrams" not in codes


def hashes_body(kind: int, factor: float = 1.0) -> Body:
    """Means of hashes of rows of two strings each, by one seed, 5."""

    def body(g: GraphBuilder) -> list[str]:
        g.node("StringToHashBucketFast", "h", "x0", num_buckets=AttrValue(i=1000))
        whole = {"T": AttrValue(type=LONG)}
        names = {"seed": 5, "most": 1000, "half": 500}
        c = {name: g.constant(name, np.array(x, np.int64)) + ":output:0" for name, x in names.items()}
        g.node("Mul", "m", "h:output:0", c["seed"], **whole)
        g.node("FloorMod", "v", "m:z:0", c["most"], **whole)
        g.node("Greater", "far", "v:z:0", c["half"], **whole)
        g.node("Sub", "less", "v:z:0", c["most"], **whole)
        g.node("SelectV2", "s", "far:z:0", "less:z:0", "v:z:0", **whole)
        g.node("Cast", "f", "s:output:0", SrcT=AttrValue(type=LONG), DstT=AttrValue(type=kind))
        real = {"T": AttrValue(type=kind)}
        dtype = np.float32 if kind == FLOAT else np.float64
        rows = g.constant("rows", np.array([-1, 1, 2], np.int32)) + ":output:0"
        axis = g.constant("axis", np.array(2, np.int32)) + ":output:0"
        scale = g.constant("scale", np.array(factor / 500, dtype)) + ":output:0"
        g.node("Reshape", "r", "f:y:0", rows, **real)
        g.node("Mean", "mean", "r:output:0", axis, **real, Tidx=AttrValue(type=INT))
        g.node("Mul", "y", "mean:output:0", scale, **real)
        return ["y:z:0"]

    return body


@pytest.mark.parametrize("kind", [FLOAT, DOUBLE])
def test_projections_are_their_operator(kind: int) -> None:
    says = named("tftext:custom:SgnnProjection", hash_seed=[5], buckets=1000)
    arguments = [(STRING, [8]), (LONG, [5])]
    model, codes = made(graph(says, arguments, [kind], hashes_body(kind)))
    assert codes == ["tftext:custom:SgnnProjection", *["CAST"] * (kind == DOUBLE)]
    strings = np.array([b"a", b"bc", b"d", b"", b"e", b"f", b"gh", b"i"], object)
    select = Settings(select=True)
    plain = convert(graph(b"", arguments, [kind], hashes_body(kind)).graph_def, settings=select).model
    splits = np.array([0, 2, 4, 6, 8], np.int64)
    [ours] = run_numlite(model, strings, splits)
    from numlite import Interpreter

    interpreter = Interpreter(model_content=plain)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], strings if detail["dtype"] is np.bytes_ else splits)
    interpreter.invoke()
    theirs = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    other = graph(says, arguments, [kind], hashes_body(kind, 2.0))
    _, codes = made(other, Settings(custom_ops=True, select=True))
    assert "tftext:custom:SgnnProjection" not in codes


def unpool_body(g: GraphBuilder) -> list[str]:
    """2x2 windows of images [1, h, w, 1] of four times as many places."""
    g.node("Cast", "m", "x1", SrcT=AttrValue(type=LONG), DstT=AttrValue(type=INT))
    shapes = {"column": [-1, 1], "flat": [-1], "size": [24], "image": [1, 4, 6, 1]}
    c = {name: g.constant(name, np.array(x, np.int32)) + ":output:0" for name, x in shapes.items()}
    g.node("Reshape", "places", "m:y:0", c["column"], T=AttrValue(type=INT))
    g.node("Reshape", "values", "x0", c["flat"], T=AttrValue(type=FLOAT))
    kinds = {"T": AttrValue(type=FLOAT), "Tindices": AttrValue(type=INT)}
    g.node("ScatterNd", "s", "places:output:0", "values:output:0", c["size"], **kinds)
    g.node("Reshape", "y", "s:output:0", c["image"], T=AttrValue(type=FLOAT))
    return ["y:output:0"]


@pytest.mark.parametrize("padding", [b"SAME", b"VALID"])
def test_unpooling_is_its_operator(padding: bytes) -> None:
    says = named("addons:MaxUnpooling2D", pool_size=[2, 2], strides=[2, 2], padding=padding)
    arguments = [(FLOAT, [1, 2, 3, 1]), (LONG, [1, 2, 3, 1])]
    model, codes = made(graph(says, arguments, [FLOAT], unpool_body))
    assert codes == ["CAST", "MaxUnpooling2D"]
    values = np.arange(1, 7, dtype=np.float32).reshape(1, 2, 3, 1)
    places = np.array([7, 2, 4, 12, 21, 23], np.int64).reshape(1, 2, 3, 1)
    expected = np.zeros(24, np.float32)
    expected[places.ravel()] = values.ravel()
    np.testing.assert_array_equal(run_numlite(model, values, places)[0].ravel(), expected)
    for wrong in ({"strides": [1, 1]}, {"pool_size": [2]}, {"padding": b"FULL"}):
        attributes = {"pool_size": [2, 2], "strides": [2, 2], "padding": padding, **wrong}
        says = named("addons:MaxUnpooling2D", **attributes)
        _, codes = made(graph(says, arguments, [FLOAT], unpool_body))
        assert "SCATTER_ND" in codes


def test_operators_that_the_body_does_without_are_only_made_where_custom_ones_are_allowed() -> None:
    says = named("addons:MaxUnpooling2D", pool_size=[2, 2], strides=[2, 2], padding=b"SAME")
    arguments = [(FLOAT, [1, 2, 3, 1]), (LONG, [1, 2, 3, 1])]
    _, codes = made(graph(says, arguments, [FLOAT], unpool_body), Settings())
    assert "SCATTER_ND" in codes


def test_a_warp_whose_body_does_something_else_is_its_body() -> None:
    arguments = [(FLOAT, [1, 4, 4, 1]), (FLOAT, [1, 4, 4, 2])]

    def body(g: GraphBuilder) -> list[str]:
        g.node("Neg", "y", "x0")
        return ["y:y:0"]

    _, codes = made(graph(b"addons:DenseImageWarp", arguments, [FLOAT], body))
    assert codes == ["NEG"]


DETECTION: Mapping[str, object] = {
    **{"max_detections": 3, "max_classes_per_detection": 1, "use_regular_nms": False, "num_classes": 2},
    **{"nms_score_threshold": 0.1, "nms_iou_threshold": 0.5},
    **{"y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0},
}
ANCHORS = [(FLOAT, [1, 5, 4]), (FLOAT, [1, 5, 3]), (FLOAT, [5, 4])]


@pytest.mark.parametrize("settings", [Settings(), CUSTOM], ids=["builtins", "custom"])
def test_detections_whose_body_only_stands_for_them_are_their_operator(settings: Settings) -> None:
    """As exports of object detection write them: the body gives zeros."""
    from numlite import Interpreter

    says = named("TFLite_Detection_PostProcess", **DETECTION)
    model, codes = made(graph(says, ANCHORS, [FLOAT] * 4, None), settings)
    assert codes == ["TFLite_Detection_PostProcess"]
    random = np.random.default_rng(3)
    boxes = random.normal(0, 0.1, (1, 5, 4)).astype(np.float32)
    scores = random.uniform(0, 1, (1, 5, 3)).astype(np.float32)
    anchors = random.uniform(0.3, 0.6, (5, 4)).astype(np.float32)
    results = run_numlite(model, boxes, scores, anchors)
    count = int(results[3][0])
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    for kind in (Interpreter, litert.Interpreter):
        runner = kind(model_content=model).get_signature_runner()
        given = runner(x0=boxes, x1=scores, x2=anchors)
        assert given["y3"] == results[3] == count > 0
        for i, y in enumerate(results[:3]):  # LiteRT writes no more than it finds
            np.testing.assert_allclose(given[f"y{i}"][:, :count], y[:, :count], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("builder", "settings", "reason"),
    [
        (
            lambda: graph(named("TFLite_Detection_PostProcess"), ANCHORS, [FLOAT] * 4, None),
            CUSTOM,
            "do not fit",
        ),
        (
            lambda: graph(named("TFLite_Detection_PostProcess", **DETECTION), ANCHORS[:2], [FLOAT] * 4, None),
            CUSTOM,
            "do not fit",
        ),
        (lambda: graph(NGRAMS, [(STRING, [4])], [STRING], None), Settings(), "--allow-custom-ops"),
        (
            lambda: graph(named("my_op", tfl_fusable_op=True), [(FLOAT, [4])], [FLOAT], None),
            Settings(),
            "--allow-custom-ops",
        ),
    ],
    ids=["no attributes", "operands", "text", "own"],
)
def test_bodies_that_compute_nothing_are_not_taken_for_what_they_stand_for(
    builder: Callable[[], GraphBuilder], settings: Settings, reason: str
) -> None:
    with pytest.raises(UnsupportedError, match=f"only stands for.*{reason}"):
        convert(builder().graph_def, settings=settings)


def test_options_of_own_operators_are_the_attributes_alone() -> None:
    from flatbuffers import flexbuffers

    says = named("my_op", tfl_fusable_op=True, size=3)
    content, codes = made(graph(says, [(FLOAT, [4])], [FLOAT], None))
    assert codes == ["my_op"]
    [operator] = tflite.read(content).subgraphs[0].operators
    assert flexbuffers.Loads(bytes(operator.custom_options)) == {"size": 3}
