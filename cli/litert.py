"""LiteRT's interpreter, to measure against, where ai-edge-litert is installed."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import click


def litert_interpreter(model: str, threads: int, reference: bool = False) -> Any:
    """LiteRT's Interpreter of the same model with the same settings, not allocated yet."""
    try:
        from ai_edge_litert.interpreter import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
            Interpreter,
            OpResolverType,
        )
    except ImportError as error:
        raise click.ClickException("ai-edge-litert is not installed: pip install ai-edge-litert") from error
    kind = OpResolverType.BUILTIN_REF if reference else OpResolverType.AUTO
    return Interpreter(model, num_threads=threads, experimental_op_resolver_type=kind)


def litert_version() -> str:
    try:
        return metadata.version("ai-edge-litert")
    except metadata.PackageNotFoundError:
        return "not installed"
