"""Arrays as JPEG files: sequential, with Huffman codes made for each image.

Source: ITU-T T.81, its Annex K for the quantizers and for codes of at most 16 bits.
"""

from __future__ import annotations

import heapq
import struct
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from .jpeg_format import ZIGZAG
from .jpeg_transform import cosine_transform

_SIZE = 8
_LUMINANCE = np.array(
    [
        *(16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55),
        *(14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62),
        *(18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92),
        *(49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99),
    ]
)
_COLOUR = np.full((8, 8), 99)
_COLOUR[:4, :4] = [[17, 18, 24, 47], [18, 21, 26, 66], [24, 26, 56, 99], [47, 66, 99, 99]]
# Rows: luminance, and the differences of blue and red, of red, green and blue; in parts of 65 536.
_TO_YCC = np.array([[19595, 38470, 7471], [-11059, -21709, 32768], [32768, -27439, -5329]])
_YCC_OFFSETS = np.array([1 << 15, (128 << 16) + (1 << 15) - 1, (128 << 16) + (1 << 15) - 1])
_LONGEST = 16
# One block's symbols: (symbol, bits that follow, how many).
Symbols = list[tuple[int, int, int]]


def _quantizer(base: np.ndarray, quality: int) -> np.ndarray:
    """Steps of the 64 coefficients, finer for better quality, from 1 to 100."""
    scale = 5000 // quality if quality < 50 else 200 - 2 * quality
    return np.clip((base.reshape(-1) * scale + 50) // 100, 1, 255)


def _planes(image: np.ndarray) -> list[np.ndarray]:
    """Luminance, and the differences of colour if there are colours, from 0 to 255."""
    if image.shape[2] == 1:
        return [image[:, :, 0].astype(np.int64)]
    return list(np.moveaxis(image.astype(np.int64) @ _TO_YCC.T + _YCC_OFFSETS >> 16, -1, 0))


def _extended(plane: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The plane with its last row and column repeated up to multiples of as many."""
    pads = [(0, -size % multiple) for size, multiple in zip(plane.shape, (rows, columns), strict=True)]
    return np.pad(plane, pads, mode="edge")


def _halved(plane: np.ndarray) -> np.ndarray:
    """Means of four, rounded down and up in turn along a row.

    Columns are repeated before, rows behind: what is below the image are its last means.
    """
    plane = _extended(plane, 2, 2 * _SIZE)
    sums = plane.reshape(plane.shape[0] // 2, 2, -1, 2).sum(axis=(1, 3))
    return _extended((sums + 1 + np.arange(sums.shape[1]) % 2) >> 2, _SIZE, _SIZE)


def _coefficients(plane: np.ndarray, quantizer: np.ndarray) -> np.ndarray:
    """Quantized coefficients [rows, columns, 64] in the order of the file; halves go away from zero."""
    blocks = plane.reshape(plane.shape[0] // _SIZE, _SIZE, -1, _SIZE).swapaxes(1, 2) - 128
    found = cosine_transform(blocks)
    steps = 8 * quantizer
    whole = (np.abs(found.reshape(*found.shape[:2], 64)) + steps // 2) // steps
    return (np.sign(found.reshape(whole.shape)) * whole)[:, :, ZIGZAG]


def _number(value: int) -> tuple[int, int]:
    """A number's bits, and how many they are."""
    size = abs(value).bit_length()
    return (value if value >= 0 else value + (1 << size) - 1), size


def _symbols(block: Sequence[int], before: int) -> tuple[tuple[int, int, int], Symbols]:
    """What a block says: its first coefficient by the change, the others by runs of zeros."""
    bits, size = _number(block[0] - before)
    others: Symbols = []
    zeros = 0
    for value in block[1:]:
        if not value:
            zeros += 1
            continue
        others += [(0xF0, 0, 0)] * (zeros // 16)
        number, length = _number(value)
        others.append((zeros % 16 << 4 | length, number, length))
        zeros = 0
    if zeros:
        others.append((0, 0, 0))
    return (size, bits, size), others


def _lengths(counts: Counter[int]) -> list[int]:
    """How many codes there are of each length, 1 to 16, so that frequent symbols have short ones."""
    # One more symbol takes the code of ones alone, which must not be used.
    heap: list[tuple[int, int, tuple[int, ...]]] = [(0, 256, (256,))]
    heap += [(count, symbol, (symbol,)) for symbol, count in counts.items()]
    depth: Counter[int] = Counter()
    heapq.heapify(heap)
    while len(heap) > 1:
        first, second = heapq.heappop(heap), heapq.heappop(heap)
        depth.update(first[2] + second[2])
        heapq.heappush(heap, (first[0] + second[0], min(first[1], second[1]), first[2] + second[2]))
    sizes = [0] * (max(depth.values(), default=1) + _LONGEST + 1)
    for length in depth.values():
        sizes[length] += 1
    for length in range(len(sizes) - 1, _LONGEST, -1):
        while sizes[length]:
            shorter = max(at for at in range(1, length - 1) if sizes[at])
            sizes[length] -= 2
            sizes[length - 1] += 1
            sizes[shorter + 1] += 2
            sizes[shorter] -= 1
    sizes[max(at for at in range(len(sizes)) if sizes[at])] -= 1
    return sizes[1 : _LONGEST + 1]


def _codes(counts: Counter[int]) -> tuple[bytes, dict[int, str]]:
    """A table as the file has it, and the code of each symbol."""
    sizes = _lengths(counts)
    order = [symbol for symbol, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    codes: dict[int, str] = {}
    code = at = 0
    for length, count in enumerate(sizes, 1):
        for symbol in order[at : at + count]:
            codes[symbol] = f"{code:0{length}b}"
            code += 1
        at += count
        code <<= 1
    return bytes(sizes) + bytes(order), codes


def _packed(pieces: Iterable[str]) -> bytes:
    """Bits as bytes, ones at the end, and a zero after each byte of ones."""
    bits = "".join(pieces)
    bits += "1" * (-len(bits) % 8)
    return int(bits or "0", 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\x00")


def _segment(marker: int, content: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content


def write_jpeg(
    image: np.ndarray, quality: int, halve_colours: bool, density: tuple[int, int, int], metadata: bytes
) -> bytes:
    """image [height, width, 1 or 3], uint8, as a file of a quality from 1 to 100.

    halve_colours: colours are kept at half of the height and width. density is JFIF's: unit, across
    and down. metadata is XMP's, at most 65 502 bytes.
    """
    planes = _planes(image)
    half = halve_colours and len(planes) == 3
    tables = [_quantizer(_LUMINANCE, quality), _quantizer(_COLOUR, quality)][: len(planes)]
    grids = []
    for number, plane in enumerate(planes):
        size = 2 * _SIZE if half else _SIZE
        whole = _halved(plane) if half and number else _extended(plane, size, size)
        grids.append(_coefficients(whole, tables[min(number, 1)]))
    coded = _in_order(grids, 2 if half else 1)
    counts: list[Counter[int]] = [Counter() for _ in range(2 * len(tables))]
    for number, first, others in coded:
        counts[2 * min(number, 1)][first[0]] += 1
        counts[2 * min(number, 1) + 1].update(symbol for symbol, _, _ in others)
    huffman = [_codes(count) for count in counts]
    pieces = []
    for number, first, others in coded:
        of_first, of_others = (huffman[2 * min(number, 1) + kind][1] for kind in range(2))
        for codes, (symbol, bits, size) in ((of_first, first), *((of_others, other) for other in others)):
            pieces.append(codes[symbol] + (f"{bits:0{size}b}" if size else ""))
    parts = [b"\xff\xd8", _segment(0xE0, b"JFIF\0\1\1" + struct.pack(">BHHBB", *density, 0, 0))]
    if metadata:
        parts.append(_segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + metadata))
    parts += [_segment(0xDB, bytes([i]) + bytes(table[ZIGZAG].tolist())) for i, table in enumerate(tables)]
    parts.append(_segment(0xC0, _frame(image, len(planes), half)))
    parts += [_segment(0xC4, bytes([i % 2 << 4 | i // 2]) + table) for i, (table, _) in enumerate(huffman)]
    scan = b"".join(bytes([i + 1, 0x11 if i else 0]) for i in range(len(planes)))
    parts.append(_segment(0xDA, bytes([len(planes)]) + scan + bytes([0, 63, 0])))
    return b"".join([*parts, _packed(pieces), b"\xff\xd9"])


def _frame(image: np.ndarray, planes: int, half: bool) -> bytes:
    header = struct.pack(">BHHB", 8, image.shape[0], image.shape[1], planes)
    kinds = (bytes([i + 1, 0x22 if half and not i else 0x11, min(i, 1)]) for i in range(planes))
    return header + b"".join(kinds)


def _in_order(grids: list[np.ndarray], times: int) -> list[tuple[int, tuple[int, int, int], Symbols]]:
    """What each block says, in the order of the file, with the number of its plane.

    The first plane has times as many blocks each way as the others.
    """
    before = [0] * len(grids)
    coded = []
    rows, columns = (size // times for size in grids[0].shape[:2])
    lists = [grid.tolist() for grid in grids]
    for row in range(rows):
        for column in range(columns):
            for number, blocks in enumerate(lists):
                each = times if number == 0 else 1
                for i in range(each):
                    for j in range(each):
                        block = blocks[row * each + i][column * each + j]
                        coded.append((number, *_symbols(block, before[number])))
                        before[number] = block[0]
    return coded
