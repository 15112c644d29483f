"""JPEG files as arrays: sequential ones of Huffman codes and 8-bit samples.

Source: ITU-T T.81; for sizes and upsampling, libjpeg's jdmaster.c and jdsample.c.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np

from ...lite.errors import UnsupportedError
from .status import InvalidArgumentError

_START, _END, _SCAN, _RESTART_INTERVAL, _QUANTIZERS, _HUFFMAN = 0xD8, 0xD9, 0xDA, 0xDD, 0xDB, 0xC4
_SEQUENTIAL = (0xC0, 0xC1)
_OTHER_FRAMES = (0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF)
_ADOBE = 0xEE
_SIZE = 8
_MOST_PIXELS = 1 << 28
_LUMINANCE = np.array([0.299, 0.587, 0.114])
# Places of coefficients in a block, row by row, in the order of the file.
ZIGZAG = np.array(
    sorted(range(64), key=lambda at: (at // 8 + at % 8, (at // 8 if (at // 8 + at % 8) % 2 else at % 8)))
)


# The inverse transform [frequency, place].
BASIS = np.cos(np.outer(np.arange(8), 2 * np.arange(8) + 1) * (np.pi / 16)) / 2
BASIS[0] /= np.sqrt(2)


def _refuse(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"JPEG: {message}")


@dataclass
class _Component:
    """A colour: how often it is sampled, its quantizer, and its coefficients [rows, columns, 64]."""

    name: int
    across: int
    down: int
    quantizer: int
    coefficients: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 64), np.int32))
    tables: tuple[int, int] = (0, 0)
    before: int = 0


@dataclass
class _Frame:
    height: int
    width: int
    components: list[_Component]

    @property
    def most(self) -> tuple[int, int]:
        """The greatest sampling, down and across."""
        return max(c.down for c in self.components), max(c.across for c in self.components)


class _Bits:
    """Bits of a scan between two restarts, the highest of a byte first."""

    def __init__(self, data: bytes) -> None:
        # Beyond the end there are zeros, as many as one block can need before it is noticed.
        self._data = data + bytes(8)
        self._at = 0
        self._held = 0
        self._count = 0

    def _fill(self) -> None:
        if self._at >= len(self._data):
            raise _refuse("data of a scan must be complete")
        self._held = (self._held << 16) | int.from_bytes(self._data[self._at : self._at + 2], "big")
        if self._at + 2 > len(self._data):
            self._held <<= 8
        self._at += 2
        self._count += 16

    def symbol(self, table: list[int]) -> int:
        """The next symbol of a table by 16 bits: (length << 8) | symbol, 0 where there is none."""
        while self._count < 16:
            self._fill()
        found = table[(self._held >> (self._count - 16)) & 0xFFFF]
        if not found:
            raise _refuse("data of a scan must be of known codes")
        self._count -= found >> 8
        self._held &= (1 << self._count) - 1
        return found & 0xFF

    def signed(self, size: int) -> int:
        """A number of so many bits; those that begin with 0 are negative."""
        if not size:
            return 0
        while self._count < size:
            self._fill()
        self._count -= size
        value = self._held >> self._count
        self._held &= (1 << self._count) - 1
        return value if value >> (size - 1) else value - (1 << size) + 1


def _lookup(counts: bytes, symbols: bytes) -> list[int]:
    """A Huffman table by the next 16 bits."""
    table: list[int] = []
    at = 0
    for length, count in enumerate(counts, 1):
        for symbol in symbols[at : at + count]:
            table += [(length << 8) | symbol] * (1 << (16 - length))
        at += count
    if len(table) > 1 << 16:
        raise _refuse("a Huffman table must not have more codes than there can be")
    return table + [0] * ((1 << 16) - len(table))


class _Decoder:
    """What a file says, segment by segment."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._huffman: dict[int, list[int]] = {}
        self._quantizers: dict[int, np.ndarray] = {}
        self._restart = 0
        self.frame: _Frame | None = None
        self.transform: int | None = None

    def read(self, header_only: bool) -> None:
        """The frame, and its coefficients unless header_only."""
        at = 2
        while True:
            while self._data[at : at + 1] == b"\xff" and self._data[at + 1 : at + 2] == b"\xff":
                at += 1
            if at + 4 > len(self._data) or self._data[at] != 0xFF:
                if at + 2 == len(self._data) and self._data[at:] == b"\xff\xd9":
                    return
                raise _refuse(f"file must be complete, but has no segment at {at}")
            marker = self._data[at + 1]
            if marker == _END:
                return
            (size,) = struct.unpack_from(">H", self._data, at + 2)
            segment = self._data[at + 4 : at + 2 + size]
            if size < 2 or len(segment) < size - 2:
                raise _refuse(f"file must be complete, but ends in a segment at {at}")
            at += 2 + size
            if marker == _SCAN:
                at = self._scan(segment, at)
            else:
                self._segment(marker, segment)
            if header_only and self.frame is not None:
                return

    def _segment(self, marker: int, segment: bytes) -> None:
        if marker in _SEQUENTIAL:
            self._begin(segment)
        elif marker in _OTHER_FRAMES:
            raise UnsupportedError(
                f"JPEG: only sequential Huffman files are built, got a frame of kind {marker:#x}; "
                "encode it without progression"
            )
        elif marker == _HUFFMAN:
            self._read_huffman(segment)
        elif marker == _QUANTIZERS:
            self._read_quantizers(segment)
        elif marker == _RESTART_INTERVAL and len(segment) >= 2:
            (self._restart,) = struct.unpack_from(">H", segment)
        elif marker == _ADOBE and segment[:5] == b"Adobe" and len(segment) >= 12:
            self.transform = segment[11]

    def _read_huffman(self, segment: bytes) -> None:
        while segment:
            count = sum(segment[1:17])
            if len(segment) < 17 + count:
                raise _refuse("a Huffman table must be complete")
            self._huffman[segment[0]] = _lookup(segment[1:17], segment[17 : 17 + count])
            segment = segment[17 + count :]

    def _read_quantizers(self, segment: bytes) -> None:
        while segment:
            kind = ">u2" if segment[0] >> 4 else "u1"
            size = 64 * np.dtype(kind).itemsize
            if len(segment) < 1 + size:
                raise _refuse("a quantizer must be complete")
            table = np.zeros(64, np.int32)
            table[ZIGZAG] = np.frombuffer(segment[1 : 1 + size], kind)
            self._quantizers[segment[0] & 15] = table
            segment = segment[1 + size :]

    def _begin(self, segment: bytes) -> None:
        if len(segment) < 6 or self.frame is not None:
            raise _refuse("file must have one frame")
        depth, height, width, count = struct.unpack_from(">BHHB", segment)
        if depth != 8 or count not in (1, 3) or len(segment) < 6 + 3 * count:
            raise UnsupportedError(
                f"JPEG: images must have 8-bit samples of 1 or 3 colours, got {depth} bits and {count}"
            )
        if not 0 < height * width <= _MOST_PIXELS:
            raise _refuse(f"image must have from 1 to {_MOST_PIXELS} pixels, got {height} x {width}")
        parts = [segment[6 + 3 * i : 9 + 3 * i] for i in range(count)]
        components = [_Component(a, b >> 4, b & 15, c) for a, b, c in parts]
        if any(not 1 <= n <= 4 for c in components for n in (c.across, c.down)):
            raise _refuse("sampling must be from 1 to 4")
        if count == 1:
            components[0].across = components[0].down = 1
        self.frame = _Frame(height, width, components)
        down, across = self.frame.most
        rows, columns = -(-height // (_SIZE * down)), -(-width // (_SIZE * across))
        # A block takes three bits at least.
        blocks = rows * columns * sum(c.down * c.across for c in components)
        if blocks > 3 * len(self._data) + 64:
            raise _refuse(f"{len(self._data)} bytes must be enough for {height} x {width} pixels")
        for component in components:
            shape = (rows * component.down, columns * component.across, 64)
            component.coefficients = np.zeros(shape, np.int32)

    def _scan(self, segment: bytes, at: int) -> int:
        """Reads a scan that begins at the byte; returns where it ends."""
        if self.frame is None or not segment or len(segment) < 4 + 2 * segment[0]:
            raise _refuse("a scan must come after the frame and be complete")
        named = {component.name: component for component in self.frame.components}
        chosen = []
        for i in range(segment[0]):
            name, tables = segment[1 + 2 * i], segment[2 + 2 * i]
            if name not in named or tables >> 4 not in self._huffman or 16 | tables & 15 not in self._huffman:
                raise _refuse(f"a scan must be of known colours and tables, got {name} and {tables:#x}")
            named[name].tables = tables >> 4, 16 | tables & 15
            chosen.append(named[name])
        parts, end = self._entropy_coded(at)
        places = self._places(chosen)
        each = self._restart or len(places)
        if len(parts) < -(-len(places) // each):
            raise _refuse("a scan must be complete")
        for number, part in enumerate(parts):
            bits = _Bits(part)
            for component in chosen:
                component.before = 0
            for unit in places[number * each : (number + 1) * each]:
                for component, row, column in unit:
                    self._block(bits, component, component.coefficients[row, column])
        return end

    def _entropy_coded(self, at: int) -> tuple[list[bytes], int]:
        """The scan's bytes between restarts, unstuffed, and where the next segment begins."""
        parts, start = [], at
        while True:
            at = self._data.find(b"\xff", at)
            if at < 0 or at + 1 >= len(self._data):
                raise _refuse("file must be complete, but ends within a scan")
            marker = self._data[at + 1]
            if marker == 0:
                at += 2
                continue
            if marker == 0xFF:
                at += 1
                continue
            parts.append(self._data[start:at].replace(b"\xff\x00", b"\xff"))
            if not 0xD0 <= marker <= 0xD7:
                return parts, at
            at += 2
            start = at

    def _places(self, chosen: list[_Component]) -> list[list[tuple[_Component, int, int]]]:
        """The blocks of each unit of the scan, in order."""
        assert self.frame is not None
        down, across = self.frame.most
        if len(chosen) == 1:
            only = chosen[0]
            rows = -(-self.frame.height * only.down // (down * _SIZE))
            columns = -(-self.frame.width * only.across // (across * _SIZE))
            return [[(only, row, column)] for row in range(rows) for column in range(columns)]
        rows = -(-self.frame.height // (_SIZE * down))
        columns = -(-self.frame.width // (_SIZE * across))
        return [
            [
                (c, row * c.down + i, column * c.across + j)
                for c in chosen
                for i in range(c.down)
                for j in range(c.across)
            ]
            for row in range(rows)
            for column in range(columns)
        ]

    def _block(self, bits: _Bits, component: _Component, block: np.ndarray) -> None:
        first, others = (self._huffman[table] for table in component.tables)
        component.before += bits.signed(bits.symbol(first) & 15)
        block[0] = component.before
        at = 1
        while at < 64:
            symbol = bits.symbol(others)
            run, size = symbol >> 4, symbol & 15
            if size:
                at += run
                if at > 63:
                    raise _refuse("a block must have 64 coefficients")
                block[ZIGZAG[at]] = bits.signed(size)
                at += 1
            elif run == 15:
                at += 16
            else:
                break

    def dequantized(self, component: _Component) -> np.ndarray:
        if component.quantizer not in self._quantizers:
            raise _refuse(f"colours must have quantizers of the file, got {component.quantizer}")
        return component.coefficients * self._quantizers[component.quantizer]


def jpeg_shape(data: bytes) -> tuple[int, int, int]:
    """Height, width and colours of a file."""
    decoder = _Decoder(data)
    decoder.read(header_only=True)
    if decoder.frame is None:
        raise _refuse("file must have a frame")
    return decoder.frame.height, decoder.frame.width, len(decoder.frame.components)


def read_jpeg(
    data: bytes, ratio: int, fancy: bool, channels: int = 0, columns: tuple[int, int] | None = None
) -> np.ndarray:
    """The image [height, width, 1 or 3], uint8, its sides divided by ratio (1, 2, 4 or 8), rounded up.

    channels may be 1, luminance alone, or 3; 0 stands for the file's own.
    columns are those that are wanted, from and to: what is beyond them does not count then.
    fancy: colours that are sampled more rarely are interpolated, not repeated. InvalidArgumentError
    for what is no whole file, UnsupportedError for other kinds than this module's.
    """
    decoder = _Decoder(data)
    decoder.read(header_only=False)
    frame = decoder.frame
    if frame is None:
        raise _refuse("file must have a frame")
    colours = frame.components
    if channels == 1 and len(colours) == 3 and _is_ycc(decoder, frame):
        colours = colours[:1]
    start, end = (0, -(-frame.width // ratio)) if columns is None else columns
    # Libjpeg cuts at whole units of all colours.
    aligned = start - start % (_SIZE * frame.most[1] // ratio)
    planes = [_plane(decoder, frame, component, ratio, fancy, (aligned, end)) for component in colours]
    image = np.stack(planes, axis=-1)[:, start - aligned :]
    if len(planes) == 3 and _is_ycc(decoder, frame):
        image = _rgb(image)
    elif len(planes) == 3 and channels == 1:
        image = (image * _LUMINANCE).sum(axis=-1, keepdims=True)
    elif len(planes) == 1 and channels == 3:
        image = np.repeat(image, 3, axis=-1)
    return np.clip(np.floor(image + 0.5), 0, 255).astype(np.uint8)


def _is_ycc(decoder: _Decoder, frame: _Frame) -> bool:
    if decoder.transform is not None:
        return decoder.transform != 0
    return bytes(component.name for component in frame.components) != b"RGB"


def _plane(
    decoder: _Decoder,
    frame: _Frame,
    component: _Component,
    ratio: int,
    fancy: bool,
    span: tuple[int, int],
) -> np.ndarray:
    """A colour as large as the image that is wanted, float64, in the span of columns."""
    down, across = frame.most
    least = size = _SIZE // ratio
    # A colour that is sampled more rarely keeps more of its own pixels.
    while size < _SIZE and not (across * least) % (component.across * size * 2):
        if (down * least) % (component.down * size * 2):
            break
        size *= 2
    blocks = decoder.dequantized(component).reshape(*component.coefficients.shape[:2], _SIZE, _SIZE)
    # A smaller block is made of means.
    basis = BASIS.reshape(_SIZE, size, -1).mean(axis=2)
    pixels = np.einsum("ki,rckl,lj->ricj", basis, blocks, basis, optimize=True) + 128
    whole = np.clip(np.floor(pixels + 0.5), 0, 255).reshape(blocks.shape[0] * size, blocks.shape[1] * size)
    rows = -(-frame.height * component.down * size // (down * _SIZE))
    first = span[0] * ratio * component.across * size // (across * _SIZE)
    count = -(-(span[1] - span[0]) * ratio * component.across * size // (across * _SIZE))
    times = (down * least // (component.down * size), across * least // (component.across * size))
    full = _enlarged(whole[:rows, first : first + count], times, fancy and least > 1)
    return full[: -(-frame.height // ratio), : span[1] - span[0]]


def _enlarged(x: np.ndarray, times: tuple[int, int], fancy: bool) -> np.ndarray:
    """x made larger by times, down and across."""
    if fancy and x.shape[1] > 2 and times in ((1, 2), (2, 2), (2, 1)):
        for axis, factor in enumerate(times):
            x = _interpolated(x, axis) if factor == 2 else x
        return x
    return np.repeat(np.repeat(x, times[0], axis=0), times[1], axis=1)


def _interpolated(x: np.ndarray, axis: int) -> np.ndarray:
    """Twice as many, each three quarters of the nearest and a quarter of the next nearest."""
    moved = np.moveaxis(x, axis, 0)
    padded = np.concatenate([moved[:1], moved, moved[-1:]])
    made = np.empty((2 * len(moved), *moved.shape[1:]))
    made[::2] = (3 * moved + padded[:-2]) / 4
    made[1::2] = (3 * moved + padded[2:]) / 4
    return np.moveaxis(made, 0, axis)


def _rgb(image: np.ndarray) -> np.ndarray:
    """Red, green and blue of luminance and two differences of colour.

    Source: ITU-T T.871.
    """
    luminance, blue, red = np.moveaxis(image - [0, 128, 128], -1, 0)
    green = luminance - 0.344136286 * blue - 0.714136286 * red
    return np.stack([luminance + 1.402 * red, green, luminance + 1.772 * blue], axis=-1)
