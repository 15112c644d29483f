"""Handles: what a plugin holds instead of our objects, which it can only give back."""

from __future__ import annotations

from threading import Lock
from typing import TypeVar

from ..fallback.status import InvalidArgumentError

T = TypeVar("T")

# No address that a process can have: x86-64 maps nothing there, and a plugin that looks inside ends at once.
_FIRST = 0x7E00_0000_0000_0000
_STEP = 16


class Handles:
    """Objects by handle. A handle is never given twice, so that one of something gone is known as such.

    Safe from several threads.
    """

    def __init__(self) -> None:
        self._held: dict[int, object] = {}
        self._next = _FIRST
        self._lock = Lock()

    def new(self, held: object) -> int:
        with self._lock:
            self._next += _STEP
            self._held[self._next] = held
            return self._next

    def get(self, handle: int | None, kind: type[T]) -> T:
        """The object; InvalidArgumentError for a handle of none, or of another kind."""
        found = self._held.get(handle or 0)
        if not isinstance(found, kind):
            what = "null" if not handle else "a handle of nothing that is alive"
            given = type(found).__name__ if found is not None else what
            raise InvalidArgumentError(f"handle: must be of {kind.__name__}, got {given}")
        return found

    def drop(self, handle: int | None) -> None:
        """Forget the object; as in C, null and what is gone already are left alone."""
        with self._lock:
            self._held.pop(handle or 0, None)

    def __len__(self) -> int:
        return len(self._held)
