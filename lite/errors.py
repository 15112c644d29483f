"""The errors numlite raises, and what each of them means."""

from ..schema.fault import ModelError

__all__ = [
    "CancelledError",
    "DelegateError",
    "InvokeError",
    "MissingDelegateError",
    "ModelError",
    "PluginError",
    "PrepareError",
    "StateError",
    "TimedOutError",
    "UnsupportedError",
]


class UnsupportedError(RuntimeError, ValueError):
    """The request is valid but not built; the message names what would run it.

    LiteRT reports these as ValueError or RuntimeError, depending on when it notices.
    """


class PrepareError(RuntimeError):
    """A node's inputs, types or options break its operator's rules."""


class StateError(RuntimeError):
    """A call came at a time when it cannot be served (not allocated, a view is alive ...)."""


class CancelledError(StateError):
    """Interpreter.cancel() has stopped the run; the interpreter can be used again."""


class TimedOutError(StateError, TimeoutError):
    """The run has not ended in the time it was given; the interpreter can be used again."""


class DelegateError(RuntimeError):
    """A delegate could not be applied; the graph runs without any delegate."""


class MissingDelegateError(OSError, UnsupportedError):
    """There is no delegate of that name.

    LiteRT raises the OSError of a library that is not there; its documentation promises a ValueError.
    """


class InvokeError(RuntimeError):
    """A node failed while running: an index out of range, a division by zero ..."""


class PluginError(RuntimeError):
    """A plugin breaks the rules of its interface, or its own process has ended; what was before it stands."""
