"""graph_optimizations: graphs are optimized before they are lowered, and no model gets larger."""

from pathlib import Path

import numpy as np
import pytest
from numlite import Interpreter
from numlite.cli.convert_model import command
from numlite.cli.main import run_command
from numlite.converter.converter import Converter
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.graph_optimization import LEVELS, STAGES_OFF
from numlite.converter.optimizers.register import OPTIMIZERS
from numlite.converter.optimizers.rule_table import rules_of
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import GraphDef


def transposed_twice() -> GraphDef:
    """y = (x * a') * b with a Transpose of x's product taken back behind a Neg."""
    net = GraphBuilder()
    x = net.placeholder("x", [2, 3, 4])
    order = net.constant("order", np.array([2, 0, 1], np.int32))
    back = net.constant("back", np.array([1, 2, 0], np.int32))
    turned = net.node("Neg", "n", net.node("Transpose", "t", x, order))
    straight = net.node("Transpose", "u", turned, back)
    net.node("AddV2", "y", net.node("Mul", "m", straight, net.constant("c", np.float32(3))), x)
    return net.graph_def


def converted(level: str, graph: GraphDef) -> bytes:
    converter = Converter.from_graph_def(graph)
    converter.graph_optimizations = level
    return converter.convert()


def operators(model: bytes) -> list[str]:
    return [each["op_name"] for each in Interpreter(model_content=model)._get_ops_details()]


@pytest.mark.parametrize("level", LEVELS)
def test_models_give_the_same(level: str) -> None:
    model = converted(level, transposed_twice())
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    found = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    np.testing.assert_allclose(found, -3 * x + x)
    assert len(operators(model)) <= len(operators(converted("off", transposed_twice())))


def test_a_model_that_would_grow_stays() -> None:
    net = GraphBuilder()
    x = net.placeholder("x", [2, 3])
    net.node("Relu", "y", net.node("AddV2", "s", x, net.constant("c", np.ones(3, np.float32))))
    assert converted("default", net.graph_def) == converted("off", net.graph_def)


def test_nodes_that_are_gone_are_said_to_be() -> None:
    converter = Converter.from_graph_def(transposed_twice())
    converter.graph_optimizations = "aggressive"
    became = {each.node: each.became for each in converter.conversion().outcomes}
    assert {"x", "t", "u", "n", "m", "y"} <= set(became)


def test_levels_are_checked_and_stages_are_known() -> None:
    with pytest.raises(UnsupportedError, match="must be one of off, default, aggressive, got 'fast'"):
        converted("fast", transposed_twice())
    known = {rule.name for each in OPTIMIZERS for rule in rules_of(each)}
    assert set(STAGES_OFF) <= known and all(STAGES_OFF.values())


def test_the_command_optimizes(tmp_path: Path) -> None:
    graph = tmp_path / "graph.pb"
    graph.write_bytes(transposed_twice().SerializeToString())
    output = tmp_path / "out.tflite"
    assert run_command(command, [str(graph), "-o", str(output), "--optimize", "aggressive"]) == 0
    assert len(operators(output.read_bytes())) <= 4
