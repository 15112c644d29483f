"""Conversion from start to end: what comes out computes what went in."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from google.protobuf import text_format
from numlite.converter import convert, convert_graph, read_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.target_spec import Settings
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.lite.tensor import TensorType
from numlite.schema import tflite
from numlite.schema.graph_def import AttrValue, GraphDef, TensorShapeProto

from ..running import run
from .graphs import checked, histogram, operators, run_litert, sine_graph

RANDOM = np.random.default_rng(5)


def random(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def test_sine_model() -> None:
    model = checked(convert_graph(sine_graph().graph_def))
    [y] = run_litert(model, np.array([2], np.float32))
    assert y[0] == pytest.approx(2.1525, abs=5e-5)


def test_sine_model_by_numlite() -> None:
    from numlite.interpreter import Interpreter

    [y] = run(Interpreter(model_content=convert_graph(sine_graph().graph_def)), np.array([2], np.float32))
    assert y[0] == pytest.approx(2.1525, abs=5e-5)


def test_serialized_and_text_graphs(tmp_path) -> None:
    graph_def = sine_graph().graph_def
    binary, text = tmp_path / "sine.pb", tmp_path / "sine.pbtxt"
    binary.write_bytes(graph_def.SerializeToString())
    text.write_text(text_format.MessageToString(graph_def))
    models = [convert_graph(read_graph(binary)), convert_graph(read_graph(text))]
    models.append(convert_graph(graph_def.SerializeToString()))
    assert models == [convert_graph(graph_def)] * 3


def convolution_net(op: str = "Conv2D") -> tuple[GraphBuilder, dict[str, np.ndarray]]:
    """Convolution, batch norm, ReLU, pooling, dense layer."""
    constants = {
        "filters": random(3, 3, 2, 4 if op == "Conv2D" else 2),
        "scale": RANDOM.uniform(0.5, 2, 4).astype(np.float32),
        "offset": random(4),
        "mean": random(4),
        "variance": RANDOM.uniform(0.1, 2, 4).astype(np.float32),
        "weights": random(4 * 4 * 4, 3),
        "bias": random(3),
    }
    g = GraphBuilder()
    for name, value in constants.items():
        g.constant(name, value)
    x = g.node(op, "conv", g.placeholder("x", [-1, 8, 8, 2]), "filters", strides=(1, 1, 1, 1), padding="SAME")
    x = g.node("FusedBatchNormV3", "norm", x, "scale", "offset", "mean", "variance", is_training=False)
    x = g.node("Relu6", "relu", x)
    pool = {"ksize": (1, 2, 2, 1), "strides": (1, 2, 2, 1), "padding": "VALID"}
    x = g.node("AvgPool", "pool", x, **pool)
    x = g.node("Reshape", "flat", x, g.constant("rows", np.array([-1, 64], np.int32)))
    g.node("BiasAdd", "y", g.node("MatMul", "product", x, "weights"), "bias")
    return g, constants


def convolution_net_expected(op: str, c: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    """The same net in NumPy, written from the ops' definitions."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))).astype(np.float64)
    y = np.zeros((*x.shape[:3], 4))
    for i in range(3):
        for j in range(3):
            window = padded[:, i : i + 8, j : j + 8]
            if op == "Conv2D":
                y += window @ c["filters"][i, j]
            else:
                y += (window[..., None] * c["filters"][i, j]).reshape(y.shape)
    y = (y - c["mean"]) / np.sqrt(c["variance"] + 1e-4) * c["scale"] + c["offset"]
    y = np.clip(y, 0, 6).reshape(len(x), 4, 2, 4, 2, 4).mean(axis=(2, 4))
    return y.reshape(len(x), 64) @ c["weights"] + c["bias"]


@pytest.mark.parametrize("op", ["Conv2D", "DepthwiseConv2dNative"])
def test_convolution_net(op: str) -> None:
    graph, constants = convolution_net(op)
    model = checked(convert_graph(graph.graph_def))
    code = "CONV_2D" if op == "Conv2D" else "DEPTHWISE_CONV_2D"
    assert operators(model) == [code, "AVERAGE_POOL_2D", "RESHAPE", "FULLY_CONNECTED"]
    x = random(3, 8, 8, 2)
    [y] = run_litert(model, x)
    # Sums of up to 64 products in float32.
    np.testing.assert_allclose(y, convolution_net_expected(op, constants, x), rtol=1e-4, atol=1e-5)


def test_names_shapes_and_signature() -> None:
    model = tflite.read(convert_graph(convolution_net()[0].graph_def))
    subgraph = model.subgraphs[0]
    x, y = subgraph.tensors[subgraph.inputs[0]], subgraph.tensors[subgraph.outputs[0]]
    assert (x.name, x.shape.tolist(), x.shape_signature.tolist()) == ("x", [1, 8, 8, 2], [-1, 8, 8, 2])
    assert (y.name, y.shape.tolist(), y.shape_signature.tolist()) == ("y", [1, 3], [-1, 3])
    [signature] = model.signature_defs
    assert [i.name for i in signature.inputs] == ["x"] and [o.name for o in signature.outputs] == ["y"]


def test_input_shapes_replace_the_graphs() -> None:
    model = tflite.read(convert_graph(convolution_net()[0].graph_def, input_shapes={"x": [5, 8, 8, 2]}))
    subgraph = model.subgraphs[0]
    assert subgraph.tensors[subgraph.outputs[0]].shape.tolist() == [5, 3]
    assert len(subgraph.tensors[subgraph.outputs[0]].shape_signature) == 0


def test_graph_is_cut_at_inputs_and_outputs() -> None:
    graph, _ = convolution_net()
    model = convert_graph(graph.graph_def, ["norm"], ["pool"], {"norm": [1, 8, 8, 4]})
    assert operators(model) == ["RELU6", "AVERAGE_POOL_2D"]


def test_outcomes() -> None:
    outcomes = {outcome.node: outcome.became for outcome in convert(convolution_net()[0].graph_def).outcomes}
    assert outcomes["x"] == "input"
    assert outcomes["conv"] == "CONV_2D"
    assert outcomes["norm"] == outcomes["relu"] == "fused into CONV_2D"
    assert outcomes["y"] == "fused into FULLY_CONNECTED"
    assert outcomes["filters"] == "constant"


def test_outcomes_of_what_passes_take_in() -> None:
    g = GraphBuilder()
    x = g.placeholder("x", [1, 4, 4, 1])
    pads = g.constant("pads", np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32))
    filters = g.constant("f", random(3, 3, 1, 2))
    g.node("Conv2D", "y", g.node("Pad", "pad", x, pads), filters, strides=(1, 1, 1, 1), padding="VALID")
    g.node("Add", "z", g.node("Mul", "one", "y", g.constant("1", np.float32(1))), x)
    outcomes = {outcome.node: outcome.became for outcome in convert(g.graph_def).outcomes}
    assert outcomes["pad"] == "fused into CONV_2D" and outcomes["y"] == "CONV_2D"
    assert outcomes["one"] == "absorbed by a pass"


def test_unknown_ops_are_listed_all_at_once() -> None:
    g = GraphBuilder()
    x = g.placeholder("x", [2])
    x = g.node("Erf", "e1", g.node("Erf", "e0", x))
    g.node("Frobnicate", "f", x)
    with pytest.raises(UnsupportedError) as caught:
        convert_graph(g.graph_def)
    assert str(caught.value) == (
        "3 nodes cannot be converted: Erf (nodes 'e0', 'e1'); Frobnicate: the type of result 0 is not known, "
        "the node's attribute _output_types would tell it (node 'f'). "
        "target_spec.supported_ops with OpsSet.SELECT_TF_OPS (--select-tf-ops) would take Erf. "
        "allow_custom_ops (--allow-custom-ops) would take Frobnicate"
    )


def test_unknown_ops_by_what_their_nodes_say() -> None:
    g = GraphBuilder()
    shape = TensorShapeProto()
    shape.dim.add(size=2)
    shape.dim.add(size=-1)
    told = {
        "_output_types": AttrValue(list=AttrValue.ListValue(type=[3, 1])),
        "_output_shapes": AttrValue(list=AttrValue.ListValue(shape=[shape, shape])),
    }
    g.node("Frobnicate", "f", g.placeholder("x", [2]), **told)
    g.node("Sin", "s", "f:1", T=AttrValue(type=1))
    g.node("Twiddle", "t", "x", Tout=AttrValue(type=1))
    model = tflite.read(checked(convert(g.graph_def, settings=Settings(custom_ops=True)).model))
    assert {code.custom_code for code in model.operator_codes} == {None, "Frobnicate", "Twiddle"}
    tensors = {t.name: (TensorType(t.type).name, list(t.shape_signature)) for t in model.subgraphs[0].tensors}
    assert tensors["f"] == ("INT32", [2, -1]) and tensors["f:1"] == tensors["s"] == ("FLOAT32", [2, -1])
    assert tensors["t"][0] == "FLOAT32"
    message = r"Frobnicate \(node 'f'\); Twiddle \(node 't'\)\. allow_custom_ops"
    with pytest.raises(UnsupportedError, match=message):
        convert(g.graph_def)


def test_no_setting_takes_what_has_no_types() -> None:
    g = GraphBuilder()
    g.node("Frobnicate", "f", g.placeholder("x", [2]))
    with pytest.raises(UnsupportedError, match="attribute _output_types would tell it"):
        convert(g.graph_def, settings=Settings(custom_ops=True))


def test_unsupported_types_name_their_node() -> None:
    g = GraphBuilder()
    g.node("Relu", "r", g.placeholder("x", [2], data_type=2))
    with pytest.raises(UnsupportedError, match=r"Relu: MAXIMUM does not take float64 \(node 'r'\)"):
        convert_graph(g.graph_def)


def wrong_graphs() -> dict[str, tuple[GraphBuilder, str]]:
    missing, twice, cycle, shapes, padding, none = (GraphBuilder() for _ in range(6))
    floats = AttrValue(type=1)
    missing.node("Relu", "r", "nowhere", T=floats)
    twice.placeholder("x", [1])
    twice.placeholder("x", [1])
    cycle.node("Relu", "a", "b", T=floats)
    cycle.node("Relu", "b", "a", T=floats)
    cycle.node("Relu", "c", "b", T=floats)
    shapes.node("AddV2", "sum", shapes.placeholder("x", [2]), shapes.placeholder("y", [3]))
    filters = padding.constant("f", random(1, 1, 1, 1))
    padding.node("Conv2D", "c", padding.placeholder("x", [1, 2, 2, 1]), filters, strides=(1, 1, 1, 1))
    none.placeholder("x", [1])
    return {
        "missing input": (missing, "Non-existent input nowhere in node r"),
        "two of a name": (twice, "Duplicated node (or function argument) with the same name: `x`"),
        "cycle": (cycle, "Node 'a' (op 'Relu'): 3 nodes are or follow a cycle"),
        "shapes": (shapes, "node 'sum' (AddV2): ADD: operands must have equal or broadcastable shapes"),
        "padding": (padding, "Node 'c' (op 'Conv2D'): attribute 'padding' (string) is missing"),
        "no outputs": (none, "it has no outputs"),
    }


@pytest.mark.parametrize("case", wrong_graphs())
def test_wrong_graphs(case: str) -> None:
    graph, message = wrong_graphs()[case]
    with pytest.raises(ModelError) as caught:
        convert_graph(graph.graph_def)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"output_arrays": ["nope"]}, "output 'nope': the graph has no such node"),
        ({"input_arrays": ["nope"]}, "input 'nope': the graph has no such node"),
        ({"output_arrays": ["f:1"]}, "output 'f:1': the node has no such result"),
        ({"input_shapes": {"x": [2**31]}}, "input 'x': sizes must be -1 to 2147483647, got [2147483648]"),
        ({"input_shapes": {"x": [-2]}}, "input 'x': sizes must be -1 to 2147483647, got [-2]"),
        ({"input_shapes": {"y": [1]}}, "y is no input, the inputs are x"),
        (
            {"input_arrays": []},
            "node 'x' (Placeholder): the outputs depend on it, but it is not among the inputs",
        ),
    ],
)
def test_wrong_arguments(arguments: dict, message: str) -> None:
    with pytest.raises((ModelError, UnsupportedError)) as caught:
        convert_graph(sine_graph().graph_def, **arguments)
    assert message in str(caught.value)


def test_damaged_files(tmp_path) -> None:
    for name, content in (("a.pb", b"\xff\xff"), ("b.pbtxt", b"node {"), ("c.pbtxt", b"\xff")):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(ModelError, match="not a GraphDef"):
            read_graph(path)


def test_long_chains_do_not_recurse() -> None:
    g = GraphBuilder()
    x = g.placeholder("x", [1])
    for i in range(3000):
        x = g.node("Sin", f"s{i}", x)
    assert histogram(convert_graph(g.graph_def)) == {"SIN": 3000}


def damaged(graph_def: GraphDef, random_: Random) -> GraphDef:
    """The graph with one input, attribute, op or name changed at random."""
    result = GraphDef()
    result.CopyFrom(graph_def)
    node, other = random_.choice(result.node), random_.choice(result.node)
    choice = random_.randrange(5)
    if choice == 0:
        node.input.append(other.name)
    elif choice == 1 and node.input:
        node.input[random_.randrange(len(node.input))] = random_.choice(
            ["", "^", other.name, f"{other.name}:1"]
        )
    elif choice == 2 and node.attr:
        del node.attr[random_.choice(sorted(node.attr))]
    elif choice == 3 and node.attr:
        attribute = node.attr[random_.choice(sorted(node.attr))]
        numbers = attribute.list.i or [dim.size for dim in attribute.shape.dim]
        wrong = [random_.choice([-1, 0, 2, 2**40, number]) for number in numbers]
        attribute.CopyFrom(AttrValue(list=AttrValue.ListValue(i=wrong)) if wrong else AttrValue(s=b"\xff"))
    else:
        node.op = other.op
    return result


def test_damaged_graphs_are_refused_or_converted() -> None:
    """Nothing but ModelError and UnsupportedError comes out, and what is converted is well formed."""
    random_ = Random(8)
    graph_def = convolution_net()[0].graph_def
    for _ in range(1000):
        try:
            model = convert_graph(damaged(graph_def, random_))
        except (ModelError, UnsupportedError):
            continue
        checked(model)
