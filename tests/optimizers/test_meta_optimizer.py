"""MetaOptimizer: what runs, what failing passes leave behind, records."""

from collections.abc import Mapping

import numpy as np
import pytest
from numlite.converter.execution.graph_runner import GraphRunner
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.ir.module import Module
from numlite.converter.optimizers import (
    GrapplerItem,
    MetaOptimizer,
    OptimizationResult,
    OptimizerConfig,
    Toggle,
)
from numlite.converter.optimizers.external import Chosen
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import GraphDef

from .optimized import Net, optimized


def item() -> GrapplerItem:
    """y = -x + (1 + 2), with a dead node and an Identity."""
    builder = GraphBuilder()
    x = builder.placeholder("x", [2])
    one, two = (builder.constant(n, np.array(v, np.float32)) for n, v in (("one", 1), ("two", 2)))
    three = builder.node("AddV2", "three", one, two)
    same = builder.node("Identity", "same", builder.node("Neg", "neg", x))
    builder.node("AddV2", "y", same, three)
    builder.node("Exp", "dead", x)
    return GrapplerItem.from_graph_def(builder.graph_def, ["x"], ["y"])


def names(result: OptimizationResult) -> set[str]:
    return {node.name for node in result.graph_def().node}


class Renaming:
    """An optimizer that counts what is done to it, and does what it is told."""

    name = "mine"

    def __init__(self, answer: object = None) -> None:
        self.answer = answer
        self.runs = 0
        self.closed = 0

    def run(self, item: GrapplerItem) -> Module | GraphDef | None:
        self.runs += 1
        if isinstance(self.answer, Exception):
            next(item.nodes()).name = "half done"
            raise self.answer
        if callable(self.answer):
            self.answer(item)
            return item.module
        assert self.answer is None or isinstance(self.answer, GraphDef)
        return self.answer

    def close(self) -> None:
        self.closed += 1


def with_custom(custom: Renaming, **options: object) -> OptimizationResult:
    def made(name: str, parameters: Mapping[str, object]) -> Renaming:
        return {"mine": custom}[name]

    config = OptimizerConfig.of({"optimizers": ["mine"], **options})
    return MetaOptimizer(config, custom=made).optimize(item())


def test_the_default_list_leaves_what_is_needed() -> None:
    before = item()
    result = MetaOptimizer().optimize(before)
    assert names(result) == {"x", "three", "y"}
    assert len(list(before.nodes())) == 8, "the item's own module stays"
    assert result.rewrites()["constfold.evaluate"] == 1
    assert [each.optimizer for each in result.passes if each.iteration == 0][:4] == [
        "pruning",
        "implementation_selector",
        "function",
        "common_subgraph_elimination",
    ]


def test_a_small_graph_stays_unless_it_is_asked_for() -> None:
    builder = GraphBuilder()
    builder.node("Identity", "y", builder.node("Identity", "i", builder.placeholder("x", [2])))
    small = GrapplerItem.from_graph_def(builder.graph_def, ["x"], ["y"])
    assert len(MetaOptimizer().optimize(small).graph_def().node) == 3
    config = OptimizerConfig(min_graph_nodes=-1)
    assert len(MetaOptimizer(config).optimize(small).graph_def().node) == 2


def test_named_optimizers_replace_the_list() -> None:
    result = MetaOptimizer(OptimizerConfig(optimizers=("model_pruner",))).optimize(item())
    assert {each.optimizer for each in result.passes} == {"pruning"}
    assert "one" in names(result) and "dead" not in names(result)


def test_an_unknown_optimizer_is_passed_over_with_a_warning() -> None:
    result = MetaOptimizer(OptimizerConfig(optimizers=("no_such", "pruning"))).optimize(item())
    assert result.warnings == ["there is no optimizer 'no_such'"]
    assert result.passes[0].status == "skipped"


def test_what_is_not_built_is_refused() -> None:
    config = OptimizerConfig(experimental_conditional_code_motion=Toggle.ON)
    with pytest.raises(UnsupportedError, match="is not built"):
        MetaOptimizer(config).optimize(item())


def test_a_failing_optimizer_leaves_the_graph_of_before() -> None:
    custom = Renaming(RuntimeError("no luck"))
    result = with_custom(custom)
    assert names(result) == {node.name for node in item().nodes()}
    assert (result.passes[0].status, result.passes[0].reason) == ("failed", "RuntimeError: no luck")
    assert custom.closed == 1


def test_errors_are_raised_if_the_config_says_so() -> None:
    custom = Renaming(RuntimeError("no luck"))
    with pytest.raises(RuntimeError, match="no luck"):
        with_custom(custom, fail_on_optimizer_errors=True)
    assert custom.closed == 1


def test_a_graph_without_its_preserved_nodes_is_not_taken() -> None:
    result = with_custom(Renaming(GraphDef()))
    assert "preserved nodes must be in its graph, got none for ['x', 'y']" in result.passes[0].reason
    assert "y" in names(result)


def test_what_a_custom_optimizer_gives_is_the_graph_from_then_on() -> None:
    def rename(given: GrapplerItem) -> None:
        for node in given.nodes():
            node.name = {"neg": "minus"}.get(node.name, node.name)

    custom = Renaming(rename)
    result = with_custom(custom, meta_optimizer_iterations=1)
    assert "minus" in names(result) and custom.runs == 1
    assert result.passes[0].status == "changed"


def test_plugins_run_last_and_may_change_the_config() -> None:
    plugin = Renaming()
    config = OptimizerConfig(constant_folding="off")

    def choose(given: GrapplerItem, user: OptimizerConfig) -> Chosen:
        assert given.device_types() == {"CPU"}
        return Chosen(config, [plugin], ["changed by plugins"])

    result = MetaOptimizer(plugins=choose).optimize(item())
    order = [each.optimizer for each in result.passes if each.iteration == 0]
    assert order[-1] == "mine" and "constfold" not in order
    assert result.warnings == ["changed by plugins"] and plugin.closed == 1
    off = MetaOptimizer(OptimizerConfig(use_plugin_optimizers=False), plugins=choose).optimize(item())
    assert "mine" not in {each.optimizer for each in off.passes}


def test_graph_ir_passes_may_stand_in_the_list() -> None:
    result = MetaOptimizer(OptimizerConfig(optimizers=("tfg:tfg-toposort,tfg-cse", "pruning"))).optimize(
        item()
    )
    assert result.passes[0].status == "changed" and "dead" not in names(result)


def test_nothing_begins_when_the_time_is_over() -> None:
    result = MetaOptimizer(OptimizerConfig(meta_optimizer_timeout_ms=1)).optimize(item())
    skipped = [each for each in result.passes if each.status == "skipped"]
    assert all(each.reason == "the time was over" for each in skipped)
    assert {"x", "y"} <= names(result)


def test_no_further_iteration_begins_when_nothing_changed() -> None:
    result = MetaOptimizer(OptimizerConfig(optimizers=("debug_stripper",))).optimize(item())
    assert [each.iteration for each in result.passes] == [0]


def test_disable_meta_optimizer_leaves_everything() -> None:
    result = MetaOptimizer(OptimizerConfig(disable_meta_optimizer=True)).optimize(item())
    assert names(result) == {node.name for node in item().nodes()} and not result.passes


def test_passes_of_the_graph_ir_are_left_out_where_the_config_says() -> None:
    config = OptimizerConfig(optimizers=("tfg:tfg-cse",), disable_tfg_optimizer=True)
    found = MetaOptimizer(config).optimize(item())
    assert [(each.optimizer, each.status, each.reason) for each in found.passes] == [
        ("tfg:tfg-cse", "skipped", "disable_tfg_optimizer is on")
    ]


@pytest.mark.parametrize("field", ["inter_optimizer_verifier_config", "post_optimization_verifier_config"])
def test_a_limit_for_verifying_is_refused(field: str) -> None:
    with pytest.raises(UnsupportedError, match="verification_timeout_in_ms: is not built"):
        MetaOptimizer(OptimizerConfig.of({field: {"verification_timeout_in_ms": 5}}))


def test_a_fed_constant_may_have_another_value() -> None:
    net = Net()
    fed = net.c(5)
    net.out(net.op("AddV2", fed, net.c(2)))
    after = optimized(net.graph_def, [fed], net.fetches)
    for feeds, expected in (({}, 7), ({fed: np.float32(10)}, 12)):
        assert GraphRunner(after).run(feeds, net.fetches) == [expected]
