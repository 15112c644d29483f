"""FarmHash's Fingerprint64, which hashes of models are defined by."""

from __future__ import annotations

_MASK = (1 << 64) - 1
_K0 = 0xC3A5C85C97CB3127
_K1 = 0xB492B66FBE98F273
_K2 = 0x9AE16A3B2F90404F
_SEED = 81

Pair = tuple[int, int]


def _rotated(value: int, right: int) -> int:
    value &= _MASK
    return (value >> right | value << (64 - right)) & _MASK


def _mixed(value: int) -> int:
    value &= _MASK
    return value ^ value >> 47


def _word(data: bytes, at: int, nbytes: int = 8) -> int:
    return int.from_bytes(data[at : at + nbytes], "little")


def _join(u: int, v: int, factor: int) -> int:
    a = _mixed((u ^ v) * factor)
    b = _mixed(((v ^ a) & _MASK) * factor)
    return b * factor & _MASK


def _up_to_16(data: bytes) -> int:
    n = len(data)
    factor = _K2 + 2 * n
    if n >= 8:
        a = _word(data, 0) + _K2 & _MASK
        b = _word(data, n - 8)
        c = _rotated(b, 37) * factor + a & _MASK
        d = (_rotated(a, 25) + b) * factor & _MASK
        return _join(c, d, factor)
    if n >= 4:
        return _join(n + (_word(data, 0, 4) << 3), _word(data, n - 4, 4), factor)
    if n > 0:
        y = data[0] + (data[n // 2] << 8)
        z = n + (data[n - 1] << 2)
        return _mixed(y * _K2 & _MASK ^ z * _K0 & _MASK) * _K2 & _MASK
    return _K2


def _up_to_32(data: bytes) -> int:
    n = len(data)
    factor = _K2 + 2 * n
    a = _word(data, 0) * _K1 & _MASK
    b = _word(data, 8)
    c = _word(data, n - 8) * factor & _MASK
    d = _word(data, n - 16) * _K2
    u = _rotated(a + b, 43) + _rotated(c, 30) + d & _MASK
    return _join(u, a + _rotated(b + _K2, 18) + c & _MASK, factor)


def _up_to_64(data: bytes) -> int:
    n = len(data)
    factor = _K2 + 2 * n
    a = _word(data, 0) * _K2 & _MASK
    b = _word(data, 8)
    c = _word(data, n - 8) * factor & _MASK
    d = _word(data, n - 16) * _K2
    y = _rotated(a + b, 43) + _rotated(c, 30) + d & _MASK
    z = _join(y, a + _rotated(b + _K2, 18) + c & _MASK, factor)
    e = _word(data, 16) * factor & _MASK
    f = _word(data, 24)
    g = (y + _word(data, n - 32)) * factor & _MASK
    h = (z + _word(data, n - 24)) * factor & _MASK
    u = _rotated(e + f, 43) + _rotated(g, 30) + h & _MASK
    return _join(u, e + _rotated(f + a, 18) + g & _MASK, factor)


def _weak(data: bytes, at: int, a: int, b: int) -> Pair:
    """32 bytes folded into two seeds."""
    w, x, y, z = (_word(data, at + 8 * k) for k in range(4))
    a = a + w & _MASK
    b = _rotated(b + a + z, 21)
    sum_of_three = a + x + y
    return sum_of_three + z & _MASK, b + _rotated(sum_of_three, 44) + a & _MASK


def _step(data: bytes, at: int, state: tuple[int, int, int, Pair, Pair], factor: int, last: bool) -> tuple:
    """One round over 64 bytes; the last one weighs three words more."""
    x, y, z, v, w = state
    x = _rotated(x + y + v[0] + _word(data, at + 8), 37) * factor & _MASK
    y = _rotated(y + v[1] + _word(data, at + 48), 42) * factor & _MASK
    weight = 9 if last else 1
    x ^= w[1] * weight & _MASK
    y = y + v[0] * weight + _word(data, at + 40) & _MASK
    z = _rotated(z + w[0], 33) * factor & _MASK
    v = _weak(data, at, v[1] * factor & _MASK, x + w[0])
    w = _weak(data, at + 32, z + w[1], y + _word(data, at + 16))
    return z, y, x, v, w


def _long(data: bytes) -> int:
    n = len(data)
    y = _SEED * _K1 + 113 & _MASK
    z = _mixed(y * _K2 + 113) * _K2 & _MASK
    state = (_SEED * _K2 + _word(data, 0) & _MASK, y, z, (0, 0), (0, 0))
    for at in range(0, (n - 1) // 64 * 64, 64):
        state = _step(data, at, state, _K1, last=False)
    x, y, z, v, w = state
    factor = _K1 + ((z & 0xFF) << 1) & _MASK
    first_of_w = w[0] + ((n - 1) & 63) & _MASK
    first_of_v = v[0] + first_of_w & _MASK
    w = (first_of_w + first_of_v & _MASK, w[1])
    x, y, z, v, w = _step(data, n - 64, (x, y, z, (first_of_v, v[1]), w), factor, last=True)
    left = _join(v[0], w[0], factor) + _mixed(y) * _K0 + z & _MASK
    return _join(left, _join(v[1], w[1], factor) + x & _MASK, factor)


def fingerprint64(data: bytes) -> int:
    """The 64-bit fingerprint of some bytes."""
    if len(data) <= 16:
        return _up_to_16(data)
    if len(data) <= 32:
        return _up_to_32(data)
    return _up_to_64(data) if len(data) <= 64 else _long(data)
