"""Graphs with functions: calls, branches, loops, and libraries that make no sense."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numlite.converter import GraphRunner, run_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.kernels.fallback.status import InvalidArgumentError, ResourceExhaustedError
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema.graph_def import AttrValue, FunctionDef

from .functions import BOOL, FLOAT, INT, call, function, function_attr, types_attr

X = np.float32([1, 2])


def doubling(name: str = "double") -> FunctionDef:
    """y = x + x."""
    body = GraphBuilder()
    x = body.placeholder("x", None)
    body.node("AddN", "sum", x, x)
    return function(name, body, ["x"], {"y": "sum"})


def passing(name: str = "pass") -> FunctionDef:
    """y = x, the argument itself."""
    body = GraphBuilder()
    body.placeholder("x", None)
    return function(name, body, ["x"], {"y": "x"})


def graph_with(*functions: FunctionDef) -> GraphBuilder:
    graph = GraphBuilder()
    graph.graph_def.library.function.extend(functions)
    graph.placeholder("x", None)
    return graph


@pytest.mark.parametrize("op", ["PartitionedCall", "StatefulPartitionedCall"])
def test_a_call(op: str) -> None:
    graph = graph_with(doubling())
    call(graph, op, "y", ["x"], [FLOAT], f="double")
    np.testing.assert_array_equal(run_graph(graph.graph_def, {"x": X}, ["y"])[0], 2 * X)


def test_a_node_whose_op_is_a_function() -> None:
    graph = graph_with(doubling())
    graph.graph_def.node.add(name="y", op="double", input=["x"])
    np.testing.assert_array_equal(run_graph(graph.graph_def, {"x": X}, ["y"])[0], 2 * X)


def test_a_remote_call_runs_here() -> None:
    graph = graph_with(doubling())
    target = graph.constant("target", np.array(b"/job:elsewhere", object))
    inputs = {"Tin": types_attr(FLOAT), "Tout": types_attr(FLOAT)}
    graph.node("RemoteCall", "y", target, "x", f=function_attr("double"), **inputs)
    np.testing.assert_array_equal(run_graph(graph.graph_def, {"x": X}, ["y"])[0], 2 * X)


def test_attributes_of_a_generic_function() -> None:
    """The types of body and signature are those that the call names."""
    body = GraphBuilder()
    x = body.placeholder("x", None)
    body.node("AddN", "sum", x, x)
    generic = function("generic", body, ["x"], {"y": "sum"})
    signature = generic.signature
    signature.attr.add(name="T", type="type")
    for argument in (signature.input_arg[0], signature.output_arg[0]):
        argument.ClearField("type")
        argument.type_attr = "T"
    generic.node_def[0].attr["T"].CopyFrom(AttrValue(placeholder="T"))
    graph = graph_with(generic)
    for type in (FLOAT, INT):
        attributes = {"Tin": types_attr(type), "Tout": types_attr(type)}
        f = function_attr("generic", T=AttrValue(type=type))
        graph.node("PartitionedCall", f"y{type}", "x" if type == FLOAT else "i", f=f, **attributes)
    graph.placeholder("i", None, INT)
    runner = GraphRunner(graph.graph_def)
    np.testing.assert_array_equal(runner.run({"x": X}, [f"y{FLOAT}"])[0], 2 * X)
    np.testing.assert_array_equal(runner.run({"i": np.int32([3])}, [f"y{INT}"])[0], [6])


def test_lists_of_arguments_and_results() -> None:
    both = FunctionDef()
    both.signature.name = "both"
    both.signature.input_arg.add(name="values", type=FLOAT, number_attr="N")
    both.signature.output_arg.add(name="swapped", type=FLOAT, number_attr="N")
    both.signature.attr.add(name="N", type="int")
    swap = both.node_def.add(name="swap", op="IdentityN", input=["values:1", "values"])
    swap.attr["T"].CopyFrom(types_attr(FLOAT, FLOAT))
    both.ret["swapped"] = "swap:output"
    graph = graph_with(both)
    graph.placeholder("z", None)
    node = graph.graph_def.node.add(name="y", op="both", input=["x", "z"])
    node.attr["N"].i = 2
    found = run_graph(graph.graph_def, {"x": X, "z": X + 5}, ["y", "y:1"])
    np.testing.assert_array_equal(found, [X + 5, X])


@pytest.mark.parametrize("op", ["If", "StatelessIf"])
@pytest.mark.parametrize(
    ("condition", "taken"),
    [
        (np.array(True), True),
        (np.array(False), False),
        (np.float32(0.5), True),
        (np.int32(0), False),
        (np.array(b"no", object), True),
        (np.array(b"", object), False),
        (np.zeros(2, np.int32), True),
        (np.zeros(0, np.int32), False),
    ],
    ids=str,
)
def test_a_branch(op: str, condition: np.ndarray, taken: bool) -> None:
    graph = graph_with(doubling(), passing())
    cond = graph.constant("cond", condition)
    inputs = {"Tin": types_attr(FLOAT)}
    functions = {"then_branch": function_attr("double"), "else_branch": function_attr("pass")}
    graph.node(
        op,
        "y",
        cond,
        "x",
        Tcond=graph.graph_def.node[-1].attr["dtype"],
        Tout=types_attr(FLOAT),
        **inputs,
        **functions,
    )
    np.testing.assert_array_equal(run_graph(graph.graph_def, {"x": X}, ["y"])[0], 2 * X if taken else X)


@pytest.mark.parametrize("index", [-1, 0, 1, 2, 7])
def test_a_case_takes_the_last_branch_for_an_index_without_one(index: int) -> None:
    graph = graph_with(passing(), doubling(), passing("last"))
    branches = AttrValue()
    for name in ("pass", "double", "last"):
        branches.list.func.add(name=name)
    chosen = graph.constant("index", np.array(index, np.int32))
    types = {"Tin": types_attr(FLOAT), "Tout": types_attr(FLOAT)}
    graph.node("StatelessCase", "y", chosen, "x", branches=branches, **types)
    expected = 2 * X if index == 1 else X
    np.testing.assert_array_equal(run_graph(graph.graph_def, {"x": X}, ["y"])[0], expected)


def counting(graph: GraphBuilder, op: str = "While", limit: int = 10) -> None:
    """ "y" and "y:1": i and x, which are doubled while i is under the limit."""
    condition, step = GraphBuilder(), GraphBuilder()
    for body in (condition, step):
        body.placeholder("i", [], INT)
        body.placeholder("x", None)
    last = condition.constant("limit", np.array(limit, np.int32))
    condition.node("Less", "less", "i", last)
    step.node("AddN", "next", "i", step.constant("one", np.array(1, np.int32)))
    step.node("AddN", "sum", "x", "x")
    types = {"i": INT, "more": BOOL, "j": INT}
    graph.graph_def.library.function.extend(
        [
            function("condition", condition, ["i", "x"], {"more": "less"}, types),
            function("step", step, ["i", "x"], {"j": "next", "z": "sum"}, types),
        ]
    )
    start = graph.constant("start", np.array(0, np.int32))
    functions = {"cond": function_attr("condition"), "body": function_attr("step")}
    graph.node(op, "y", start, "x", T=types_attr(INT, FLOAT), **functions)


@pytest.mark.parametrize("op", ["While", "StatelessWhile"])
@pytest.mark.parametrize("limit", [-1, 0, 1, 10])
def test_a_loop(op: str, limit: int) -> None:
    graph = graph_with()
    counting(graph, op, limit)
    i, x = run_graph(graph.graph_def, {"x": X}, ["y", "y:1"])
    assert i == max(limit, 0)
    np.testing.assert_array_equal(x, X * 2 ** max(limit, 0))


@pytest.mark.parametrize("bounds", [(0, 3, 1), (5, 0, -2), (2, 2, 1)])
def test_a_for_loop(bounds: tuple[int, int, int]) -> None:
    body = GraphBuilder()
    body.placeholder("i", [], INT)
    body.placeholder("total", [], INT)
    body.node("AddN", "sum", "i", "total")
    types = {"i": INT, "total": INT, "y": INT}
    graph = graph_with(function("body", body, ["i", "total"], {"y": "sum"}, types))
    inputs = [graph.constant(f"bound{i}", np.array(bound, np.int32)) for i, bound in enumerate(bounds)]
    zero = graph.constant("zero", np.array(0, np.int32))
    graph.node("For", "y", *inputs, zero, T=types_attr(INT), body=function_attr("body"))
    assert run_graph(graph.graph_def, {}, ["y"]) == [sum(range(*bounds))]


@pytest.mark.parametrize("bounds", [(0, 3, -1), (3, 0, 1), (0, 3, 0)])
def test_a_for_loop_must_end(bounds: tuple[int, int, int]) -> None:
    graph = graph_with(passing("body"))
    inputs = [graph.constant(f"bound{i}", np.array(bound, np.int32)) for i, bound in enumerate(bounds)]
    graph.node("For", "y", *inputs, "x", T=types_attr(FLOAT), body=function_attr("body"))
    with pytest.raises(InvalidArgumentError, match="delta must lead from start to limit"):
        run_graph(graph.graph_def, {"x": X}, ["y"])


def test_a_function_of_slices() -> None:
    graph = graph_with(doubling())
    attributes = {
        "Targuments": types_attr(FLOAT),
        "Tcaptured": types_attr(),
        "output_types": types_attr(FLOAT),
    }
    shapes = AttrValue()
    shapes.list.shape.add(unknown_rank=True)
    graph.node("MapDefun", "y", "x", f=function_attr("double"), output_shapes=shapes, **attributes)
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.testing.assert_array_equal(run_graph(graph.graph_def, {"x": x}, ["y"])[0], 2 * x)


def test_control_results_run_in_every_call() -> None:
    """The function assigns a variable, whose value its result is not."""
    body = GraphBuilder()
    body.placeholder("v", [], 20)
    body.placeholder("x", None)
    body.node("AssignVariableOp", "assign", "v", "x")
    assigning = function("assigning", body, ["v", "x"], {"y": "x"}, {"v": 20}, ["assign"])
    graph = graph_with(assigning)
    float_type = AttrValue(type=FLOAT)
    handle = graph.node(
        "VarHandleOp", "variable", dtype=float_type, shape=AttrValue(shape={"unknown_rank": True})
    )
    attributes = {"Tin": types_attr(20, FLOAT), "Tout": types_attr(FLOAT)}
    graph.node("StatefulPartitionedCall", "y", handle, "x", f=function_attr("assigning"), **attributes)
    graph.node("ReadVariableOp", "read", handle, "^y", dtype=float_type)
    np.testing.assert_array_equal(run_graph(graph.graph_def, {"x": X}, ["read"])[0], X)


def test_an_argument_may_be_a_control_result() -> None:
    made = doubling()
    made.signature.control_output.append("x")
    made.control_ret["x"] = "x"
    made.node_def[0].input.append("^x")
    graph = graph_with(made)
    call(graph, "PartitionedCall", "y", ["x"], [FLOAT], f="double")
    np.testing.assert_array_equal(run_graph(graph.graph_def, {"x": X}, ["y"])[0], 2 * X)


def test_recursion_ends_with_an_error() -> None:
    body = GraphBuilder()
    body.placeholder("x", None)
    call(body, "PartitionedCall", "again", ["x"], [FLOAT], f="endless")
    graph = graph_with(function("endless", body, ["x"], {"y": "again"}))
    call(graph, "PartitionedCall", "y", ["x"], [FLOAT], f="endless")
    with pytest.raises(ResourceExhaustedError, match="function 'endless': calls must be at most 50 deep"):
        run_graph(graph.graph_def, {"x": X}, ["y"])


def test_recursion_may_end_by_itself() -> None:
    """down(i, x) = i < 1 ? x : down(i - 1, 2 x)."""
    stop, go, down = GraphBuilder(), GraphBuilder(), GraphBuilder()
    for body in (stop, go, down):
        body.placeholder("i", [], INT)
        body.placeholder("x", None)
    less = go.node("AddN", "less", "i", go.constant("minus", np.array(-1, np.int32)))
    twice = go.node("AddN", "twice", "x", "x")
    types = {"Tin": types_attr(INT, FLOAT), "Tout": types_attr(FLOAT)}
    go.node("PartitionedCall", "inner", less, twice, f=function_attr("down"), **types)
    ended = down.node("Less", "ended", "i", down.constant("one", np.array(1, np.int32)))
    branches = {"then_branch": function_attr("stop"), "else_branch": function_attr("go")}
    down.node("If", "result", ended, "i", "x", Tcond=AttrValue(type=BOOL), **types, **branches)
    graph = graph_with(
        function("stop", stop, ["i", "x"], {"y": "x"}, {"i": INT}),
        function("go", go, ["i", "x"], {"y": "inner"}, {"i": INT}),
        function("down", down, ["i", "x"], {"y": "result"}, {"i": INT}),
    )
    three = graph.constant("three", np.array(3, np.int32))
    graph.node("PartitionedCall", "y", three, "x", f=function_attr("down"), **types)
    np.testing.assert_array_equal(run_graph(graph.graph_def, {"x": X}, ["y"])[0], 8 * X)


def damaged(how: str) -> FunctionDef:
    made = doubling()
    if how == "input":
        made.node_def[0].input[0] = "gone"
    elif how == "output":
        made.node_def[0].input[0] = "sum:no_output:0"
    elif how == "control":
        made.node_def[0].input.append("^gone")
    elif how == "result":
        del made.ret["y"]
    elif how == "placeholder":
        made.node_def[0].attr["T"].CopyFrom(AttrValue(placeholder="T"))
    elif how == "circle":
        made.node_def[0].input[0] = "sum:sum:0"
    elif how == "twice":
        made.node_def.add(name="sum", op="NoOp")
    elif how == "control result":
        made.control_ret["sum"] = "gone"
    return made


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("input", "input 'gone' names no output"),
        ("output", r"node 'sum' \(AddN\) has no output 'no_output'"),
        ("control", "there is no node 'gone'"),
        ("result", "result 'y' must be among its rets"),
        ("placeholder", "attribute 'T' must be given where the function is called"),
        ("circle", "a circle must go through a NextIteration"),
        ("twice", "names must be unique, got 'sum' twice"),
        ("control result", "control result 'gone' must be a node"),
    ],
)
def test_damaged_functions_are_refused(how: str, message: str) -> None:
    graph = graph_with(damaged(how))
    call(graph, "PartitionedCall", "y", ["x"], [FLOAT], f="double")
    with pytest.raises(ModelError, match=message):
        run_graph(graph.graph_def, {"x": X}, ["y"])


def test_a_function_that_is_not_there_is_named() -> None:
    graph = graph_with()
    call(graph, "PartitionedCall", "y", ["x"], [FLOAT], f="gone")
    with pytest.raises(ModelError, match=r"node 'y' \(PartitionedCall\): .* no function 'gone'"):
        run_graph(graph.graph_def, {"x": X}, ["y"])


def test_a_call_must_fit_the_function() -> None:
    graph = graph_with(doubling())
    call(graph, "PartitionedCall", "y", ["x", "x"], [FLOAT], f="double")
    with pytest.raises(InvalidArgumentError, match=r"node 'y' .*must have 1 arguments, got 2"):
        run_graph(graph.graph_def, {"x": X}, ["y"])


def test_missing_ops_of_functions_are_named_before_anything_runs() -> None:
    body = GraphBuilder()
    body.placeholder("x", None)
    made = function("strange", body, ["x"], {"y": "x"})
    made.node_def.add(name="unused", op="NoSuchOp")
    made.control_ret["unused"] = "unused"
    made.signature.control_output.append("unused")
    graph = graph_with(made)
    call(graph, "PartitionedCall", "y", ["x"], [FLOAT], f="strange")
    with pytest.raises(UnsupportedError, match="there is none for NoSuchOp"):
        run_graph(graph.graph_def, {"x": X}, ["y"])


def test_gradients_of_functions_are_refused() -> None:
    graph = graph_with(doubling())
    types = {"Tin": types_attr(FLOAT, FLOAT), "Tout": types_attr(FLOAT)}
    graph.node("SymbolicGradient", "y", "x", "x", f=function_attr("double"), **types)
    with pytest.raises(UnsupportedError, match="gradients of functions are not built, got that of 'double'"):
        run_graph(graph.graph_def, {"x": X}, ["y"])


def test_several_threads_run_one_graph() -> None:
    graph = graph_with()
    counting(graph, limit=50)
    runner = GraphRunner(graph.graph_def)
    wrong: list[int] = []

    def work(seed: int) -> None:
        for _ in range(5):
            x = np.float32([seed])
            if runner.run({"x": x}, ["y:1"])[0] != x * np.float32(2.0**50):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
