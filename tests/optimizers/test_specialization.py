"""function: calls that stay get functions for what they pass and use."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.schema.graph_def import DT_FLOAT, AttrValue, FunctionDef, NameAttrList, OpDef

from .optimized import Net, check, optimized, values

_FLOAT = AttrValue(type=DT_FLOAT)


def node(function: FunctionDef, op: str, name: str, *inputs: str) -> None:
    function.node_def.add(name=name, op=op, input=inputs).attr["T"].CopyFrom(_FLOAT)


def library(net: Net, **marks: bool) -> FunctionDef:
    """f(a, b, c) = exp(a) * b, sin(c), which is not inlined."""
    function = FunctionDef(signature=OpDef(name="f"))
    for name in "abc":
        function.signature.input_arg.add(name=name, type=DT_FLOAT)
    for name, source in (("p", "mul:z:0"), ("q", "sin:y:0")):
        function.signature.output_arg.add(name=name, type=DT_FLOAT)
        function.ret[name] = source
    node(function, "Exp", "exp", "a")
    node(function, "Mul", "mul", "exp:y:0", "b")
    node(function, "Sin", "sin", "c")
    for name in ("_noinline", *marks):
        function.attr[name].b = True
    net.graph_def.library.function.append(function)
    held: FunctionDef = net.graph_def.library.function[-1]
    return held


def call(net: Net, *operands: str, results: int = 2, name: str = "f") -> str:
    made = f"call{len(net.graph_def.node)}"
    types = [AttrValue(list=AttrValue.ListValue(type=[DT_FLOAT] * n)) for n in (len(operands), results)]
    called = AttrValue(func=NameAttrList(name=name))
    return net.node("PartitionedCall", made, *operands, Tin=types[0], Tout=types[1], f=called)


def functions(net: Net, **options: object) -> dict[str, tuple[list[str], list[str], list[str]]]:
    """Of each function that is left: names of arguments and results, and ops."""
    after = optimized(net.graph_def, list(net.feeds), net.fetches, "function", **options)
    for a, b in zip(values(net.graph_def, net), values(after, net), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    return {
        each.signature.name: (
            [a.name for a in each.signature.input_arg],
            [a.name for a in each.signature.output_arg],
            sorted(n.op for n in each.node_def),
        )
        for each in after.library.function
    }


def test_constants_go_in_and_what_nobody_uses_goes() -> None:
    net = Net()
    library(net)
    x = net.x(2)
    net.out(call(net, x, net.c([3, 4]), x))
    assert functions(net) == {"f_specialized": (["a"], ["p"], ["Const", "Exp", "Mul"])}


def test_results_stay_at_their_places() -> None:
    net = Net()
    library(net)
    x = net.x(2)
    net.out(f"{call(net, x, net.c([3, 4]), x)}:1")
    assert functions(net) == {"f_specialized": (["c"], ["q"], ["Sin"])}


def test_calls_that_are_alike_share_a_function() -> None:
    net = Net()
    library(net)
    x, y = net.x(2), net.x(2)
    net.out(call(net, x, net.c([3, 4]), x), call(net, y, net.c([3, 4]), y), call(net, y, net.c([5, 6]), x))
    assert {name: held[0] for name, held in functions(net).items()} == {
        "f_specialized": ["a"],
        "f_specialized_1": ["a"],
    }


def test_a_call_that_uses_all_and_one_that_is_fetched_stay() -> None:
    net = Net()
    library(net)
    x = net.x(2)
    made = call(net, x, x, x)
    net.out(made, f"{made}:1")
    assert list(functions(net)) == ["f"]
    net = Net()
    library(net)
    net.fetches = [call(net, net.x(2), "x0", "x0")]
    assert list(functions(net)) == ["f"]


@pytest.mark.parametrize("mark", ["_XlaMustCompile", "_tf_data_function"])
def test_functions_of_others_stay(mark: str) -> None:
    net = Net()
    library(net, **{mark: True})
    net.out(call(net, net.x(2), net.c([3, 4]), "x0"))
    assert list(functions(net)) == ["f"]


def test_a_function_that_calls_itself_stays() -> None:
    net = Net()
    function = library(net)
    types = AttrValue(list=AttrValue.ListValue(type=[DT_FLOAT] * 2))
    inner = function.node_def.add(name="again", op="PartitionedCall", input=["a", "b", "c"])
    inner.attr["f"].func.name = "f"
    inner.attr["Tin"].list.type.extend([DT_FLOAT] * 3)
    inner.attr["Tout"].CopyFrom(types)
    net.out(call(net, net.x(2), net.c([3, 4]), "x0"))
    after = optimized(net.graph_def, ["x0"], net.fetches, "function")
    assert [each.signature.name for each in after.library.function] == ["f"]


def test_what_an_operand_waited_for_is_waited_for() -> None:
    """Both by a constant that goes into the function, and by a node that is not an operand any more."""
    net = Net()
    library(net)
    x = net.x(2)
    effect = net.op("Print", x, x, U=AttrValue(list=AttrValue.ListValue(type=[DT_FLOAT])))
    late = net.c([3, 4])
    net.graph_def.node[-1].input.append(f"^{effect}")
    other = net.op("Print", x, x, U=AttrValue(list=AttrValue.ListValue(type=[DT_FLOAT])))
    net.out(call(net, x, late, other))
    after = optimized(net.graph_def, ["x0"], net.fetches, "function")
    [made] = [each for each in after.node if each.op == "PartitionedCall"]
    assert list(made.input) == ["x0", f"^{effect}", f"^{other}"]


def test_what_has_an_effect_stays_inside() -> None:
    net = Net()
    function = library(net)
    printed = function.node_def.add(name="print", op="Print", input=["c", "c"])
    printed.attr["T"].type = DT_FLOAT
    printed.attr["U"].list.type.append(DT_FLOAT)
    function.signature.is_stateful = True
    net.out(call(net, net.x(2), net.c([3, 4]), "x0"))
    assert functions(net) == {"f_specialized": (["a", "c"], ["p"], ["Const", "Exp", "Mul", "Print"])}


def make_generic(function: FunctionDef) -> None:
    """All its tensors are of the type that a call gives as T."""
    for each in (*function.signature.input_arg, *function.signature.output_arg):
        each.type, each.type_attr = 0, "T"
    function.signature.attr.add(name="T", type="type")
    for each in function.node_def:
        each.attr["T"].Clear()
        each.attr["T"].placeholder = "T"


def test_a_generic_function_is_filled_in() -> None:
    net = Net()
    function = library(net)
    make_generic(function)
    for name in ("g", "h"):
        made = net.node("f", name, net.x(2), net.c([3, 4]), net.x(2))
        net.graph_def.node[-1].attr["T"].CopyFrom(_FLOAT)
        net.out(made)
        net.graph_def.node[-1].attr["T"].CopyFrom(_FLOAT)
    assert functions(net) == {"f_specialized": (["a"], ["p"], ["Const", "Exp", "Mul"])}


def test_a_generic_function_is_inlined_when_nothing_says_no() -> None:
    net = Net()
    function = library(net)
    del function.attr["_noinline"]
    make_generic(function)
    made = net.node("f", "g", net.x(2), net.c([3, 4]), "x0")
    net.graph_def.node[-1].attr["T"].CopyFrom(_FLOAT)
    net.out(made)
    net.graph_def.node[-1].attr["T"].CopyFrom(_FLOAT)
    check(net, "Const Exp Mul")


def test_a_call_in_a_function_is_specialized_too() -> None:
    net = Net()
    library(net)
    outer = FunctionDef(signature=OpDef(name="outer"))
    outer.signature.input_arg.add(name="x", type=DT_FLOAT)
    outer.signature.output_arg.add(name="y", type=DT_FLOAT)
    inner = outer.node_def.add(name="inner", op="PartitionedCall", input=["x", "x", "x"])
    inner.attr["f"].func.name = "f"
    inner.attr["Tin"].list.type.extend([DT_FLOAT] * 3)
    inner.attr["Tout"].list.type.extend([DT_FLOAT] * 2)
    outer.ret["y"] = "inner:output:1"
    outer.attr["_noinline"].b = True
    net.graph_def.library.function.append(outer)
    net.out(call(net, net.x(2), results=1, name="outer"))
    found = functions(net)
    assert found["f_specialized"] == (["c"], ["q"], ["Sin"])
    assert set(found) == {"outer", "f_specialized"}


def test_a_constant_that_a_function_gives_back_has_its_type() -> None:
    net = Net()
    library(net).ret["q"] = "c"
    x = net.x(2)
    called = call(net, x, x, net.c(3.0))
    net.out(called, f"{called}:1")
    assert functions(net)["f_specialized"] == (["a", "b"], ["p", "q"], ["Const", "Exp", "Mul"])
