"""TF_Status: how a plugin's function tells what went wrong, and what ours tell it."""

from __future__ import annotations

import ctypes
from types import TracebackType

from ..fallback.status import (
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
)
from .shim import shim

ABORTED = 10
INTERNAL = 13
_NAMES = (
    *("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS"),
    *("PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE"),
    *("UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"),
)
_ERRORS = {
    error.code: error
    for error in (
        *(InvalidArgumentError, NotFoundError, ResourceExhaustedError, FailedPreconditionError),
        *(OutOfRangeError, UnimplementedError, InternalError),
    )
}


def code_name(code: int) -> str:
    """TensorFlow's name of a status code, or the number of one that has none."""
    return _NAMES[code] if 0 <= code < len(_NAMES) else f"code {code}"


def op_error(code: int, message: str) -> OpError:
    """The error that a kernel's status is."""
    error = _ERRORS.get(code, OpError)(message)
    error.code = code  # codes without a class of their own, too
    return error


def set_status(address: int | None, code: int, message: str) -> None:
    """Write a status that a plugin reads; one that it left out is left out."""
    if address and (code or ctypes.c_int32.from_address(address).value):
        # A C string ends at its first zero.
        text = message.replace("\0", "\\0").encode(errors="replace")
        shim().call("TF_SetStatus", None, ctypes.c_void_p(address), ctypes.c_int(code), text)


def read_status(address: int | None) -> tuple[int, str]:
    """Code and message of a status; a null one is UNKNOWN."""
    if not address:
        return 2, "no status was given"
    pointer = ctypes.c_void_p(address)
    code = shim().call("TF_GetCode", ctypes.c_int, pointer)
    message = ctypes.string_at(shim().call("TF_Message", ctypes.c_void_p, pointer))
    return code, message.decode(errors="replace")


class Status:
    """A status of our own, for one call of a plugin's function; gone at the end of the block."""

    def __enter__(self) -> Status:
        self.address = shim().call("TF_NewStatus", ctypes.c_void_p)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shim().call("TF_DeleteStatus", None, ctypes.c_void_p(self.address))

    @property
    def code(self) -> int:
        return read_status(self.address)[0]

    @property
    def message(self) -> str:
        return read_status(self.address)[1]
