"""Kernels that plugins bring, where graphs run: their own ops always, TensorFlow's if asked."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ...kernels.fallback.op_metadata import OpMetadata
from ...kernels.fallback.register import fallback_kernels
from ...kernels.fallback.registry import KernelRegistration, KernelRegistry
from .c_plugin import opened_plugin
from .discovery import add_plugin
from .registry import PluginEntry, PluginRegistry, add_kernels


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
    """Kernels of plugins, in their order, before those of a common registry.

    Changes to the common registry (the fallback kernels, unless another is given) are seen at once; it is
    not changed itself.
    """

    def __init__(
        self, plugins: Iterable[PluginEntry], prefer: bool = False, common: KernelRegistry | None = None
    ) -> None:
        """prefer: kernels for TensorFlow's own ops go first, too; else they are left out."""
        super().__init__()
        self._common = fallback_kernels() if common is None else common
        for plugin in plugins:
            add_kernels(self, plugin, prefer)

    def registrations(self, op: str) -> list[KernelRegistration]:
        return [*super().registrations(op), *self._common.registrations(op)]

    def ops(self) -> list[str]:
        return sorted({*super().ops(), *self._common.ops()})

    def metadata(self, op: str) -> OpMetadata:
        return self._ops.get(op) or self._common.metadata(op)
