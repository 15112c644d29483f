"""What a graph command is about: the graph of a file, and a function of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..converter.ir.module import Function, Module


def load(path: Path, tags: list[str] | None, signature: str | None) -> Module:
    """The graph of a file, frozen for a signature where one is asked for."""
    from ..converter.saved_model.loader import load_saved_model
    from ..converter.source_file import FileKind, file_kind, load_graph

    is_model = file_kind(path) == FileKind.SAVED_MODEL
    if not is_model and (tags is not None or signature is not None):
        raise click.UsageError(f"--tags and --signature are for SavedModels, {path} is none")
    if signature is None:
        return load_graph(path, tags)
    return load_saved_model(path if path.is_dir() else path.parent, tags).freeze(signature).module


def named_function(module: Module, name: str) -> Function:
    """The function of that name; UsageError lists some of those that are there."""
    functions = module.functions
    if name not in functions:
        known = ", ".join(list(functions)[:20]) or "none"
        raise click.UsageError(f"--function: the graph has no {name!r}; there are: {known}")
    return functions[name]
