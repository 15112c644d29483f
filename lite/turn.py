"""Turn: one call of an interpreter at a time, and what ends it from outside."""

from __future__ import annotations

import os
import sys
from _thread import RLock  # importing threading would take 2 ms of a start
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .cancellation import Cancellation
from .errors import StateError

if TYPE_CHECKING:
    from collections.abc import Iterator

_BUSY = (
    "The interpreter is in use by another thread: no other call may be made until invoke() has "
    "finished. Give each thread an Interpreter of its own"
)
_REENTRANT = (
    "The interpreter is running, and the call comes from an operator or delegate that it runs: that must "
    "use the context which its hooks are given, or an Interpreter of its own"
)
VIEW_ALIVE = """There is at least 1 reference to internal data
      in the interpreter in the form of a numpy array or slice. Be sure to
      only hold the function returned from tensor() if you are using raw
      data access."""
NO_COPY = (
    "an Interpreter cannot be copied or pickled, since it holds memory and native code: make another one "
    "from the same model"
)
_FOLDER = os.path.dirname(__file__)


class Turn:
    """Whose call it is. Who has one is known by an attribute `turn`.

    Whoever takes it without `exclusive()` sets busy after having seen that it is not, with no call in
    between: no thread and no signal handler has run then. With a lock, a handler that raises between
    taking it and the `try` would leave it taken. At the end busy is unset, and cancel_asked asks for
    forget_cancel().
    """

    __slots__ = ("_lock", "_open_limits", "busy", "cancel_asked", "cancellation")

    def __init__(self) -> None:
        self.cancellation = Cancellation()
        self.busy = self.cancel_asked = False
        self._lock = RLock()  # a signal handler may cancel in the thread that has it
        self._open_limits = 0

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """A call that may not meet another one; StateError where it would."""
        if self.busy:
            raise self.error()
        self.busy = True
        try:
            yield
        finally:
            self.busy = False
            if self.cancel_asked:
                self.forget_cancel()

    @contextmanager
    def limited(self, timeout_s: float | None) -> Iterator[None]:
        """All calls in the block are one run: cancel() ends it, and so does the time that it may take.

        None is no limit. Raises TimedOutError.
        """
        cancellation = self.cancellation
        before, limits = cancellation.deadline, self._open_limits
        try:
            self._open_limits = limits + 1
            cancellation.limit(timeout_s)
            yield
        finally:
            cancellation.deadline = before
            self._open_limits = limits
            self.forget_cancel()

    def cancel(self) -> None:
        """Stop the call that is under way, if there is one; from any thread, and from signal handlers."""
        with self._lock:
            if self.is_taken:
                self.cancel_asked = True
                self.cancellation.cancel()
                if not self.is_taken:
                    self.forget_cancel()

    @property
    def is_taken(self) -> bool:
        """Whether a call is under way that cancel() would stop."""
        return self.busy or self._open_limits > 0

    def forget_cancel(self) -> None:
        """What a run was asked is over with it, whether it has noticed or not."""
        with self._lock:
            if not self.is_taken:
                self.cancel_asked = False
                self.cancellation.go_on()

    def error(self) -> StateError:
        """The error of a call that meets another one: of another thread, or its own caller."""
        frame, mine = sys._getframe(1), 0
        while frame is not None:
            if os.path.dirname(frame.f_code.co_filename) == _FOLDER:
                mine += getattr(frame.f_locals.get("self"), "turn", None) is self
            frame = frame.f_back  # type: ignore[assignment]
        return StateError(_BUSY if mine < 2 else _REENTRANT)
