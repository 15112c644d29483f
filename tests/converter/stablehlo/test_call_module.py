"""XlaCallModule in TensorFlow's graphs, as jax2tf and Keras on JAX write it."""

from __future__ import annotations

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter, convert_graph, run_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.errors import ModelError
from numlite.schema.graph_def import DT_FLOAT, DT_INT32, AttrValue, GraphDef

from ..functions import add_function, types
from .recorded import recorded, recorded_texts


def call(g: GraphBuilder, name: str, *inputs: str, result: int = DT_FLOAT, argument: int = DT_FLOAT) -> str:
    """A node that runs a recorded program of one argument and one result."""
    attributes = {"Tin": types(argument), "Tout": types(result), "Sout": AttrValue()}
    attributes["module"] = AttrValue(s=recorded()[name].program)
    return g.node("XlaCallModule", name, *inputs, **attributes)


def graph(name: str, **options: int) -> GraphDef:
    g = GraphBuilder()
    case = recorded()[name]
    x = g.placeholder("x", [-1, *case.arguments[0].shape[1:]], options.get("argument", DT_FLOAT))
    g.node("Neg", "y", call(g, name, x, **options))
    return g.graph_def


@pytest.mark.parametrize("name", ["open_images", "lstm", "mlp"])
def test_programs_are_parts_of_graphs(name: str) -> None:
    made, case = graph(name), recorded()[name]
    shape = {"x": case.arguments[0].shape}
    [x], wanted = case.arguments, -case.results[0]
    model = convert_graph(made, ["x"], ["y"], shape)
    found = Interpreter(model_content=model).get_signature_runner()(x=x)["y"]
    for result in (found, *run_graph(made, {"x": x}, ["y"])):
        np.testing.assert_allclose(result, wanted, rtol=0, atol=3e-6 * np.abs(wanted).max())
    # The graph that was given is as it was.
    assert any(node.op == "XlaCallModule" for node in made.node)


def test_a_program_may_be_given_as_text() -> None:
    made, case = graph("mlp"), recorded()["mlp"]
    made.node[1].attr["module"].s = recorded_texts()["mlp"]["own"].encode()
    [x] = case.arguments
    [found] = run_graph(made, {"x": x}, ["y"])
    np.testing.assert_allclose(found, -case.results[0], rtol=0, atol=1e-6)


def test_programs_within_functions() -> None:
    inner = GraphBuilder()
    inner.placeholder("v", [3, 8], DT_FLOAT)
    g = GraphBuilder()
    x = g.placeholder("x", [3, 8])
    function = add_function(g, "f", inner, [call(inner, "mlp", "v") + ":output:0"])
    g.graph_def.library.function[-1].signature.output_arg[0].type = DT_FLOAT
    held = types(DT_FLOAT)
    y = g.node("PartitionedCall", "call", call(g, "mlp", x) and x, Tin=held, Tout=held, f=function)
    g.node("AddV2", "y", y, "mlp")
    case = recorded()["mlp"]
    [found] = run_graph(g.graph_def, {"x": case.arguments[0]}, ["y"])
    np.testing.assert_allclose(found, 2 * case.results[0], atol=1e-6)
    runner = Interpreter(model_content=convert_graph(g.graph_def, ["x"], ["y"])).get_signature_runner()
    np.testing.assert_allclose(runner(x=case.arguments[0])["y"], 2 * case.results[0], atol=1e-6)


def test_programs_that_do_not_fit_their_node() -> None:
    with pytest.raises(
        ModelError, match=r"node mlp \(XlaCallModule\): input 0 must be of the program's type 3x8xf32"
    ):
        Converter.from_graph_def(graph("mlp", argument=DT_INT32))
    with pytest.raises(
        ModelError, match=r"node mlp \(XlaCallModule\): result 0 must be of the program's type"
    ):
        Converter.from_graph_def(graph("mlp", result=DT_INT32))
    made = graph("mlp")
    made.node[1].attr["module"].s = b"ML\xefR"
    with pytest.raises(ModelError, match=r"node mlp \(XlaCallModule\): bytecode: "):
        run_graph(made, {"x": np.ones((3, 8), np.float32)}, ["y"])
