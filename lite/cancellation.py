"""Cancellation: the word in memory at which every run looks, and why it is to stop."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from functools import cache

import numpy as np

from .errors import CancelledError, TimedOutError
from .native_blocks import CANCELLATION, CANCELLED, TIMED_OUT, field_offset

_NEVER = (1 << 63) - 1
_LONGEST_S = 1e9
_STOP, _NEXT_LOOK, _DEADLINE = (field_offset(CANCELLATION, f) // 8 for f in ("stop", "next_look", "deadline"))
_PYTHON_FUNCTIONS = (
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
    "PyErr_CheckSignals",
    "PyThread_get_thread_ident",
)

# The main thread's identifier, 0 while it is not known: signals are looked at in every thread then.
_main_thread = np.zeros(1, np.int64)
if hasattr(os, "register_at_fork"):
    # The thread that forks is the child's main thread.
    os.register_at_fork(after_in_child=lambda: _main_thread.fill(0))


@cache
def python_function(name: str) -> int:
    """Address of one of CPython's C functions."""
    return _address(ctypes.pythonapi, name)


def _address(library: ctypes.CDLL, name: str) -> int:
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0


def _note_main_thread() -> None:
    # Importing it would take 2 ms of a start; where nobody has, there is but one thread.
    threading = sys.modules.get("threading")
    if threading is not None and not _main_thread[0]:
        _main_thread[0] = threading.main_thread().ident or 0


@cache
def _template() -> np.ndarray:
    """A block that nothing stops."""
    block = np.zeros(1, CANCELLATION)
    block["deadline"] = _NEVER
    block["main_thread"] = _main_thread.ctypes.data
    for name in _PYTHON_FUNCTIONS:
        block[name] = python_function(name)
    if sys.platform == "win32":
        block["GetTickCount64"] = _address(ctypes.CDLL("kernel32"), "GetTickCount64")
    else:
        block["clock_gettime"] = _address(ctypes.CDLL(None), "clock_gettime")
        block["clock_id"] = time.CLOCK_MONOTONIC
    return block


def _now_ns() -> int:
    """The time by the clock that native code reads."""
    if sys.platform == "win32":
        milliseconds: int = ctypes.WinDLL("kernel32").GetTickCount64()
        return milliseconds * 1_000_000
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


class Cancellation:
    """Whether what an interpreter runs is to stop: asked from another thread, or by a deadline.

    Native code looks at the block at `address`; what runs in Python calls check().
    """

    __slots__ = ("_block", "_words", "address")

    def __init__(self) -> None:
        _note_main_thread()
        self._block = _template().copy()
        self._words = self._block.view(np.int64).data
        self.address: int = self._block.ctypes.data

    @property
    def is_stopping(self) -> bool:
        """Whether the run is to stop, or has been stopped."""
        return self._words[_STOP] != 0

    def cancel(self) -> None:
        """Stop the run, from any thread. It stays so until go_on()."""
        self._words[_STOP] = CANCELLED

    def go_on(self) -> None:
        """Forget that there was something to stop."""
        self._words[_STOP] = 0

    @property
    def deadline(self) -> int:
        """When the run is to stop, in ns of the clock."""
        return self._words[_DEADLINE]

    @deadline.setter
    def deadline(self, time_ns: int) -> None:
        self._words[_DEADLINE] = time_ns
        self._words[_NEXT_LOOK] = 0

    def limit(self, timeout_s: float | None) -> None:
        """Bring the deadline to this time from now on, unless it is sooner already."""
        if timeout_s is None:
            return
        if not timeout_s > 0:
            raise ValueError(f"timeout_s: it must be more than 0, got {timeout_s}")
        self.deadline = min(self.deadline, _now_ns() + int(min(timeout_s, _LONGEST_S) * 1e9))

    def check(self) -> None:
        """CancelledError or TimedOutError when what runs in Python is to stop here."""
        words = self._words
        if words[_STOP] == 0:
            if words[_DEADLINE] == _NEVER or _now_ns() < words[_DEADLINE]:
                return
            words[_STOP] = TIMED_OUT
        raise self.error(self.reason)

    @property
    def reason(self) -> str:
        """Why the run has stopped, in words."""
        if self._words[_STOP] == TIMED_OUT:
            return "the run must end within its timeout_s, which is over"
        return "the run was cancelled"

    def error(self, message: str) -> CancelledError | TimedOutError:
        """The error to raise now that the run has stopped."""
        kind = TimedOutError if self._words[_STOP] == TIMED_OUT else CancelledError
        return kind(message)
