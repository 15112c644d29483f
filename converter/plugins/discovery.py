"""Where plugins are found that nobody has named: entry points, and folders."""

from __future__ import annotations

import importlib.util
import inspect
import logging
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from threading import RLock
from types import ModuleType
from typing import cast

from ...lite.errors import PluginError, UnsupportedError
from .plugin import OptimizerPlugin
from .registry import PluginEntry, PluginRegistry, default_registry

GROUP = "numlite.optimizers"
OFF, TENSORFLOW = "off", "tensorflow"
_FOLDER, _TENSORFLOW_FOLDER = "numlite-plugins", "tensorflow-plugins"
_LOG = logging.getLogger("numlite")
_lock = RLock()


def plugins_setting() -> str:
    """NUMLITE_PLUGINS: "" for all that is found, "off" for none, "tensorflow" for TensorFlow's, too."""
    text = os.environ.get("NUMLITE_PLUGINS", "")
    if text not in ("", OFF, TENSORFLOW):
        raise UnsupportedError(f"NUMLITE_PLUGINS: must be '{OFF}', '{TENSORFLOW}' or not set, got {text!r}")
    return text


def discover(registry: PluginRegistry | None = None, tensorflow: bool = False) -> None:
    """Register what is installed, once for each registry (the process's own if None): entry points of the
    group `numlite.optimizers`, and *.so and *.py in the folders of NUMLITE_PLUGIN_PATH and in
    site-packages/numlite-plugins; with tensorflow, or NUMLITE_PLUGINS=tensorflow, also in
    site-packages/tensorflow-plugins.

    One that fails is one warning with its reason, among the registry's failures, and stops nobody.
    """
    held = registry if registry is not None else default_registry()
    tensorflow = tensorflow or plugins_setting() == TENSORFLOW
    with _lock:
        if not _is_done(held, False):
            for entry in entry_points(group=GROUP):
                _try(held, f"{entry.name} ({entry.value})", partial(_entry_point, held, entry))
            _folders(held, [*_named_folders(), *_installed(_FOLDER)])
        if tensorflow and not _is_done(held, True):
            _folders(held, _installed(_TENSORFLOW_FOLDER))


def _is_done(registry: PluginRegistry, tensorflow: bool) -> bool:
    """Whether it was done before; it counts as done from now on."""
    before = tensorflow in registry.discovered
    registry.discovered.add(tensorflow)
    return before


def add_plugin(registry: PluginRegistry, plugin: object) -> None:
    """Register a class, an entry, the path of a .so (see load_plugin) or .py, or what a function gives.
    PluginError.
    """
    if isinstance(plugin, str | os.PathLike):
        _add_file(registry, os.fspath(plugin))
    elif isinstance(plugin, PluginEntry):
        registry.register(plugin)
    elif inspect.isclass(plugin):
        registry.register(cast(type[OptimizerPlugin], plugin))  # which looks at what it is
    elif callable(plugin):
        given = plugin()
        if given is not None:
            add_plugin(registry, given)
    else:
        raise PluginError(f"plugin: must be a class, a path or a function, got {plugin!r}")


def _try(registry: PluginRegistry, name: str, add: Callable[[], None]) -> None:
    try:
        add()
    except Exception as error:
        text = str(error) if isinstance(error, PluginError) else f"{type(error).__name__}: {error}"
        registry.failures[name] = text
        _LOG.warning("plugin %s is left out: %s", name, text)


def _entry_point(registry: PluginRegistry, entry: EntryPoint) -> None:
    found = entry.load()
    if isinstance(found, str | os.PathLike):
        # A path in the distribution is one beside the module that says it.
        module = sys.modules[entry.module]
        found = os.path.join(os.path.dirname(str(module.__file__)), os.fspath(found))
    add_plugin(registry, found)


def _named_folders() -> list[str]:
    return [place for place in os.environ.get("NUMLITE_PLUGIN_PATH", "").split(os.pathsep) if place]


def _installed(folder: str) -> list[str]:
    places = dict.fromkeys(sysconfig.get_paths()[kind] for kind in ("purelib", "platlib"))
    return [path for path in (os.path.join(place, folder) for place in places) if os.path.isdir(path)]


def _folders(registry: PluginRegistry, folders: list[str]) -> None:
    for folder in folders:
        try:
            names = sorted(os.listdir(folder))
        except OSError as error:
            registry.failures[folder] = f"the folder must be readable, got {error.strerror or error}"
            _LOG.warning("plugin folder %s is left out: %s", folder, error.strerror or error)
            continue
        for path in (os.path.join(folder, name) for name in names if name.endswith((".so", ".py"))):
            _try(registry, path, partial(_add_file, registry, path))


def _add_file(registry: PluginRegistry, path: str) -> None:
    if not path.endswith(".py"):
        # What opens shared libraries is imported for those that are there.
        from .c_plugin import load_plugin

        load_plugin(path, registry=registry)
        return
    module = _imported(path)
    classes = list(_plugins_of(module))
    registered = {entry.make for entry in registry.plugins()}
    if not classes:
        raise PluginError(f"plugin {path!r}: it must have a class derived from OptimizerPlugin, got none")
    for plugin in classes:
        if plugin not in registered:  # the module may have registered it itself
            registry.register(plugin)


def _imported(path: str) -> ModuleType:
    name = f"numlite_plugin_{os.path.basename(path).removesuffix('.py')}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not os.path.isfile(path):
        raise PluginError(f"plugin {path!r}: the file must be readable, got none of that name")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # classes look for their module by its name
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise PluginError(f"plugin {path!r}: it must import, got {type(error).__name__}: {error}") from error
    return module


def _plugins_of(module: ModuleType) -> Iterator[type[OptimizerPlugin]]:
    for found in vars(module).values():
        if (
            inspect.isclass(found)
            and issubclass(found, OptimizerPlugin)
            and found.__module__ == module.__name__
        ):
            yield found
