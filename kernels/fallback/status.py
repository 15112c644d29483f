"""What a kernel fails with, by TensorFlow's codes and names (tf.errors)."""

from __future__ import annotations

from ...lite.errors import InvokeError


class OpError(InvokeError):
    """A TensorFlow kernel failed; code is TensorFlow's."""

    code = 2


class InvalidArgumentError(OpError):
    """An input or attribute breaks the op's rules, whatever the state."""

    code = 3


class NotFoundError(OpError):
    """A resource, key or file is not there."""

    code = 5


class ResourceExhaustedError(OpError):
    """The result is larger than memory allows."""

    code = 8


class FailedPreconditionError(OpError):
    """The state does not allow it: a variable without a value, a table without its keys."""

    code = 9


class OutOfRangeError(OpError):
    """The sequence has ended: a queue is closed, a counter is at its limit."""

    code = 11


class UnimplementedError(OpError):
    """TensorFlow's own kernel has no such mode either."""

    code = 12


class InternalError(OpError):
    """A kernel broke its promise: an output of another type or number than the op's."""

    code = 13


def check(holds: bool, message: str) -> None:
    """InvalidArgumentError with the message unless it holds. For messages that cost nothing to make."""
    if not holds:
        raise InvalidArgumentError(message)
