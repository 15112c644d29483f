"""JPEG files as arrays, byte for byte libjpeg's.

Source: ITU-T T.81 and T.871; libjpeg: jdmaster.c, jdsample.c and jdcolor.c for sizes, upsampling and colours.
"""

from __future__ import annotations

import numpy as np

from .jpeg_bits import refuse
from .jpeg_format import SIZE, Component, Decoder, Frame
from .jpeg_transform import pixels

# Colours are weighed by numbers of sixteen places.
_PLACES = 16
_HALF = 1 << (_PLACES - 1)
_RED, _GREEN, _BLUE = 19595, 38470, 7471
_RED_BY_CR, _GREEN_BY_CR, _GREEN_BY_CB, _BLUE_BY_CB = 91881, -46802, -22554, 116130


def jpeg_shape(data: bytes) -> tuple[int, int, int]:
    """Height, width and colours of a file."""
    decoder = Decoder(data)
    decoder.read(header_only=True)
    if decoder.frame is None:
        raise refuse("file must have a frame")
    return decoder.frame.height, decoder.frame.width, len(decoder.frame.components)


def read_jpeg(
    data: bytes,
    ratio: int,
    fancy: bool,
    channels: int = 0,
    columns: tuple[int, int] | None = None,
    fast: bool = False,
    recover: bool = False,
) -> np.ndarray:
    """The image [height, width, 1 or 3], uint8, its sides divided by ratio (1, 2, 4 or 8), rounded up.

    channels may be 1, luminance alone, or 3; 0 stands for the file's own, 3 for inks.
    columns are those that are wanted, from and to: what is beyond them does not count then.
    fancy: colours that are sampled more rarely are interpolated, not repeated. fast: by the faster and
    less exact transform. recover: of a file that is cut off what is there, and grey.
    InvalidArgumentError for what is no whole file, UnsupportedError for other kinds than this module's.
    """
    decoder = Decoder(data, recover)
    decoder.read(header_only=False)
    frame = decoder.frame
    if frame is None:
        raise refuse("file must have a frame")
    space = decoder.colour_space
    if channels == 1 and len(frame.components) == 4:
        raise refuse("images of inks must have 3 channels, got 1")
    colours = frame.components[:1] if channels == 1 and space == "YCC" else frame.components
    start, end = (0, -(-frame.width // ratio)) if columns is None else columns
    # Libjpeg cuts at whole units of all colours.
    aligned = start - start % (SIZE * frame.most[1] // ratio)
    ways, span = (fancy, fast), (aligned, end)
    planes = [_plane(decoder, frame, component, ratio, ways, span) for component in colours]
    image = np.stack(planes, axis=-1)[:, start - aligned :]
    if len(planes) == 4:
        image = _of_inks(image, space == "YCCK", decoder.is_inverted)
    elif len(planes) == 3 and space == "YCC":
        image = _rgb(image)
    elif len(planes) == 3 and channels == 1:
        image = ((image @ [_RED, _GREEN, _BLUE] + _HALF) >> _PLACES)[:, :, np.newaxis]
    elif len(planes) == 1 and channels == 3:
        image = np.repeat(image, 3, axis=-1)
    return image.astype(np.uint8)


def _plane(
    decoder: Decoder,
    frame: Frame,
    component: Component,
    ratio: int,
    ways: tuple[bool, bool],
    span: tuple[int, int],
) -> np.ndarray:
    """A colour as large as the image that is wanted, int32, in the span of columns."""
    (fancy, fast), (down, across) = ways, frame.most
    least = size = SIZE // ratio
    # A colour that is sampled more rarely keeps more of its own pixels.
    while size < SIZE and not (across * least) % (component.across * size * 2):
        if (down * least) % (component.down * size * 2):
            break
        size *= 2
    whole = pixels(component.coefficients, decoder.quantizer(component), size, fast)
    rows = -(-frame.height * component.down * size // (down * SIZE))
    first = span[0] * ratio * component.across * size // (across * SIZE)
    count = -(-(span[1] - span[0]) * ratio * component.across * size // (across * SIZE))
    times = (down * least // (component.down * size), across * least // (component.across * size))
    is_narrow = frame.width * component.across * size <= 2 * across * SIZE
    smooth = fancy and least > 1 and not (is_narrow and times[1] == 2)
    full = _enlarged(whole[:rows, first : first + count], times, smooth)
    return full[: -(-frame.height // ratio), : span[1] - span[0]]


def _enlarged(x: np.ndarray, times: tuple[int, int], smooth: bool) -> np.ndarray:
    """x made larger by times, down and across; if smooth, twice as many are interpolated.

    The nearest counts three quarters, the next nearest a quarter. What is in the middle of two integers
    goes down and up in turns.
    """
    if smooth and times == (2, 1):
        return _between(x, 0, 2, (1, 2))
    if smooth and times == (1, 2):
        return _between(x, 1, 2, (1, 2))
    if smooth and times == (2, 2):
        return _between(_between(x, 0, 0, (0, 0)), 1, 4, (8, 7))
    return np.repeat(np.repeat(x, times[0], axis=0), times[1], axis=1)


def _between(x: np.ndarray, axis: int, bits: int, added: tuple[int, int]) -> np.ndarray:
    """Twice as many, each three times the nearest and the next nearest, without so many bits."""
    moved = np.moveaxis(x, axis, 0)
    padded = np.concatenate([moved[:1], moved, moved[-1:]])
    made = np.empty((2 * len(moved), *moved.shape[1:]), x.dtype)
    made[::2] = (3 * moved + padded[:-2] + added[0]) >> bits
    made[1::2] = (3 * moved + padded[2:] + added[1]) >> bits
    return np.moveaxis(made, 0, axis)


def _rgb(image: np.ndarray) -> np.ndarray:
    """Red, green and blue of luminance and two differences of colour."""
    luminance, cb, cr = np.moveaxis(image - [0, 128, 128], -1, 0)
    red = luminance + ((_RED_BY_CR * cr + _HALF) >> _PLACES)
    green = luminance + ((_GREEN_BY_CB * cb + _GREEN_BY_CR * cr + _HALF) >> _PLACES)
    blue = luminance + ((_BLUE_BY_CB * cb + _HALF) >> _PLACES)
    return np.clip(np.stack([red, green, blue], axis=-1), 0, 255)


def _of_inks(image: np.ndarray, differences: bool, inverted: bool) -> np.ndarray:
    """Red, green and blue of cyan, magenta, yellow and black.

    Source: TensorFlow tensorflow/core/lib/jpeg/jpeg_mem.cc.
    """
    colours, black = image[:, :, :3], image[:, :, 3:]
    if differences:
        colours = 255 - _rgb(colours)
    return colours * black // 255 if inverted else (255 - colours) * (255 - black) // 255
