"""Plugins in Python: registering, choosing, running, and what becomes of those that fail."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from threading import Thread
from typing import Any

import numpy as np
import pytest
from numlite.converter import GraphRunner, run_graph
from numlite.converter.ir.export_graph import export_graph_def
from numlite.converter.ir.module import Module
from numlite.converter.optimizers.config import CustomOptimizer, OptimizerConfig
from numlite.converter.optimizers.item import GrapplerItem
from numlite.converter.optimizers.meta_optimizer import MetaOptimizer
from numlite.converter.optimizers.properties import GraphProperties
from numlite.converter.optimizers.result import OptimizationResult, PassRecord
from numlite.converter.plugins import (
    FunctionLibrary,
    OptimizerPlugin,
    PluginConfigWarning,
    PluginError,
    PluginRegistry,
    TriState,
    register_plugin,
    unregister_plugin,
)
from numlite.converter.plugins.choice import custom_factory, plugin_choice
from numlite.kernels.fallback.op_metadata import OpMetadata
from numlite.kernels.fallback.register import fallback_kernels
from numlite.kernels.fallback.registry import KernelRegistration, kernel
from numlite.kernels.fallback.status import NotFoundError
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import GraphDef, OpDef

from .small_graphs import GRAPH


class Relu6(OptimizerPlugin):
    """Exchanges an op, and writes down what happens to it."""

    device_type = "CPU"
    events: list[str] = []  # noqa: RUF012 (of the test that runs)

    def __init__(self) -> None:
        self.events.append("made")

    def optimize(
        self, item: GrapplerItem, properties: GraphProperties, library: FunctionLibrary
    ) -> Module | GraphDef | None:
        self.events.append("optimize")
        graph = export_graph_def(item.module)
        for node in graph.node:
            if node.op == "Relu":
                node.op = "Relu6"
        return graph

    def close(self) -> None:
        self.events.append("closed")


def optimized(*plugins: type[OptimizerPlugin], **settings: Any) -> OptimizationResult:
    registry = PluginRegistry()
    for plugin in plugins:
        registry.register(plugin)
    config = OptimizerConfig(**{"optimizers": ("pruning",), "min_graph_nodes": -1, **settings})
    item = GrapplerItem.from_graph_def(GRAPH, ["x"], ["relu:0"])
    return MetaOptimizer(config, plugin_choice(registry), custom_factory(registry)).optimize(item)


def record(result: OptimizationResult, name: str) -> PassRecord:
    return next(each for each in result.passes if each.optimizer == name)


def op_of(result: OptimizationResult, name: str) -> str:
    return next(node.op for node in result.graph_def().node if node.name == name)


def test_a_plugin_runs_last_and_one_instance_serves_a_run() -> None:
    Relu6.events.clear()
    result = optimized(Relu6)
    assert op_of(result, "relu") == "Relu6"
    assert [each.optimizer for each in result.passes][:2] == ["pruning", "Relu6"]
    assert Relu6.events[0] == "made" and Relu6.events[-1] == "closed"
    assert Relu6.events.count("made") == Relu6.events.count("closed") == 1


@pytest.mark.parametrize("setting", ["config", "environment", "device"])
def test_plugins_are_turned_off_or_not_meant(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class ForNpu(Relu6):
        device_type = "MY_NPU"
        configs = {"remapping": TriState.OFF}  # noqa: RUF012

    if setting == "environment":
        monkeypatch.setenv("NUMLITE_PLUGINS", "off")
    more = {"use_plugin_optimizers": False} if setting == "config" else {}
    result = optimized(ForNpu if setting == "device" else Relu6, **more)
    assert op_of(result, "relu") == "Relu" and not result.warnings


class Fails(Relu6):
    def optimize(self, item: GrapplerItem, *more: object) -> Any:
        item.module.ops.clear()  # what it left half done is never seen
        raise ValueError("no idea")


class Nothing(Relu6):
    def optimize(self, *more: object) -> Any:
        return None


class LosesFetch(Relu6):
    def optimize(self, item: GrapplerItem, *more: object) -> Any:
        graph = export_graph_def(item.module)
        del graph.node[-1]
        return graph


class UnknownOp(Relu6):
    def optimize(self, item: GrapplerItem, *more: object) -> Any:
        graph = export_graph_def(item.module)
        graph.node[-1].op = "NoSuchOp"
        return graph


class GivesText(Relu6):
    def optimize(self, *more: object) -> Any:
        return "a graph"


class Unmade(Relu6):
    def __init__(self) -> None:
        raise OSError("no device")


@pytest.mark.parametrize(
    ("plugin", "status", "reason"),
    [
        (Fails, "failed", "ValueError: no idea"),
        (Nothing, "did nothing", ""),
        (LosesFetch, "failed", "preserved nodes must be in its graph, got none for ['relu']"),
        (UnknownOp, "failed", "NoSuchOp"),
        (GivesText, "failed", "must give a Module, a GraphDef or None, got str"),
        (Unmade, "failed", "OSError: no device"),
    ],
)
def test_a_plugin_that_gives_nothing_usable_leaves_the_graph(
    plugin: type[OptimizerPlugin], status: str, reason: str
) -> None:
    result = optimized(plugin)
    found = record(result, plugin.__name__)
    assert found.status == status and reason in found.reason
    assert op_of(result, "relu") == "Relu"


def test_configs_are_merged_and_warned_of_once() -> None:
    class Turns(Relu6):
        configs = {"layout_optimizer": TriState.OFF}  # noqa: RUF012

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = [optimized(Turns), optimized(Turns)]
    said = [str(each.message) for each in caught if each.category is PluginConfigWarning]
    assert len(said) == 1 and said[0].startswith("User's config has been changed based on plugin's config.")
    assert all(len(result.warnings) == 1 for result in results)


def test_one_for_each_type_of_device() -> None:
    class Second(Relu6):
        device_type = "cpu"

    registry = PluginRegistry()
    registry.register(Relu6)
    with pytest.raises(
        PluginError, match=r"second beside 'Relu6': unregister_plugin\('Relu6'\) or --no-plugin Relu6"
    ):
        registry.register(Second)
    registry.unregister("Relu6")
    assert [entry.name for entry in registry.plugins()] == []
    registry.register(Second)
    with pytest.raises(PluginError, match="must be one of Second"):
        registry.unregister("Relu6")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"device_type": ""}, "'device_type' field in TP_OptimizerRegistrationParams must be set."),
        ({"api_version": (1, 0, 0)}, "must have MAJOR 0 as ours has"),
        ({"api_version": (0, 1)}, "must be three numbers"),
        ({"configs": {"remapping": 5}}, "configs must be TriStates"),
        ({"optimize": OptimizerPlugin.optimize}, "it must have a method optimize"),
    ],
)
def test_what_is_no_whole_plugin(members: dict[str, object], message: str) -> None:
    plugin = type("Wrong", (Relu6,), members)
    with pytest.raises(PluginError) as caught:
        PluginRegistry().register(plugin)
    assert message in str(caught.value)


def test_what_is_no_class_is_no_plugin() -> None:
    for wrong in (object, Relu6(), None):
        with pytest.raises(PluginError, match="must be a class derived from OptimizerPlugin"):
            PluginRegistry().register(wrong)  # type: ignore[arg-type]


def test_newer_plugins_lose_what_is_not_known(caplog: pytest.LogCaptureFixture) -> None:
    members = {"api_version": (0, 9, 0), "configs": {"remapping": TriState.OFF, "telepathy": TriState.ON}}
    entry = PluginRegistry().register(type("Newer", (Relu6,), members))
    assert entry.configs == {"remapping": TriState.OFF}
    assert [text.getMessage() for text in caplog.records] == [
        "plugin 'Newer': configs that are not known are left out: telepathy",
        "plugin 'Newer': what MINOR 9 of the interface adds is left out",
    ]


def test_registering_from_several_threads() -> None:
    registry = PluginRegistry()
    classes = [type(f"P{i}", (Relu6,), {"device_type": f"D{i % 20}"}) for i in range(100)]
    refused: list[PluginError] = []

    def register(some: Iterable[type[OptimizerPlugin]]) -> None:
        for each in some:
            try:
                registry.register(each)
            except PluginError as error:
                refused.append(error)

    threads = [Thread(target=register, args=(classes[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(registry.plugins()) == 20 and len(refused) == 80


class OwnOp(OptimizerPlugin):
    """Brings an op of its own, with a kernel."""

    device_type = "CPU"

    def optimize(self, item: GrapplerItem, properties: GraphProperties, library: FunctionLibrary) -> GraphDef:
        assert library.look_up_op_def("TestTwice").name == "TestTwice"
        assert library.look_up_op_def("AddV2").name == "AddV2"
        with pytest.raises(NotFoundError, match="Op type not registered 'NoSuchOp' in"):
            library.look_up_op_def("NoSuchOp")
        assert [each.dtype for each in properties.output_properties("relu")] == [1]
        graph = export_graph_def(item.module)
        graph.node[-1].op = "TestTwice"
        return graph

    @classmethod
    def ops(cls) -> list[OpDef]:
        return [OpMetadata.parse("TestTwice", ["x: T"], ["y: T"], ["T: {float} = DT_FLOAT"]).op_def]

    @classmethod
    def kernels(cls) -> list[KernelRegistration]:
        return [kernel("TestTwice", lambda x: x + x)]


def test_an_op_of_the_plugins_own_is_known() -> None:
    result = optimized(OwnOp)
    assert record(result, "OwnOp").status == "changed", record(result, "OwnOp").reason
    assert op_of(result, "relu") == "TestTwice"


def test_everything_that_runs_graphs_knows_the_ops_of_a_registered_plugin() -> None:
    definition = GraphDef()
    definition.CopyFrom(GRAPH)
    definition.node[-1].op = "TestTwice"
    x = np.ones((2, 4), np.float32)
    register_plugin(OwnOp)
    try:
        runner = GraphRunner(definition)
        np.testing.assert_array_equal(runner.run({"x": x}, ["relu"])[0], np.full((2, 3), 8))
    finally:
        unregister_plugin(OwnOp)
    assert fallback_kernels().registrations("TestTwice") == []
    assert "TestTwice" not in fallback_kernels().ops()
    with pytest.raises(UnsupportedError, match="TestTwice"):
        run_graph(definition, {"x": x}, ["relu"])


def test_plugins_are_left_out_by_name() -> None:
    registry = PluginRegistry()
    registry.register(Relu6)
    item = GrapplerItem.from_graph_def(GRAPH, ["x"], ["relu:0"])
    config = OptimizerConfig(optimizers=("pruning",), min_graph_nodes=-1)
    result = MetaOptimizer(config, plugin_choice(registry, ["Relu6"])).optimize(item)
    assert op_of(result, "relu") == "Relu"
    with pytest.raises(PluginError, match=r"among those there are \(Relu6\), got \['Nobody'\]"):
        MetaOptimizer(config, plugin_choice(registry, ["Nobody"])).optimize(item)


class Custom:
    """A custom optimizer, which asks for no device."""

    given: dict[str, object] = {}  # noqa: RUF012

    def init(self, parameters: dict[str, object]) -> None:
        type(self).given = parameters

    def optimize(self, item: GrapplerItem, properties: GraphProperties, library: FunctionLibrary) -> Module:
        next(node for node in item.nodes() if node.name == "relu").op = "Elu"
        return item.module


def test_custom_optimizers_run_by_name() -> None:
    registry = PluginRegistry()
    registry.register_optimizer("elu", Custom)
    with pytest.raises(PluginError, match="there must be one of a name, got a second"):
        registry.register_optimizer("elu", Custom)
    with pytest.raises(PluginError, match="must have a method optimize"):
        registry.register_optimizer("other", object)
    custom = CustomOptimizer("elu", {"rate": 3})
    config = OptimizerConfig(optimizers=("elu",), custom_optimizers=(custom,), min_graph_nodes=-1)
    item = GrapplerItem.from_graph_def(GRAPH, ["x"], ["relu:0"])
    result = MetaOptimizer(config, None, custom_factory(registry)).optimize(item)
    assert op_of(result, "relu") == "Elu" and Custom.given == {"rate": 3}
