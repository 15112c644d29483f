"""Plugins that are graph optimizers: written in Python, or shared libraries made for TensorFlow."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...lite.errors import PluginError
    from .c_plugin import load_plugin
    from .merge import PluginConfigWarning, merge_configs
    from .plugin import FunctionLibrary, OptimizerPlugin, TriState
    from .registry import (
        PluginRegistry,
        default_registry,
        register_optimizer,
        register_plugin,
        unregister_plugin,
    )

# Name: module that has it. Nothing is imported before it is asked for.
_HOMES = {
    "FunctionLibrary": ".plugin",
    "OptimizerPlugin": ".plugin",
    "PluginConfigWarning": ".merge",
    "PluginError": "...lite.errors",
    "PluginRegistry": ".registry",
    "TriState": ".plugin",
    "default_registry": ".registry",
    "load_plugin": ".c_plugin",
    "merge_configs": ".merge",
    "register_optimizer": ".registry",
    "register_plugin": ".registry",
    "unregister_plugin": ".registry",
}
__all__ = [
    "FunctionLibrary",
    "OptimizerPlugin",
    "PluginConfigWarning",
    "PluginError",
    "PluginRegistry",
    "TriState",
    "default_registry",
    "load_plugin",
    "merge_configs",
    "register_optimizer",
    "register_plugin",
    "unregister_plugin",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
