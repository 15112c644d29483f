"""PluginRegistry: the plugins there are, one for each type of device, and custom optimizers by name."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from threading import RLock

from ...kernels.fallback.op_metadata import OpMetadata
from ...kernels.fallback.register import fallback_kernels
from ...kernels.fallback.registry import KernelRegistration, KernelRegistry
from ...lite.errors import PluginError
from ...schema.graph_def import OpDef
from ...schema.op_defs import op_defs
from .plugin import API_VERSION, STATES, OptimizerPlugin, TriState

_LOG = logging.getLogger("numlite")


@dataclass(frozen=True)
class PluginEntry:
    """A registered plugin. make gives a new instance for a run; path is "" for a class of this process."""

    name: str
    device_type: str
    make: Callable[[], OptimizerPlugin]
    api_version: tuple[int, int, int] = API_VERSION
    configs: Mapping[str, TriState] = field(default_factory=dict)
    ops: tuple[OpDef, ...] = ()
    kernels: tuple[KernelRegistration, ...] = ()
    path: str = ""
    # What is told of it beside: bytes of its configs, functions that it wants and does not get ...
    notes: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of_class(cls, plugin: type[OptimizerPlugin]) -> PluginEntry:
        """PluginError where the class does not say what a plugin must."""
        if not (isinstance(plugin, type) and issubclass(plugin, OptimizerPlugin)):
            raise PluginError(f"plugin: must be a class derived from OptimizerPlugin, got {plugin!r}")
        if plugin.optimize is OptimizerPlugin.optimize:
            raise PluginError(f"plugin {plugin.__name__!r}: it must have a method optimize, got none")
        configs = checked_configs(plugin.__name__, plugin.configs)
        version = checked_version(plugin.__name__, plugin.api_version)
        ops, kernels = tuple(plugin.ops()), tuple(plugin.kernels())
        return cls(plugin.__name__, plugin.device_type, plugin, version, configs, ops, kernels)


def checked_version(name: str, version: tuple[int, int, int]) -> tuple[int, int, int]:
    """The version of a plugin's interface (MAJOR, MINOR, PATCH), if this one can serve it.

    Raises PluginError for what is not three numbers, and for another MAJOR. A newer MINOR is warned of:
    what it adds is left out.
    """
    if len(version) != 3 or not all(isinstance(part, int) for part in version):
        raise PluginError(f"plugin {name!r}: api_version must be three numbers, got {version!r}")
    if version[0] != API_VERSION[0]:
        wanted, got = (".".join(map(str, each)) for each in (API_VERSION, version))
        raise PluginError(
            f"plugin {name!r}: its interface must have MAJOR {API_VERSION[0]} as ours has ({wanted}), "
            f"got {got}"
        )
    if version[1] > API_VERSION[1]:
        _LOG.warning("plugin %r: what MINOR %d of the interface adds is left out", name, version[1])
    return version


def checked_configs(name: str, configs: Mapping[str, TriState]) -> dict[str, TriState]:
    """Those of a plugin's configs that are known here (STATES), as TriStates.

    Others, of a newer interface, are left out with a warning. Raises PluginError for what is no TriState.
    """
    unknown = sorted(set(configs) - set(STATES))
    if unknown:
        _LOG.warning("plugin %r: configs that are not known are left out: %s", name, ", ".join(unknown))
    try:
        return {key: TriState(configs[key]) for key in STATES if key in configs}
    except ValueError as error:
        raise PluginError(f"plugin {name!r}: configs must be TriStates, got {dict(configs)!r}") from error


def add_kernels(kernels: KernelRegistry, plugin: PluginEntry, prefer: bool = False) -> None:
    """Let kernels know the plugin's ops and those of its kernels that are for them, with prefer those for
    TensorFlow's ops, too.
    """
    for op in plugin.ops:
        if prefer or op_defs().find(op.name) is None:
            kernels.register_op(OpMetadata(op))
    for kernel in plugin.kernels:
        if prefer or op_defs().find(kernel.op) is None:
            kernels.register(kernel)


class PluginRegistry:
    """Plugins and custom optimizers by name, in the order in which they were registered.

    There is one plugin of a name and one for a type of device (in any case of letters). Safe from
    several threads.
    """

    def __init__(self, kernels: KernelRegistry | None = None) -> None:
        """kernels: where the plugins' own ops and their kernels are known while the plugins are
        registered.
        """
        self._kernels = kernels
        self._plugins: dict[str, PluginEntry] = {}
        self._optimizers: dict[str, type] = {}
        # Plugins that were found and could not be had, with the reason.
        self.failures: dict[str, str] = {}
        # Whether what is installed was looked for, without and with TensorFlow's plugins (discovery.py).
        self.discovered: set[bool] = set()
        self._lock = RLock()

    def register(self, plugin: type[OptimizerPlugin] | PluginEntry) -> PluginEntry:
        """PluginError for what is no whole plugin, and for a second one of a name or of a type of device."""
        entry = plugin if isinstance(plugin, PluginEntry) else PluginEntry.of_class(plugin)
        if not entry.device_type or not isinstance(entry.device_type, str):
            raise PluginError(
                f"plugin {entry.name!r}: 'device_type' field in TP_OptimizerRegistrationParams must be set."
            )
        with self._lock:
            for held in self._plugins.values():
                if held.name == entry.name or held.device_type.upper() == entry.device_type.upper():
                    raise PluginError(
                        f"plugin {entry.name!r}: there must be one for device type {entry.device_type!r} and "
                        f"of a name, got a second beside {held.name!r}: unregister_plugin({held.name!r}) or "
                        f"--no-plugin {held.name} unloads that"
                    )
            self._plugins[entry.name] = entry
            if self._kernels is not None:
                add_kernels(self._kernels, entry)
        return entry

    def unregister(self, name: str) -> None:
        """Forget a plugin; its name, or its class. PluginError when there is none of the name."""
        with self._lock:
            if name not in self._plugins:
                known = ", ".join(sorted(self._plugins)) or "none"
                raise PluginError(f"plugin {name!r}: must be one of {known}")
            entry = self._plugins.pop(name)
            if self._kernels is not None:
                for kernel in entry.kernels:
                    self._kernels.unregister(kernel)
                for op in entry.ops:
                    self._kernels.unregister_op(op.name)

    def plugins(self) -> list[PluginEntry]:
        """In the order in which they were registered."""
        with self._lock:
            return list(self._plugins.values())

    def for_devices(self, types: Iterable[str]) -> list[PluginEntry]:
        """Those whose type of device is among these."""
        wanted = {each.upper() for each in types}
        return [entry for entry in self.plugins() if entry.device_type.upper() in wanted]

    def ops(self) -> dict[str, OpDef]:
        """Definitions of ops that plugins have brought, by name; of two, the later plugin's."""
        return {op.name: op for entry in self.plugins() for op in entry.ops}

    def register_optimizer(self, name: str, optimizer: type) -> None:
        """A custom optimizer, which runs where a config names it. PluginError for a second of a name."""
        with self._lock:
            if name in self._optimizers:
                raise PluginError(f"optimizer {name!r}: there must be one of a name, got a second")
            if not callable(getattr(optimizer, "optimize", None)):
                raise PluginError(f"optimizer {name!r}: it must have a method optimize, got {optimizer!r}")
            self._optimizers[name] = optimizer

    def unregister_optimizer(self, name: str) -> None:
        """Forget a custom optimizer, if there is one of the name."""
        with self._lock:
            self._optimizers.pop(name, None)

    def optimizer(self, name: str) -> type:
        """A custom optimizer's class; KeyError when there is none of the name."""
        with self._lock:
            return self._optimizers[name]

    def optimizers(self) -> list[str]:
        """Names of the custom optimizers."""
        with self._lock:
            return sorted(self._optimizers)


@cache
def default_registry() -> PluginRegistry:
    """The process's own registry, the same one each time.

    All that runs graphs in this process knows the ops and kernels of its plugins while they are registered.
    """
    return PluginRegistry(fallback_kernels())


def register_plugin(plugin: type[OptimizerPlugin]) -> PluginEntry:
    """Register a plugin with the process, for every graph that is optimized from now on.

    Its ops and kernels serve all that runs graphs. Raises PluginError for a class that is no whole
    plugin, another MAJOR of the interface, and a second plugin of a name or of a type of device.
    """
    return default_registry().register(plugin)


def unregister_plugin(plugin: str | type[OptimizerPlugin]) -> None:
    """Forget a plugin of the process, its ops and its kernels; it is named or given as its class.

    Raises PluginError when there is none of the name.
    """
    default_registry().unregister(plugin if isinstance(plugin, str) else plugin.__name__)


def register_optimizer(name: str, optimizer: type) -> None:
    """Register a custom optimizer with the process: configs ask for it by name, in `optimizers` or
    `custom_optimizers`, whose parameter_map its method init gets if it has one.
    """
    default_registry().register_optimizer(name, optimizer)
