"""Functions that say what they implement: calls become its operators where the bodies compute it."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.conversion import convert
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.target_spec import Settings
from numlite.schema import tflite
from numlite.schema.graph_def import AttrValue, FunctionDef, NameAttrList

from ..functions import add_function, types
from ..graphs import checked, operators, run_litert, run_numlite

FLOAT, INT = 1, 3
RUNTIMES = pytest.mark.parametrize("run", [run_litert, run_numlite])
BATCH, TIME, DEPTH, UNITS = 2, 3, 4, 5
RANDOM = np.random.default_rng(7)
WEIGHTS = {
    "kernel": RANDOM.normal(0, 0.5, (DEPTH, 4 * UNITS)).astype(np.float32),
    "recurrent": RANDOM.normal(0, 0.5, (UNITS, 4 * UNITS)).astype(np.float32),
    "bias": RANDOM.normal(0, 0.5, 4 * UNITS).astype(np.float32),
}
SEQUENCE = RANDOM.standard_normal((BATCH, TIME, DEPTH)).astype(np.float32)
IMPLEMENTS = AttrValue(s=b"lstm_1f0c")


def lstm_body(output_activation: str = "Tanh", backwards: bool = False) -> GraphBuilder:
    """What Keras's function gives, with all steps one behind the other."""
    g = GraphBuilder()
    for name in ("inputs", "h", "c", "kernel", "recurrent", "bias"):
        g.placeholder(name, None)
    axis = AttrValue(i=1)
    g.node("Unpack", "steps", "inputs", num=AttrValue(i=TIME), axis=axis)
    one = g.constant("one", np.array(1, np.int32)) + ":output:0"
    h, c, given = "h", "c", []
    for n, t in enumerate(reversed(range(TIME)) if backwards else range(TIME)):
        g.node("MatMul", f"x{n}", f"steps:output:{t}", "kernel")
        g.node("MatMul", f"r{n}", h, "recurrent")
        g.node("AddV2", f"s{n}", f"x{n}:product:0", f"r{n}:product:0")
        g.node("BiasAdd", f"z{n}", f"s{n}:z:0", "bias")
        g.node("Split", f"g{n}", one, f"z{n}:output:0", num_split=AttrValue(i=4))
        for gate, place in (("i", 0), ("f", 1), ("o", 3)):
            g.node("Sigmoid", f"{gate}{n}", f"g{n}:output:{place}")
        g.node("Tanh", f"a{n}", f"g{n}:output:2")
        g.node("Mul", f"kept{n}", f"f{n}:y:0", c)
        g.node("Mul", f"new{n}", f"i{n}:y:0", f"a{n}:y:0")
        g.node("AddV2", f"c{n}", f"kept{n}:z:0", f"new{n}:z:0")
        g.node(output_activation, f"b{n}", f"c{n}:z:0")
        ending = "activations" if output_activation == "Relu" else "y"
        g.node("Mul", f"h{n}", f"o{n}:y:0", f"b{n}:{ending}:0")
        h, c = f"h{n}:z:0", f"c{n}:z:0"
        given.append(h)
    g.node("Pack", "all", *given, axis=axis)
    g.constant("runtime", np.array(0, np.float32))
    return g


def lstm_graph(
    outputs: tuple[int, ...] = (1,), body: GraphBuilder | None = None, layers: int = 1, **shapes: int
) -> GraphBuilder:
    """Calls of the function on x, one for each layer, from states of zeros; results of all are outputs."""
    g = GraphBuilder()
    g.placeholder("x", [shapes.get("batch", BATCH), shapes.get("time", TIME), DEPTH])
    last = TIME - 1
    results = [f"h{last}:z:0", "all:output:0", f"h{last}:z:0", f"c{last}:z:0", "runtime:output:0"]
    function = add_function(g, "lstm_of_keras", body or lstm_body(), results)
    g.graph_def.library.function[-1].attr["api_implements"].CopyFrom(IMPLEMENTS)
    zeros = g.constant("zeros", np.zeros((BATCH, UNITS), np.float32))
    weights = [g.constant(name, array) for name, array in WEIGHTS.items()]
    taken, given = types(*[FLOAT] * 6), types(*[FLOAT] * 5)
    for i in range(layers):
        name = f"call{i}"
        g.node("PartitionedCall", name, "x", zeros, zeros, *weights, f=function, Tin=taken, Tout=given)
        for place in outputs:
            g.node("Identity", f"y{i}_{place}", f"{name}:{place}", T=AttrValue(type=FLOAT))
    return g


def expected(backwards: bool = False) -> np.ndarray:
    h, c, given = np.zeros((BATCH, UNITS)), np.zeros((BATCH, UNITS)), []
    for t in reversed(range(TIME)) if backwards else range(TIME):
        z = SEQUENCE[:, t] @ WEIGHTS["kernel"] + h @ WEIGHTS["recurrent"] + WEIGHTS["bias"]
        i, f, a, o = np.split(z, 4, axis=1)
        c = c / (1 + np.exp(-f)) + np.tanh(a) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
        given.append(h)
    return np.stack(given, 1)


@RUNTIMES
def test_lstm_function_is_one_operator_that_begins_anew(run) -> None:
    model = checked(convert_graph(lstm_graph().graph_def))
    assert operators(model) == ["UNPACK", "UNIDIRECTIONAL_SEQUENCE_LSTM"]
    np.testing.assert_allclose(run(model, SEQUENCE)[0], expected(), rtol=1e-5, atol=1e-6)


def test_runs_do_not_depend_on_the_runs_before() -> None:
    from numlite.interpreter import Interpreter

    interpreter = Interpreter(model_content=convert_graph(lstm_graph().graph_def))
    interpreter.allocate_tensors()
    signature = interpreter.get_signature_runner()
    for _ in range(3):
        [y] = signature(x=SEQUENCE).values()
        np.testing.assert_allclose(y, expected(), rtol=1e-5, atol=1e-6)


@RUNTIMES
def test_layers_share_what_sets_their_states(run) -> None:
    model = checked(convert_graph(lstm_graph(layers=3).graph_def))
    assert operators(model) == ["UNPACK", *["UNIDIRECTIONAL_SEQUENCE_LSTM"] * 3]
    for y in run(model, SEQUENCE):
        np.testing.assert_allclose(y, expected(), rtol=1e-5, atol=1e-6)


@RUNTIMES
def test_last_step_and_hidden_state_are_parts_of_the_sequence(run) -> None:
    model = checked(convert_graph(lstm_graph((0, 2)).graph_def))
    assert operators(model) == ["UNPACK", "UNIDIRECTIONAL_SEQUENCE_LSTM", "STRIDED_SLICE"]
    for y in run(model, SEQUENCE):
        np.testing.assert_allclose(y, expected()[:, -1], rtol=1e-5, atol=1e-6)


@RUNTIMES
def test_what_runs_backwards_is_reversed(run) -> None:
    model = checked(convert_graph(lstm_graph(body=lstm_body(backwards=True)).graph_def))
    assert operators(model) == ["REVERSE_V2", "UNPACK", "UNIDIRECTIONAL_SEQUENCE_LSTM"]
    np.testing.assert_allclose(run(model, SEQUENCE)[0], expected(backwards=True), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "graph",
    [lstm_graph(body=lstm_body("Relu")), lstm_graph((1, 3)), lstm_graph(batch=-1)],
    ids=["other activation", "cell state is read", "unknown batch"],
)
def test_other_calls_are_what_their_bodies_are(graph: GraphBuilder) -> None:
    assert "UNIDIRECTIONAL_SEQUENCE_LSTM" not in operators(convert_graph(graph.graph_def))


def nms_graph(
    says: bytes = b"non_max_suppression_padded_v2", boxes: tuple[int, ...] = (2, 9)
) -> GraphBuilder:
    """The indices and counts of a function whose body is TensorFlow's op on each image."""
    body = GraphBuilder()
    for name, data_type in (("b", FLOAT), ("s", FLOAT), ("most", INT), ("overlap", FLOAT), ("least", FLOAT)):
        body.placeholder(name, None, data_type)
    count = AttrValue(i=boxes[0])
    body.node("Unpack", "bs", "b", num=count)
    body.node("Unpack", "ss", "s", num=count)
    parts = {"selected_indices": [], "valid_outputs": []}
    for i in range(boxes[0]):
        taken = (f"bs:output:{i}", f"ss:output:{i}", "most", "overlap", "least")
        body.node("NonMaxSuppressionV4", f"n{i}", *taken, pad_to_max_output_size=AttrValue(b=True))
        for name, values in parts.items():
            values.append(f"n{i}:{name}:0")
    for name, values in parts.items():
        body.node("Pack", name, *values, T=AttrValue(type=INT))
    g = GraphBuilder()
    g.placeholder("boxes", [*boxes, 4])
    g.placeholder("scores", [*boxes])
    function = add_function(g, "nms", body, [f"{name}:output:0" for name in parts], INT)
    g.graph_def.library.function[-1].attr["_implements"].s = says
    limits = [g.constant("most", np.array(4, np.int32))]
    limits += [g.constant(name, np.array(x, np.float32)) for name, x in (("overlap", 0.4), ("least", 0.2))]
    call = {"Tin": types(FLOAT, FLOAT, INT, FLOAT, FLOAT), "Tout": types(INT, INT), "f": function}
    g.node("PartitionedCall", "call", "boxes", "scores", *limits, **call)
    for i in range(2):
        g.node("Identity", f"y{i}", f"call:{i}", T=AttrValue(type=INT))
    return g


@RUNTIMES
def test_each_image_has_its_suppression(run) -> None:
    model = checked(convert_graph(nms_graph().graph_def))
    assert operators(model).count("NON_MAX_SUPPRESSION_V4") == 2
    corner = RANDOM.uniform(0, 0.5, (2, 9, 2)).astype(np.float32)
    boxes, scores = (
        np.concatenate([corner, corner + 0.4], -1),
        RANDOM.uniform(0, 1, (2, 9)).astype(np.float32),
    )
    plain = run(convert_graph(nms_graph(b"").graph_def), boxes, scores)
    for ours, theirs in zip(run(model, boxes, scores), plain, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def embedding_graph(flipped: bool = False) -> GraphBuilder:
    """Rows of a table by a product with ones and zeros; of -x where it is flipped."""
    body = GraphBuilder()
    body.placeholder("table", None)
    body.placeholder("places", None, INT)
    numbers = [("depth", np.int32(7)), ("on", np.float32(-1 if flipped else 1)), ("off", np.float32(0))]
    constants = [body.constant(name, np.array(x)) + ":output:0" for name, x in numbers]
    body.node("OneHot", "hot", "places", *constants, T=AttrValue(type=FLOAT), TI=AttrValue(type=INT))
    body.node("MatMul", "rows", "hot:output:0", "table")
    g = GraphBuilder()
    table = g.constant("table", np.arange(21, dtype=np.float32).reshape(7, 3))
    g.placeholder("x", [5], INT)
    function = add_function(g, "embedding", body, ["rows:product:0"])
    g.graph_def.library.function[-1].attr["_implements"].s = b"embedding_matmul"
    g.node("PartitionedCall", "call", table, "x", f=function, Tin=types(FLOAT, INT), Tout=types(FLOAT))
    g.node("Identity", "y", "call", T=AttrValue(type=FLOAT))
    return g


@RUNTIMES
def test_a_product_with_ones_and_zeros_is_a_lookup(run) -> None:
    model = checked(convert_graph(embedding_graph().graph_def))
    assert operators(model) == ["GATHER"]
    places = np.array([3, 0, 6, 6, 1], np.int32)
    np.testing.assert_array_equal(
        run(model, places)[0], np.arange(21, dtype=np.float32).reshape(7, 3)[places]
    )


@RUNTIMES
def test_a_body_that_computes_something_else_is_believed(run) -> None:
    model = checked(convert_graph(embedding_graph(flipped=True).graph_def))
    assert "GATHER" not in operators(model)
    np.testing.assert_array_equal(run(model, np.full(5, 2, np.int32))[0], [[-6, -7, -8]] * 5)


def with_further_argument(g: GraphBuilder) -> GraphBuilder:
    """The graph, with one more argument of its function and of the call."""
    g.graph_def.library.function[-1].signature.input_arg.add(name="further", type=FLOAT)
    zero = g.constant("further", np.float32(0))
    [call] = [node for node in g.graph_def.node if node.op == "PartitionedCall"]
    call.input.append(zero)
    call.attr["Tin"].list.type.append(FLOAT)
    return g


@pytest.mark.parametrize(
    "graph",
    [with_further_argument(lstm_graph()), with_further_argument(embedding_graph()), nms_graph(boxes=(2, 0))],
    ids=["lstm of seven", "embedding of three", "no boxes"],
)
def test_calls_that_do_not_fit_are_what_their_bodies_are(graph: GraphBuilder) -> None:
    made = operators(convert_graph(graph.graph_def))
    graph.graph_def.library.function[-1].ClearField("attr")  # says no more what it implements
    assert made == operators(convert_graph(graph.graph_def))


def test_a_body_is_not_tried_for_more_boxes_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    from numlite.converter.lowering.composites import call

    graph = nms_graph()
    [most] = [node for node in graph.graph_def.node if node.name == "most"]
    most.attr["value"].tensor.int_val[:] = []
    most.attr["value"].tensor.tensor_content = np.array(1 << 30, np.int32).tobytes()
    monkeypatch.setattr(call, "body_results", lambda *_: pytest.fail("tried"))
    convert_graph(graph.graph_def)


def fusable_graph() -> GraphBuilder:
    body = GraphBuilder()
    body.placeholder("x", None)
    body.node("Neg", "minus", "x")
    g = GraphBuilder()
    g.placeholder("x", [5])
    function = add_function(g, "own", body, ["minus:y:0"])
    held: FunctionDef = g.graph_def.library.function[-1]
    held.signature.output_arg[0].type = FLOAT
    says = NameAttrList(name="my_op", attr={"tfl_fusable_op": AttrValue(b=True), "size": AttrValue(i=3)})
    held.attr["_implements"].func.CopyFrom(says)
    g.node("PartitionedCall", "call", "x", f=function, Tin=types(FLOAT), Tout=types(FLOAT))
    g.node("Identity", "y", "call", T=AttrValue(type=FLOAT))
    return g


def test_what_is_to_be_one_custom_operator_is_one_where_they_are_allowed() -> None:
    graph = fusable_graph().graph_def
    model = tflite.read(checked(convert(graph, settings=Settings(custom_ops=True)).model))
    assert [code.custom_code for code in model.operator_codes] == ["my_op"]
    assert operators(convert_graph(graph)) == ["NEG"]
