"""Custom operators that commands are given: modules with their Python."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import click

LIST = "CUSTOM_OPERATORS"

custom_op_option = click.option(
    "--custom-op",
    "custom_ops",
    multiple=True,
    metavar="MODULE[:NAME]",
    help=f"Take custom operators from this module or .py file: from NAME, else from {LIST}.",
)


def custom_operators(modules: Sequence[str]) -> list[Any]:
    """What `InterpreterWithCustomOps` takes, of all modules in order.

    NAME, or CUSTOM_OPERATORS where none is given, is a list of (custom code, operator), or a function that
    takes an `OpResolver`. ClickException where there is no such module or name.
    """
    found: list[Any] = []
    for text in modules:
        place, _, name = text.partition(":")
        module, name = _module(place), name or LIST
        if not hasattr(module, name):
            raise click.ClickException(f"--custom-op {text}: the module must have {name}, and has none")
        value = getattr(module, name)
        found += [value] if callable(value) else _pairs(text, name, value)
    return found


def _pairs(text: str, name: str, value: object) -> list[tuple[str, Any] | Callable[..., Any]]:
    if not isinstance(value, list | tuple) or not all(map(_is_pair, value)):
        raise click.ClickException(
            f"--custom-op {text}: {name} must be a list of (custom code, operator), got {value!r:.80}"
        )
    return list(value)


def _is_pair(entry: object) -> bool:
    return isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)


def _module(place: str) -> ModuleType:
    try:
        return _from_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    except (ImportError, OSError, SyntaxError, TypeError, ValueError) as error:
        raise click.ClickException(f"--custom-op {place}: it cannot be imported: {error}") from error


def _from_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ImportError(f"there is no file {path}")
    module = importlib.util.module_from_spec(spec)
    # What dataclasses and pickles look a class's module up by; a module of that name stays what it is.
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module
