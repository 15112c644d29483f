"""V1 control flow becomes While and If, which compute the same."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import convert, convert_graph, run_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.ir import import_graph_def, verify
from numlite.converter.target_spec import Settings
from numlite.converter.transforms.raise_conditionals import raise_control_flow
from numlite.lite.errors import ModelError
from numlite.schema import tflite
from numlite.schema.graph_def import AttrValue

from .functions import add_function, types
from .graphs import checked, run_litert, run_numlite
from .saved_model.saved_models import FLOAT
from .test_inline import call, doubling

INT, BOOL = 3, 10
RUNTIMES = pytest.mark.parametrize("run", [run_litert, run_numlite])


def scalar(value: float, dtype: type = np.float32) -> np.ndarray:
    return np.array(value, dtype)


def loop(g: GraphBuilder, frame: str, limit: str, x: str, step: str) -> str:
    """x * step, `limit` times; returns what leaves the loop."""
    start = g.constant(f"{frame}/start", scalar(0, np.int32))
    values = {"i": start, "x": x}
    for name, value in values.items():
        g.node("Enter", f"{frame}/enter_{name}", value, frame_name=frame)
        merged = (f"{frame}/enter_{name}", f"{frame}/next_{name}")
        g.node("Merge", f"{frame}/merge_{name}", *merged)
    for name, value in (("limit", limit), ("step", step)):
        g.node("Enter", f"{frame}/enter_{name}", value, frame_name=frame, is_constant=True)
    less = g.node("Less", f"{frame}/less", f"{frame}/merge_i", f"{frame}/enter_limit")
    going = g.node("LoopCond", f"{frame}/LoopCond", less)
    for name in values:
        g.node("Switch", f"{frame}/switch_{name}", f"{frame}/merge_{name}", going)
        g.node("Exit", f"{frame}/exit_{name}", f"{frame}/switch_{name}")
    g.node("Identity", f"{frame}/i", f"{frame}/switch_i:1")
    one = g.node("Const", f"{frame}/one", f"^{frame}/i", **constant_attributes(scalar(1, np.int32)))
    g.node("AddV2", f"{frame}/following", f"{frame}/i", one)
    g.node("Mul", f"{frame}/product", f"{frame}/switch_x:1", f"{frame}/enter_step")
    g.node("NextIteration", f"{frame}/next_i", f"{frame}/following")
    g.node("NextIteration", f"{frame}/next_x", f"{frame}/product")
    return f"{frame}/exit_x"


def constant_attributes(value: np.ndarray) -> dict:
    made = GraphBuilder()
    made.constant("c", value)
    return dict(made.graph_def.node[0].attr)


@RUNTIMES
@pytest.mark.parametrize("n", [0, 3])
def test_loop(run, n: int) -> None:
    g = GraphBuilder()
    limit, x, step = g.placeholder("n", [], INT), g.placeholder("x", [2]), g.placeholder("step", [])
    y = loop(g, "while", limit, x, step)
    model = checked(convert_graph(g.graph_def, ["n", "x", "step"], [y]))
    given = np.array([1, -2], np.float32)
    [result] = run(model, scalar(n, np.int32), given, scalar(3))
    np.testing.assert_array_equal(result, given * 3**n)


def test_entries_that_no_node_takes() -> None:
    """Gradients leave such."""
    g = GraphBuilder()
    limit, x, step = g.placeholder("n", [], INT), g.placeholder("x", [2]), g.placeholder("step", [])
    y = loop(g, "while", limit, x, step)
    g.node("Enter", "while/unused", x, frame_name="while")
    model = checked(convert_graph(g.graph_def, ["n", "x", "step"], [y]))
    [result] = run_numlite(model, scalar(2, np.int32), np.float32([1, -2]), scalar(3))
    assert result.tolist() == [9, -18]


@RUNTIMES
def test_a_loop_in_a_function_that_is_called_twice(run) -> None:
    """What the function is given enters its loop."""
    g = GraphBuilder()
    doubling(g.graph_def)
    x, y = g.placeholder("x", []), g.placeholder("y", [])
    call(g.graph_def, "xy", "both", x, y, types=(FLOAT, FLOAT))
    model = checked(convert_graph(g.graph_def, [x, y], ["xy"]))
    [result] = run(model, scalar(1), scalar(3))
    assert result == 16 - 12


def conditional(g: GraphBuilder, name: str, predicate: str, true: tuple, false: tuple) -> str:
    """A Merge of two ways; each is (op, operands), operands named "x:switched" come through a Switch."""
    ways = []
    for way, (op, *operands) in enumerate((false, true)):
        inputs = []
        for i, operand in enumerate(operands):
            switch = g.node("Switch", f"{name}/switch_{way}_{i}", operand, predicate)
            inputs.append(f"{switch}:{way}")
        ways.append(g.node(op, f"{name}/way_{way}", *inputs))
    return g.node("Merge", f"{name}/Merge", *ways)


@RUNTIMES
@pytest.mark.parametrize("which", [True, False])
def test_conditional(run, which: bool) -> None:
    g = GraphBuilder()
    p, x, z = g.placeholder("p", [], 10), g.placeholder("x", [2]), g.placeholder("z", [2])
    y = conditional(g, "cond", p, ("Mul", x, z), ("Sub", x, z))
    g.node("Identity", "which", f"{y}:1")
    model = checked(convert_graph(g.graph_def, ["p", "x", "z"], [y, "which"]))
    a, b = np.array([3, 4], np.float32), np.array([5, 7], np.float32)
    result, index = run(model, np.array(which), a, b)
    np.testing.assert_array_equal(result, a * b if which else a - b)
    assert index == which


@RUNTIMES
@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("inner", [True, False])
def test_conditional_in_a_conditional(run, outer: bool, inner: bool) -> None:
    g = GraphBuilder()
    p, q, x = g.placeholder("p", [], 10), g.placeholder("q", [], 10), g.placeholder("x", [2])
    switched_q, switched_x = g.node("Switch", "o/q", q, p), g.node("Switch", "o/x", x, p)
    nested = conditional(g, "i", f"{switched_q}:1", ("Neg", f"{switched_x}:1"), ("Exp", f"{switched_x}:1"))
    other = g.node("Square", "o/square", switched_x)
    y = g.node("Merge", "o/Merge", other, nested)
    model = checked(convert_graph(g.graph_def, ["p", "q", "x"], [y]))
    given = np.array([0, 1], np.float32)
    [result] = run(model, np.array(outer), np.array(inner), given)
    expected = given**2 if not outer else -given if inner else np.exp(given)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


@RUNTIMES
@pytest.mark.parametrize("which", [True, False])
def test_conditionals_of_one_predicate_after_each_other(run, which: bool) -> None:
    g = GraphBuilder()
    p, x, z = g.placeholder("p", [], 10), g.placeholder("x", [2]), g.placeholder("z", [2])
    first = conditional(g, "first", p, ("Mul", x, z), ("Sub", x, z))
    y = conditional(g, "second", p, ("AddV2", first, x), ("Mul", first, first))
    model = checked(convert_graph(g.graph_def, ["p", "x", "z"], [y]))
    a, b = np.array([3, 4], np.float32), np.array([5, 7], np.float32)
    [result] = run(model, np.array(which), a, b)
    np.testing.assert_array_equal(result, a * b + a if which else (a - b) ** 2)


@RUNTIMES
@pytest.mark.parametrize("index", [0, 1, 2])
def test_choice_by_an_index(run, index: int) -> None:
    g = GraphBuilder()
    i, x = g.placeholder("i", [], INT), g.placeholder("x", [2])
    switch = g.node("_SwitchN", "switch", x, i, num_outs=3, T=AttrValue(type=1))
    ways = [g.node(op, op.lower(), f"{switch}:{k}") for k, op in enumerate(("Neg", "Square", "Exp"))]
    g.node("Merge", "y", *ways, T=AttrValue(type=1), N=3)
    model = checked(convert_graph(g.graph_def, ["i", "x"], ["y"]))
    given = np.array([1, -2], np.float32)
    [result] = run(model, scalar(index, np.int32), given)
    np.testing.assert_allclose(result, [-given, given**2, np.exp(given)][index], rtol=1e-6)


def loop_in_a_loop() -> tuple[GraphBuilder, str]:
    """A graph of "n" and "x", and the name of its result."""
    g = GraphBuilder()
    limit, x = g.placeholder("n", [], INT), g.placeholder("x", [2])
    step = g.constant("two", scalar(2))
    y = loop(g, "outer", limit, x, step)
    # The outer loop's body multiplies by what an inner loop makes of its step.
    for value, enter in (
        ("outer/switch_x:1", "x"),
        ("outer/enter_limit", "limit"),
        ("outer/enter_step", "step"),
    ):
        g.node("Identity", f"outer/inner_{enter}", value)
    inner = loop(g, "outer/inner", "outer/inner_limit", "outer/inner_x", "outer/inner_step")
    for node in g.graph_def.node:
        if node.name == "outer/product":
            node.input[0] = inner
        if node.name == "outer/inner/start":
            node.input.append("^outer/i")
    return g, y


@RUNTIMES
def test_loop_in_a_loop(run) -> None:
    g, y = loop_in_a_loop()
    model = checked(convert_graph(g.graph_def, ["n", "x"], [y]))
    given = np.array([1, -1], np.float32)
    [result] = run(model, scalar(2, np.int32), given)
    np.testing.assert_array_equal(result, given * (4 * 2) ** 2)


def test_the_inner_loop_is_in_the_outer_ones_body_only() -> None:
    g, y = loop_in_a_loop()
    module = import_graph_def(g.graph_def)
    raise_control_flow(module)
    assert module.graph is not None
    assert [node.op for node in module.graph.body].count("While") == 1
    verify(module)
    given = np.array([1, -1], np.float32)
    [result] = run_graph(module, {"n": scalar(2, np.int32), "x": given}, [y])
    np.testing.assert_array_equal(result, given * (4 * 2) ** 2)


def test_names_of_exits_and_merges_stay() -> None:
    g = GraphBuilder()
    loop(g, "while", g.placeholder("n", [], INT), g.placeholder("x", [2]), g.constant("step", scalar(2)))
    module = import_graph_def(g.graph_def)
    raise_control_flow(module)
    assert module.graph is not None
    ops = {node.name: node.op for node in module.graph.body}
    assert ops["while/exit_x"] == "Identity" and "While" in ops.values()
    assert not {"Enter", "Exit", "Merge", "Switch", "NextIteration", "LoopCond"} & set(ops.values())


def test_nodes_of_ways_keep_their_names() -> None:
    """Each way has a subgraph of its own, and its nodes are named after the conditional as they are."""
    g = GraphBuilder()
    p, x = g.placeholder("p", [], BOOL), g.placeholder("x", [2])
    y = conditional(g, "cond", p, ("Square", x), ("Neg", x))
    model = tflite.read(checked(convert_graph(g.graph_def, ["p", "x"], [y])))
    names = [graph.tensors[graph.outputs[0]].name for graph in model.subgraphs[1:]]
    assert names == ["cond/way_1", "cond/way_0"]


def damaged(change: str) -> GraphBuilder:
    g = GraphBuilder()
    limit, x = g.placeholder("n", [], INT), g.placeholder("x", [2])
    if change == "no Switch":
        g.node("Merge", "m", x, x)
        return g
    loop(g, "while", limit, x, g.constant("step", scalar(2)))
    for node in g.graph_def.node:
        if change == "no LoopCond" and node.op == "LoopCond":
            node.op = "Identity"
            node.attr["T"].type = 10
        if change == "no NextIteration" and node.name == "while/merge_x":
            node.input[1] = "x"
        if change == "no Enter" and node.name == "while/exit_x":
            node.input[0] = "x"
    return g


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("no Switch", "node 'm' (Merge): its operands must be the ways of one Switch"),
        ("no LoopCond", "loop 'while': it has no LoopCond"),
        ("no NextIteration", "node 'while/merge_x' (Merge): a loop's Merge must have a NextIteration"),
        ("no Enter", "node 'while/exit_x' (Exit): it leaves no loop"),
    ],
)
def test_damaged_control_flow(change: str, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        convert_graph(damaged(change).graph_def)
    assert message in str(caught.value)


@RUNTIMES
@pytest.mark.parametrize("which", [True, False])
def test_a_conditional_that_needs_the_result_of_another_of_its_predicate(run, which: bool) -> None:
    """As gradients do: what is computed of a Merge goes by the same predicate again."""
    g = GraphBuilder()
    p, x = g.placeholder("p", [], BOOL), g.placeholder("x", [2])
    y = conditional(g, "forward", p, ("Square", x), ("Neg", x))
    outside = g.node("AddV2", "outside", y, y)
    z = conditional(g, "backward", p, ("Mul", outside, x), ("Sub", outside, x))
    model = checked(convert_graph(g.graph_def, ["p", "x"], [z, y]))
    given = np.array([3, -2], np.float32)
    wanted = np.square(given) if which else -given
    result, forward = run(model, np.array(which), given)
    np.testing.assert_array_equal(forward, wanted)
    np.testing.assert_array_equal(result, 2 * wanted * given if which else 2 * wanted - given)


@pytest.mark.parametrize("which", [True, False])
def test_changes_within_a_way_are_made_in_that_way_only(which: bool) -> None:
    """Of two ways that push on one stack, within a function as gradients of loops have them."""
    g = GraphBuilder()
    p, x = g.placeholder("p", [], BOOL), g.placeholder("x", [2])
    most = g.constant("most", np.array(-1, np.int32))
    stack = g.node("StackV2", "stack", most, elem_type=AttrValue(type=1))
    body = GraphBuilder()
    inner = [body.placeholder("p", [], BOOL), body.placeholder("x", [2]), body.placeholder("s", None, 20)]
    y = conditional(body, "cond", inner[0], ("Square", inner[1]), ("Neg", inner[1]))
    for way in (0, 1):
        handle = body.node("Switch", f"handle_{way}", inner[2], inner[0])
        body.node("StackPushV2", f"push_{way}", f"{handle}:{way}", f"cond/way_{way}", T=AttrValue(type=1))
    function = add_function(g, "f", body, [y], effects=["push_0", "push_1"])
    held = g.node("PartitionedCall", "call", p, x, stack, f=function, Tout=types(1))
    g.node("StackPopV2", "popped", stack, f"^{held}", elem_type=AttrValue(type=1))
    model = checked(convert(g.graph_def, ["p", "x"], ["popped"], settings=Settings(select=True)).model)
    given = np.array([3, -2], np.float32)
    [result] = run_numlite(model, np.array(which), given)
    np.testing.assert_array_equal(result, np.square(given) if which else -given)


@RUNTIMES
@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_way_of_constants_within_a_loop(run, n: int) -> None:
    """Only control edges tell in which way they are: 7 at the first turn, times 3 at each that follows."""
    g = GraphBuilder()
    limit, x, step = g.placeholder("n", [], INT), g.placeholder("x", [2]), g.placeholder("step", [])
    y = loop(g, "while", limit, x, step)
    zero = g.node("Const", "while/zero", "^while/i", **constant_attributes(scalar(0, np.int32)))
    p = g.node("Greater", "while/later", "while/i", zero)
    first = g.node("Identity", "while/pivot", g.node("Switch", "while/pivots", p, p))
    hung = g.node("NoOp", "while/hung", f"^{first}")
    seven = g.node("Const", "while/seven", f"^{hung}", **constant_attributes(np.full(2, 7, np.float32)))
    more = g.node("Switch", "while/more", "while/product", p)
    g.node("Merge", "while/chosen", seven, f"{more}:1")
    next(node for node in g.graph_def.node if node.name == "while/next_x").input[0] = "while/chosen"
    model = checked(convert_graph(g.graph_def, ["n", "x", "step"], [y]))
    given = np.array([1, -2], np.float32)
    [result] = run(model, scalar(n, np.int32), given, scalar(3))
    np.testing.assert_array_equal(result, np.full(2, 7 * 3 ** (n - 1)) if n else given)
