"""What a node's failure becomes: an error that says where."""

from __future__ import annotations

from .errors import (
    CancelledError,
    InvokeError,
    ModelError,
    PrepareError,
    StateError,
    TimedOutError,
    UnsupportedError,
)


def prepare_error(where: str, name: str, error: Exception) -> Exception:
    """The error of a node that could not be prepared; numlite's own keep their type."""
    if isinstance(error, PrepareError | UnsupportedError | ModelError | CancelledError | TimedOutError):
        return type(error)(f"{where} {error}")
    if isinstance(error, MemoryError):
        return PrepareError(f"{where} {name}: memory: {error}")
    if isinstance(error, StateError):  # a tensor was read that has no value yet, or none for NumPy
        return PrepareError(f"{where} {name}: {error}")
    return PrepareError(f"{where} {name}: could not be prepared ({type(error).__name__}: {error})")


def invoke_error(where: str, name: str, error: Exception) -> Exception:
    """The error of a node that failed in Python while running; it names the operator once."""
    text = str(error) if str(error).startswith(name) else f"{name}: {error}"
    for kind in (UnsupportedError, CancelledError, TimedOutError):
        if isinstance(error, kind):
            return kind(f"{where} {text}")
    return InvokeError(f"{where} {text}")
