"""verify: a pass that changes what the graph gives is undone, and named with its rule and node."""

from functools import partial

import numpy as np
import pytest
from numlite.converter.optimizers import GrapplerItem, MetaOptimizer, OptimizerConfig
from numlite.converter.optimizers.memory.estimate import memory_estimate
from numlite.converter.optimizers.properties import GraphProperties
from numlite.converter.optimizers.verification import DifferenceError, Verification, difference

from .optimized import Net


class Negating:
    """A custom optimizer that takes a Neg out."""

    name = "negating"

    def run(self, item: GrapplerItem) -> object:
        for node in list(item.nodes()):
            if node.op == "Neg":
                node.results[0].replace_all_uses_with(node.operands[0])
                node.erase()
        return item.module

    def close(self) -> None:
        """Nothing is held."""


def net() -> Net:
    made = Net()
    x = made.x(2, 3)
    return made.out(made.op("Exp", made.op("Neg", made.op("AddV2", x, made.c(1.0)))))


def optimizer(verify: int, *names: str, **options: object) -> MetaOptimizer:
    config = OptimizerConfig.of({"optimizers": names, "min_graph_nodes": -1, **options})
    return MetaOptimizer(
        config,
        custom=lambda name, parameters: Negating(),
        check=partial(Verification, count=verify) if verify else None,
    )


def item(made: Net) -> GrapplerItem:
    return GrapplerItem.from_graph_def(made.graph_def, list(made.feeds), made.fetches)


def test_a_difference_names_pass_and_node_and_is_undone() -> None:
    result = optimizer(2, "negating").optimize(item(net()))
    record = result.passes[0]
    assert record.status == "failed"
    assert "verification of negating" in record.reason and "first at node 'Exp_" in record.reason
    assert "fetch 'y0' must be what it was" in record.reason
    assert any(node.op == "Neg" for node in result.graph_def().node)
    with pytest.raises(DifferenceError):
        optimizer(1, "negating", fail_on_optimizer_errors=True).optimize(item(net()))


def test_without_it_nobody_looks() -> None:
    result = optimizer(0, "negating").optimize(item(net()))
    assert result.passes[0].status == "changed"


def test_right_passes_pass() -> None:
    config = OptimizerConfig(min_graph_nodes=-1)
    made = net()
    made.out(made.op("Neg", made.op("Neg", "x0")))
    result = MetaOptimizer(config, check=partial(Verification, count=2)).optimize(item(made))
    assert {each.status for each in result.passes} <= {"changed", "did nothing"}
    assert result.rewrites() and not result.warnings


def test_a_graph_that_does_not_run_is_said_to() -> None:
    made = Net()
    made.out(made.op("Reshape", made.op("Neg", made.x(3)), made.c([7], np.int32)))
    result = optimizer(1, "pruning").optimize(item(made))
    assert "verify: the graph does not run on random inputs" in result.warnings[0]


def test_random_results_are_not_compared() -> None:
    made = Net()
    shape = made.c([3], np.int32)
    made.out(made.op("Neg", made.x(3)), made.node("RandomUniform", "r", shape, dtype=_float()))
    result = optimizer(1, "pruning", "negating").optimize(item(made))
    assert "fetch 'y0'" in result.passes[1].reason


def _float() -> object:
    from numlite.schema.graph_def import DT_FLOAT, AttrValue

    return AttrValue(type=DT_FLOAT)


def test_differences_are_parts_of_the_largest_value() -> None:
    a = np.array([100.0, np.nan, np.inf])
    assert difference(a, a) == 0
    assert difference(a, np.array([101.0, np.nan, np.inf])) == pytest.approx(0.01)
    assert difference(a, np.array([100.0, 1.0, np.inf])) == np.inf
    assert difference(a, a.astype(np.float32)) == difference(a, a[:2]) == np.inf


def test_memory_is_that_of_values_that_live_at_once() -> None:
    made = Net()
    x = made.x(256)
    made.out(made.op("Add", made.op("Neg", x), made.op("Exp", x)))
    held = item(made)
    properties = GraphProperties(held)
    properties.infer_statically(assume_valid_feeds=True)
    [estimate] = memory_estimate(held, properties)
    # The placeholder, which is preserved, both operands of the sum, and the sum.
    assert (estimate.peak_bytes, estimate.unknown) == (4 * 1024, 0)
    properties.infer_statically()
    assert memory_estimate(held, properties)[0].unknown == 5
