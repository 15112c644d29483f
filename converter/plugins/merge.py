"""How the configs of plugins change the user's: a plugin can turn an optimizer off, and nothing on.

Source: RFC 318 (table of configs); TensorFlow core/common_runtime/.. custom_graph_optimizer_registry.cc.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..optimizers.config import AutoParallel, OptimizerConfig
from ..optimizers.toggle import MemoryMode, Toggle
from .plugin import STATES, TriState

_PRUNING = "disable_model_pruning"
# What the user has off as long as nothing is said.
OFF_BY_DEFAULT = frozenset(
    (
        *("debug_stripper", "auto_mixed_precision", "auto_mixed_precision_onednn_bfloat16"),
        *("auto_mixed_precision_mkl", "pin_to_host_optimization", "scoped_allocator_optimization"),
    )
)
_CHANGED = "User's config has been changed based on plugin's config."
_CONFLICT = "Plugins have conflicting configs. Potential performance regression may happen."


class PluginConfigWarning(UserWarning):
    """Plugins have turned off what the user's config has on, or do not agree about it.

    The text ends in a table of the user's, each plugin's and the final config of what changed.
    """


@dataclass(frozen=True)
class PluginConfigs:
    """What one plugin that runs for the graph wants of the optimizers before it.

    configs are by the names in STATES; DEFAULT for those that are not there.
    """

    name: str
    configs: Mapping[str, TriState]

    def state(self, name: str) -> TriState:
        return self.configs.get(name, TriState.DEFAULT)


def merge_configs(
    user: OptimizerConfig, plugins: Sequence[PluginConfigs]
) -> tuple[OptimizerConfig, list[str]]:
    """The config that optimizers before the plugins get, and warnings of what it changes.

    Of an optimizer that the user has on: off when a plugin says OFF, else the user's level. One that the
    user has off, or that is off by default, stays off. Pruning is off if the user or any plugin says so.
    """
    changes: dict[str, object] = {}
    conflict = False
    for name in STATES:
        states = {plugin.state(name) for plugin in plugins}
        # What disables pruning is reversed: ON is what takes something away.
        taken = TriState.ON if name == _PRUNING else TriState.OFF
        if taken not in states or not _is_on(user, name):
            continue
        changes[name] = _off(name)
        conflict |= len(states) > 1
    if not changes:
        return user, []
    final = user.with_options(**changes)
    warnings = [f"{_CHANGED}\n{_table(user, plugins, final, sorted(changes))}"]
    if conflict:
        warnings.append(f"{_CONFLICT}\n{_table(user, plugins, final, sorted(changes))}")
    return final, warnings


def _is_on(user: OptimizerConfig, name: str) -> bool:
    """Whether the optimizer runs by the user's config."""
    value = getattr(user, name)
    if name == _PRUNING:
        return not value
    if isinstance(value, AutoParallel):
        return value.enable
    if isinstance(value, MemoryMode):
        return value != MemoryMode.NO_MEM_OPT
    return bool(value != (Toggle.DEFAULT if name in OFF_BY_DEFAULT else Toggle.OFF) and value != Toggle.OFF)


def _off(name: str) -> object:
    if name == _PRUNING:
        return True
    if name == "auto_parallel":
        return AutoParallel()
    return MemoryMode.NO_MEM_OPT if name == "memory_optimization" else Toggle.OFF


def _table(
    user: OptimizerConfig, plugins: Sequence[PluginConfigs], final: OptimizerConfig, names: Sequence[str]
) -> str:
    heads = ["", "user", *(plugin.name for plugin in plugins), "final"]
    rows = [heads]
    for name in names:
        of_plugins = (plugin.state(name).name for plugin in plugins)
        rows.append([name, _text(user, name), *of_plugins, _text(final, name)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _text(config: OptimizerConfig, name: str) -> str:
    value = getattr(config, name)
    if isinstance(value, AutoParallel):
        return "on" if value.enable else "off"
    return str(value.name.lower() if isinstance(value, Toggle | MemoryMode) else value).lower()
