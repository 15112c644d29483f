"""pruning, common subgraphs, folding, shape, loop, function, dependency: small graphs of each."""

import numpy as np
from numlite.converter.execution.graph_runner import GraphRunner
from numlite.schema.graph_def import DT_FLOAT, AttrValue, FunctionDef, GraphDef, NameAttrList, OpDef

from .optimized import Net, check, ops, optimized


def test_of_two_equal_fetched_nodes_both_names_stay() -> None:
    net = Net()
    x = net.x(3)
    net.fetches = [net.op("Neg", x), net.op("Neg", x)]
    check(net, "Neg Neg", "common_subgraph_elimination")


def test_a_fetched_twin_survives() -> None:
    net = Net()
    x = net.x(3)
    first, second = net.op("Neg", x), net.op("Neg", x)
    net.fetches = [second, net.op("Exp", first)]
    after = check(net, "Neg Exp", "common_subgraph_elimination")
    assert second in {node.name for node in after.node}


def test_operands_of_commutative_ops_count_in_any_order() -> None:
    net = Net()
    a, b = net.x(3), net.x(3)
    total = net.op("Sub", net.op("Mul", a, b), net.op("Mul", b, a))
    check(net.out(total), "Mul Sub", "common_subgraph_elimination")
    net = Net()
    a, b = net.x(3), net.x(3)
    total = net.op("Mul", net.op("Sub", a, b), net.op("Sub", b, a))
    check(net.out(total), "Sub Sub Mul", "common_subgraph_elimination")


def test_feeds_are_not_merged() -> None:
    net = Net()
    check(net.out(net.op("Sub", net.x(3), net.x(3))), "Sub", "common_subgraph_elimination")


def test_a_bias_of_zeros_goes_whatever_the_batch() -> None:
    net = Net()
    value = net.op("BiasAdd", net.op("Neg", net.x(2, 3)), net.c([0, 0, 0]))
    check(net.out(net.op("Exp", value)), "Neg Exp", "constfold", "pruning")


def test_a_copy_is_kept_where_something_is_written() -> None:
    net = Net()
    kept = net.op("Mul", net.x(2), net.c([1, 1]))
    net.node("Assign", "a", "v", "x0", T=AttrValue(type=DT_FLOAT))
    net.node("VariableV2", "v", dtype=AttrValue(type=DT_FLOAT), shape=AttrValue(shape={"dim": [{"size": 2}]}))
    net.out(kept)
    after = optimized(net.graph_def, ["x0"], net.fetches, "constfold", assume_valid_feeds=True)
    assert ops(after)["Snapshot"] == 1


def test_reductions_of_one_element() -> None:
    net = Net()
    total = net.op("Sum", net.x(2, 1, 3), net.c([1], np.int32))
    check(net.out(total), "Reshape Const", "constfold", assume_valid_feeds=True)
    net = Net()
    total = net.op("Max", net.op("Neg", net.x(2, 3)), net.c(np.zeros(0), np.int32))
    check(net.out(total), "Neg", "constfold", "pruning")


def test_the_product_of_a_shape_is_a_size() -> None:
    net = Net()
    x = net.x(2, 3)
    shape = net.op("Shape", x)
    check(net.out(net.op("Prod", shape, net.c([0], np.int32))), "Size Shape Const", "shape")


def test_a_quotient_of_sizes_of_one_symbol_is_a_constant() -> None:
    net = Net()
    x = net.x(4, 6)
    halves = net.op("Size", net.op("Slice", x, net.c([0, 0], np.int32), net.c([-1, 3], np.int32)))
    quotient = net.op("FloorDiv", net.op("Size", x), halves)
    for node in net.graph_def.node:
        if node.name == "x0":
            node.attr["shape"].shape.dim[0].size = -1
    after = optimized(net.out(quotient).graph_def, ["x0"], net.fetches, "shape", assume_valid_feeds=True)
    assert GraphRunner(after).run(net.feeds, net.fetches) == [2]
    assert ops(after)["FloorDiv"] == 0


def switched(chosen: bool) -> Net:
    net = Net()
    kind = AttrValue(type=DT_FLOAT)
    net.node("Switch", "s", net.x(3), net.c(chosen, np.bool_), T=kind)
    left, right = net.op("Neg", "s"), net.op("Exp", "s:1")
    merge = net.op("Merge", left, right, N=2, T=kind)
    return net.out(merge)


def test_a_branch_that_never_runs_goes() -> None:
    check(switched(True), "Exp Const", "loop")
    check(switched(False), "Neg Const", "loop")


def test_a_branch_that_is_fetched_stays() -> None:
    net = switched(True)
    name = next(node.name for node in net.graph_def.node if node.op == "Neg")
    after = optimized(net.graph_def, ["x0"], [*net.fetches, name], "loop")
    assert ops(after)["Switch"] == 1


def test_a_merge_whose_index_is_used_stays() -> None:
    net = switched(True)
    merge = next(node.name for node in net.graph_def.node if node.op == "Merge")
    net.out(f"{merge}:1")
    check(net, "Switch Neg Exp Merge Const", "loop")


def with_function(**marks: bool) -> Net:
    """y = f(x) with f(a) = -a."""
    net = Net()
    kind = AttrValue(type=DT_FLOAT)
    types = AttrValue(list=AttrValue.ListValue(type=[DT_FLOAT]))
    called = AttrValue(func=NameAttrList(name="f"))
    net.out(net.node("PartitionedCall", "call", net.x(3), Tin=types, Tout=types, f=called))
    signature = OpDef(name="f")
    signature.input_arg.add(name="a", type=DT_FLOAT)
    signature.output_arg.add(name="r", type=DT_FLOAT)
    function = FunctionDef(signature=signature)
    inner = function.node_def.add(name="n", op="Neg", input=["a"])
    inner.attr["T"].CopyFrom(kind)
    function.ret["r"] = "n:y:0"
    for name, value in marks.items():
        function.attr[name].b = value
    net.graph_def.library.function.append(function)
    return net


def test_calls_become_nodes() -> None:
    after = check(with_function(), "Neg", "function")
    assert not after.library.function


def test_calls_that_are_marked_stay() -> None:
    after = check(with_function(_noinline=True), "PartitionedCall", "function")
    assert [f.signature.name for f in after.library.function] == ["f"]


def test_functions_are_optimized_after_the_graph() -> None:
    net = with_function(_noinline=True)
    function = net.graph_def.library.function[0]
    for name, source in (("p", "n:y:0"), ("q", "p:y:0")):
        inner = function.node_def.add(name=name, op="Neg", input=[source])
        inner.attr["T"].type = DT_FLOAT
    function.ret["r"] = "q:y:0"
    after = check(net, "PartitionedCall", "arithmetic")
    assert [node.op for node in after.library.function[0].node_def] == ["Neg"]


def test_what_only_waits_goes_and_what_is_waited_for_stays() -> None:
    net = Net()
    x = net.x(3)
    random = net.node("RandomUniform", "r", net.c([2], np.int32), dtype=AttrValue(type=DT_FLOAT))
    idle = net.op("Exp", x)
    net.fetches = [net.node("Neg", "y", x, f"^{idle}", f"^{random}")]
    after: GraphDef = optimized(net.graph_def, ["x0"], net.fetches, "dependency")
    assert ops(after) == {"Neg": 1, "RandomUniform": 1, "Const": 1}


def test_zero_times_nan_is_zero_but_for_portable_graphs() -> None:
    net = Net()
    net.feeds["x0"] = np.array([np.nan, np.inf, 1], np.float32)
    net.placeholder("x0", [3])
    net.out(net.op("Mul", "x0", net.c([0, 0, 0])))
    found = {}
    for target in ("tensorflow", "portable"):
        after = optimized(
            net.graph_def, ["x0"], net.fetches, "constfold", target=target, assume_valid_feeds=True
        )
        found[target] = GraphRunner(after).run(net.feeds, net.fetches)[0]
    assert found["tensorflow"].tolist() == [0, 0, 0] and np.isnan(found["portable"][:2]).all()


def test_a_reshape_of_one_unknown_size_changes_nothing() -> None:
    net = Net()
    rows = net.op("Sum", net.op("Neg", net.x(4, 3)), net.c([1], np.int32))
    net.out(net.op("Exp", net.op("Reshape", rows, net.c([4], np.int32))))
    net.graph_def.node[0].attr["shape"].shape.dim[0].size = -1
    check(net, "Neg Sum Const Exp", "constfold", "pruning", assume_valid_feeds=True)
    net = Net()
    net.out(net.op("Exp", net.op("Reshape", net.op("Neg", net.x(4, 3)), net.c([3, 4], np.int32))))
    check(net, "Neg Reshape Const Exp", "constfold", "pruning", assume_valid_feeds=True)


def test_what_nothing_uses_goes_when_something_is_fetched() -> None:
    net = Net()
    x = net.x(3)
    net.op("Sin", net.op("Exp", x))
    net.out(net.op("Neg", x))
    for name in ("constfold", "dependency"):
        check(net, "Neg", name)
    net.fetches = []
    assert ops(optimized(net.graph_def, ["x0"], [], "dependency")) == {"Sin": 1, "Exp": 1, "Neg": 1}


def test_large_filters_are_multiplied() -> None:
    net = Net()
    filters = net.c(np.ones((1, 1, 64, 512)))
    strides = AttrValue(list=AttrValue.ListValue(i=[1, 1, 1, 1]))
    value = net.op("Conv2D", net.x(1, 2, 2, 64), filters, strides=strides, padding=AttrValue(s=b"SAME"))
    net.out(net.op("Mul", value, net.c(np.arange(512))))
    check(net, "Conv2D Const", "constfold")


def test_results_larger_than_their_operands_stay() -> None:
    net = Net()
    net.out(net.op("Tile", net.c(np.ones(20_000)), net.c([3], np.int32)))
    check(net, "Tile Const Const", "constfold")


def test_resource_variables_need_no_copies() -> None:
    net = Net()
    kind, shape = AttrValue(type=DT_FLOAT), AttrValue(shape={"dim": [{"size": 2}]})
    net.node("VarHandleOp", "v", dtype=kind, shape=shape)
    net.node("AssignVariableOp", "a", "v", net.x(2), dtype=kind)
    net.out(net.op("Mul", "x0", net.c([1, 1])))
    after = optimized(net.graph_def, ["x0"], [*net.fetches, "a"], "constfold", assume_valid_feeds=True)
    assert "Snapshot" not in ops(after) and "Mul" not in ops(after)


def test_what_waits_for_a_constant_waits_for_what_it_waits_for() -> None:
    net = Net()
    before = net.op("Neg", net.x(2))
    waiting = net.constant("waiting", np.float32(2))
    net.graph_def.node[-1].input.append(f"^{before}")
    after = optimized(net.out(net.op("Exp", "x0", f"^{waiting}")).graph_def, ["x0"], net.fetches, "constfold")
    nodes = {node.name: node for node in after.node}
    assert waiting not in nodes
    assert any(list(node.input) == ["x0", f"^{before}"] for node in nodes.values() if node.op == "Exp")


def test_rounding_of_constants_stays_where_the_config_says() -> None:
    for is_off, expected in ((False, "Const Mul"), (True, "Const FakeQuantWithMinMaxArgs Mul")):
        net = Net()
        net.out(net.op("Mul", net.x(2), net.op("FakeQuantWithMinMaxArgs", net.c([0.3, 0.7]))))
        check(net, expected, "constfold", experimental_disable_folding_quantization_emulation=is_off)


def test_arithmetic_shares_equal_nodes_where_nobody_else_does() -> None:
    for toggle, expected in (("on", "Exp Exp Sub"), ("off", "Exp Sub")):
        net = Net()
        x = net.x(2)
        net.out(net.op("Sub", net.op("Exp", x), net.op("Exp", x)))
        check(net, expected, "arithmetic", common_subgraph_elimination=toggle)


def test_control_edges_from_another_device_come_by_one_node() -> None:
    net = Net()
    x = net.x(3)
    effects = [
        net.op("Print", x, x, U=AttrValue(list=AttrValue.ListValue(type=[DT_FLOAT]))) for _ in range(3)
    ]
    net.fetches = [net.node("Neg", "y", x, *(f"^{name}" for name in effects))]
    for node in net.graph_def.node:
        node.device = "/device:GPU:0" if node.op == "Neg" else "/device:CPU:0"
    after = optimized(net.graph_def, ["x0"], net.fetches, "dependency")
    nodes = {node.name: node for node in after.node}
    [made] = [node for node in after.node if node.op == "NoOp"]
    assert made.device == "/device:CPU:0" and sorted(made.input) == sorted(f"^{name}" for name in effects)
    assert list(nodes["y"].input) == ["x0", f"^{made.name}"]
    assert sorted(node.name for node in optimized(after, ["x0"], net.fetches, "dependency").node) == sorted(
        nodes
    )


def test_functions_that_xla_compiles_stay_as_they_are() -> None:
    for op, expected in (("PartitionedCall", ["Neg"]), ("XlaLaunch", ["Neg", "Neg", "Neg"])):
        net = with_function(_noinline=True)
        function = net.graph_def.library.function[0]
        for name, source in (("p", "n:y:0"), ("q", "p:y:0")):
            function.node_def.add(name=name, op="Neg", input=[source]).attr["T"].type = DT_FLOAT
        function.ret["r"] = "q:y:0"
        call = next(node for node in net.graph_def.node if node.op == "PartitionedCall")
        if op == "XlaLaunch":
            call.op = op
            for key in ("f", "Tin", "Tout"):
                del call.attr[key]
            call.attr["function"].func.name = "f"
            for key, types in (("Tconstants", []), ("Targs", [DT_FLOAT]), ("Tresults", [DT_FLOAT])):
                call.attr[key].list.SetInParent()
                call.attr[key].list.type.extend(types)
            call.attr["Nresources"].i = 0
        after = optimized(net.graph_def, ["x0"], net.fetches, "arithmetic")
        assert [node.op for node in after.library.function[0].node_def] == expected
