"""The cosine transform of 8 by 8 blocks in whole numbers, as libjpeg computes it for files that it writes."""

from __future__ import annotations

import numpy as np

# Bits behind the point of the factors, and those that are kept between the two passes.
_FACTOR_BITS, _KEPT_BITS = 13, 2


def _factor(value: float) -> int:
    return round(value * (1 << _FACTOR_BITS))


def _shifted(x: np.ndarray, bits: int) -> np.ndarray:
    return (x + (1 << bits - 1)) >> bits


def _pass(x: np.ndarray, bits: int) -> tuple[np.ndarray, ...]:
    """Four sums that need no factor but 1 and six that do, of rows of 8: the transform before rounding.

    bits: by how many the products are shifted.
    Source: Loeffler, Ligtenberg and Moschytz, Practical fast 1-D DCT algorithms with 11 multiplications.
    """
    a, b = x[..., :4] + x[..., :3:-1], x[..., :4] - x[..., :3:-1]
    outer, inner = a[..., 0] + a[..., 3], a[..., 1] + a[..., 2]
    first, second = a[..., 0] - a[..., 3], a[..., 1] - a[..., 2]
    turned = (first + second) * _factor(0.541196100)
    even = (
        _shifted(turned + first * _factor(0.765366865), bits),
        _shifted(turned - second * _factor(1.847759065), bits),
    )
    d0, d1, d2, d3 = (b[..., i] for i in range(4))
    both = (d3 + d1 + d2 + d0) * _factor(1.175875602)
    z1, z2 = (d3 + d0) * -_factor(0.899976223), (d2 + d1) * -_factor(2.562915447)
    z3, z4 = both - (d3 + d1) * _factor(1.961570560), both - (d2 + d0) * _factor(0.390180644)
    odd = (
        _shifted(d0 * _factor(1.501321110) + z1 + z4, bits),
        _shifted(d1 * _factor(3.072711026) + z2 + z3, bits),
        _shifted(d2 * _factor(2.053119869) + z2 + z4, bits),
        _shifted(d3 * _factor(0.298631336) + z1 + z3, bits),
    )
    return outer + inner, odd[0], even[0], odd[1], outer - inner, odd[2], even[1], odd[3]


def cosine_transform(blocks: np.ndarray) -> np.ndarray:
    """int64 [..., 8, 8] of samples less 128, as coefficients times 8.

    Rows first, then columns, each rounded as the integer transform of the Independent JPEG Group rounds.
    """
    rows = list(_pass(blocks, _FACTOR_BITS - _KEPT_BITS))
    for plain in (0, 4):
        rows[plain] = rows[plain] << _KEPT_BITS
    held = np.swapaxes(np.stack(rows, -1), -1, -2)
    columns = list(_pass(held, _FACTOR_BITS + _KEPT_BITS))
    for plain in (0, 4):
        columns[plain] = _shifted(columns[plain], _KEPT_BITS)
    return np.swapaxes(np.stack(columns, -1), -1, -2)
