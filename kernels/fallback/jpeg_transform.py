"""The transforms of 8 by 8 blocks in JPEG files, both ways, in the integers that libjpeg computes them in.

Source: libjpeg's jidctint.c, jidctred.c and jidctfst.c; sums are as narrow as in libjpeg-turbo's vector code.
"""

from __future__ import annotations

import numpy as np

_SIZE = 8
_BITS = 13
_KEPT = 2  # bits after the point between columns and rows


def _lines(half: list[list[int]]) -> np.ndarray:
    """The transform of a line [place, frequency] from that of its first half: the other is its mirror."""
    first = np.array(half, np.int32)
    return np.concatenate([first, (first * np.array([1, -1] * 4, np.int32))[::-1]])


# By how many pixels come of eight frequencies. A shorter line is longer by a root of two for each halving.
_LINES = {
    8: _lines(
        [
            [8192, 11363, 10703, 9633, 8192, 6437, 4433, 2260],
            [8192, 9633, 4433, -2259, -8192, -11362, -10704, -6436],
            [8192, 6437, -4433, -11362, -8192, 2261, 10704, 9633],
            [8192, 2260, -10703, -6436, 8192, 9633, -4433, -11363],
        ]
    ),
    4: _lines(
        [
            [16384, 20995, 15137, 7373, 0, -4926, -6270, -4176],
            [16384, 8697, -15137, -17799, 0, 11893, 6270, -1730],
        ]
    ),
    2: _lines([[32768, 29692, 0, -10426, 0, 6967, 0, -5906]]),
}
# Factors that the fast transform takes out of each frequency, and its multipliers of eight places.
_FAST_FACTORS = np.array(
    [1.0, 1.387039845, 1.306562965, 1.175875602, 1.0, 0.785694958, 0.541196100, 0.275899379]
)
_FAST_SCALES = np.rint(16384 * np.outer(_FAST_FACTORS, _FAST_FACTORS)).astype(np.int32)
_ONE, _ROOT_2, _TWO_COS, _DIFFERENCE, _SUM = 256, 362, 473, 277, 669


def pixels(coefficients: np.ndarray, quantizer: np.ndarray, size: int, fast: bool) -> np.ndarray:
    """The plane [rows * size, columns * size], int32 from 0 to 255, of blocks [rows, columns, 64].

    A block gives size x size pixels: 1, 2, 4 or 8. fast: eight by the faster and less exact transform.
    """
    rows, columns, _ = coefficients.shape
    if size == 1:
        found = _rounded(coefficients[:, :, :1] * quantizer[:1], 3).reshape(1, 1, rows, columns)
    else:
        blocks = np.moveaxis(coefficients, 2, 0).reshape(_SIZE, _SIZE, rows, columns)
        steps = quantizer.reshape(_SIZE, _SIZE, 1, 1)
        found = _fast(blocks, steps) if fast and size == _SIZE else _exact(blocks, steps, size)
    plane = found.transpose(2, 0, 3, 1).reshape(rows * size, columns * size)
    return np.clip(plane, -128, 127).astype(np.int32) + 128


def _rounded(x: np.ndarray, bits: int) -> np.ndarray:
    return (x + (1 << (bits - 1))) >> bits


def _exact(blocks: np.ndarray, steps: np.ndarray, size: int) -> np.ndarray:
    """[size, size, rows, columns] of coefficients [8, 8, rows, columns], columns of a block first."""
    lines, gained = _LINES[size], _BITS + {8: 0, 4: 1, 2: 2}[size]
    dequantized = (blocks * steps).astype(np.int16)
    down = np.tensordot(lines, dequantized, (1, 0))
    narrow = np.clip(_rounded(down, gained - _KEPT), -(1 << 15), (1 << 15) - 1)
    across = np.tensordot(lines, narrow, (1, 1))
    return _rounded(across, gained + _KEPT + 3).swapaxes(0, 1)


def _fast(blocks: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """As _exact, of size 8, by the transform of Arai, Agui and Nakajima, all of it in 16 bits."""
    scales = _rounded(steps * _FAST_SCALES.reshape(_SIZE, _SIZE, 1, 1), 14 - _KEPT)
    down = _fast_lines((blocks * scales).astype(np.int16))
    return _fast_lines(down.swapaxes(0, 1)).swapaxes(0, 1) >> (_KEPT + 3)


def _times(x: np.ndarray, factor: int) -> np.ndarray:
    """x times a factor of eight places, int16."""
    return ((x << 2).astype(np.int32) * (factor << 6) >> 16).astype(np.int16)


def _fast_lines(x: np.ndarray) -> np.ndarray:
    """The transform along the first axis, int16."""
    even, odd = x[0] + x[4], x[0] - x[4]
    outer = x[2] + x[6]
    inner = _times(x[2] - x[6], _ROOT_2) - outer
    halves = (even + outer, odd + inner, odd - inner, even - outer)
    low, high = x[5] + x[3], x[5] - x[3]
    wide, thin = x[1] + x[7], x[1] - x[7]
    first = wide + low
    turned = _times(high + thin, _TWO_COS)
    second = _times(high, _ONE - _SUM) - high + turned - first
    third = _times(wide - low, _ROOT_2) - second
    fourth = _times(thin, _DIFFERENCE) - turned + third
    parts = (first, second, third, -fourth)
    forward = [half + part for half, part in zip(halves, parts, strict=True)]
    backward = [half - part for half, part in zip(halves, parts, strict=True)]
    return np.stack(forward + backward[::-1])


def _factor(value: float) -> int:
    return round(value * (1 << _BITS))


def _forward_lines(x: np.ndarray, bits: int) -> tuple[np.ndarray, ...]:
    """Four sums that need no factor but 1 and six that do, of rows of 8: the transform before rounding.

    bits: by how many the products are shifted.
    Source: Loeffler, Ligtenberg and Moschytz, Practical fast 1-D DCT algorithms with 11 multiplications.
    """
    a, b = x[..., :4] + x[..., :3:-1], x[..., :4] - x[..., :3:-1]
    outer, inner = a[..., 0] + a[..., 3], a[..., 1] + a[..., 2]
    first, second = a[..., 0] - a[..., 3], a[..., 1] - a[..., 2]
    turned = (first + second) * _factor(0.541196100)
    even = (
        _rounded(turned + first * _factor(0.765366865), bits),
        _rounded(turned - second * _factor(1.847759065), bits),
    )
    d0, d1, d2, d3 = (b[..., i] for i in range(4))
    both = (d3 + d1 + d2 + d0) * _factor(1.175875602)
    z1, z2 = (d3 + d0) * -_factor(0.899976223), (d2 + d1) * -_factor(2.562915447)
    z3, z4 = both - (d3 + d1) * _factor(1.961570560), both - (d2 + d0) * _factor(0.390180644)
    odd = (
        _rounded(d0 * _factor(1.501321110) + z1 + z4, bits),
        _rounded(d1 * _factor(3.072711026) + z2 + z3, bits),
        _rounded(d2 * _factor(2.053119869) + z2 + z4, bits),
        _rounded(d3 * _factor(0.298631336) + z1 + z3, bits),
    )
    return outer + inner, odd[0], even[0], odd[1], outer - inner, odd[2], even[1], odd[3]


def cosine_transform(blocks: np.ndarray) -> np.ndarray:
    """int64 [..., 8, 8] of samples less 128, as coefficients times 8.

    Rows first, then columns, each rounded as the integer transform of the Independent JPEG Group rounds.
    """
    rows = list(_forward_lines(blocks, _BITS - _KEPT))
    for plain in (0, 4):
        rows[plain] = rows[plain] << _KEPT
    held = np.swapaxes(np.stack(rows, -1), -1, -2)
    columns = list(_forward_lines(held, _BITS + _KEPT))
    for plain in (0, 4):
        columns[plain] = _rounded(columns[plain], _KEPT)
    return np.swapaxes(np.stack(columns, -1), -1, -2)
