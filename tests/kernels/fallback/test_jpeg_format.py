"""JPEG files of flat blocks, written by hand, and read."""

from __future__ import annotations

import base64
import struct

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError
from numlite.lite.errors import UnsupportedError

from .nodes import run


def segment(marker: int, content: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(content) + 2) + content


def jpeg(
    height: int, width: int, sampling: list[int], levels: list[tuple[int, int]], frame: int = 0xC0
) -> bytes:
    """Blocks of one level each, (colour, level) in the order of the file.

    Quantizers are 8, so that a first coefficient is the level less 128. Sizes of those are coded in
    four bits; a single 0 ends every block.
    """
    bits, before = "", [128] * len(sampling)
    for colour, level in levels:
        change = level - before[colour]
        before[colour] = level
        size = abs(change).bit_length()
        bits += f"{size:04b}"
        bits += f"{change if change > 0 else change + (1 << size) - 1:0{size}b}" if size else ""
        bits += "0"
    bits += "1" * (-len(bits) % 8)
    coded = int(bits or "0", 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\x00")
    colours = range(len(sampling))
    header = struct.pack(">BHHB", 8, height, width, len(sampling))
    header += b"".join(bytes([i, sampling[i], 0]) for i in colours)
    firsts = bytes([0, 0, 0, 0, 12, *[0] * 12, *range(12)])
    others = bytes([0x10, 1, *[0] * 15, 0])
    scan = bytes([len(sampling), *(value for i in colours for value in (i, 0)), 0, 63, 0])
    tables = segment(0xDB, bytes([0] + [8] * 64)) + segment(0xC4, firsts) + segment(0xC4, others)
    return b"\xff\xd8" + tables + segment(frame, header) + segment(0xDA, scan) + coded + b"\xff\xd9"


def decode(data: bytes, channels: int = 0, ratio: int = 1) -> np.ndarray:
    return run("DecodeJpeg", [contents(data)], channels=f"i64${channels}", ratio=f"i64${ratio}")[0]


def contents(data: bytes) -> np.ndarray:
    made = np.empty((), object)
    made[()] = data
    return made


GREY = jpeg(10, 12, [0x11], [(0, 10), (0, 200), (0, 90), (0, 255)])
# Twice as many samples of luminance each way; blue and red differences flat.
COLOUR = jpeg(16, 16, [0x22, 0x11, 0x11], [(0, 50), (0, 100), (0, 150), (0, 200), (1, 118), (2, 148)])
# An image that grows redder down, greener across and bluer both ways, by TensorFlow 2.21:
# EncodeJpeg(image, quality=95, progressive=True, chroma_downsampling=False).
PROGRESSIVE = base64.b64decode(
    "/9j/4AAQSkZJRgABAQEBLAEsAAD/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYFBgYGBwkIBgcJBwYGCAsI"
    "CQoKCgoKBggLDAsKDAkKCgr/2wBDAQICAgICAgUDAwUKBwYHCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoK"
    "CgoKCgoKCgoKCgoKCgr/wgARCAAMAAoDAREAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAABwj/xAAYAQACAwAAAAAAAAAA"
    "AAAAAAAFBwIGCP/aAAwDAQACEAMQAAABIpDqtDoQ2vm9asDIP//EABoQAAEFAQAAAAAAAAAAAAAAAAQAAwYHEyP/2gAIAQEA"
    "AQUCraPJqPcq2CHTQQ+X/8QAHhEAAQMEAwAAAAAAAAAAAAAAAAEGIQMEBRMiIzL/2gAIAQMBAT8BejW9QVGt2LA9Mfa8oKmP"
    "tdiwf//EABkRAAIDAQAAAAAAAAAAAAAAAAAEAQIDEf/aAAgBAgEBPwFpMlMayoTnTp//xAAXEAADAQAAAAAAAAAAAAAAAAAA"
    "AiJC/9oACAEBAAY/AkgWMiQLGT//xAAbEAACAQUAAAAAAAAAAAAAAAAAQWFxgZGhsf/aAAgBAQABPyHTotkoMKKQOH//2gAM"
    "AwEAAgADAAAAEMAf/8QAHBEAAQMFAAAAAAAAAAAAAAAAAAFBYXGBkaGx/9oACAEDAQE/ENyxcatJlJVNen//xAAYEQEBAAMA"
    "AAAAAAAAAAAAAAAhAAERMf/aAAgBAgEBPxDsSZJhbQv/xAAZEAEAAgMAAAAAAAAAAAAAAAAAIVHB0fD/2gAIAQEAAT8QU8Zw"
    "bMYeaP/Z"
)


def test_blocks_lie_in_rows() -> None:
    image = decode(GREY)
    assert image.shape == (10, 12, 1)
    corners = [image[0, 0, 0], image[7, 8, 0], image[8, 7, 0], image[9, 11, 0]]
    assert corners == [10, 200, 90, 255]
    (exact,) = run("DecodeJpeg", [contents(GREY)], dct_method="string$INTEGER_ACCURATE")
    np.testing.assert_array_equal(exact, image)
    np.testing.assert_array_equal(decode(GREY, 3), np.repeat(image, 3, axis=2))
    assert decode(GREY, ratio=8)[:, :, 0].tolist() == [[10, 200], [90, 255]]


def test_colours_come_of_luminance_and_differences() -> None:
    image = decode(COLOUR)
    wanted = np.array([50 + 1.402 * 20, 50 + 0.344136 * 10 - 0.714136 * 20, 50 - 1.772 * 10])
    np.testing.assert_allclose(image[0, 0], wanted, atol=0.51)
    assert decode(COLOUR, 1)[[0, 0, 8, 8], [0, 8, 0, 8], 0].tolist() == [50, 100, 150, 200]
    inputs = [contents(COLOUR), np.array([7, 6, 3, 4], np.int32)]
    np.testing.assert_array_equal(run("DecodeAndCropJpeg", inputs)[0], image[7:10, 6:10])
    assert run("ExtractJpegShape", [contents(COLOUR)])[0].tolist() == [16, 16, 3]
    np.testing.assert_array_equal(run("DecodeImage", [contents(COLOUR)])[0], image)


def test_progressive_files_come_in_parts() -> None:
    rows, columns = np.mgrid[:12, :10]
    wanted = np.stack([rows * 20, columns * 25, (rows + columns) * 12], axis=2)
    (image,) = run("DecodeJpeg", [contents(PROGRESSIVE)], dct_method="string$INTEGER_ACCURATE")
    np.testing.assert_allclose(image.astype(int), wanted, atol=8)
    for cut in range(20, len(PROGRESSIVE) - 2, 7):
        with pytest.raises(InvalidArgumentError):
            decode(PROGRESSIVE[:cut])


def test_coefficients_are_kept_to_16_bits() -> None:
    """A first coefficient grows by 2047 from block to block, and 13 bits of it are still to come."""
    empty = jpeg(8, 8 * 160, [0x11], [], frame=0xC2)[:-2]
    scan = empty.replace(bytes([1, 0, 0, 0, 63, 0]), bytes([1, 0, 0, 0, 0, 13]))
    bits = ("1011" + "1" * 11) * 160
    coded = int(bits + "1" * (-len(bits) % 8), 2).to_bytes(-(-len(bits) // 8), "big")
    image = decode(scan + coded.replace(b"\xff", b"\xff\x00") + b"\xff\xd9")
    assert image.shape == (8, 1280, 1)


def test_what_is_there_of_files_that_are_cut_is_given_where_that_is_asked_for() -> None:
    cut = GREY[:-5]
    with pytest.raises(InvalidArgumentError, match="complete"):
        decode(cut)
    (image,) = run("DecodeJpeg", [contents(cut)], try_recover_truncated="bool$true")
    assert [image[0, 0, 0], image[7, 8, 0], image[9, 11, 0]] == [10, 200, 128]
    np.testing.assert_array_equal(image, decode(cut + b"\xff\xd9"))


def test_damaged_files_are_refused() -> None:
    for cut in range(4, len(COLOUR) - 2):
        with pytest.raises(InvalidArgumentError):
            decode(COLOUR[:cut])
    with pytest.raises(InvalidArgumentError, match="enough"):
        decode(jpeg(60000, 4000, [0x11], [(0, 10)]))
    with pytest.raises(UnsupportedError, match="baseline"):
        decode(jpeg(8, 8, [0x11], [(0, 10)], frame=0xC3))


@pytest.mark.parametrize("window", [[0, 0, 0, 4], [10, 0, 7, 4], [0, -1, 4, 4], [0, 0, 4]])
def test_windows_outside_are_refused(window: list[int]) -> None:
    with pytest.raises(InvalidArgumentError, match="crop_window"):
        run("DecodeAndCropJpeg", [contents(COLOUR), np.array(window, np.int32)])
