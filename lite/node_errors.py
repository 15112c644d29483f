"""What a node's failure becomes: an error that says where; a warning where it is only to be freed."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ..schema.shown import shown
from . import errors
from .errors import (
    CancelledError,
    InvokeError,
    ModelError,
    PrepareError,
    StateError,
    TimedOutError,
    UnsupportedError,
)
from .fusion import MemberError

if TYPE_CHECKING:
    from .context import Context
    from .graph import Graph
    from .node import Node

# Their messages are whole sentences; of other errors the type is half of what they say.
_OWN = tuple(getattr(errors, name) for name in errors.__all__)


def prepare_failure(graph: Graph, node: Node, error: Exception) -> Exception:
    """The error of a node that failed to prepare, with its cause; of a chain, that of the node at fault.

    It is made here because a frame that it passes through must not hold the cause: that would be a cycle.
    """
    if isinstance(error, MemberError) and isinstance(error.__cause__, Exception):
        node, error = error.member, error.__cause__
    made = prepare_error(f"{graph.where(node)}:", node.registration.name, error)
    made.__cause__ = error
    return made


def described(error: Exception) -> str:
    """The message; of an error that is not numlite's with its type, which `4` alone (a KeyError) needs."""
    if isinstance(error, _OWN):
        return str(error)
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def prepare_error(where: str, name: str, error: Exception) -> Exception:
    """The error of a node that could not be prepared; numlite's own keep their type."""
    if isinstance(error, PrepareError | UnsupportedError | ModelError | CancelledError | TimedOutError):
        return type(error)(f"{where} {error}")
    if isinstance(error, MemoryError):
        return PrepareError(f"{where} {name}: memory: {error}")
    if isinstance(error, StateError):  # a tensor was read that has no value yet, or none for NumPy
        return PrepareError(f"{where} {name}: {error}")
    return PrepareError(f"{where} {name}: could not be prepared ({described(error)})")


def invoke_error(where: str, name: str, error: Exception) -> Exception:
    """The error of a node that failed in Python while running; it names the operator once."""
    text = described(error)
    if not text.startswith(name):
        text = f"{name}: {text}"
    for kind in (UnsupportedError, CancelledError, TimedOutError):
        if isinstance(error, kind):
            return kind(f"{where} {text}")
    return InvokeError(f"{where} {text}")


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
