"""load_delegate: finds delegates by the name they are installed under, or by their module."""

from __future__ import annotations

import importlib
import inspect
import os
import re
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ..lite.delegate import Delegate
from ..lite.errors import MissingDelegateError, UnsupportedError

GROUP = "numlite.delegates"
FACTORY = "create_delegate"

# Found whether or not numlite itself is installed with its entry points.
_BUILT_IN = {"cuda": ".cuda"}

# libfoo.so and libfoo.so.1.2 as well.
_NATIVE = re.compile(r"\.(so(\.\d+)*|dll|dylib)$", re.IGNORECASE)


def load_delegate(name_or_module: str, options: Mapping[Any, object] | None = None) -> Delegate:
    """A delegate by entry point (group `numlite.delegates`), or by module path.

    The path is `package.module`, whose create_delegate is taken, or `package.module:name`. What is
    found is a Delegate class or a function, and is called with the options as keyword arguments.
    Raises ValueError that says why there is none, which is an OSError as well where nothing of that name
    is found, and TypeError for what is no name.
    """
    name = os.fsdecode(name_or_module)
    try:
        return _load(name, {str(key): value for key, value in (options or {}).items()})
    except UnsupportedError as error:
        raise type(error)(f"Failed to load delegate from {name_or_module}: {error}") from error
    except Exception as error:
        text = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise ValueError(f"Failed to load delegate from {name_or_module}: {text}") from error


def takes_option(name_or_module: str, option: str) -> bool:
    """Whether what makes the delegate has an option of that name; ValueError where there is no delegate."""
    try:
        parameters = inspect.signature(_factory(name_or_module)).parameters
    except (MissingDelegateError, UnsupportedError) as error:
        raise type(error)(f"Failed to load delegate from {name_or_module}: {error}") from error
    except Exception as error:
        raise ValueError(f"Failed to load delegate from {name_or_module}: {error}") from error
    return option in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def installed_delegate(name: str, options: Mapping[str, str]) -> Delegate | None:
    """The delegate with this entry point, or None; for trusted models, which import no module even so."""
    if name not in _BUILT_IN and _entry_point(name) is None:
        return None
    return load_delegate(name, dict(options))


def _load(name: str, options: dict[str, object]) -> Delegate:
    delegate = _factory(name)(**options)
    if not isinstance(delegate, Delegate):
        raise ValueError(f"it must make a Delegate, got {delegate!r}")
    delegate.loaded_as = name
    return delegate


def _entry_point(name: str) -> EntryPoint | None:
    return next(iter(entry_points(group=GROUP, name=name)), None)


def _factory(name: str) -> Callable[..., object]:
    if name in _BUILT_IN:
        built_in = importlib.import_module(_BUILT_IN[name], __package__)
        made: Callable[..., object] = getattr(built_in, FACTORY)
        return made
    entry = _entry_point(name)
    if entry is not None:
        loaded: Callable[..., object] = entry.load()
        return loaded
    if _NATIVE.search(name):
        missing = not os.path.exists(name)
        raise (MissingDelegateError if missing else UnsupportedError)(
            f"it is a native library{', and there is no such file' if missing else ''}; numlite loads "
            "delegates that are written in Python, by the name of their module or of their entry point in "
            f"{GROUP!r}"
        )
    module, _, attribute = name.partition(":")
    _check_module_name(module)
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        known = ", ".join(sorted({*_BUILT_IN, *(entry.name for entry in entry_points(group=GROUP))}))
        raise MissingDelegateError(
            f"it is neither a module nor one of the installed delegates ({known})"
        ) from error
    factory: Callable[..., object] | None = getattr(found, attribute or FACTORY, None)
    if factory is None:
        raise ValueError(
            f"module {module!r} has no {attribute or FACTORY!r}, which makes the delegate; 'module:name' "
            "names another class or function"
        )
    return factory


def _check_module_name(module: str) -> None:
    """ValueError where it is a file's path, or nothing: modules are found by their names."""
    folder, file = os.path.split(module)
    if module.endswith(".py") or folder or module.startswith("."):
        stem = file.removesuffix(".py").lstrip(".") or "module"
        raise ValueError(
            "it is a path; a delegate is named by its module: have "
            f"{folder or 'its folder'!r} in PYTHONPATH, and name it {stem!r}"
        )
    if not module:
        raise ValueError("it must name a module or an installed delegate, got nothing")
