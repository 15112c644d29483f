"""Memory: blocks of it, and how many bytes this process can still take; the system promises more."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from .errors import PrepareError

if TYPE_CHECKING:
    import mmap

ALIGNMENT = 64  # of blocks of memory, in bytes
OVERREAD_BYTES = 128  # vector kernels may read (never write) this far past the end of any tensor
SMALL_BYTES = 64 << 20  # asking what is available takes longer than having so much

_UNKNOWN = 1 << 62
_CGROUP_FILES = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
    ),
)


def available_bytes() -> int:
    """Bytes that can be written to before the system ends a process to get memory back.

    On Linux the least of what the kernel calls available (with swap) and what is left of the control
    group's limit; elsewhere the machine's memory. Linux lets a process ask for more than that: it is
    killed when it writes to it.
    """
    return min(_system_bytes(), _cgroup_bytes())


def check_room(nbytes: int) -> None:
    """PrepareError when the machine does not have so much memory left."""
    if nbytes > SMALL_BYTES and nbytes > (available := available_bytes()):
        raise PrepareError(f"memory: {nbytes:,} bytes are needed, {available:,} are available")


def allocate(nbytes: int) -> np.ndarray:
    """Zeroed memory, flat uint8, 64-byte aligned, with OVERREAD_BYTES readable after its end.

    Raises PrepareError when the machine does not have that much left.
    """
    check_room(nbytes)
    try:
        memory = np.zeros(nbytes + ALIGNMENT + OVERREAD_BYTES, np.uint8)
    except MemoryError as error:
        raise PrepareError(f"memory: could not allocate {nbytes:,} bytes") from error
    start = -memory.__array_interface__["data"][0] % ALIGNMENT
    return memory[start : start + nbytes]


def ask_for_large_pages(memory: mmap.mmap) -> None:
    """Have the system use pages of 2 MiB where it can; memory is as good without.

    Weights are read as fast as a processor finds their pages: from small ones they take up to a fifth longer.
    """
    import mmap  # only for who has mapped something

    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a kernel may be built without them
            memory.madvise(mmap.MADV_HUGEPAGE)


def _system_bytes() -> int:
    with suppress(OSError, ValueError, LookupError):
        fields = (line.split() for line in _text("/proc/meminfo").splitlines())
        kib = {field[0]: int(field[1]) for field in fields}
        return (kib["MemAvailable:"] + kib["SwapFree:"]) * 1024
    return _physical_bytes()


@cache
def _physical_bytes() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return _UNKNOWN


def _cgroup_bytes() -> int:
    """What is left of the limit; the file cache in it can be dropped."""
    for limit, used, statistics in _CGROUP_FILES:
        with suppress(OSError, ValueError):
            left = int(_text(limit)) - int(_text(used))
            entries = (line.split() for line in _text(statistics).splitlines())
            dropped = next((int(entry[1]) for entry in entries if entry[0] == "inactive_file"), 0)
            return max(0, left + dropped)
    return _UNKNOWN


def _text(path: str) -> str:
    # Not by pathlib, whose import is a tenth of the runtime's own.
    with open(path, encoding="ascii") as file:
        return file.read()
