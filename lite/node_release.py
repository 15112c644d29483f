"""Letting go of what nodes hold."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ..schema.shown import shown

if TYPE_CHECKING:
    from .context import Context
    from .node import Node


def free_node(context: Context, node: Node) -> None:
    """Run the node's free hook; one that fails is a warning, and the others still run."""
    if node.registration.free is None:
        return
    try:
        node.registration.free(context, node)
    except Exception as error:
        warn_of_failure(f"node {node.index} ({shown(node.registration.name)})", error)


def warn_of_failure(what: str, error: Exception) -> None:
    """RuntimeWarning that something could not be freed."""
    text = f"{what}: it could not be freed ({type(error).__name__}: {error})"
    warnings.warn(shown(text), RuntimeWarning, stacklevel=3)
