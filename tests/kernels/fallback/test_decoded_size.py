"""Files that decode to far more than they are: bounded by what is allowed, in time linear in both."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from numlite.kernels.fallback import decoded_size
from numlite.kernels.fallback.decoded_size import LIMIT
from numlite.kernels.fallback.jpeg_pixels import read_jpeg
from numlite.kernels.fallback.png_format import read_png, write_png
from numlite.kernels.fallback.status import InvalidArgumentError, ResourceExhaustedError

from ...hostile_files import hostile_file
from .nodes import run


def text(content: bytes) -> np.ndarray:
    made = np.empty((), object)
    made[()] = content
    return made


def segment(marker: int, content: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(content) + 2) + content


def progressive_jpeg(side: int, scans: int) -> bytes:
    """A grey square, whose scans beyond the first say of all blocks at once that there is nothing more."""
    blocks = (side // 8) ** 2
    one_code = bytes([1] + [0] * 15)
    parts = [b"\xff\xd8", segment(0xDB, bytes([0] + [8] * 64))]
    parts.append(segment(0xC2, struct.pack(">BHHB", 8, side, side, 1) + bytes([1, 0x11, 0])))
    parts += [segment(0xC4, b"\x00" + one_code + b"\x00"), segment(0xC4, b"\x10" + one_code + b"\xe0")]
    parts += [segment(0xDA, bytes([1, 1, 0, 0, 0, 0])), bytes(blocks // 8 + 1)]
    assert blocks % (1 << 14) == 0
    runs = "0".ljust(15, "0") * (blocks >> 14)  # each the code of a run, and the 14 bits of its length
    runs += "1" * (-len(runs) % 8)
    run_bytes = int(runs, 2).to_bytes(len(runs) // 8, "big").replace(b"\xff", b"\xff\x00")
    parts += [segment(0xDA, bytes([1, 1, 0, 1, 63, 0])) + run_bytes] * scans
    return b"".join([*parts, b"\xff\xd9"])


def gif(side: int, frames: int) -> bytes:
    """Frames of one pixel, and a large one that is all of one colour."""
    head = b"GIF89a" + struct.pack("<HHBBB", side, side, 0x80, 0, 0) + bytes(6)
    small = b"," + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00"
    return head + small * frames + b"," + struct.pack("<HHHHB", 0, 0, side, side, 0) + b"\x02\x01\x04\x00;"


def wav() -> bytes:
    head = struct.pack("<4sI8sI", b"RIFF", 136, b"WAVEfmt ", 16) + struct.pack(
        "<HHIIHH", 1, 1, 8000, 16000, 2, 16
    )
    return head + b"data" + struct.pack("<I", 100) + bytes(100)


def bmp(side: int) -> bytes:
    return b"BM" + struct.pack("<IIIIiiHH", 0, 0, 32, 40, side, side, 1, 24)[:28] + bytes(2 + 4 * side * side)


DECODED: dict[str, Callable[[], object]] = {
    "png": lambda: run("DecodePng", [text(write_png(np.zeros((20, 20, 3), np.uint8), 9))]),
    "jpeg": lambda: run("DecodeJpeg", [text(progressive_jpeg(1024, 1))]),
    "gif": lambda: run("DecodeGif", [text(gif(20, 3))]),
    "bmp": lambda: run("DecodeBmp", [text(bmp(20))]),
    "wav": lambda: run("DecodeWav", [text(wav())]),
    "wav of more samples": lambda: run("DecodeWav", [text(wav())], desired_samples="i64$1000"),
    "zlib": lambda: run(
        "DecodeCompressed", [text(zlib.compress(bytes(1000)))], compression_type="string$ZLIB"
    ),
}


@pytest.mark.parametrize("kind", DECODED)
def test_files_decode_to_what_is_allowed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind != "gif":
        assert DECODED[kind]()
    monkeypatch.setenv(LIMIT, "100")
    with pytest.raises((ResourceExhaustedError, InvalidArgumentError), match=rf"{LIMIT}|within 100 bytes"):
        DECODED[kind]()
    monkeypatch.setenv(LIMIT, "many")
    with pytest.raises(InvalidArgumentError, match="must be a number of bytes, got 'many'"):
        DECODED[kind]()


def test_memory_that_is_not_there_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoded_size, "available_bytes", lambda: 1 << 20)
    with pytest.raises(
        ResourceExhaustedError, match=r"JPEG: decoding takes .* bytes, 1,048,576 are available"
    ):
        read_jpeg(progressive_jpeg(2048, 1), 1, True)


def test_scans_of_runs_are_read_at_once_and_not_again_and_again() -> None:
    image = read_jpeg(progressive_jpeg(1024, 8), 1, True)
    assert image.shape == (1024, 1024, 1) and (image == 128).all()
    with pytest.raises(ResourceExhaustedError, match=r"must have \d+ blocks or fewer"):
        read_jpeg(progressive_jpeg(1024, 200), 1, True)


def test_the_hostile_file_is_decoded_where_the_limit_lets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """64 KB of runs that are 4000 by 4000."""
    file = text(hostile_file("other/progressive.jpg").read_bytes())
    [image] = run("DecodeJpeg", [file])
    assert image.shape == (4000, 4000, 1)
    monkeypatch.setenv(LIMIT, str(15 << 20))
    with pytest.raises(ResourceExhaustedError, match=LIMIT):
        run("DecodeJpeg", [file])


def test_a_tall_png_takes_memory_by_its_size() -> None:
    content = write_png(np.zeros((4000, 1, 1), np.uint8), 9)
    tracemalloc.start()
    try:
        assert read_png(content).samples.shape == (4000, 1, 1)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("shape", [(200, 3), (130, 70), (64, 5), (65, 5), (1, 9), (9, 1)])
def test_filters_over_many_rows(shape: tuple[int, int]) -> None:
    random = np.random.default_rng(0)
    height, width = shape
    image = random.integers(0, 256, (height, width, 3), np.uint8)
    filters = random.integers(0, 5, height)
    padded = np.zeros((height + 1, width + 1, 3), np.int64)
    padded[1:, 1:] = image
    left, above, corner = padded[1:, :-1], padded[:-1, 1:], padded[:-1, :-1]
    far = [np.abs(left + above - corner - near) for near in (left, above, corner)]
    paeth = np.where((far[0] <= far[1]) & (far[0] <= far[2]), left, np.where(far[1] <= far[2], above, corner))
    guesses = np.stack([np.zeros_like(left), left, above, (left + above) // 2, paeth])
    coded = (image - guesses[filters, np.arange(height)]).astype(np.uint8).reshape(height, -1)
    rows = np.concatenate([filters[:, np.newaxis].astype(np.uint8), coded], axis=1).tobytes()
    content = write_png(image, 1)
    start, end = content.index(b"IDAT") - 4, content.index(b"IEND") - 4
    packed = zlib.compress(rows)
    chunk = (
        struct.pack(">I", len(packed)) + b"IDAT" + packed + struct.pack(">I", zlib.crc32(b"IDAT" + packed))
    )
    np.testing.assert_array_equal(read_png(content[:start] + chunk + content[end:]).samples, image)
