"""GIF files as arrays.

Source: CompuServe, Graphics Interchange Format, Version 89a.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from .decoded_size import check_decoded
from .status import InvalidArgumentError

SIGNATURES = (b"GIF87a", b"GIF89a")
_IMAGE, _EXTENSION, _TRAILER = 0x2C, 0x21, 0x3B
_GRAPHIC_CONTROL = 0xF9
_MOST_CODES = 4096


# First row and rows apart of the four parts of an interlaced image.
_INTERLACED = ((0, 8), (4, 8), (2, 4), (1, 2))


def _refuse(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"GIF: {message}")


class _Reader:
    """The bytes of a file, from the first to the last."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int) -> bytes:
        found = self._data[self._at : self._at + size]
        if len(found) < size:
            raise _refuse(f"file must be complete, but ends within {size} bytes at {self._at}")
        self._at += size
        return found

    def byte(self) -> int:
        return self.take(1)[0]

    def blocks(self) -> bytes:
        """Sub-blocks, each with its size before it, up to an empty one."""
        found = []
        while size := self.byte():
            found.append(self.take(size))
        return b"".join(found)

    def colours(self, flags: int) -> np.ndarray:
        """A colour table [256, 3], black where it has no colours."""
        made = np.zeros((256, 3), np.uint8)
        count = 2 << (flags & 7)
        made[:count] = np.frombuffer(self.take(3 * count), np.uint8).reshape(-1, 3)
        return made


@dataclass(frozen=True)
class _Frame:
    """An image's place, its pixels [height, width, 3], and which of them show."""

    left: int
    top: int
    pixels: np.ndarray
    shown: np.ndarray


def read_gif(data: bytes) -> np.ndarray:
    """The frames [frames, height, width, 3], uint8; where a frame has nothing, the one before shows.

    As large as the largest frame, whatever the file says. A file that breaks off gives the frames
    that are whole; InvalidArgumentError when there are none.
    Source: TensorFlow tensorflow/core/lib/gif/gif_io.cc.
    """
    frames = _frames(data)
    if not frames:
        raise _refuse("file must have a whole frame")
    height, width = (max(frame.pixels.shape[axis] for frame in frames) for axis in (0, 1))
    if not height * width:
        raise _refuse(f"frames must have pixels, got {height} x {width}")
    check_decoded(f"GIF of {len(frames)} frames", 3 * height * width * len(frames))
    made = np.zeros((len(frames), height, width, 3), np.uint8)
    for number, frame in enumerate(frames):
        if number:
            made[number] = made[number - 1]
        place = made[number, frame.top :, frame.left :][: len(frame.pixels), : frame.pixels.shape[1]]
        seen = slice(place.shape[0]), slice(place.shape[1])
        np.copyto(place, frame.pixels[seen], where=frame.shown[seen][..., np.newaxis])
    return made


def _frames(data: bytes) -> list[_Frame]:
    reader = _Reader(data)
    if reader.take(6) not in SIGNATURES:
        raise _refuse("file must begin with GIF87a or GIF89a")
    _, _, flags, _, _ = struct.unpack("<HHBBB", reader.take(7))
    shared = reader.colours(flags) if flags & 0x80 else None
    frames: list[_Frame] = []
    transparent, nbytes = -1, 0
    try:
        while (kind := reader.byte()) != _TRAILER:
            if kind == _IMAGE:
                frames.append(_frame(reader, shared, transparent, nbytes))
                nbytes += frames[-1].pixels.nbytes
                transparent = -1
            elif kind == _EXTENSION:
                label, content = reader.byte(), reader.blocks()
                if label == _GRAPHIC_CONTROL and len(content) >= 4:
                    transparent = content[3] if content[0] & 1 else -1
            else:
                raise _refuse(f"blocks must be images or extensions, got {kind:#x}")
    except InvalidArgumentError:
        if not frames:
            raise
    return frames


def _frame(reader: _Reader, shared: np.ndarray | None, transparent: int, before_bytes: int) -> _Frame:
    left, top, width, height, flags = struct.unpack("<HHHHB", reader.take(9))
    check_decoded("GIF", before_bytes + 3 * width * height)
    colours = reader.colours(flags) if flags & 0x80 else shared
    if colours is None:
        raise _refuse("an image must have colours of its own or of the file")
    code_bits = reader.byte()
    if not 1 <= code_bits <= 8:
        raise _refuse(f"codes must begin with 1 to 8 bits, got {code_bits}")
    pixels = _unpacked(reader.blocks(), code_bits, width * height)
    indices = np.frombuffer(pixels, np.uint8).reshape(height, width)
    if flags & 0x40:
        rows = [row for start, step in _INTERLACED for row in range(start, height, step)]
        straight = np.empty_like(indices)
        straight[rows] = indices
        indices = straight
    return _Frame(left, top, colours[indices], indices != transparent)


def _unpacked(data: bytes, code_bits: int, size: int) -> bytes:
    """So many pixels of data packed by LZW with codes of growing length."""
    clear, end = 1 << code_bits, (1 << code_bits) + 1
    single = [bytes([value]) for value in range(clear)] + [b"", b""]
    table, bits = list(single), code_bits + 1
    found: list[bytes] = []
    held, held_bits, total = 0, 0, 0
    before = b""
    for byte in data:
        held |= byte << held_bits
        held_bits += 8
        while held_bits >= bits:
            code = held & ((1 << bits) - 1)
            held >>= bits
            held_bits -= bits
            if code == clear:
                table, bits, before = list(single), code_bits + 1, b""
                continue
            if code == end or total >= size:
                return _whole(found, total, size)
            if code > len(table) or (code == len(table) and not before):
                raise _refuse(f"codes must be known, got {code} of {len(table)}")
            entry = table[code] if code < len(table) else before + before[:1]
            if before and len(table) < _MOST_CODES:
                table.append(before + entry[:1])
                if len(table) == 1 << bits and bits < 12:
                    bits += 1
            found.append(entry)
            total += len(entry)
            before = entry
    return _whole(found, total, size)


def _whole(found: list[bytes], total: int, size: int) -> bytes:
    if total < size:
        raise _refuse(f"an image must have {size} pixels, got {total}")
    return b"".join(found)[:size]
