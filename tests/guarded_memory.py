"""Memory between pages that cannot be touched: what runs past its end crashes at once, and is seen."""

from __future__ import annotations

import ctypes
import mmap
import weakref

import numpy as np
from numlite.lite import buffer_handles, known_values, memory, node_context, subgraph_builder
from numlite.lite.available_memory import ALIGNMENT, OVERREAD_BYTES, check_room
from numlite.lite.errors import PrepareError

PAGE = mmap.PAGESIZE
PROT_NONE, PROT_READ = 0, 1
MARK = 0xA5

_libc = ctypes.CDLL(None, use_errno=True)

# The memory that holds a tail, and where the tail begins and ends in it.
_tails: list[tuple[weakref.ref[np.ndarray], int, int]] = []


def install() -> None:
    """From now on the tensors of all interpreters of this process lie in guarded memory."""
    for module in (buffer_handles, known_values, memory, node_context, subgraph_builder):
        vars(module)["allocate"] = allocate


def allocate(nbytes: int) -> np.ndarray:
    """Like numlite.lite.memory.allocate; the guard page begins less than 64 bytes after what may be read."""
    check_room(nbytes)
    room = -(-(nbytes + OVERREAD_BYTES) // ALIGNMENT) * ALIGNMENT
    try:
        whole, start = _before_guard(room)
    except OSError as error:
        raise PrepareError(f"memory: could not allocate {nbytes:,} bytes") from error
    whole[start + nbytes : start + room] = MARK
    _tails.append((weakref.ref(whole), start + nbytes, start + room))
    # Not by a slice: NumPy lets empty ones begin where the whole does.
    return np.ndarray((nbytes,), np.uint8, whole, start)


def check_tails() -> bool:
    """Whether nobody has written behind the end of any memory that is still in use."""
    _tails[:] = [entry for entry in _tails if entry[0]() is not None]
    alive = [(reference(), begin, end) for reference, begin, end in _tails]
    return all((whole[begin:end] == MARK).all() for whole, begin, end in alive if whole is not None)


def guarded_copy(content: bytes) -> memoryview:
    """The content of a file, so placed that the guard page begins right after it; nobody can write to it."""
    whole, start = _before_guard(len(content))
    array = whole[start : start + len(content)]
    array[:] = np.frombuffer(content, np.uint8)
    pages = whole.size - 2 * PAGE
    if pages:
        _protect(whole.__array_interface__["data"][0] + PAGE, pages, PROT_READ)
    return memoryview(array).toreadonly()


def _before_guard(nbytes: int) -> tuple[np.ndarray, int]:
    """Zeroed memory, and where in it the last nbytes before a guard page begin.

    Another guard page precedes them by less than a page.
    """
    pages = -(-nbytes // PAGE)
    memory = mmap.mmap(-1, (pages + 2) * PAGE)
    whole = np.frombuffer(memory, np.uint8)
    address = whole.__array_interface__["data"][0]
    for guard in (address, address + (pages + 1) * PAGE):
        _protect(guard, PAGE, PROT_NONE)
    return whole, (pages + 1) * PAGE - nbytes


def _protect(address: int, nbytes: int, allowed: int) -> None:
    if _libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(nbytes), allowed):
        raise OSError(ctypes.get_errno(), "mprotect")
