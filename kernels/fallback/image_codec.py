"""DecodePng, DecodeJpeg, DecodeBmp, DecodeGif, DecodeImage and their kin, EncodePng and EncodeJpeg."""

from __future__ import annotations

import struct

import numpy as np

from ...lite.errors import UnsupportedError
from ...schema import graph_def
from .attributes import DataType
from .decoded_size import check_decoded
from .dtypes import INDICES, numpy_dtype
from .gif_format import SIGNATURES, read_gif
from .jpeg_pixels import jpeg_shape, read_jpeg
from .jpeg_writer import write_jpeg
from .png_format import SIGNATURE, Png, read_png, write_png
from .registry import kernel
from .status import InvalidArgumentError

_BYTES = frozenset((graph_def.DT_UINT8, graph_def.DT_UINT16))
_IMAGES = _BYTES | {graph_def.DT_FLOAT}
_MOST_PIXELS = 1 << 29
_MOST_METADATA = 65502
_METHODS = ("", "INTEGER_FAST", "INTEGER_ACCURATE")
# JFIF's numbers.
_DENSITY_UNITS = {"in": 1, "cm": 2}
# libpng's weights of red, green and blue in grey; only samples of 16 bits are rounded.
_RED, _GREEN, _BLUE, _PLACES = 9797, 19234, 3737, 15


def _content(op: str, contents: np.ndarray) -> bytes:
    if contents.ndim:
        raise InvalidArgumentError(f"{op}: contents must be a scalar, got {list(contents.shape)}")
    found: bytes = contents.item()
    return found


def _kind(op: str, data: bytes) -> str:
    """png, gif, bmp or jpeg."""
    if data.startswith(SIGNATURE):
        return "png"
    if data[:6] in SIGNATURES:
        return "gif"
    if data.startswith(b"BM"):
        return "bmp"
    if data.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    raise InvalidArgumentError(f"{op}: contents must be PNG, GIF, BMP or JPEG, got {data[:8]!r}")


def _png_image(op: str, data: bytes, channels: int, wide: bool) -> np.ndarray:
    """[height, width, channels], uint16 if wide, else uint8. 0 channels stand for the file's own.

    Source: TensorFlow tensorflow/core/lib/png/png_io.cc.
    """
    if channels not in (0, 1, 3, 4):
        raise InvalidArgumentError(f"{op}: channels must be 0, 1, 3 or 4, got {channels}")
    png = read_png(data)
    own = png.samples.shape[2]
    if channels == 0:
        # A colour made transparent counts only where there is a palette.
        channels = own - png.made_alpha
    found = _with_channels(png, channels)
    if found.dtype == np.uint16:
        return found if wide else (found >> 8).astype(np.uint8)
    return found.astype(np.uint16) * np.uint16(257) if wide else found


def _with_channels(png: Png, channels: int) -> np.ndarray:
    # As TensorFlow has it: of few bits even where these are spread to eight.
    opaque = (1 << png.depth) - 1
    colours = png.samples[:, :, :-1] if png.has_alpha else png.samples
    alpha = png.samples[:, :, -1:] if png.has_alpha else np.full_like(png.samples[:, :, :1], opaque)
    if channels < 3 and colours.shape[2] == 3:
        colours = _grey(colours)
    elif channels >= 3 and colours.shape[2] == 1:
        colours = np.repeat(colours, 3, axis=2)
    return np.concatenate([colours, alpha], axis=2) if channels % 2 == 0 else colours


def _grey(x: np.ndarray) -> np.ndarray:
    wide = x.astype(np.int64)
    total = wide[:, :, 0] * _RED + wide[:, :, 1] * _GREEN + wide[:, :, 2] * _BLUE
    half = 1 << (_PLACES - 1) if x.dtype == np.uint16 else 0
    same = (x[:, :, 0] == x[:, :, 1]) & (x[:, :, 1] == x[:, :, 2])
    grey = np.where(same, wide[:, :, 0], (total + half) >> _PLACES)
    return grey.astype(x.dtype)[:, :, np.newaxis]


def _jpeg_image(
    op: str,
    data: bytes,
    channels: int,
    ratio: int = 1,
    fancy: bool = True,
    columns: tuple[int, int] | None = None,
    method: str = "",
    recover: bool = False,
) -> np.ndarray:
    """[height, width, channels], uint8. 0 channels stand for the file's own."""
    if method not in _METHODS:
        raise InvalidArgumentError(
            f"{op}: dct_method must be one of {', '.join(map(repr, _METHODS))}, got {method!r}"
        )
    if channels not in (0, 1, 3) or ratio not in (1, 2, 4, 8):
        message = "channels must be 0, 1 or 3 and ratio 1, 2, 4 or 8"
        raise InvalidArgumentError(f"{op}: {message}, got {channels} and {ratio}")
    return read_jpeg(data, ratio, fancy, channels, columns, method != _METHODS[2], recover)


def _bmp_image(op: str, data: bytes, channels: int) -> np.ndarray:
    """[height, width, channels], uint8, of a file without compression of 8, 24 or 32 bits a pixel."""
    if len(data) < 32 or not data.startswith(b"BM"):
        raise InvalidArgumentError(f"{op}: contents must be a BMP file, got {len(data)} bytes")
    start, _, width, height, _, bits = struct.unpack_from("<IIiiHH", data, 10)
    own = bits // 8
    if bits not in (8, 24, 32) or channels not in (0, 3, 4):
        message = "channels must be 0, 3 or 4, and the file's bits a pixel 8, 24 or 32"
        raise InvalidArgumentError(f"{op}: {message}, got {channels} and {bits}")
    rows, row_bytes = abs(height), (own * width * 8 + 31) // 32 * 4
    if width <= 0 or not 0 < width * rows < _MOST_PIXELS or start + rows * row_bytes > len(data):
        message = f"{len(data)} bytes must hold the image from {start}"
        raise InvalidArgumentError(f"{op}: {message}, got {rows} x {width} x {own}")
    check_decoded("BMP", rows * width * max(own, channels))
    lines = np.frombuffer(data, np.uint8, rows * row_bytes, start).reshape(rows, row_bytes)
    image = lines[:, : width * own].reshape(rows, width, own)
    if height > 0:
        image = image[::-1]
    if own == 1:
        colours = image if channels == 0 else np.repeat(image, 3, axis=2)
    else:
        colours = image[:, :, [2, 1, 0]]
    if channels == 4 or (channels == 0 and own == 4):
        alpha = image[:, :, 3:] if own == 4 else np.full_like(image[:, :, :1], 255)
        colours = np.concatenate([colours, alpha], axis=2)
    return np.ascontiguousarray(colours)


def decode_png(contents: np.ndarray, *, channels: int, dtype: DataType) -> np.ndarray:
    """The image [height, width, channels], uint8 or uint16, of a PNG; of a JPEG or a GIF of one frame too."""
    op = "DecodePng"
    data = _content(op, contents)
    wide = numpy_dtype(dtype) == np.uint16
    return _still(op, data, channels, wide)


def _still(op: str, data: bytes, channels: int, wide: bool) -> np.ndarray:
    """A PNG, a JPEG, or the only frame of a GIF, uint16 if wide, else uint8."""
    dtype = np.dtype(np.uint16 if wide else np.uint8)
    kind = _kind(op, data)
    if kind == "png":
        return _png_image(op, data, channels, wide)
    if kind == "jpeg":
        return _scaled(_jpeg_image(op, data, channels), dtype)
    if kind == "bmp":
        raise InvalidArgumentError(f"{op}: contents must be PNG, JPEG or GIF, got BMP")
    frames = read_gif(data)
    if len(frames) > 1 or channels not in (0, 3):
        message = "a GIF must have one frame and 3 channels"
        raise InvalidArgumentError(f"{op}: {message}, got {len(frames)} frames and {channels} channels")
    return _scaled(frames[0], dtype)


def decode_bmp(contents: np.ndarray, *, channels: int) -> np.ndarray:
    """The image [height, width, channels], uint8, of a BMP."""
    return _bmp_image("DecodeBmp", _content("DecodeBmp", contents), channels)


def decode_gif(contents: np.ndarray) -> np.ndarray:
    """The frames [frames, height, width, 3], uint8, of a GIF; of a PNG or JPEG, one."""
    op = "DecodeGif"
    data = _content(op, contents)
    if _kind(op, data) == "gif":
        return read_gif(data)
    return _still(op, data, 3, False)[np.newaxis]


def _scaled(image: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Bytes as 16 bits, or as floats from 0 to 1."""
    if dtype == np.uint16:
        return image.astype(np.uint16) * np.uint16(256)
    return image if dtype == np.uint8 else image.astype(np.float32) * np.float32(1 / 255)


def decode_image(
    contents: np.ndarray, *, channels: int, dtype: DataType, expand_animations: bool
) -> np.ndarray:
    """The image of a PNG, JPEG, BMP or GIF as uint8, uint16, or float32 from 0 to 1.

    [height, width, channels]; a GIF's frames [frames, height, width, 3] if expand_animations.
    """
    op = "DecodeImage"
    data, kind = _content(op, contents), numpy_dtype(dtype)
    if channels not in (0, 1, 3, 4):
        raise InvalidArgumentError(f"{op}: channels must be 0, 1, 3 or 4, got {channels}")
    format = _kind(op, data)
    if format == "png":
        image = _png_image(op, data, channels, kind != np.uint8)
        return image.astype(np.float32) * np.float32(1 / 65535) if kind == np.float32 else image
    if format == "jpeg":
        return _scaled(_jpeg_image(op, data, channels), kind)
    if format == "bmp":
        return _scaled(_bmp_image(op, data, channels), kind)
    if channels not in (0, 3):
        raise InvalidArgumentError(f"{op}: channels must be 0 or 3 for GIF, got {channels}")
    frames = read_gif(data)
    return _scaled(frames if expand_animations else frames[0], kind)


def decode_jpeg(
    contents: np.ndarray,
    *,
    channels: int,
    ratio: int,
    fancy_upscaling: bool,
    try_recover_truncated: bool,
    dct_method: str,
) -> np.ndarray:
    """The image [height, width, channels], uint8, of a JPEG, its sides divided by ratio.

    A PNG or a GIF of one frame is decoded too. Of a file that is cut off, try_recover_truncated gives what
    is there, then grey. TensorFlow's bytes, but for the block that is cut (TensorFlow reads the last bytes
    once more), progressive files without their last scans (which it smooths), and coefficients too great
    for 16 bits by the accurate transform.
    """
    op = "DecodeJpeg"
    data = _content(op, contents)
    if _kind(op, data) != "jpeg":
        return _still(op, data, channels, False)
    return _jpeg_image(
        op, data, channels, ratio, fancy_upscaling, method=dct_method, recover=try_recover_truncated
    )


def decode_and_crop_jpeg(
    contents: np.ndarray,
    window: np.ndarray,
    *,
    channels: int,
    ratio: int,
    fancy_upscaling: bool,
    try_recover_truncated: bool,
    dct_method: str,
) -> np.ndarray:
    """The part of a JPEG in a window (y, x, height, width) within it.

    Where one column alone of colours halved both ways is left, TensorFlow interpolates with bytes outside.
    """
    op = "DecodeAndCropJpeg"
    data = _content(op, contents)
    if _kind(op, data) != "jpeg" or window.shape != (4,):
        message = "contents must be JPEG and crop_window 4 numbers"
        raise InvalidArgumentError(f"{op}: {message}, got {data[:4]!r} and {list(window.shape)}")
    top, left, height, width = (int(value) for value in window)
    if ratio not in (1, 2, 4, 8) or min(top, left) < 0 or min(height, width) < 1:
        message = "ratio must be 1, 2, 4 or 8 and crop_window not empty"
        raise InvalidArgumentError(f"{op}: {message}, got {ratio} and {window.tolist()}")
    whole = [-(-size // ratio) for size in jpeg_shape(data)[:2]]
    if top + height > whole[0] or left + width > whole[1]:
        message = f"crop_window must be within {whole}"
        raise InvalidArgumentError(f"{op}: {message}, got {window.tolist()}")
    columns = left, left + width
    recover = try_recover_truncated
    image = _jpeg_image(op, data, channels, ratio, fancy_upscaling, columns, dct_method, recover)
    return image[top : top + height]


def extract_jpeg_shape(contents: np.ndarray, *, output_type: DataType) -> np.ndarray:
    """Height, width and channels of a JPEG."""
    op = "ExtractJpegShape"
    data = _content(op, contents)
    if _kind(op, data) != "jpeg":
        raise InvalidArgumentError(f"{op}: contents must be JPEG, got {data[:4]!r}")
    return np.array(jpeg_shape(data), numpy_dtype(output_type))


def encode_png(image: np.ndarray, *, compression: int) -> np.ndarray:
    """image [..., height, width, 1 to 4], uint8 or uint16, as PNG files [...]."""
    op = "EncodePng"
    if image.ndim < 3 or not 1 <= image.shape[-1] <= 4 or 0 in image.shape[-3:-1]:
        message = "image must be [height, width, 1 to 4], not empty"
        raise InvalidArgumentError(f"{op}: {message}, got {list(image.shape)}")
    if not -1 <= compression <= 9:
        raise InvalidArgumentError(f"{op}: compression must be from -1 to 9, got {compression}")
    files = np.empty(image.shape[:-3], object)
    for place in np.ndindex(files.shape):
        files[place] = write_png(image[place], compression)
    return files


def _encoded_jpeg(
    op: str, image: np.ndarray, quality: int, halve_colours: bool, density: tuple[int, int, int], xmp: bytes
) -> np.ndarray:
    if image.ndim != 3 or image.shape[2] not in (1, 3) or not all(0 < n < 1 << 16 for n in image.shape[:2]):
        message = f"image must be [height, width, 1 or 3], sides below {1 << 16}"
        raise InvalidArgumentError(f"{op}: {message}, got {list(image.shape)}")
    if not 0 <= quality <= 100 or not all(0 <= value < 1 << 16 for value in density):
        message = f"quality must be from 0 to 100 and densities below {1 << 16}"
        raise InvalidArgumentError(f"{op}: {message}, got {quality} and {density[1:]}")
    if len(xmp) > _MOST_METADATA:
        message = f"xmp_metadata must have at most {_MOST_METADATA} bytes"
        raise InvalidArgumentError(f"{op}: {message}, got {len(xmp)}")
    made = np.empty((), object)
    made[()] = write_jpeg(image, max(quality, 1), halve_colours, density, xmp)
    return made


def encode_jpeg(
    image: np.ndarray,
    *,
    format: str,
    quality: int,
    progressive: bool,
    chroma_downsampling: bool,
    density_unit: str,
    x_density: int,
    y_density: int,
    xmp_metadata: bytes,
) -> np.ndarray:
    """image [height, width, 1 or 3], uint8, as a JPEG. Its codes are always made for the image."""
    op = "EncodeJpeg"
    if progressive:
        raise UnsupportedError(f"{op}: only sequential files are built; progressive must be False")
    wanted = {"": None, "grayscale": 1, "rgb": 3}
    if format not in wanted or density_unit not in _DENSITY_UNITS:
        message = "format must be '', 'grayscale' or 'rgb' and density_unit 'in' or 'cm'"
        raise InvalidArgumentError(f"{op}: {message}, got {format!r} and {density_unit!r}")
    if wanted[format] not in (None, *image.shape[2:]):
        message = f"format {format!r} must have {wanted[format]} channels"
        raise InvalidArgumentError(f"{op}: {message}, got {list(image.shape)}")
    density = _DENSITY_UNITS[density_unit], x_density, y_density
    return _encoded_jpeg(op, image, quality, chroma_downsampling, density, xmp_metadata)


def encode_jpeg_variable_quality(image: np.ndarray, quality: np.ndarray) -> np.ndarray:
    """EncodeJpeg, quality being a tensor."""
    op = "EncodeJpegVariableQuality"
    if quality.ndim:
        raise InvalidArgumentError(f"{op}: quality must be a scalar, got {list(quality.shape)}")
    return _encoded_jpeg(op, image, int(quality), True, (_DENSITY_UNITS["in"], 300, 300), b"")


REGISTRATIONS = (
    kernel("DecodePng", decode_png, dtype=_BYTES),
    kernel("DecodeJpeg", decode_jpeg),
    kernel("DecodeAndCropJpeg", decode_and_crop_jpeg),
    kernel("ExtractJpegShape", extract_jpeg_shape, output_type=INDICES),
    kernel("DecodeBmp", decode_bmp),
    kernel("DecodeGif", decode_gif),
    kernel("DecodeImage", decode_image, dtype=_IMAGES),
    kernel("EncodePng", encode_png, T=_BYTES),
    kernel("EncodeJpeg", encode_jpeg),
    kernel("EncodeJpegVariableQuality", encode_jpeg_variable_quality),
)
