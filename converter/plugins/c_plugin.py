"""load_plugin: a shared library that was made for TensorFlow, as a plugin of a registry."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from google.protobuf.message import DecodeError

from ...kernels.plugin.library import check_file
from ...kernels.plugin.shim import check_machine
from ...lite.errors import PluginError
from ...schema.graph_def import GraphDef, OpDef
from ..ir.export_graph import export_graph_def
from ..optimizers.item import GrapplerItem
from ..optimizers.properties import GraphProperties
from .c_graph import CItem
from .c_source import CSource, OwnProcess, ThisProcess
from .plugin import API_VERSION, FunctionLibrary, OptimizerPlugin, TriState
from .process import DEFAULT_TIMEOUT_S
from .registry import PluginEntry, PluginRegistry, default_registry

ISOLATIONS = ("process", "none")


def load_plugin(
    path: str | os.PathLike[str],
    isolation: str = "process",
    registry: PluginRegistry | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
) -> PluginEntry:
    """Open a plugin and register it, with the process's registry if none is given.

    With isolation "process" it runs in a process of its own, and may take timeout_s seconds for an answer: a
    crash, an exit or an endless loop of it is a PluginError, and the graph stays as it was. With "none" it
    runs in this process, which it can end or damage like any other library; what it does here cannot be
    undone. Raises PluginError where it is no plugin, or breaks the rules, with the reason; UnsupportedError
    on machines that have no form of such libraries.
    """
    entry = opened_plugin(path, isolation, timeout_s)
    if not entry.device_type:
        raise PluginError(
            f"plugin {entry.path!r}: it must register an optimizer (TF_InitGraph), got kernels alone; "
            "run_graph(.., plugins=[path]) runs those"
        )
    return (registry if registry is not None else default_registry()).register(entry)


def opened_plugin(
    path: str | os.PathLike[str], isolation: str = "process", timeout_s: float = DEFAULT_TIMEOUT_S
) -> PluginEntry:
    """The plugin, opened as load_plugin does and not registered. One of kernels alone has no type of
    device.
    """
    if isolation not in ISOLATIONS:
        raise ValueError(f"isolation: must be one of {', '.join(ISOLATIONS)}, got {isolation!r}")
    check_machine()
    place = os.path.abspath(os.fspath(path))
    check_file(place)
    source: CSource = OwnProcess(place, timeout_s) if isolation == "process" else ThisProcess(place)
    try:
        told, ops = source.describe()
        return _entry(place, told, ops, source)
    except BaseException:
        source.close()
        raise


def _entry(path: str, told: Mapping[str, Any], ops: tuple[OpDef, ...], source: CSource) -> PluginEntry:
    name = os.path.basename(path).partition(".so")[0]
    keys = ("configs_bytes", "kernels", "unanswered", "not_called")
    notes = {"isolation": source.isolation, **{key: told[key] for key in keys}}
    return PluginEntry(
        name,
        told["device_type"],
        lambda: _CPlugin(path, source, {op.name: op for op in ops}),
        tuple(told["version"]) if told["optimizes"] else API_VERSION,
        {key: TriState(value) for key, value in told["configs"].items()},
        ops,
        source.kernels(),
        path=path,
        notes=notes,
    )


class _CPlugin(OptimizerPlugin):
    """An instance of a C plugin's optimizer, for one run."""

    def __init__(self, path: str, source: CSource, ops: Mapping[str, OpDef]) -> None:
        self._path, self._source, self._ops = path, source, ops
        source.create()

    def optimize(
        self, item: GrapplerItem, properties: GraphProperties, library: FunctionLibrary
    ) -> GraphDef | None:
        """The plugin's graph. Functions of a library are left as they are: C plugins get graphs."""
        if item.function:
            return None
        graph = export_graph_def(item.module)
        preserved = sorted(item.nodes_to_preserve())
        found = self._source.optimize(
            CItem(graph.SerializeToString(), preserved, item.feeds, item.fetches, self._ops)
        )
        if found is None:
            return None
        try:
            given = GraphDef.FromString(found)
        except DecodeError as error:
            raise PluginError(f"plugin {self._path!r}: it must give a GraphDef, got {error}") from error
        return None if given == graph else given

    def close(self) -> None:
        self._source.destroy()
