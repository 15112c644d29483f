"""What the meta-optimizer runs of a registry: the plugins of a graph's devices, and custom optimizers."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ...lite.errors import ModelError, PluginError, UnsupportedError
from ...schema.graph_def import GraphDef, OpDef
from ..ir.export_graph import export_graph_def
from ..ir.import_graph import import_graph_def
from ..ir.import_options import ImportOptions
from ..ir.module import Module
from ..optimizers.config import OptimizerConfig
from ..optimizers.external import Chosen, CustomFactory, PluginChoice
from ..optimizers.item import GrapplerItem
from ..optimizers.properties import GraphProperties
from .discovery import OFF, add_plugin, discover, plugins_setting
from .merge import PluginConfigs, PluginConfigWarning, merge_configs
from .plugin import FunctionLibrary
from .registry import PluginEntry, PluginRegistry, default_registry

_warned: set[str] = set()


def plugin_choice(registry: PluginRegistry | None = None, without: Collection[str] = ()) -> PluginChoice:
    """For MetaOptimizer: plugins of the registry, without those named.

    None is the process's own, for which what is installed is looked for first. NUMLITE_PLUGINS=off turns all
    off, their configs too.
    """

    def choose(item: GrapplerItem, config: OptimizerConfig) -> Chosen:
        if plugins_setting() == OFF:
            return Chosen(config)
        if registry is None:
            discover()
        held = registry if registry is not None else default_registry()
        _check_left_out(held, without)
        entries = [entry for entry in held.for_devices(item.device_types()) if entry.name not in without]
        merged, said = merge_configs(config, [PluginConfigs(e.name, e.configs) for e in entries])
        for text in said:
            if text not in _warned:
                _warned.add(text)
                warnings.warn(text, PluginConfigWarning, stacklevel=2)
        return Chosen(merged, [RunningPlugin(entry, held.ops()) for entry in entries], said)

    return choose


def _check_left_out(registry: PluginRegistry, without: Collection[str]) -> None:
    """PluginError for a name of no plugin."""
    known = {entry.name for entry in registry.plugins()}
    missing = sorted(set(without) - known)
    if missing:
        listed = ", ".join(sorted(known)) or "none are there"
        raise PluginError(f"plugins to leave out: must be among those there are ({listed}), got {missing}")


def choice_of(plugins: Iterable[object] | PluginChoice | None) -> PluginChoice:
    """For MetaOptimizer: the process's plugins for None, else those that are listed and no others: classes,
    entries, paths of .so and .py. PluginError for one that is none.
    """
    if plugins is None:
        return plugin_choice()
    if callable(plugins):
        return plugins
    registry = PluginRegistry()
    for plugin in plugins:
        add_plugin(registry, plugin)
    return plugin_choice(registry)


def custom_factory(registry: PluginRegistry | None = None) -> CustomFactory:
    """Makes the custom optimizers that a config names, for MetaOptimizer.

    They are those of the registry, or of the process's own if it is None. What is given takes a name and
    the parameters of the config; it raises KeyError for a name that is not registered.
    """

    def make(name: str, parameters: Mapping[str, object]) -> RunningOptimizer:
        held = registry if registry is not None else default_registry()
        return RunningOptimizer(name, held.optimizer(name), parameters, held.ops())

    return make


class RunningOptimizer:
    """An optimizer of others in one run of the meta-optimizer, its instance made when it first runs.

    parameters go to its method init, where it has one and they are not None. ops are definitions that
    plugins have brought, by name.
    """

    def __init__(
        self, name: str, make: Any, parameters: Mapping[str, object] | None, ops: Mapping[str, OpDef]
    ) -> None:
        self.name = name
        self._make, self._parameters, self._ops = make, parameters, ops
        self._made: Any = None

    def run(self, item: GrapplerItem) -> Module | None:
        """The checked module that it gives. PluginError for anything that goes wrong."""
        try:
            if self._made is None:
                self._made = self._make()
                if self._parameters is not None and hasattr(self._made, "init"):
                    self._made.init(dict(self._parameters))
            library = FunctionLibrary.of_module(item.module, self._ops)
            given = self._made.optimize(item, LazyProperties(item), library)
            return None if given is None else checked(self.name, item, given, self._ops)
        except PluginError:
            raise
        except Exception as error:
            raise PluginError(f"plugin {self.name!r}: {type(error).__name__}: {error}") from error

    def close(self) -> None:
        """Close the instance, if there is one; what goes wrong then changes no result."""
        made, self._made = self._made, None
        if hasattr(made, "close"):
            try:
                made.close()
            except Exception as error:
                warnings.warn(f"plugin {self.name!r}: close failed: {error}", RuntimeWarning, stacklevel=2)


class RunningPlugin(RunningOptimizer):
    """A plugin in one run of the meta-optimizer; it gets no parameters."""

    def __init__(self, entry: PluginEntry, ops: Mapping[str, OpDef]) -> None:
        super().__init__(entry.name, entry.make, None, ops)


class LazyProperties(GraphProperties):
    """Properties of a graph that are inferred when something is first asked of them.

    By infer_statically with its defaults, unless the plugin has called that itself: an optimizer that
    asks nothing costs no inference.
    """

    def _node(self, node: Any) -> Any:
        if self._inference is None:
            self.infer_statically()
        return super()._node(node)


def checked(name: str, item: GrapplerItem, given: Module | GraphDef, ops: Mapping[str, OpDef]) -> Module:
    """What an optimizer gave, as a module: it imports, every op is known, and preserved nodes are there with
    what is fetched. PluginError where not.
    """
    if isinstance(given, Module):
        given = export_graph_def(given)
    if not isinstance(given, GraphDef):
        raise PluginError(
            f"plugin {name!r}: it must give a Module, a GraphDef or None, got {type(given).__name__}"
        )
    options = ImportOptions(allow_unknown_ops=False, op_defs=tuple(ops.values()))
    try:
        module = import_graph_def(given, options)
    except (ModelError, UnsupportedError) as error:
        raise PluginError(f"plugin {name!r}: its graph must import, got: {error}") from error
    _check_preserved(name, item, module)
    return module


def _check_preserved(name: str, item: GrapplerItem, module: Module) -> None:
    if item.function:
        if item.function not in module.functions:
            raise PluginError(f"plugin {name!r}: function {item.function!r} must be in its graph, got none")
        return
    nodes = {node.name: node for node in module.graph.body} if module.graph is not None else {}
    missing = sorted(item.nodes_to_preserve() - set(nodes))
    if missing:
        raise PluginError(
            f"plugin {name!r}: preserved nodes must be in its graph, got none for {missing[:8]}"
        )
    for fetch in item.fetches:
        node, _, port = fetch.partition(":")
        count = len(nodes[node].results) if node in nodes else 0
        if port.isdecimal() and int(port) >= count:
            raise PluginError(
                f"plugin {name!r}: fetch {fetch!r} must be in its graph, got {count} results of it"
            )
