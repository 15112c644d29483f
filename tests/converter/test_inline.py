"""Inlining of calls: what the graph computes stays, in the same order and in the same loops."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import GraphRunner
from numlite.converter.ir import ImportOptions, export_graph_def, import_graph_def, verify
from numlite.converter.transforms.effects import Effects
from numlite.converter.transforms.inline import inline_calls
from numlite.converter.transforms.needless_controls import drop_needless_controls
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema.graph_def import GraphDef

from .saved_model.saved_models import (
    BOOL,
    FLOAT,
    INT,
    RESOURCE,
    Func,
    Type,
    add,
    constant,
    function,
    variable,
)


def inlined(graph: GraphDef, clean: bool = True) -> GraphDef:
    """The graph with its calls inlined, as a program of its own."""
    module = import_graph_def(graph)
    inline_calls(module)
    verify(module)
    assert module.graph is not None
    if clean:
        drop_needless_controls(module.graph, Effects(module.functions))
    return export_graph_def(module)


def call(
    graph: GraphDef, name: str, callee: str, *inputs: str, types: tuple[Type, ...] = (FLOAT,), **more: object
):
    made = add(graph, "StatefulPartitionedCall", name, *inputs, f=Func(callee), Tin=list(types), **more)
    if "Tout" not in more:
        made.attr["Tout"].list.type.append(FLOAT.number)
    return made


def twice(graph: GraphDef, name: str = "twice") -> None:
    """twice(a) = a + a."""
    f = function(graph, name, {"a": FLOAT}, {"r": (FLOAT, "sum:z:0")})
    add(f, "AddV2", "sum", "a", "a", T=FLOAT)


def test_a_call_in_a_call() -> None:
    graph = GraphDef()
    twice(graph)
    f = function(graph, "four", {"a": FLOAT}, {"r": (FLOAT, "second:output:0")})
    call(f, "first", "twice", "a")
    call(f, "second", "twice", "first:output:0")
    add(graph, "Placeholder", "x", dtype=FLOAT)
    call(graph, "y", "four", "x")
    add(graph, "Neg", "z", "y", T=FLOAT)
    result = inlined(graph)
    assert [(node.name, node.op) for node in result.node] == [
        ("x", "Placeholder"),
        ("y/first/sum", "AddV2"),
        ("y/second/sum", "AddV2"),
        ("z", "Neg"),
    ]
    assert GraphRunner(result).run({"x": np.float32(1.5)}, ["z"])[0] == -6


def test_an_argument_that_is_returned_and_names_that_are_taken() -> None:
    graph = GraphDef()
    f = function(graph, "f", {"a": FLOAT}, {"r": (FLOAT, "a"), "s": (FLOAT, "n:y:0")})
    add(f, "Neg", "n", "a", T=FLOAT)
    add(graph, "Placeholder", "x", dtype=FLOAT)
    made = call(graph, "y", "f", "x", Tout=[FLOAT, FLOAT])
    assert len(made.attr["Tout"].list.type) == 2
    add(graph, "NoOp", "y/n")
    add(graph, "Sub", "z", "y", "y:1", T=FLOAT)
    result = inlined(graph)
    assert list(result.node[-1].input) == ["x", "y/n_1"]


def test_calls_in_functions_that_stay() -> None:
    graph = GraphDef()
    twice(graph)
    f = function(graph, "branch", {"a": FLOAT}, {"r": (FLOAT, "c:output:0")})
    call(f, "c", "twice", "a")
    add(graph, "Placeholder", "p", dtype=BOOL)
    add(graph, "Placeholder", "x", dtype=FLOAT)
    branches = {"then_branch": Func("branch"), "else_branch": Func("twice")}
    add(graph, "If", "y", "p", "x", Tcond=BOOL, Tin=[FLOAT], Tout=[FLOAT], **branches)
    result = inlined(graph)
    assert [node.op for node in result.library.function[1].node_def] == ["AddV2"]
    assert GraphRunner(result).run({"p": True, "x": np.float32(2)}, ["y"])[0] == 4


def counter(graph: GraphDef) -> None:
    """A variable v, and count(v, a), which adds a to it and gives a back, in no order."""
    variable(graph, "v")
    f = function(graph, "count", {"v": RESOURCE, "a": FLOAT}, {"r": (FLOAT, "copy:output:0")}, ["assign"])
    add(f, "AssignAddVariableOp", "assign", "v", "a", dtype=FLOAT)
    add(f, "Identity", "copy", "a", T=FLOAT)


def test_effects_happen_with_the_result_and_in_order() -> None:
    graph = GraphDef()
    counter(graph)
    constant(graph, "zero", 0.0)
    add(graph, "AssignVariableOp", "start", "v", "zero", dtype=FLOAT)
    add(graph, "Placeholder", "x", dtype=FLOAT)
    call(graph, "one", "count", "v", "x", types=(RESOURCE, FLOAT))
    call(graph, "two", "count", "v", "one", types=(RESOURCE, FLOAT))
    add(graph, "ReadVariableOp", "read", "v", "^two", dtype=FLOAT)
    runner = GraphRunner(inlined(graph))
    runner.run(targets=["start"])
    assert runner.run({"x": np.float32(3)}, ["read"])[0] == 6
    result = next(node.input[0] for node in inlined(graph).node if node.name == "two/copy")
    assert runner.run({"x": np.float32(3)}, [result])[0] == 3
    assert runner.run({"x": np.float32(0)}, ["read"])[0] == 9


def test_a_call_waits_for_its_controls() -> None:
    graph = GraphDef()
    counter(graph)
    constant(graph, "zero", 0.0)
    f = function(graph, "read_it", {"v": RESOURCE}, {"r": (FLOAT, "read:value:0")}, ["read"])
    add(f, "ReadVariableOp", "read", "v", dtype=FLOAT)
    add(graph, "Placeholder", "x", dtype=FLOAT)
    add(graph, "AssignVariableOp", "set", "v", "x", dtype=FLOAT)
    call(graph, "y", "read_it", "v", "^set", types=(RESOURCE,))
    add(graph, "Neg", "z", "y", T=FLOAT)
    result = inlined(graph)
    read = next(node for node in result.node if node.op == "ReadVariableOp")
    assert any(text.startswith("^") for text in read.input)
    assert GraphRunner(result).run({"x": np.float32(5)}, ["z"])[0] == -5


def test_controls_without_meaning_are_dropped() -> None:
    graph = GraphDef()
    f = function(graph, "f", {"a": FLOAT}, {"r": (FLOAT, "n:y:0")}, ["n"])
    add(f, "Neg", "n", "a", T=FLOAT)
    add(graph, "Placeholder", "x", dtype=FLOAT)
    constant(graph, "c", 1.0)
    call(graph, "y", "f", "x", "^c")
    add(graph, "Abs", "z", "y", "^y", T=FLOAT)
    assert not any(text.startswith("^") for node in inlined(graph).node for text in node.input)


def framed(graph: GraphDef) -> None:
    """i counts from 0 to 3 in a V1 loop, and a is put through f in each round; f has a constant."""
    f = function(graph, "f", {"a": FLOAT}, {"r": (FLOAT, "sum:z:0"), "s": (FLOAT, "one:output:0")})
    constant(f, "one", 1.0)
    add(f, "AddV2", "sum", "a", "one:output:0", T=FLOAT)
    constant(graph, "zero", 0, INT)
    add(graph, "Placeholder", "x", dtype=FLOAT)
    for name, source, type in (("i", "zero", INT), ("a", "x", FLOAT)):
        add(graph, "Enter", f"{name}/enter", source, T=type, frame_name="loop")
        add(graph, "Merge", f"{name}/merge", f"{name}/enter", f"{name}/next", T=type, N=2)
    constant(graph, "three", 3, INT)
    add(graph, "Enter", "three/enter", "three", T=INT, frame_name="loop", is_constant=True)
    add(graph, "Less", "less", "i/merge", "three/enter", T=INT)
    add(graph, "LoopCond", "cond", "less")
    for name, type in (("i", INT), ("a", FLOAT)):
        add(graph, "Switch", f"{name}/switch", f"{name}/merge", "cond", T=type)
        add(graph, "Exit", f"{name}/exit", f"{name}/switch", T=type)
    add(graph, "Identity", "i/body", "i/switch:1", T=INT)
    constant(graph, "step", 1, INT)
    graph.node[-1].input.append("^i/body")
    add(graph, "AddV2", "i/add", "i/body", "step", T=INT)
    add(graph, "NextIteration", "i/next", "i/add", T=INT)
    call(graph, "body", "f", "a/switch:1", Tout=[FLOAT, FLOAT])
    add(graph, "Mul", "a/mul", "body", "body:1", T=FLOAT)
    add(graph, "NextIteration", "a/next", "a/mul", T=FLOAT)


def test_a_call_in_a_loop_of_the_first_version() -> None:
    graph = GraphDef()
    framed(graph)
    result = inlined(graph)
    assert not any(node.op == "StatefulPartitionedCall" for node in result.node)
    assert GraphRunner(result).run({"x": np.float32(2)}, ["a/exit"])[0] == 5


def doubling(graph: GraphDef) -> None:
    """f doubles a in a V1 loop until it is 10 or more; both does so with two numbers."""
    f = function(graph, "f", {"a": FLOAT}, {"r": (FLOAT, "exit:output:0")})
    constant(f, "ten", 10.0)
    add(f, "Enter", "most", "ten:output:0", T=FLOAT, frame_name="loop", is_constant=True)
    add(f, "Enter", "enter", "a", T=FLOAT, frame_name="loop")
    add(f, "Merge", "merge", "enter:output:0", "next:output:0", T=FLOAT, N=2)
    add(f, "Less", "less", "merge:output:0", "most:output:0", T=FLOAT)
    add(f, "LoopCond", "cond", "less:z:0")
    add(f, "Switch", "switch", "merge:output:0", "cond:output:0", T=FLOAT)
    add(f, "AddV2", "sum", "switch:output_true:0", "switch:output_true:0", T=FLOAT)
    add(f, "NextIteration", "next", "sum:z:0", T=FLOAT)
    add(f, "Exit", "exit", "switch:output_false:0", T=FLOAT)
    both = function(graph, "both", {"a": FLOAT, "b": FLOAT}, {"r": (FLOAT, "sub:z:0")})
    call(both, "first", "f", "a")
    call(both, "second", "f", "b")
    add(both, "Sub", "sub", "first:output:0", "second:output:0", T=FLOAT)


@pytest.mark.parametrize("clean", [True, False])
def test_a_loop_of_the_first_version_in_a_function_that_is_called_twice(clean: bool) -> None:
    """Each call has a loop of its own, with as many rounds as it needs."""
    graph = GraphDef()
    doubling(graph)
    for name in "xyz":
        add(graph, "Placeholder", name, dtype=FLOAT)
    call(graph, "xy", "both", "x", "y", types=(FLOAT, FLOAT))
    call(graph, "yz", "both", "y", "z", types=(FLOAT, FLOAT))
    add(graph, "Neg", "less", "xy", T=FLOAT)
    add(graph, "Neg", "more", "yz", T=FLOAT)
    # A frame of the graph's own that has the name already.
    add(graph, "Enter", "other", "x", T=FLOAT, frame_name="xy/first/loop")
    add(graph, "Exit", "left", "other", T=FLOAT)
    feeds = {"x": np.float32(1), "y": np.float32(3), "z": np.float32(20)}
    result = inlined(graph, clean)
    frames = {node.attr["frame_name"].s for node in result.node if node.op == "Enter"}
    assert len(frames) == 5
    assert [float(value) for value in GraphRunner(result).run(feeds, ["less", "more", "left"])] == [-4, 8, 1]


@pytest.mark.parametrize(("taken", "expected"), [(True, -1.0), (False, 7.0)])
def test_a_call_in_a_branch_of_the_first_version(taken: bool, expected: float) -> None:
    """What a function gives without looking at its arguments is dead where the call is."""
    graph = GraphDef()
    f = function(graph, "f", {"a": FLOAT}, {"r": (FLOAT, "one:output:0")})
    constant(f, "one", -1.0)
    add(graph, "Placeholder", "p", dtype=BOOL)
    constant(graph, "seven", 7.0)
    add(graph, "Switch", "switch", "seven", "p", T=FLOAT)
    call(graph, "then", "f", "switch:1")
    add(graph, "Merge", "merge", "switch", "then", T=FLOAT, N=2)
    assert GraphRunner(inlined(graph)).run({"p": taken}, ["merge"])[0] == expected


def test_generic_functions() -> None:
    graph = GraphDef()
    f = function(graph, "f", {"a": FLOAT}, {"r": (FLOAT, "n:y:0")})
    f.signature.attr.add(name="T", type="type")
    for argument in (f.signature.input_arg[0], f.signature.output_arg[0]):
        argument.type, argument.type_attr = 0, "T"
    add(f, "Neg", "n", "a").attr["T"].placeholder = "T"
    add(graph, "Placeholder", "x", dtype=INT)
    made = add(graph, "PartitionedCall", "y", "x", f=Func("f"), Tin=[INT], Tout=[INT])
    made.attr["f"].func.attr["T"].type = INT.number
    result = inlined(graph)
    assert result.node[-1].attr["T"].type == INT.number
    assert GraphRunner(result).run({"x": np.int32(4)}, ["y/n"])[0] == -4
    del made.attr["f"].func.attr["T"]
    with pytest.raises(ModelError, match="the call must give attribute 'T'"):
        inlined(graph)
    f.signature.input_arg[0].number_attr = "N"
    made.attr["f"].func.attr["T"].type = INT.number
    with pytest.raises(UnsupportedError, match="is a list"):
        inlined(graph)


def test_functions_that_call_themselves() -> None:
    graph = GraphDef()
    for name, other in (("f", "g"), ("g", "f")):
        f = function(graph, name, {"a": FLOAT}, {"r": (FLOAT, "c:output:0")})
        call(f, "c", other, "a")
    with pytest.raises(ModelError, match=r"function '[fg]' calls itself"):
        inlined(graph)


def test_a_long_chain_of_functions() -> None:
    graph = GraphDef()
    twice(graph, "f0")
    for i in range(1, 2000):
        f = function(graph, f"f{i}", {"a": FLOAT}, {"r": (FLOAT, "c:output:0")})
        call(f, "c", f"f{i - 1}", "a")
    add(graph, "Placeholder", "x", dtype=FLOAT)
    call(graph, "y", "f1999", "x")
    module = import_graph_def(graph)
    inline_calls(module)
    assert module.graph is not None
    assert [node.op for node in module.graph.body] == ["Placeholder", "AddV2"]


def test_functions_that_double_and_double() -> None:
    graph = GraphDef()
    twice(graph, "f0")
    for i in range(1, 40):
        f = function(graph, f"f{i}", {"a": FLOAT}, {"r": (FLOAT, "d:output:0")})
        call(f, "c", f"f{i - 1}", "a")
        call(f, "d", f"f{i - 1}", "c:output:0")
    with pytest.raises(ModelError, match="their calls, inlined, must make at most 131,072 nodes"):
        inlined(graph)


def test_calls_that_do_not_fit() -> None:
    graph = GraphDef()
    twice(graph)
    add(graph, "Placeholder", "x", dtype=FLOAT)
    call(graph, "y", "twice", "x", "x", types=(FLOAT, FLOAT))
    with pytest.raises(ModelError, match="'y' of function 'twice': it has 2 operands"):
        inlined(graph)
    del graph.node[:]
    add(graph, "Placeholder", "x", dtype=INT)
    call(graph, "y", "twice", "x", types=(INT,))
    with pytest.raises(ModelError, match="operand 0 must be tensor"):
        inlined(graph)


def test_controls_in_functions_and_of_what_writes() -> None:
    graph = GraphDef()
    counter(graph)
    f = function(graph, "branch", {"v": RESOURCE, "a": FLOAT}, {"r": (FLOAT, "late:output:0")}, ["plain"])
    constant(f, "plain", 1.0)
    add(f, "AssignAddVariableOp", "write", "v", "a", "^plain", dtype=FLOAT)
    add(f, "NoOp", "both", "^plain", "^write")
    add(f, "Identity", "late", "a", "^both", "^plain", T=FLOAT)
    module = import_graph_def(graph)
    drop_needless_controls(module.functions["branch"], Effects(module.functions))
    controls = {node.name: [v.owner.name for v in node.controls] for node in module.functions["branch"].body}
    assert controls == {"plain": [], "write": [], "both": ["write"], "late": ["both"], "": ["plain"]}


def test_effects_are_looked_up_through_functions() -> None:
    graph = GraphDef()
    counter(graph)
    f = function(graph, "reads", {"v": RESOURCE}, {"r": (FLOAT, "read:value:0")})
    add(f, "ReadVariableOp", "read", "v", dtype=FLOAT)
    twice(graph, "pure")
    add(graph, "Placeholder", "p", dtype=BOOL)
    constant(graph, "c", 1.0)
    for name, callee, inputs in (
        ("writes", "count", ("v", "c")),
        ("looks", "reads", ("v",)),
        ("plain", "pure", ("c",)),
        ("unknown", "absent", ("c",)),
    ):
        types = [RESOURCE if text == "v" else FLOAT for text in inputs]
        branches = {"then_branch": Func(callee), "else_branch": Func(callee)}
        add(graph, "If", name, "p", *inputs, Tcond=BOOL, Tin=types, Tout=[FLOAT], **branches)
    module = import_graph_def(graph, ImportOptions(check_nodes=False))
    assert module.graph is not None
    effects = Effects(module.functions)
    found = {node.name: effects.of(node).name for node in module.graph.body if node.op == "If"}
    assert found == {"writes": "WRITES", "looks": "READS", "plain": "NONE", "unknown": "WRITES"}
