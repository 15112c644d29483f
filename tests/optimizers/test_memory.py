"""memory: what gradients need is computed again, what is needed late is swapped, large sums are added up."""

import numpy as np
import pytest
from numlite.converter.execution.graph_runner import GraphRunner
from numlite.converter.optimizers import GrapplerItem, MetaOptimizer, OptimizerConfig
from numlite.converter.optimizers.toggle import MemoryMode
from numlite.schema.graph_def import AttrValue, GraphDef

from .optimized import Net, ops, values
from .test_devices import GPU

HINT = AttrValue(i=0)


def saved(net: Net, mode: MemoryMode | None = None, **options: object) -> GraphDef:
    """The graph after the memory optimizer: MANUAL, or in another mode behind nothing else."""
    others = {
        f"{name}": False
        for name in (
            *("constant_folding", "arithmetic_optimization", "dependency_optimization", "remapping"),
            *("common_subgraph_elimination", "function_optimization", "shape_optimization"),
            *("layout_optimizer", "loop_optimization", "implementation_selector"),
        )
    }
    chosen: dict[str, object] = {"optimizers": ["memory"]}
    if mode is not None:
        chosen = {"memory_optimization": mode, "disable_model_pruning": True, **others}
    config = OptimizerConfig.of(chosen | {"min_graph_nodes": -1, "fail_on_optimizer_errors": True} | options)
    item = GrapplerItem.from_graph_def(net.graph_def, list(net.feeds), net.fetches)
    after = MetaOptimizer(config).optimize(item).graph_def()
    for a, b in zip(values(net.graph_def, net), values(after, net), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    return after


def inputs(graph: GraphDef) -> dict[str, list[str]]:
    return {node.name: list(node.input) for node in graph.node}


def chain(**hint: AttrValue) -> Net:
    """Two hinted nodes behind each other, a third that no gradient takes, and three gradients."""
    net = Net()
    x = net.x(3)
    net.node("Exp", "a", x, **hint)
    net.node("Sqrt", "b", "a", **hint)
    net.node("Neg", "c", "b", **hint)
    net.node("Sin", "d", "c")
    net.node("Mul", "gradients/g1", "b", "d")
    net.node("Mul", "gradients/g2", "a", "gradients/g1")
    net.node("Cos", "gradients/g25", "gradients/g2")
    net.node("Mul", "gradients/g3", "a", "gradients/g25")
    return net.out("gradients/g3")


def test_a_group_is_computed_again_and_waits_for_its_first_target() -> None:
    found = inputs(saved(chain(_recompute_hint=HINT)))
    # Read off TensorFlow 2.21.
    assert found["RecomputeTrigger/b"] == ["^d"] and found["RecomputeTrigger/a"] == ["^RecomputeTrigger/b"]
    assert found["Recomputed/a"] == ["x0", "^RecomputeTrigger/a"]
    assert found["Recomputed/b"] == ["Recomputed/a", "^RecomputeTrigger/b"]
    assert found["gradients/g1"] == ["Recomputed/b", "d"]
    assert found["gradients/g2"] == ["Recomputed/a", "gradients/g1"]
    assert found["gradients/g3"] == ["Recomputed/a", "gradients/g25"]
    assert found["c"] == ["b"] and "Recomputed/c" not in found


def test_without_hints_nothing_is_computed_again() -> None:
    assert len(saved(chain()).node) == len(chain().graph_def.node)


@pytest.mark.parametrize("scope", ["gradients/", "tower/"])
def test_the_scope_of_targets_is_a_setting(scope: str) -> None:
    net = Net()
    x = net.x(3)
    net.node("Exp", "a", x, _recompute_hint=HINT)
    net.node("Mul", "tower/g", "a", net.op("Neg", "a"))
    after = saved(net.out("tower/g"), memory_optimizer_target_node_name_scope=scope)
    assert ("Recomputed/a" in inputs(after)) == (scope == "tower/")


def test_heuristics_compute_what_is_cheap_again() -> None:
    net = Net()
    x = net.x(2, 2)
    net.node("Relu", "cheap", x)
    net.node("MatMul", "dear", "cheap", x)
    net.node("ReluGrad", "gradients/g", "dear", "cheap")
    net.node("Mul", "gradients/h", "dear", "gradients/g")
    net.out("gradients/h")
    found = inputs(saved(net, MemoryMode.RECOMPUTATION_HEURISTICS))
    assert found["gradients/g"] == ["dear", "Recomputed/cheap"] and "Recomputed/dear" not in found


def test_random_numbers_and_fed_nodes_are_not_computed_again() -> None:
    net = Net()
    x = net.x(3)
    net.graph_def.node[0].attr["_recompute_hint"].CopyFrom(HINT)
    net.node("Mul", "gradients/g", x, net.op("Neg", x))
    assert "Recomputed/x0" not in inputs(saved(net.out("gradients/g")))


def swapped(places: list[int], between: int) -> Net:
    net = Net()
    net.node("Exp", "h", net.x(3))
    value = "h"
    for i in range(between):
        value = net.node("Sin", f"s{i}", value)
    hint = AttrValue(list=AttrValue.ListValue(i=places))
    net.node("Mul", "late", "h", value, _swap_to_host=hint)
    return net.out("late").on(GPU)


def test_an_operand_that_is_needed_late_waits_on_the_host() -> None:
    found = inputs(saved(swapped([0], 3)))
    # Read off TensorFlow 2.21.
    assert found["swap_out_late_0"] == ["h"] and found["s0"] == ["h", "^swap_out_late_0"]
    assert found["swap_in_late_0"] == ["swap_out_late_0", "^s1"] and found["late"] == ["swap_in_late_0", "s2"]


@pytest.mark.parametrize(
    ("places", "between"), [([1], 3), ([0, 1], 3), ([0], 0), ([7], 3)], ids=["last", "both", "none", "no"]
)
def test_an_operand_without_time_to_wait_stays(places: list[int], between: int) -> None:
    assert not any("Copy" in op for op in ops(saved(swapped(places, between))))


def test_nothing_is_swapped_on_the_host() -> None:
    net = swapped([0], 3).on("/device:CPU:0")
    assert not any("Copy" in op for op in ops(saved(net)))


def large(op: str = "AddN") -> Net:
    net = Net()
    x = net.constant("x", np.ones((300, 1000), np.float32))
    parts = [net.op(each, x) for each in ("Exp", "Sin", "Cos", "Tan")]
    wait = net.op("Neg", x)
    net.node(op, "sum", *parts, f"^{wait}")
    return net.out("sum").on("/device:CPU:0")


def test_a_sum_that_does_not_fit_is_added_up() -> None:
    after = saved(large(), MemoryMode.SCHEDULING_HEURISTICS, device_memory_bytes=5_000_000)
    found = ops(after)
    assert found["TemporaryVariable"] == found["DestroyTemporaryVariable"] == found["Assign"] == 1
    assert found["AssignAdd"] == 3 and found["AddN"] == 0
    assert inputs(after)["sum/tmp_var"] == ["^Neg_5"]


@pytest.mark.parametrize("size", [0, 50_000_000], ids=["nobody says", "fits"])
def test_a_sum_that_fits_stays(size: int) -> None:
    after = saved(large(), MemoryMode.SCHEDULING_HEURISTICS, device_memory_bytes=size)
    assert ops(after)["AddN"] == 1


def test_large_values_are_swapped_where_the_memory_is_too_small() -> None:
    net = Net()
    net.node("Exp", "h", net.constant("x", np.ones((512, 1024), np.float32)))
    wide = net.op("ConcatV2", *("h",) * 6, net.c(0, np.int32), N=6)
    narrow = net.op("Sum", wide, net.c([0], np.int32))
    narrow = net.op("Neg", net.op("Exp", narrow))
    net.out(net.op("Mul", "h", narrow)).on(GPU)
    for size, count in ((10_000_000, 1), (100_000_000, 0)):
        after = saved(net, MemoryMode.SWAPPING_HEURISTICS, device_memory_bytes=size)
        assert ops(after)["_CopyFromGpuToHost"] == ops(after)["_CopyFromHostToGpu"] == count


def test_copies_between_memories_run() -> None:
    net = Net()
    x = net.x(3)
    net.out(net.op("_CopyFromHostToGpu", net.op("_CopyFromGpuToHost", x)))
    [found] = GraphRunner(net.graph_def).run(net.feeds, net.fetches)
    np.testing.assert_array_equal(found, net.feeds["x0"])
