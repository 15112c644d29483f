"""Image files written by hand, and read."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

RANDOM = np.random.default_rng(20)


def contents(data: bytes) -> np.ndarray:
    made = np.empty((), object)
    made[()] = data
    return made


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(
    width: int, height: int, depth: int, kind: int, rows: bytes, *more: bytes, interlace: int = 0
) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlace)
    data = chunk(b"IHDR", header) + b"".join(more) + chunk(b"IDAT", zlib.compress(rows))
    return b"\x89PNG\r\n\x1a\n" + data + chunk(b"IEND", b"")


def decode(data: bytes, channels: int = 0, dtype: str = "u8") -> np.ndarray:
    return run("DecodePng", [contents(data)], channels=f"i64${channels}", dtype=dtype)[0]


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["u8", "u16"])
def test_what_is_encoded_is_decoded(channels: int, dtype: str) -> None:
    image = RANDOM.integers(0, 1 << (8 if dtype == "u8" else 16), (5, 7, channels)).astype(f"uint{dtype[1:]}")
    (data,) = run("EncodePng", [image], T=dtype)
    np.testing.assert_array_equal(decode(data.item(), 0, dtype), image)


def test_filters_are_undone() -> None:
    """Rows of one sample a pixel by each filter; what they mean is written beside them."""
    rows = bytes([0, 10, 20, 30, 1, 5, 5, 5, 2, 1, 1, 1, 3, 2, 2, 2, 4, 1, 1, 255])
    wanted = [[10, 20, 30], [5, 10, 15], [6, 11, 16], [5, 10, 15], [6, 11, 14]]
    assert decode(png(3, 5, 8, 0, rows))[:, :, 0].tolist() == wanted


def test_interlaced_and_packed() -> None:
    """A 2 x 2 image of single bits comes in passes 1, 6 and 7."""
    rows = bytes([0, 0x80, 0, 0x00, 0, 0x40])
    assert decode(png(2, 2, 1, 0, rows, interlace=1))[:, :, 0].tolist() == [[255, 0], [0, 255]]


def test_palette_with_opacity() -> None:
    colours, opacity = chunk(b"PLTE", bytes(range(6))), chunk(b"tRNS", b"\x07")
    data = png(2, 1, 8, 3, bytes([0, 1, 0]), colours, opacity)
    assert decode(data).tolist() == [[[3, 4, 5, 255], [0, 1, 2, 7]]]
    assert decode(data, 3).tolist() == [[[3, 4, 5], [0, 1, 2]]]


def test_gif_frames_lie_upon_each_other() -> None:
    """Codes of three bits: clear, the pixels, end. The second frame has one pixel that shows."""
    head = b"GIF89a" + struct.pack("<HHBBB", 2, 1, 0x80, 0, 0) + bytes([1, 2, 3, 9, 9, 9])
    image = b"\x2c" + struct.pack("<HHHHB", 0, 0, 2, 1, 0) + b"\x02"
    control = b"\x21\xf9\x04\x01\x00\x00\x00\x00"

    def codes(*values: int) -> bytes:
        packed = sum(value << 3 * place for place, value in enumerate(values))
        return b"\x02" + packed.to_bytes(2, "little") + b"\x00"

    data = head + image + codes(4, 0, 0, 5) + control + image + codes(4, 1, 0, 5) + b"\x3b"
    (frames,) = run("DecodeGif", [contents(data)])
    assert frames.tolist() == [[[[1, 2, 3], [1, 2, 3]]], [[[9, 9, 9], [1, 2, 3]]]]


def test_bmp_is_upside_down() -> None:
    rows = bytes([1, 2, 3, 0, 4, 5, 6, 0])
    data = b"BM" + struct.pack("<IIIIiiHH", 62, 0, 54, 40, 1, 2, 1, 24) + bytes(24) + rows
    assert run("DecodeBmp", [contents(data)])[0].tolist() == [[[6, 5, 4]], [[3, 2, 1]]]
    (image,) = run("DecodeImage", [contents(data)], dtype="f32")
    np.testing.assert_allclose(image[0, 0], np.array([6, 5, 4]) / 255, rtol=1e-6)


def test_damaged_files_are_refused() -> None:
    whole = png(3, 2, 8, 2, bytes(20))
    for cut in range(len(whole)):
        with pytest.raises(InvalidArgumentError):
            decode(whole[:cut])
    with pytest.raises(InvalidArgumentError, match="checksum"):
        decode(whole[:20] + b"\xff" + whole[21:])
    with pytest.raises(InvalidArgumentError, match="missing"):
        decode(png(1000, 1000, 8, 2, bytes(20)))
