"""Callbacks: Python functions that answer a plugin's calls, out of which no exception gets."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

from ..fallback.status import OpError
from .functions import CALLBACKS
from .shim import shim
from .status import INTERNAL, set_status

_TYPES: dict[str, type[Any]] = {
    "p": ctypes.c_void_p,
    "t": ctypes.c_void_p,
    "s": ctypes.c_char_p,
    "i": ctypes.c_int,
    "z": ctypes.c_size_t,
    "l": ctypes.c_int64,
    "b": ctypes.c_ubyte,
}
# Answers a function by its arguments without the status, as ints (0 for null) and bytes (None for null).
Answer = Callable[..., int | bool | None]

# What went wrong on our side, for raise_faults: a plugin need not look at its statuses.
_faults: list[BaseException] = []


def install(answers: Mapping[str, Answer]) -> None:
    """Let the shim's functions be answered by these.

    An answer raises OpError for what the plugin is to read in its status. Any other exception is our fault,
    or Python's own end: the plugin reads INTERNAL, and raise_faults raises it.
    """
    for name, answer in answers.items():
        signature = CALLBACKS[name]
        kind = ctypes.CFUNCTYPE(_TYPES.get(signature[0]), *(_TYPES[letter] for letter in signature[1:]))
        shim().set_callback(name, kind(_guarded(name, answer, signature)))


def raise_faults() -> None:
    """What went wrong in callbacks since this was asked last; to be called when the plugin has returned."""
    if _faults:
        first = _faults[0]
        _faults.clear()
        raise first


def _guarded(name: str, answer: Answer, signature: str) -> Callable[..., int | None]:
    reports, is_void = signature.endswith("t"), signature[0] == "v"
    # c_void_p arrives as None when it is null.
    zeros = tuple(None if letter == "s" else 0 for letter in signature[1:])

    def call(*arguments: object) -> int | None:
        status = arguments[-1] if reports else None
        assert status is None or isinstance(status, int)
        given = arguments[:-1] if reports else arguments
        try:
            found = answer(
                *(zero if value is None else value for value, zero in zip(given, zeros, strict=False))
            )
            set_status(status, 0, "")
            return None if is_void else int(found or 0)
        except OpError as error:
            set_status(status, error.code, str(error))
        except BaseException as error:
            _faults.append(error)
            set_status(status, INTERNAL, f"{name}: {type(error).__name__}: {error}")
        return None if is_void else 0

    return call


def name_text(name: bytes | None) -> str:
    """A C string as text; the plugin's own spelling of a name that is no UTF-8 finds nothing."""
    return (name or b"").decode(errors="surrogateescape")
