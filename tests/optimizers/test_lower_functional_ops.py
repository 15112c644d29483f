"""lower_functional_ops: results and effects before and after, and who is marked."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from numlite.converter.execution.graph_runner import GraphRunner
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.optimizers import OptimizerConfig
from numlite.schema.graph_def import AttrValue, GraphDef, NodeDef

from tests.converter.execution.functions import BOOL, FLOAT, INT, function, function_attr, types_attr
from tests.optimizers.optimized import optimized

MARK = "_lower_using_switch_merge"
RESOURCE = 20
FUNCTIONAL = {"If", "Case", "While", "StatelessIf", "StatelessCase", "StatelessWhile"}


class Flow(GraphBuilder):
    """A graph of x, n and whether, with marked branches and loops, whose functions are added with it."""

    def __init__(self) -> None:
        super().__init__()
        self.placeholder("x", [2])
        self.placeholder("n", [], INT)
        self.placeholder("whether", [], BOOL)

    def unary(self, name: str, *ops: str) -> str:
        """A function of a float by these ops, one after the other."""
        body = GraphBuilder()
        found = body.placeholder("a", None)
        for op in ops:
            found = body.node(op, f"{op}_{len(body.graph_def.node)}", found)
        return self.add(name, body, ["a"], {"r": found})

    def add(
        self, name: str, body: GraphBuilder, arguments: Sequence[str], results: dict, **types: int
    ) -> str:
        controls = [node.name for node in body.graph_def.node if node.op.startswith("Assign")]
        self.graph_def.library.function.append(function(name, body, arguments, results, types, controls))
        return name


def branch(net: GraphBuilder, name: str, then: str, other: str, *inputs: str, **types: object) -> str:
    held = {
        "Tin": types_attr(*[FLOAT] * (len(inputs) - 1)),
        "Tout": types_attr(FLOAT),
        "Tcond": of(BOOL),
        **types,
    }
    functions = {"then_branch": function_attr(then), "else_branch": function_attr(other)}
    return net.node("If", name, *inputs, **held, **functions, **{MARK: AttrValue(b=True)})


def choice(net: GraphBuilder, name: str, *inputs: str, branches: Sequence[str]) -> str:
    held = AttrValue()
    for each in branches:
        held.list.func.add(name=each)
    types = {"Tin": types_attr(FLOAT), "Tout": types_attr(FLOAT)}
    return net.node("Case", name, *inputs, branches=held, **types, **{MARK: AttrValue(b=True)})


def loop(net: GraphBuilder, name: str, cond: str, body: str, *inputs: str, types: Sequence[int]) -> str:
    held = {"cond": function_attr(cond), "body": function_attr(body), "T": types_attr(*types)}
    return net.node(
        "While", name, *inputs, parallel_iterations=AttrValue(i=7), **held, **{MARK: AttrValue(b=True)}
    )


def of(kind: int) -> AttrValue:
    return AttrValue(type=kind)


def below(net: Flow, types: dict[str, int]) -> GraphBuilder:
    """Function "below", i < n, of values of these types; the body of a turn with their placeholders."""
    test, turn = GraphBuilder(), GraphBuilder()
    for body in (test, turn):
        for name, kind in types.items():
            body.placeholder(name, None, kind)
    test.node("Less", "less", "i", "n")
    net.add("below", test, list(types), {"r": "less"}, **types, r=BOOL)
    return turn


def counting(net: Flow) -> Sequence[int]:
    """Functions "below" and "turn" of (i, n, y, x): y = y * x + x while i < n; n and x are captured."""
    types = {"i": INT, "n": INT, "y": FLOAT, "x": FLOAT}
    turn = below(net, types)
    turn.node("AddV2", "next", "i", turn.constant("one", np.int32(1)))
    turn.node("AddV2", "sum", turn.node("Mul", "product", "y", "x"), "x")
    names = {"a": "next", "b": "n", "c": "sum", "d": "x"}
    net.add("turn", turn, list(types), names, **types, a=INT, b=INT)
    return tuple(types.values())


def lowered(net: GraphBuilder, fetches: Sequence[str], *names: str, **options: object) -> GraphDef:
    """The graph without functional control flow, which runs as before."""
    feeds = ["x", "n", "whether"]
    after = optimized(net.graph_def, feeds, fetches, *(names or ("lower_functional_ops",)), **options)
    assert not FUNCTIONAL & set(kinds(after))
    for n in (-1, 0, 1, 2, 5):
        for whether in (True, False):
            given = {"x": np.float32([0.5, -3]), "n": np.int32(n), "whether": np.array(whether)}
            for a, b in zip(run(net.graph_def, given, fetches), run(after, given, fetches), strict=True):
                np.testing.assert_array_equal(a, b)
    return after


def run(graph: GraphDef, given: dict[str, np.ndarray], fetches: Sequence[str]) -> list[np.ndarray]:
    return GraphRunner(graph).run(given, fetches)


def kinds(graph: GraphDef) -> Counter[str]:
    return Counter(node.op for node in graph.node)


def named(graph: GraphDef, name: str) -> NodeDef:
    return next(node for node in graph.node if node.name == name)


def test_an_if_becomes_switch_and_merge() -> None:
    net = Flow()
    branch(net, "y", net.unary("then", "Exp", "Neg"), net.unary("other"), "whether", "x")
    net.node("Neg", "z", "y")
    after = kinds(lowered(net, ["z"]))
    assert (after["Switch"], after["Merge"], after["Exp"]) == (2, 1, 1)


def test_a_fetched_one_leaves_its_name() -> None:
    net = Flow()
    branch(net, "y", net.unary("then", "Exp"), net.unary("other", "Sin"), "whether", "x")
    assert named(lowered(net, ["y"]), "y").op == "IdentityN"


def test_who_waits_for_it_waits_for_a_no_op_of_its_name() -> None:
    net = Flow()
    branch(net, "y", net.unary("then", "Exp"), net.unary("other", "Sin"), "whether", "x")
    net.node("Neg", "z", "x", "^y")
    assert named(lowered(net, ["z"]), "y").op == "NoOp"


def test_a_case_has_a_switch_of_many() -> None:
    net = Flow()
    branches = [net.unary("a", "Exp"), net.unary("b"), net.unary("c", "Neg")]
    choice(net, "y", "n", "x", branches=branches)
    assert kinds(lowered(net, ["y"]))["_SwitchN"] == 2


def test_a_branch_that_is_constant_gives_it_only_where_it_is_taken() -> None:
    net = Flow()
    body = GraphBuilder()
    body.placeholder("a", None)
    body.constant("seven", np.float32([7, 7]))
    net.add("then", body, ["a"], {"r": "seven"})
    branch(net, "y", "then", net.unary("other", "Neg"), "whether", "x")
    lowered(net, ["y"])


def test_a_loop_takes_what_it_captures_once() -> None:
    net = Flow()
    types = counting(net)
    loop(net, "w", "below", "turn", net.constant("zero", np.int32(0)), "n", "x", "x", types=types)
    net.node("Identity", "z", "w:1")
    after = lowered(net, ["w:2", "w:3", "z"])
    enters = [node for node in after.node if node.op == "Enter"]
    assert Counter(node.attr["is_constant"].b for node in enters) == {True: 2, False: 2}
    assert {node.attr["parallel_iterations"].i for node in enters} == {7}


def test_loops_in_branches_in_loops() -> None:
    net = Flow()
    types = counting(net)
    chosen = GraphBuilder()
    for name, kind in (("a", FLOAT), ("k", INT)):
        chosen.placeholder(name, None, kind)
    loop(chosen, "w", "below", "turn", chosen.constant("zero", np.int32(0)), "k", "a", "a", types=types)
    net.add("then", chosen, ["a", "k"], {"r": "w:2"}, k=INT)
    other = GraphBuilder()
    other.placeholder("a", None)
    other.placeholder("k", None, INT)
    choice(other, "c", "k", "a", branches=[net.unary("p", "Neg"), net.unary("q", "Exp", "Neg")])
    net.add("other", other, ["a", "k"], {"r": "c"}, k=INT)
    turn = GraphBuilder()
    for name, kind in zip("inyx", types, strict=True):
        turn.placeholder(name, None, kind)
    turn.node("AddV2", "next", "i", turn.constant("one", np.int32(1)))
    odd = turn.node("Less", "odd", "i", turn.constant("two", np.int32(2)))
    branch(turn, "b", "then", "other", odd, "y", "i", Tin=types_attr(FLOAT, INT))
    held = dict(zip("inyx", types, strict=True))
    net.add("outer", turn, list("inyx"), {"a": "next", "b": "n", "c": "b", "d": "x"}, **held, a=INT, b=INT)
    net.graph_def.library.function[-1].ret["c"] = "b:output:0"
    loop(net, "v", "below", "outer", net.constant("zero", np.int32(0)), "n", "x", "x", types=types)
    after = lowered(net, ["v:2"])
    assert len({node.attr["frame_name"].s for node in after.node if node.op == "Enter"}) == 2


def test_a_branch_in_a_branch_that_is_not_taken_is_dead() -> None:
    net = Flow()
    net.node("Switch", "s", "x", "whether")
    lesser = net.node("Less", "few", "n", net.constant("two", np.int32(2)))
    branch(net, "y", net.unary("then", "Exp"), net.unary("other", "Sin"), lesser, "s:1")
    net.node("Merge", "m", "y", "s")
    lowered(net, ["m"])


def variable(net: Flow) -> None:
    """Functions of a handle and a float that write, in order, and a loop's while it is below 20."""
    for name, op, late in (("double", "AssignAddVariableOp", 2), ("less", "AssignSubVariableOp", 1)):
        body = GraphBuilder()
        body.placeholder("h", None, RESOURCE)
        body.placeholder("a", None)
        read = body.node("ReadVariableOp", "read", "h", dtype=of(FLOAT))
        step = body.node("Mul", "step", read, body.constant("late", np.float32(late)))
        body.node(op, "AssignIt", "h", step, dtype=of(FLOAT))
        net.add(name, body, ["h", "a"], {"r": "a"}, h=RESOURCE)


@pytest.mark.parametrize("fetch_data", [True, False])
def test_effects_come_in_order(fetch_data: bool) -> None:
    """Once 3 * v, or v - v, then the read: by data, or by control alone."""
    net = Flow()
    variable(net)
    net.node("VarHandleOp", "v", dtype=of(FLOAT), shape=AttrValue(shape={"dim": []}), shared_name="v")
    net.node("AssignVariableOp", "set", "v", net.constant("five", np.float32(5)), dtype=of(FLOAT))
    types = types_attr(RESOURCE, FLOAT)
    branch(net, "y", "double", "less", "whether", "v", "x", "^set", Tin=types)
    net.node("ReadVariableOp", "got", "v", "^y", dtype=of(FLOAT))
    fetches = ["y", "got"] if fetch_data else ["got"]
    lowered(net, fetches)
    given = {"x": np.float32([1, 2]), "n": np.int32(0), "whether": np.array(True)}
    after = optimized(net.graph_def, list(given), fetches, "lower_functional_ops")
    assert run(after, given, fetches)[-1] == 15


def test_turns_with_effects_follow_each_other() -> None:
    """y * 10 + v, v += 1 in each turn: the digits tell the order."""
    net = Flow()
    types = {"i": INT, "n": INT, "y": FLOAT, "h": RESOURCE}
    turn = below(net, types)
    turn.node("AddV2", "next", "i", turn.constant("one", np.int32(1)))
    read = turn.node("ReadVariableOp", "read", "h", dtype=of(FLOAT))
    ten = turn.node("Mul", "ten", "y", turn.constant("10", np.float32(10)))
    turn.node("AddV2", "sum", ten, read)
    one = turn.constant("more", np.float32(1))
    turn.node("AssignAddVariableOp", "AssignIt", "h", one, "^read", dtype=of(FLOAT))
    results = {"a": "next", "b": "n", "c": "sum", "d": "h"}
    net.add("turn", turn, list(types), results, **types, a=INT, b=INT, d=RESOURCE)
    net.node("VarHandleOp", "v", dtype=of(FLOAT), shape=AttrValue(shape={"dim": []}), shared_name="v")
    net.node("AssignVariableOp", "set", "v", net.constant("one", np.float32(1)), dtype=of(FLOAT))
    first = [net.constant("zero", np.int32(0)), "n", net.constant("none", np.float32(0)), "v", "^set"]
    loop(net, "w", "below", "turn", *first, types=tuple(types.values()))
    net.node("ReadVariableOp", "got", "v", "^w", dtype=of(FLOAT))
    after = lowered(net, ["w:2", "got"])
    given = {"x": np.float32([1, 2]), "n": np.int32(5), "whether": np.array(True)}
    assert [float(each) for each in run(after, given, ["w:2", "got"])] == [12345, 6]


def unmarked(*held: bool) -> Flow:
    net = Flow()
    branch(net, "y", net.unary("then", "Exp"), net.unary("other", "Neg"), "whether", "x")
    if held:
        named(net.graph_def, "y").attr[MARK].b = held[0]
    else:
        del named(net.graph_def, "y").attr[MARK]
    net.node("Neg", "z", "y")
    return net


def test_nothing_is_marked_or_lowered_by_default() -> None:
    held = optimized(unmarked().graph_def, ["x", "whether"], ["z"])
    assert MARK not in named(held, "y").attr
    assert kinds(optimized(unmarked(True).graph_def, ["x", "whether"], ["z"]))["If"] == 1


def test_lower_control_flow_lets_function_mark() -> None:
    held = optimized(unmarked().graph_def, ["x", "whether"], ["z"], "function", lower_control_flow=True)
    assert named(held, "y").attr[MARK].b
    lowered(unmarked(), ["z"], "function", "lower_functional_ops", lower_control_flow=True)
    assert not OptimizerConfig().lower_control_flow


@pytest.mark.parametrize("mark", ["_XlaMustCompile", "_tpu_replicate"])
def test_what_is_for_a_compiler_is_neither_marked_nor_lowered(mark: str) -> None:
    for net in (unmarked(), unmarked(True)):
        was_marked = MARK in named(net.graph_def, "y").attr
        named(net.graph_def, "y").attr[mark].s = b"yes"
        names = ("function", "lower_functional_ops")
        held = optimized(net.graph_def, ["x", "whether"], ["z"], *names, lower_control_flow=True)
        assert named(held, "y").op == "If" and (MARK in named(held, "y").attr) == was_marked


def test_a_mark_of_false_stays() -> None:
    names = ("function", "lower_functional_ops")
    held = optimized(unmarked(False).graph_def, ["x", "whether"], ["z"], *names, lower_control_flow=True)
    assert kinds(held)["If"] == 1


def test_what_calls_itself_stays() -> None:
    net = Flow()
    body = GraphBuilder()
    body.placeholder("a", None)
    least = body.constant("least", np.float32(-9))
    axis = body.constant("axis", np.int32(0))
    small = body.node("Less", "small", body.node("Min", "min", "a", axis), least)
    branch(
        body, "r", "stop", "again", small, body.node("Sub", "less", "a", body.constant("c", np.float32(1)))
    )
    net.unary("stop")
    net.add("again", body, ["a"], {"r": "r"})
    branch(net, "y", "stop", "again", "whether", "x")
    held = optimized(net.graph_def, ["x", "whether"], ["y"], "lower_functional_ops")
    assert kinds(held)["If"] == 1


def test_a_function_with_state_is_not_lowered_where_the_graph_runs() -> None:
    """Two calls of one function take turns at its random numbers; lowered they would each begin anew."""
    net = Flow()
    body = GraphBuilder()
    body.placeholder("a", None)
    size = body.constant("size", np.int32([2]))
    body.node("RandomUniform", "r", size, dtype=of(FLOAT), seed=AttrValue(i=1), seed2=AttrValue(i=2))
    net.add("then", body, ["a"], {"r": "r"})
    fetches = [branch(net, name, "then", net.unary(f"other_{name}"), "whether", "x") for name in ("y", "z")]
    given = {"x": np.float32([1, 2]), "whether": np.array(True)}
    found = GraphRunner(net.graph_def, optimize={"lower_functional_ops": True}).run(given, fetches)
    np.testing.assert_array_equal(np.unique(found), np.unique(run(net.graph_def, given, fetches)))
