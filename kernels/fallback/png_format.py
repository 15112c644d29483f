"""PNG files as arrays, and arrays as PNG files.

Source: W3C, Portable Network Graphics (PNG) Specification.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .decoded_size import check_decoded
from .status import InvalidArgumentError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GREY, _RGB, _PALETTE, _GREY_ALPHA, _RGBA = 0, 2, 3, 4, 6
_CHANNELS = {_GREY: 1, _RGB: 3, _PALETTE: 1, _GREY_ALPHA: 2, _RGBA: 4}
_DEPTHS = {
    _GREY: (1, 2, 4, 8, 16),
    _RGB: (8, 16),
    _PALETTE: (1, 2, 4, 8),
    _GREY_ALPHA: (8, 16),
    _RGBA: (8, 16),
}
# Adam7: first row, first column, rows apart, columns apart.
_PASSES = (
    *((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4)),
    *((2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)),
)
_MOST_PIXELS = 1 << 29
_WORKING_COPIES = 6  # of the image, at the most at once
_BAND = 64  # rows


@dataclass(frozen=True)
class Png:
    """A file's samples [height, width, channels], uint8 or uint16, indices looked up.

    has_alpha says whether the last channel is opacity; made_alpha, that a transparent colour without
    a palette was turned into it. depth is how many bits of a sample the file had.
    """

    samples: np.ndarray
    depth: int
    has_alpha: bool
    made_alpha: bool = False


def _refuse(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"PNG: {message}")


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Names and contents, to the end of the image."""
    at = len(SIGNATURE)
    while at + 12 <= len(data):
        (size,) = struct.unpack_from(">I", data, at)
        name, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        checked = data[at + 8 + size : at + 12 + size]
        if len(checked) < 4 or zlib.crc32(name + content) != int.from_bytes(checked, "big"):
            raise _refuse(f"chunk {name!r} must be whole and of its checksum")
        yield name, content
        if name == b"IEND":
            return
        at += 12 + size
    raise _refuse("file must end with an IEND chunk")


def read_png(data: bytes) -> Png:
    """InvalidArgumentError for what is not a whole PNG file."""
    held: dict[bytes, bytes] = {}
    image = []
    for name, content in _chunks(data):
        if name == b"IDAT":
            image.append(content)
        else:
            held.setdefault(name, content)
    header = held.get(b"IHDR", b"")
    if len(header) != 13:
        raise _refuse("file must begin with an IHDR chunk of 13 bytes")
    width, height, depth, kind, compression, filtering, interlace = struct.unpack(">IIBBBBB", header)
    if depth not in _DEPTHS.get(kind, ()) or compression or filtering or interlace > 1:
        raise _refuse(f"header must be of a known kind, got depth {depth}, colour type {kind}")
    if not 0 < width * height < _MOST_PIXELS:
        raise _refuse(f"image must have from 1 to {_MOST_PIXELS - 1} pixels, got {height} x {width}")
    channels = _CHANNELS[kind]
    nbytes = height * width * channels * (2 if depth == 16 else 1)
    check_decoded("PNG", nbytes, _WORKING_COPIES * max(nbytes, height * width))
    raw = _Raw(b"".join(image), width, height, channels, depth)
    samples = raw.interlaced() if interlace else raw.whole()
    return _with_colours(samples, kind, depth, held)


class _Raw:
    """The compressed rows of an image, read one part after another."""

    def __init__(self, data: bytes, width: int, height: int, channels: int, depth: int) -> None:
        self._stream = zlib.decompressobj()
        self._rest = data
        self._width, self._height = width, height
        self._channels, self._depth = channels, depth

    def _read(self, size: int) -> bytes:
        found = []
        while size:
            try:
                part = self._stream.decompress(self._rest, size)
            except zlib.error as error:
                raise _refuse(f"image data must be compressed by zlib: {error}") from error
            self._rest = self._stream.unconsumed_tail
            if not part:
                raise _refuse(f"image data must be complete, but {size} bytes are missing")
            found.append(part)
            size -= len(part)
        return b"".join(found)

    def _part(self, height: int, width: int) -> np.ndarray:
        """Samples [height, width, channels] of the next part of the image."""
        bits = self._channels * self._depth
        row_bytes, step = (width * bits + 7) // 8, max(bits // 8, 1)
        rows = np.frombuffer(self._read(height * (row_bytes + 1)), np.uint8).reshape(height, -1)
        if rows[:, 0].max() > 4:
            raise _refuse(f"rows must be filtered by one of five ways, got {rows[:, 0].max()}")
        plain = _unfiltered(rows[:, 1:].reshape(height, -1, step), rows[:, 0]).reshape(height, row_bytes)
        if self._depth == 16:
            values = plain.view(">u2").astype(np.uint16)
        elif self._depth == 8:
            values = plain
        else:
            values = _unpacked(plain, self._depth)
        return values[:, : width * self._channels].reshape(height, width, self._channels)

    def whole(self) -> np.ndarray:
        return self._part(self._height, self._width)

    def interlaced(self) -> np.ndarray:
        dtype = np.uint16 if self._depth == 16 else np.uint8
        made = np.zeros((self._height, self._width, self._channels), dtype)
        for row, column, down, across in _PASSES:
            place = made[row::down, column::across]
            if place.size:
                place[...] = self._part(*place.shape[:2])
        return made


def _unpacked(rows: np.ndarray, depth: int) -> np.ndarray:
    """Samples of 1, 2 or 4 bits, the first in the highest bits."""
    shifts = np.arange(8 - depth, -1, -depth, dtype=np.uint8)
    values = (rows[:, :, np.newaxis] >> shifts) & np.uint8((1 << depth) - 1)
    return values.reshape(len(rows), -1)


def _unfiltered(rows: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """The bytes [height, pixels, step] that filtered ones stand for."""
    made = np.empty(rows.shape, np.uint8)
    band = max(rows.shape[1], _BAND)
    above = np.zeros(rows.shape[1:], np.uint8)
    for first in range(0, len(rows), band):
        chosen = slice(first, first + band)
        made[chosen] = _unfiltered_band(rows[chosen], filters[chosen], above)
        above = made[chosen][-1]
    return made


def _unfiltered_band(rows: np.ndarray, filters: np.ndarray, above: np.ndarray) -> np.ndarray:
    """The bytes of some rows, below a row that is known.

    A pixel needs those left of it, above it, and left above it, so all those of one diagonal are
    found at once: entry [d, y] is the pixel of row y in column d - y.
    """
    height, width, step = rows.shape
    skewed = np.zeros((height + width + 1, height + 1, step), np.int16)
    skewed[1 : width + 1, 0] = above
    kinds = filters.reshape(-1, 1)
    for diagonal in range(height + width - 1):
        first, last = max(0, diagonal - width + 1), min(height, diagonal + 1)
        row = np.arange(first, last)
        # The row above and two diagonals of zeros stand before these rows.
        left = skewed[diagonal + 1, first + 1 : last + 1]
        upper = skewed[diagonal + 1, first:last]
        corner = skewed[diagonal, first:last]
        kind = kinds[first:last]
        guess = np.where(kind == 1, left, np.where(kind == 2, upper, 0))
        guess = np.where(kind == 3, (left + upper) >> 1, guess)
        guess = np.where(kind == 4, _nearest_of(left, upper, corner), guess)
        skewed[diagonal + 2, first + 1 : last + 1] = (rows[row, diagonal - row] + guess) & 0xFF
    y, x = np.ogrid[:height, :width]
    return skewed[x + y + 2, y + 1].astype(np.uint8)


def _nearest_of(left: np.ndarray, above: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """Paeth's predictor: which of the three is nearest to left + above - corner."""
    by_left, by_above = np.abs(above - corner), np.abs(left - corner)
    by_corner = np.abs(left + above - 2 * corner)
    of_two = np.where(by_above <= by_corner, above, corner)
    return np.where((by_left <= by_above) & (by_left <= by_corner), left, of_two)


def _with_colours(samples: np.ndarray, kind: int, depth: int, held: dict[bytes, bytes]) -> Png:
    """Indices looked up, greys spread over all bits, transparent colours made opacity."""
    transparent = held.get(b"tRNS")
    if kind == _PALETTE:
        return _looked_up(samples, depth, held.get(b"PLTE", b""), transparent)
    alpha = None
    if transparent is not None and kind in (_GREY, _RGB):
        if len(transparent) < 2 * samples.shape[2]:
            raise _refuse(f"tRNS must have a number for each channel, got {len(transparent)} bytes")
        color = np.frombuffer(transparent[: 2 * samples.shape[2]], ">u2")
        most = np.iinfo(samples.dtype).max
        alpha = np.where((samples == color).all(axis=2, keepdims=True), 0, most).astype(samples.dtype)
    if kind == _GREY and depth < 8:
        samples = samples * np.uint8(255 // ((1 << depth) - 1))
    if alpha is not None:
        return Png(np.concatenate([samples, alpha], axis=2), depth, True, True)
    return Png(samples, depth, kind in (_GREY_ALPHA, _RGBA))


def _looked_up(samples: np.ndarray, depth: int, palette: bytes, transparent: bytes | None) -> Png:
    if not palette or len(palette) % 3 or len(palette) > 768:
        raise _refuse(f"PLTE must have from 1 to 256 colours, got {len(palette)} bytes")
    colours = np.zeros((256, 3), np.uint8)
    colours[: len(palette) // 3] = np.frombuffer(palette, np.uint8).reshape(-1, 3)
    found = colours[samples[:, :, 0]]
    if transparent is None:
        return Png(found, depth, False)
    opacity = np.full(256, 255, np.uint8)
    opacity[: min(len(transparent), 256)] = np.frombuffer(transparent[:256], np.uint8)
    return Png(np.concatenate([found, opacity[samples]], axis=2), depth, True)


def write_png(image: np.ndarray, compression: int) -> bytes:
    """image [height, width, 1 to 4], uint8 or uint16, as a file; compression is zlib's level."""
    height, width, channels = image.shape
    kind = {1: _GREY, 2: _GREY_ALPHA, 3: _RGB, 4: _RGBA}[channels]
    depth = 8 * image.dtype.itemsize
    rows = image.astype(f">u{image.dtype.itemsize}").reshape(height, -1).view(np.uint8)
    filtered = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1)
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    packed = zlib.compress(filtered.tobytes(), compression)
    parts = [SIGNATURE]
    for name, content in ((b"IHDR", header), (b"IDAT", packed), (b"IEND", b"")):
        checksum = struct.pack(">I", zlib.crc32(name + content))
        parts += [struct.pack(">I", len(content)), name, content, checksum]
    return b"".join(parts)
