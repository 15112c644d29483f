"""Functions that call functions, constants of which a graph says only a number and a size: bounded work."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import convert_graph, run_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.ir import export_graph_def, import_graph_def, parse_module, print_module, verify
from numlite.converter.ir.types import OPAQUE
from numlite.converter.lite_graph import LiteTensor
from numlite.converter.lowering import limits
from numlite.converter.saved_model import constant_variable
from numlite.converter.transforms import TRANSFORMS
from numlite.converter.transforms.inline import inline_calls
from numlite.converter.transforms.slice_function import elements_of
from numlite.interpreter import Interpreter
from numlite.kernels.fallback import kernel
from numlite.kernels.fallback.status import ResourceExhaustedError
from numlite.lite import available_memory
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.lite.tensor import TensorType
from numlite.schema.graph_def import DT_FLOAT, DT_INT64, GraphDef, NameAttrList

from ..hostile_files import hostile_file
from .nested_functions import CALLERS, nested

REFUSALS = (ModelError, UnsupportedError)
LIMITS = "calls must be at most|must make at most|make more nodes than"


def ran(model: bytes, value: float) -> float:
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], np.array(value, np.float32))
    interpreter.invoke()
    return float(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize(("depth", "times"), [(10, 1), (4, 2)])
def test_nests_as_graphs_have_them(caller: str, depth: int, times: int) -> None:
    graph = nested(caller, depth, times)
    assert run_graph(graph, {"x": np.float32(3)}, ["y"]) == [3]
    assert ran(convert_graph(graph), 3) == 3


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize(("depth", "times"), [(24, 2), (1000, 1)], ids=str)
class TestTooMuch:
    """1 000 levels, and calls that double with each of 24."""

    def test_running(self, caller: str, depth: int, times: int) -> None:
        with pytest.raises(ModelError, match=LIMITS):
            run_graph(nested(caller, depth, times), {"x": np.float32(3)}, ["y"])

    def test_conversion(self, caller: str, depth: int, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "_MOST_LOWERED", 1 << 11)
        with pytest.raises(ModelError, match=LIMITS):
            convert_graph(nested(caller, depth, times))

    def test_texts_and_inlining(self, caller: str, depth: int, times: int) -> None:
        graph = nested(caller, depth, times)
        module = import_graph_def(graph)
        verify(module)
        again = export_graph_def(parse_module(print_module(module)))
        assert len(again.library.function) == len(graph.library.function)
        try:
            inline_calls(module)
        except ModelError as error:
            assert "must make at most" in str(error)


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: transform.name)
@pytest.mark.parametrize("caller", ["PartitionedCall", "If", "While"])
def test_transforms_of_nests(caller: str, transform: object) -> None:
    for depth, times in ((24, 2), (300, 1)):
        module = import_graph_def(nested(caller, depth, times))
        try:
            transform.run(module)  # type: ignore[attr-defined]
        except REFUSALS as error:
            assert str(error)


def test_a_case_of_many_branches() -> None:
    graph = nested("Case", 1)
    node = next(node for node in graph.node if node.op == "Case")
    del node.attr["branches"].list.func[:]
    node.attr["branches"].list.func.extend([NameAttrList(name="f1")] * 200)
    with pytest.raises(UnsupportedError, match="a Case must have at most 64 branches, got 200"):
        convert_graph(graph)
    del node.attr["branches"].list.func[64:]
    assert convert_graph(graph)


def with_constant(op: str, shape: tuple[int, ...], type: int = DT_INT64) -> GraphDef:
    """A node of the op, of x and a constant that repeats one value."""
    builder = GraphBuilder()
    builder.placeholder("x", [2, 3, 4], type if op == "AddV2" else DT_FLOAT)
    node = builder.graph_def.node.add(name="c", op="Const")
    node.attr["dtype"].type = type
    node.attr["value"].tensor.dtype = type
    for size in shape:
        node.attr["value"].tensor.tensor_shape.dim.add(size=size)
    values = node.attr["value"].tensor
    values.int64_val.append(1) if type == DT_INT64 else values.int_val.append(1)
    builder._types["c"] = [type]
    builder.node(op, "y", "x", "c")
    return builder.graph_def


@pytest.mark.parametrize("op", ["Reshape", "Tile", "Sum", "BroadcastTo"])
@pytest.mark.parametrize("shape", [(1 << 31,), (1 << 20, 1 << 10)], ids=str)
def test_constants_larger_than_memory_are_refused(
    op: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(available_memory, "available_bytes", lambda: 1 << 30)
    with pytest.raises(REFUSALS, match="constants that repeat one value must take at most 134,217,728 bytes"):
        convert_graph(with_constant(op, shape))


def test_many_constants_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(available_memory, "available_bytes", lambda: 1 << 23)
    builder = GraphBuilder()
    total = builder.placeholder("x", [1000], DT_INT64)
    for i in range(200):
        builder.graph_def.node.append(with_constant("AddV2", (1000,)).node[1])
        builder.graph_def.node[-1].name = f"c{i}"
        builder._types[f"c{i}"] = [DT_INT64]
        total = builder.node("AddV2", f"y{i}", total, f"c{i}")
    with pytest.raises(UnsupportedError, match="must take at most 1,048,576 bytes"):
        convert_graph(builder.graph_def)


def test_long_vectors_are_no_known_sizes() -> None:
    data = np.broadcast_to(np.int32(1), 1 << 40)
    assert LiteTensor("t", TensorType.INT32, data.shape, data).known() is None
    assert LiteTensor("t", TensorType.INT32, (3,), data[:3]).known() == (1, 1, 1)


def test_the_hostile_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(available_memory, "available_bytes", lambda: 1 << 33)
    with pytest.raises(REFUSALS, match="'shape'"):
        convert_graph(hostile_file("other/g7841.pb").read_bytes())


def test_a_fetch_larger_than_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "available_bytes", lambda: 1 << 30)
    with pytest.raises(ResourceExhaustedError, match="does not fit in memory"):
        run_graph(with_constant("Reshape", (1 << 31,)), {}, ["c"])


@pytest.mark.parametrize(
    "edge", ["x:99999999999", "x:7", "x:-1", "x:1", f"x:{'9' * 5000}", "c0:output:3", "c0:output:" + "9" * 40]
)
def test_edges_of_functions_that_name_nothing(edge: str) -> None:
    graph = nested("PartitionedCall", 2)
    graph.library.function[0].ret["r"] = edge
    with pytest.raises(ModelError, match="function 'f0'"):
        run_graph(graph, {"x": np.float32(3)}, ["y"])
    graph = nested("PartitionedCall", 2)
    graph.library.function[0].node_def[0].input[0] = edge
    with pytest.raises(ModelError, match="function 'f0'"):
        run_graph(graph, {"x": np.float32(3)}, ["y"])


def test_the_hostile_edge() -> None:
    with pytest.raises(ModelError, match="function 'while_body_8'"):
        content = hostile_file("other/run_graph_indexerror.pb").read_bytes()
        graph = GraphDef.FromString(content)
        feeds = {
            node.name: np.ones([d.size for d in node.attr["shape"].shape.dim], np.float32)
            for node in graph.node
            if node.op == "Placeholder"
        }
        run_graph(content, feeds, ["Identity"])


def test_values_without_an_element_type_are_refused() -> None:
    """What an op that nobody knows gives to a loop or branch."""
    with pytest.raises(ModelError, match="values of loops and branches must have a known element type"):
        elements_of([OPAQUE])


def test_variables_without_an_element_type_are_refused() -> None:
    with pytest.raises(ModelError, match="variables and their indices must have a known element type"):
        constant_variable._element(OPAQUE)
