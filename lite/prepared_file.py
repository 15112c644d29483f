"""The file of a prepared graph, mapped: what preparing the graph has found.

In order: HEADER; the description (marshal, read only where the checksum holds); the argument
blocks; the arrays that kernels find by address (packed weights, tables, known values); and OVERREAD_BYTES.
Addresses in blocks and arrays are listed with what they stood for, and written anew.
Blocks say where kernels read and write, so that such a file is trusted as code is.
"""

from __future__ import annotations

import marshal
import mmap
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .available_memory import ALIGNMENT, ask_for_large_pages
from .errors import ModelError
from .private_file import DIGEST_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

MAGIC = b"numlite1"
HEADER = np.dtype(
    {
        "names": ["magic", "key", "description", "blocks", "checksum"],
        "formats": ["S8", f"V{DIGEST_BYTES}", np.int64, np.int64, np.int64],
        "itemsize": 2 * ALIGNMENT,
    }
)
WORD = 8
OF_ARRAYS = -1  # what an address is in, unless it is the constant tensor of that number


class NotKept(Exception):
    """Why what has been prepared cannot be kept."""


class Mapped:
    """A file of this key, mapped; ModelError where it is another one's, or damaged.

    Pages that are not written to are shared with all who map it.
    """

    def __init__(self, handle: int, key: bytes, is_verified: bool = False) -> None:
        """is_verified says that the checksum of these very bytes was right before."""
        try:
            content = mmap.mmap(handle, 0, access=mmap.ACCESS_COPY)
        except (OSError, ValueError) as error:
            raise ModelError(f"prepared model: it cannot be mapped: {error}") from error
        ask_for_large_pages(content)  # also where the file has to be read from the disk
        memory = np.frombuffer(content, np.uint8)
        if len(memory) < HEADER.itemsize or bytes(memory[: len(MAGIC)]) != MAGIC:
            raise ModelError("prepared model: the file is not one")
        header = memory[: HEADER.itemsize].view(HEADER)[0]
        if header["key"].tobytes() != key:
            raise ModelError(
                "prepared model: it was made for another model, numlite, processor or setting: "
                "numlite prepare makes one for these"
            )
        checksum, header["checksum"] = int(header["checksum"]), 0  # in this process's copy of the page
        if not is_verified and checksum != checksum_of([memory.data]):
            raise ModelError("prepared model: the file is damaged")
        blocks = HEADER.itemsize + int(header["description"])
        self._description = memory[HEADER.itemsize : blocks]
        arrays = blocks + int(header["blocks"])
        self.blocks = memory[blocks:arrays]
        self.arrays = memory[arrays:]
        self.key = key
        self._known: dict[tuple[int, int], np.ndarray] = {}

    @cached_property
    def description(self) -> tuple[Any, ...]:
        """What `prepared_contents.contents` says of tensors and nodes."""
        found: tuple[Any, ...] = marshal.loads(self._description.data)
        return found

    def array(self, place: int, nbytes: int) -> np.ndarray:
        """One of the arrays; the same object for all calls that hold it, as when the model was prepared."""
        known = self._known.get((place, nbytes))
        if known is None:
            # An empty array has an address, too, which an empty slice would not give.
            known = self._known[place, nbytes] = self.arrays[place : place + max(nbytes, 1)]
        return known


def checksum_of(pieces: Iterable[bytes | memoryview]) -> int:
    import zlib  # what is known to be right is not summed up

    checksum = 0
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
    return checksum
