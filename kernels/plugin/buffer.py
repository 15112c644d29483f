"""TF_Buffer: bytes that pass between a plugin and numlite, each freed by who made them."""

from __future__ import annotations

import ctypes
from types import TracebackType

from ..fallback.status import InvalidArgumentError
from .shim import shim

# Protobuf's own limit on a message.
_MOST_BYTES = (1 << 31) - 1


class _Buffer(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("length", ctypes.c_size_t),
        ("data_deallocator", ctypes.c_void_p),
    )


def content(address: int | None) -> bytes:
    """A copy of what a buffer holds; InvalidArgumentError for one that cannot hold it."""
    if not address:
        raise InvalidArgumentError("buffer: must be a TF_Buffer, got null")
    held = _Buffer.from_address(address)
    if not held.length:
        return b""
    if not held.data or held.length > _MOST_BYTES:
        where = "no data" if not held.data else "data"
        raise InvalidArgumentError(
            f"buffer: must hold at most {_MOST_BYTES} bytes, got {where} of {held.length}"
        )
    return ctypes.string_at(held.data, held.length)


def fill(address: int | None, data: bytes) -> None:
    """Let a buffer hold a copy of the data, which goes with the buffer; what it held before goes now."""
    if not address:
        raise InvalidArgumentError("buffer: must be a TF_Buffer, got null")
    shim().call("numlite_fill", None, ctypes.c_void_p(address), data, ctypes.c_size_t(len(data)))


def new_buffer(data: bytes) -> int:
    """A new buffer, which the plugin that gets it deletes."""
    return shim().call("TF_NewBufferFromString", ctypes.c_void_p, data, ctypes.c_size_t(len(data)))


class Buffer:
    """A buffer of our own, for one call of a plugin's function; gone at the end of the block.

    A plugin's data that has no deallocator stays: it is the plugin's.
    """

    def __init__(self, data: bytes | None = None) -> None:
        """Empty as the plugin is to fill it, or with data."""
        self._data = data

    def __enter__(self) -> Buffer:
        self.address = shim().call("TF_NewBuffer", ctypes.c_void_p)
        if self._data is not None:
            fill(self.address, self._data)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shim().call("TF_DeleteBuffer", None, ctypes.c_void_p(self.address))

    def content(self) -> bytes:
        return content(self.address)

    @property
    def is_set(self) -> bool:
        """Whether something was put there, if only of no bytes."""
        return bool(_Buffer.from_address(self.address).data)
