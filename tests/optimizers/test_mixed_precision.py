"""auto_mixed_precision: which types become narrow, where Casts stand, and nearly equal results."""

from collections import Counter

import numpy as np
import pytest
from numlite.converter.execution.graph_runner import GraphRunner
from numlite.schema.graph_def import DT_FLOAT, AttrValue, GraphDef

from .optimized import Net, optimized

HALF, BFLOAT16 = 19, 14
MODES = {
    "auto_mixed_precision": ("/device:GPU:0", HALF),
    "auto_mixed_precision_onednn_bfloat16": ("/device:CPU:0", BFLOAT16),
    "auto_mixed_precision_mkl": ("/device:CPU:0", BFLOAT16),
}


def narrowed(net: Net, mode: str = "auto_mixed_precision", **options: object) -> GraphDef:
    """The graph after the optimizer alone, with nearly equal results."""
    device = MODES.get(mode, ("/device:CPU:0", 0))[0]
    after = optimized(net.on(device).graph_def, list(net.feeds), net.fetches, mode, **options)
    before, found = (GraphRunner(graph).run(net.feeds, net.fetches) for graph in (net.graph_def, after))
    for a, b in zip(before, found, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=0.03, atol=0.03)
    return after


def types(graph: GraphDef) -> Counter[tuple[str, int]]:
    """How many nodes of each op have which T; Casts by what they give."""
    return Counter(
        (node.op, node.attr["DstT" if node.op == "Cast" else "T"].type)
        for node in graph.node
        if node.op not in ("Placeholder", "Const", "Identity")
    )


def product(net: Net, x: str, rows: int, columns: int) -> str:
    return net.op("MatMul", x, net.c(np.linspace(-0.1, 0.1, rows * columns).reshape(rows, columns)))


@pytest.mark.parametrize("mode", MODES)
def test_what_lies_between_products_is_narrow(mode: str) -> None:
    net = Net()
    hidden = net.op("Relu", net.op("BiasAdd", product(net, net.x(4, 8), 8, 4), net.c([1, 2, 3, 4])))
    kind = MODES[mode][1]
    assert types(narrowed(net.out(product(net, hidden, 4, 3)), mode)) == {
        ("MatMul", kind): 2,
        ("BiasAdd", kind): 1,
        ("Relu", kind): 1,
        ("Cast", kind): 4,
        ("Cast", DT_FLOAT): 1,
    }


def test_what_is_denied_stays_and_all_behind_it() -> None:
    net = Net()
    grown = net.op("AddV2", net.op("Exp", product(net, net.x(4, 8), 8, 4)), net.c(1.0))
    found = types(narrowed(net.out(product(net, grown, 4, 3))))
    assert found["Exp", DT_FLOAT] == found["AddV2", DT_FLOAT] == 1 and found["MatMul", HALF] == 2
    assert found["Cast", DT_FLOAT] == 2


def test_means_are_narrow_in_bfloat16_alone() -> None:
    for mode, (_, kind) in MODES.items():
        net = Net()
        mean = net.op("Mean", product(net, net.x(4, 8), 8, 4), net.c([0], np.int32))
        found = types(narrowed(net.out(net.op("Neg", mean)), mode))
        assert found["Mean", kind] == (kind == BFLOAT16), mode


def test_a_value_is_cast_once() -> None:
    net = Net()
    x = net.x(4, 4)
    net.out(product(net, x, 4, 3), product(net, x, 4, 2), net.op("Exp", x))
    assert types(narrowed(net)) == {
        ("MatMul", HALF): 2,
        ("Exp", DT_FLOAT): 1,
        ("Cast", HALF): 3,
        ("Cast", DT_FLOAT): 2,
    }


def test_statistics_of_norms_stay_float() -> None:
    net = Net()
    x = net.op(
        "Conv2D", net.x(1, 4, 4, 2), net.c(np.ones((1, 1, 2, 4)) / 9), strides=[1, 1, 1, 1], padding="SAME"
    )
    ones = [net.c([1, 1, 1, 1]) for _ in range(4)]
    after = narrowed(net.out(net.op("FusedBatchNormV3", x, *ones, is_training=False)))
    norm = next(node for node in after.node if node.op == "FusedBatchNormV3")
    assert (norm.attr["T"].type, norm.attr["U"].type) == (HALF, DT_FLOAT)


def test_nothing_changes_without_a_product_or_an_old_gpu() -> None:
    net = Net()
    net.out(net.op("Exp", net.op("AddV2", net.x(3), net.c(1.0))))
    assert len(narrowed(net).node) == len(net.graph_def.node)
    net = Net()
    net.out(product(net, net.x(4, 8), 8, 4))
    assert types(narrowed(net, compute_capability=6.1))["MatMul", HALF] == 0
    assert types(narrowed(net, "auto_mixed_precision_onednn_bfloat16", onednn=False))["MatMul", BFLOAT16] == 0


def test_lists_are_changed_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_REMOVE", "MatMul")
    monkeypatch.setenv("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_ADD", "Neg")
    net = Net()
    found = types(narrowed(net.out(net.op("Neg", product(net, net.x(4, 8), 8, 4)))))
    assert found["Neg", HALF] == 1 and found["MatMul", DT_FLOAT] == 1


def test_float16_is_emulated_by_casts_there_and_back() -> None:
    net = Net()
    after = narrowed(net.out(net.op("Relu", product(net, net.x(4, 8), 8, 4))), "auto_mixed_precision_cpu")
    assert types(after) == {
        ("MatMul", DT_FLOAT): 1,
        ("Relu", DT_FLOAT): 1,
        ("Cast", HALF): 4,
        ("Cast", DT_FLOAT): 4,
    }


def test_a_loop_has_one_type() -> None:
    net = Net()
    kind = {"T": AttrValue(type=DT_FLOAT)}
    net.node("Enter", "x", net.x(2, 2), frame_name="loop", **kind)
    net.node("Enter", "i", net.c(0.0), frame_name="loop", **kind)
    for name, value in (("two", 2.0), ("one", 1.0)):
        net.node("Enter", name, net.c(value), frame_name="loop", is_constant=True, **kind)
    net.node("Enter", "w", net.c(np.eye(2)), frame_name="loop", is_constant=True, **kind)
    for name in ("x", "i"):
        net.node("Merge", f"m_{name}", name, f"n_{name}", N=2, **kind)
    net.node("LoopCond", "cond", net.node("Less", "less", "m_i", "two", **kind))
    for name in ("x", "i"):
        net.node("Switch", f"s_{name}", f"m_{name}", "cond", **kind)
        net.node("Exit", f"e_{name}", f"s_{name}", **kind)
    net.node("NextIteration", "n_i", net.node("AddV2", "add", "s_i:1", "one", **kind), **kind)
    net.node("NextIteration", "n_x", net.node("MatMul", "product", "s_x:1", "w", **kind), **kind)
    after = narrowed(net.out("e_x"))
    held = {node.name: node.attr["T"].type for node in after.node}
    assert held["product"] == HALF and held["m_x"] == held["n_x"] == held["s_x"]


def test_elements_of_a_list_have_one_type() -> None:
    net = Net()
    shape = net.c([4, 3], np.int32)
    count = net.c(2, np.int32)
    element = AttrValue(type=DT_FLOAT)
    held = net.node("TensorListReserve", "list", shape, count, element_dtype=element)
    for i in range(2):
        value = product(net, net.x(4, 8), 8, 3)
        held = net.node(
            "TensorListSetItem", f"set{i}", held, net.c(i, np.int32), value, element_dtype=element
        )
    item = net.node("TensorListGetItem", "get", held, net.c(1, np.int32), shape, element_dtype=element)
    after = narrowed(net.out(product(net, item, 3, 2)))
    found = {node.attr["element_dtype"].type for node in after.node if node.op.startswith("TensorList")}
    assert found == {HALF}
