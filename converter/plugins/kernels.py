"""Kernels that plugins bring, where graphs run: their own ops always, TensorFlow's if asked."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ...kernels.fallback.op_metadata import OpMetadata
from ...kernels.fallback.register import fallback_kernels
from ...kernels.fallback.registry import KernelRegistration, KernelRegistry
from ...schema.op_defs import op_defs
from .c_plugin import opened_plugin
from .discovery import add_plugin
from .registry import PluginEntry, PluginRegistry


def plugin_kernels(
    plugins: Iterable[object], prefer: bool = False, common: KernelRegistry | None = None
) -> PluginKernels:
    """Kernels of these plugins: classes, entries, paths of .so and .py, which run in this process.
    PluginError for one that is none.
    """
    registry, libraries = PluginRegistry(), list[PluginEntry]()
    for plugin in plugins:
        if isinstance(plugin, str | os.PathLike) and not os.fspath(plugin).endswith(".py"):
            libraries.append(opened_plugin(plugin, "none"))
        else:
            add_plugin(registry, plugin)
    return PluginKernels([*registry.plugins(), *libraries], prefer, common)


class PluginKernels(KernelRegistry):
    """Kernels of plugins, behind them those of a common registry."""

    def __init__(
        self, plugins: Iterable[PluginEntry], prefer: bool = False, common: KernelRegistry | None = None
    ) -> None:
        """prefer: kernels for TensorFlow's own ops go first, too; else they are left out."""
        super().__init__()
        self._common = fallback_kernels() if common is None else common
        for plugin in plugins:
            own = {op.name for op in plugin.ops}
            for op in plugin.ops:
                if op_defs().find(op.name) is None or prefer:
                    self.register_op(OpMetadata(op))
            for kernel in plugin.kernels:
                if prefer or kernel.op in own or op_defs().find(kernel.op) is None:
                    self.register(kernel)

    def registrations(self, op: str) -> list[KernelRegistration]:
        return [*super().registrations(op), *self._common.registrations(op)]

    def ops(self) -> list[str]:
        return sorted({*super().ops(), *self._common.ops()})

    def metadata(self, op: str) -> OpMetadata:
        return self._ops.get(op) or self._common.metadata(op)
