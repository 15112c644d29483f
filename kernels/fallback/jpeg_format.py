"""The coefficients of JPEG files: sequential and progressive ones of Huffman codes and 8-bit samples.

Source: ITU-T T.81.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np

from ...lite.errors import UnsupportedError
from .decoded_size import check_decoded
from .jpeg_bits import Bits, lookup, refuse, short
from .jpeg_progressive import ProgressiveScan
from .status import ResourceExhaustedError

_START, _END, _SCAN, _RESTART_INTERVAL, _QUANTIZERS, _HUFFMAN = 0xD8, 0xD9, 0xDA, 0xDD, 0xDB, 0xC4
_HUFFMAN_FRAMES = (0xC0, 0xC1, 0xC2)
_PROGRESSIVE = 0xC2
_OTHER_FRAMES = (0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF)
_JFIF, _ADOBE = 0xE0, 0xEE
SIZE = 8
_MOST_PIXELS = 1 << 28
# A large even image of ten scans has some forty blocks for each byte of its file.
_BLOCKS_PER_BYTE = 128
_STRETCH = 1 << 14  # blocks that are looked at together
_WORKING_BYTES = 64  # for each sample
# Places of coefficients in a block, row by row, in the order of the file.
ZIGZAG = np.array(
    sorted(range(64), key=lambda at: (at // 8 + at % 8, (at // 8 if (at // 8 + at % 8) % 2 else at % 8)))
)
# Damaged files have coefficients beyond the last, which libjpeg takes for the last.
_PLACES = [*ZIGZAG.tolist(), *[63] * 16]


@dataclass
class Component:
    """A colour: how often it is sampled, its quantizer, and its coefficients [rows, columns, 64]."""

    name: int
    across: int
    down: int
    quantizer: int
    coefficients: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 64), np.int16))
    tables: tuple[int, int] = (0, 0)
    before: int = 0


@dataclass
class Frame:
    height: int
    width: int
    components: list[Component]

    @property
    def most(self) -> tuple[int, int]:
        """The greatest sampling, down and across."""
        return max(c.down for c in self.components), max(c.across for c in self.components)


@dataclass(frozen=True)
class _Units:
    """What a scan goes over: units in rows, each of blocks: colour, how many down and across, place."""

    count: int
    columns: int
    blocks: list[tuple[Component, int, int, int, int]]

    def at(self, number: int) -> list[tuple[Component, int, int]]:
        """The blocks of a unit: colours, rows and columns."""
        row, column = divmod(number, self.columns)
        return [(c, row * down + i, column * across + j) for c, down, across, i, j in self.blocks]

    def stretch(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        """All blocks [count, 64] of a scan of one colour, and which of them are those units."""
        coefficients = self.blocks[0][0].coefficients
        rows, columns = np.divmod(np.arange(first, min(last, first + _STRETCH)), self.columns)
        return coefficients.reshape(-1, SIZE * SIZE), rows * coefficients.shape[1] + columns


class Decoder:
    """What a file says, segment by segment; if recover, of one that is cut off what is there.

    As libjpeg has it, a scan may end early: its other blocks are 0.
    """

    def __init__(self, data: bytes, recover: bool = False) -> None:
        self._data = data + b"\xff\xd9" if recover else data
        self._recover = recover
        self._huffman: dict[int, list[int]] = {}
        self._quantizers: dict[int, np.ndarray] = {}
        self._restart = 0
        self._progressive = False
        self._blocks_met = 0
        self.frame: Frame | None = None
        self._is_jfif = False
        self._adobe_transform: int | None = None

    def read(self, header_only: bool) -> None:
        """The frame, and its coefficients unless header_only."""
        at = 2
        while True:
            while self._data[at : at + 1] == b"\xff" and self._data[at + 1 : at + 2] == b"\xff":
                at += 1
            if at + 4 > len(self._data) or self._data[at] != 0xFF:
                if at + 2 == len(self._data) and self._data[at:] == b"\xff\xd9":
                    return
                raise refuse(f"file must be complete, but has no segment at {at}")
            marker = self._data[at + 1]
            if marker == _END:
                return
            (size,) = struct.unpack_from(">H", self._data, at + 2)
            segment = self._data[at + 4 : at + 2 + size]
            if size < 2 or len(segment) < size - 2:
                raise refuse(f"file must be complete, but ends in a segment at {at}")
            at += 2 + size
            if marker == _SCAN:
                at = self._scan(segment, at)
            else:
                self._segment(marker, segment)
            if header_only and self.frame is not None:
                return

    def _segment(self, marker: int, segment: bytes) -> None:
        if marker in _HUFFMAN_FRAMES:
            self._progressive = marker == _PROGRESSIVE
            self._begin(segment)
        elif marker in _OTHER_FRAMES:
            raise UnsupportedError(
                f"JPEG: only Huffman files with loss are built, got a frame of kind {marker:#x}; "
                "encode it as a baseline file"
            )
        elif marker == _HUFFMAN:
            self._read_huffman(segment)
        elif marker == _QUANTIZERS:
            self._read_quantizers(segment)
        elif marker == _RESTART_INTERVAL and len(segment) >= 2:
            (self._restart,) = struct.unpack_from(">H", segment)
        elif marker == _JFIF and segment[:5] == b"JFIF\0" and len(segment) >= 14:
            self._is_jfif = True
        elif marker == _ADOBE and segment[:5] == b"Adobe" and len(segment) >= 12:
            self._adobe_transform = segment[11]

    @property
    def colour_space(self) -> str:
        """GREY, YCC, RGB, CMYK or YCCK. JFIF has YCC alone; Adobe says whether colours are differences."""
        assert self.frame is not None
        names = bytes(component.name for component in self.frame.components)
        if len(names) == 1:
            return "GREY"
        if len(names) == 4:
            return "YCCK" if self._adobe_transform else "CMYK"
        if not self._is_jfif and (
            self._adobe_transform == 0 or (self._adobe_transform is None and names == b"RGB")
        ):
            return "RGB"
        return "YCC"

    @property
    def is_inverted(self) -> bool:
        """Whether colours of inks count what is left white."""
        return self._adobe_transform is not None

    def _read_huffman(self, segment: bytes) -> None:
        while segment:
            count = sum(segment[1:17])
            if len(segment) < 17 + count:
                raise refuse("a Huffman table must be complete")
            self._huffman[segment[0]] = lookup(segment[1:17], segment[17 : 17 + count])
            segment = segment[17 + count :]

    def _read_quantizers(self, segment: bytes) -> None:
        while segment:
            kind = ">u2" if segment[0] >> 4 else "u1"
            size = 64 * np.dtype(kind).itemsize
            if len(segment) < 1 + size:
                raise refuse("a quantizer must be complete")
            table = np.zeros(64, np.int32)
            table[ZIGZAG] = np.frombuffer(segment[1 : 1 + size], kind)
            self._quantizers[segment[0] & 15] = table
            segment = segment[1 + size :]

    def _begin(self, segment: bytes) -> None:
        if len(segment) < 6 or self.frame is not None:
            raise refuse("file must have one frame")
        depth, height, width, count = struct.unpack_from(">BHHB", segment)
        if depth != 8 or count not in (1, 3, 4) or len(segment) < 6 + 3 * count:
            raise UnsupportedError(
                f"JPEG: images must have 8-bit samples of 1, 3 or 4 colours, got {depth} bits and {count}"
            )
        if not 0 < height * width <= _MOST_PIXELS:
            raise refuse(f"image must have from 1 to {_MOST_PIXELS} pixels, got {height} x {width}")
        parts = [segment[6 + 3 * i : 9 + 3 * i] for i in range(count)]
        components = [Component(a, b >> 4, b & 15, c) for a, b, c in parts]
        if any(not 1 <= n <= 4 for c in components for n in (c.across, c.down)):
            raise refuse("sampling must be from 1 to 4")
        if count == 1:
            components[0].across = components[0].down = 1
        self.frame = Frame(height, width, components)
        down, across = self.frame.most
        rows, columns = -(-height // (SIZE * down)), -(-width // (SIZE * across))
        # A block takes two bits at least, a progressive one a bit of its first coefficient.
        blocks = rows * columns * sum(c.down * c.across for c in components)
        if blocks > (8 if self._progressive else 4) * len(self._data) + 64 and not self._recover:
            raise refuse(f"{len(self._data)} bytes must be enough for {height} x {width} pixels")
        check_decoded("JPEG", height * width * count, _WORKING_BYTES * SIZE * SIZE * blocks)
        for component in components:
            shape = (rows * component.down, columns * component.across, 64)
            component.coefficients = np.zeros(shape, np.int16)

    def _scan(self, segment: bytes, at: int) -> int:
        """Reads a scan that begins at the byte; returns where it ends."""
        if self.frame is None or not segment or len(segment) < 4 + 2 * segment[0]:
            raise refuse("a scan must come after the frame and be complete")
        start, end, bits = segment[1 + 2 * segment[0] : 4 + 2 * segment[0]]
        part = ProgressiveScan(start, end, bits >> 4 > 0, bits & 15, _PLACES) if self._progressive else None
        if part is not None and start and segment[0] != 1:
            raise refuse(f"a scan of other coefficients must be of one colour, got {segment[0]}")
        named = {component.name: component for component in self.frame.components}
        chosen = []
        for i in range(segment[0]):
            name, tables = segment[1 + 2 * i], segment[2 + 2 * i]
            needed = (True, True) if part is None else part.tables
            ids = (tables >> 4, 16 | tables & 15)
            known = all(id in self._huffman for id, need in zip(ids, needed, strict=True) if need)
            if name not in named or not known:
                raise refuse(f"a scan must be of known colours and tables, got {name} and {tables:#x}")
            named[name].tables = ids
            chosen.append(named[name])
        parts, stop = self._entropy_coded(at)
        units = self._units(chosen)
        self._pay(units.count * len(units.blocks))
        each = self._restart or units.count
        for number, data in enumerate(parts):
            for component in chosen:
                component.before = 0
            first = number * each
            self._interval(Bits(data), units, first, min(first + each, units.count), part)
        return stop

    def _pay(self, blocks: int) -> None:
        """ResourceExhaustedError for scans that go over the blocks again and again."""
        self._blocks_met += blocks
        most = _BLOCKS_PER_BYTE * len(self._data)
        if self._blocks_met > most:
            raise ResourceExhaustedError(
                f"JPEG: scans of a file of {len(self._data)} bytes must have {most} blocks or fewer, "
                f"got {self._blocks_met}"
            )

    def _interval(
        self, bits: Bits, units: _Units, first: int, last: int, part: ProgressiveScan | None
    ) -> None:
        """Reads the blocks of the units between two restarts, as far as there are bits."""
        if part is not None:
            part.restart()
        while first < last and not bits.is_over:
            if part is not None and part.is_within_run:
                first += part.skip(bits, *units.stretch(first, last))
                continue
            for component, row, column in units.at(first):
                block = component.coefficients[row, column]
                if part is None:
                    self._block(bits, component, block)
                    continue
                table = self._huffman.get(component.tables[0 if part.tables[0] else 1], [])
                component.before = part.block(bits, table, block, component.before)
            first += 1

    def _entropy_coded(self, at: int) -> tuple[list[bytes], int]:
        """The scan's bytes between restarts, unstuffed, and where the next segment begins."""
        parts, start = [], at
        while True:
            at = self._data.find(b"\xff", at)
            if at < 0 or at + 1 >= len(self._data):
                raise refuse("file must be complete, but ends within a scan")
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

    def _units(self, chosen: list[Component]) -> _Units:
        assert self.frame is not None
        down, across = self.frame.most
        if len(chosen) == 1:
            only = chosen[0]
            rows = -(-self.frame.height * only.down // (down * SIZE))
            columns = -(-self.frame.width * only.across // (across * SIZE))
            return _Units(rows * columns, columns, [(only, 1, 1, 0, 0)])
        rows = -(-self.frame.height // (SIZE * down))
        columns = -(-self.frame.width // (SIZE * across))
        blocks = [(c, c.down, c.across, i, j) for c in chosen for i in range(c.down) for j in range(c.across)]
        return _Units(rows * columns, columns, blocks)

    def _block(self, bits: Bits, component: Component, block: np.ndarray) -> None:
        first, others = (self._huffman[table] for table in component.tables)
        component.before += bits.signed(bits.symbol(first) & 15)
        block[0] = short(component.before)
        at = 1
        while at < 64:
            symbol = bits.symbol(others)
            run, size = symbol >> 4, symbol & 15
            if size:
                at += run
                block[_PLACES[at]] = bits.signed(size)
                at += 1
            elif run == 15:
                at += 16
            else:
                break

    def quantizer(self, component: Component) -> np.ndarray:
        """The steps [64] of a colour's coefficients, row by row."""
        if component.quantizer not in self._quantizers:
            raise refuse(f"colours must have quantizers of the file, got {component.quantizer}")
        return self._quantizers[component.quantizer]
