"""JPEG files as arrays.

Source: ITU-T T.81; for sizes, upsampling and the fast transform, libjpeg's jdmaster.c, jdsample.c and
jidctfst.c.
"""

from __future__ import annotations

import numpy as np

from .jpeg_format import SIZE, Component, Decoder, Frame, refuse

_LUMINANCE = np.array([0.299, 0.587, 0.114])
# The inverse transform [frequency, place].
BASIS = np.cos(np.outer(np.arange(8), 2 * np.arange(8) + 1) * (np.pi / 16)) / 2
BASIS[0] /= np.sqrt(2)


# Factors that the fast transform takes out of each frequency, and its multipliers of eight places.
_FAST_FACTORS = np.array(
    [1.0, 1.387039845, 1.306562965, 1.175875602, 1.0, 0.785694958, 0.541196100, 0.275899379]
)
_FAST_SCALES = np.rint(16384 * np.outer(_FAST_FACTORS, _FAST_FACTORS)).astype(np.int64)
_ROOT_2, _TWO_COS, _DIFFERENCE, _SUM = 362, 473, 277, 669


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
) -> np.ndarray:
    """The image [height, width, 1 or 3], uint8, its sides divided by ratio (1, 2, 4 or 8), rounded up.

    channels may be 1, luminance alone, or 3; 0 stands for the file's own.
    columns are those that are wanted, from and to: what is beyond them does not count then.
    fancy: colours that are sampled more rarely are interpolated, not repeated. fast: by the faster and
    less exact transform. InvalidArgumentError
    for what is no whole file, UnsupportedError for other kinds than this module's.
    """
    decoder = Decoder(data)
    decoder.read(header_only=False)
    frame = decoder.frame
    if frame is None:
        raise refuse("file must have a frame")
    colours = frame.components
    if channels == 1 and len(colours) == 3 and _is_ycc(decoder, frame):
        colours = colours[:1]
    start, end = (0, -(-frame.width // ratio)) if columns is None else columns
    # Libjpeg cuts at whole units of all colours.
    aligned = start - start % (SIZE * frame.most[1] // ratio)
    ways, span = (fancy, fast), (aligned, end)
    planes = [_plane(decoder, frame, component, ratio, ways, span) for component in colours]
    image = np.stack(planes, axis=-1)[:, start - aligned :]
    if len(planes) == 3 and _is_ycc(decoder, frame):
        image = _rgb(image)
    elif len(planes) == 3 and channels == 1:
        image = (image * _LUMINANCE).sum(axis=-1, keepdims=True)
    elif len(planes) == 1 and channels == 3:
        image = np.repeat(image, 3, axis=-1)
    return np.clip(np.floor(image + 0.5), 0, 255).astype(np.uint8)


def _is_ycc(decoder: Decoder, frame: Frame) -> bool:
    if decoder.transform is not None:
        return decoder.transform != 0
    return bytes(component.name for component in frame.components) != b"RGB"


def _plane(
    decoder: Decoder,
    frame: Frame,
    component: Component,
    ratio: int,
    ways: tuple[bool, bool],
    span: tuple[int, int],
) -> np.ndarray:
    """A colour as large as the image that is wanted, float64, in the span of columns."""
    (fancy, fast), (down, across) = ways, frame.most
    least = size = SIZE // ratio
    # A colour that is sampled more rarely keeps more of its own pixels.
    while size < SIZE and not (across * least) % (component.across * size * 2):
        if (down * least) % (component.down * size * 2):
            break
        size *= 2
    dequantized = component.coefficients * decoder.quantizer(component)
    blocks = dequantized.reshape(*dequantized.shape[:2], SIZE, SIZE)
    if fast and size == SIZE:
        pixels = _fast(component.coefficients.reshape(blocks.shape), decoder.quantizer(component)) + 128.0
    else:
        # A smaller block is made of means.
        basis = BASIS.reshape(SIZE, size, -1).mean(axis=2)
        pixels = np.einsum("ki,rckl,lj->ricj", basis, blocks, basis, optimize=True) + 128
    whole = np.clip(np.floor(pixels + 0.5), 0, 255).reshape(blocks.shape[0] * size, blocks.shape[1] * size)
    rows = -(-frame.height * component.down * size // (down * SIZE))
    first = span[0] * ratio * component.across * size // (across * SIZE)
    count = -(-(span[1] - span[0]) * ratio * component.across * size // (across * SIZE))
    times = (down * least // (component.down * size), across * least // (component.across * size))
    full = _enlarged(whole[:rows, first : first + count], times, fancy and least > 1)
    return full[: -(-frame.height // ratio), : span[1] - span[0]]


def _fast(blocks: np.ndarray, quantizer: np.ndarray) -> np.ndarray:
    """Pixels of blocks by the transform that TensorFlow takes unless an accurate one is asked for.

    Coefficients [rows, columns, 8, 8] by row frequency first give [rows, 8, columns, 8], to which 128
    is still to be added.
    """
    scales = (quantizer.reshape(SIZE, SIZE).astype(np.int64) * _FAST_SCALES + (1 << 11)) >> 12
    found = _fast_lines(np.moveaxis(blocks * scales, 2, 0))
    found = _fast_lines(np.moveaxis(found, 3, 0))
    # Now [column place, row place, rows, columns].
    return np.asarray(found.transpose(2, 1, 3, 0) >> 5)


def _fast_lines(x: np.ndarray) -> np.ndarray:
    """The transform along the first axis, int64, of Arai, Agui and Nakajima."""
    even, odd = x[0] + x[4], x[0] - x[4]
    outer = x[2] + x[6]
    inner = ((x[2] - x[6]) * _ROOT_2 >> 8) - outer
    halves = (even + outer, odd + inner, odd - inner, even - outer)
    low, high = x[5] + x[3], x[5] - x[3]
    wide, thin = x[1] + x[7], x[1] - x[7]
    first = wide + low
    turned = (high + thin) * _TWO_COS >> 8
    second = (-_SUM * high >> 8) + turned - first
    third = ((wide - low) * _ROOT_2 >> 8) - second
    fourth = (_DIFFERENCE * thin >> 8) - turned + third
    parts = (first, second, third, -fourth)
    forward = [half + part for half, part in zip(halves, parts, strict=True)]
    backward = [half - part for half, part in zip(halves, parts, strict=True)]
    return np.stack(forward + backward[::-1])


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
