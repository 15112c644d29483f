"""Hashes of strings: to buckets, and fingerprints of rows."""

from __future__ import annotations

from functools import partial
from math import prod

import numpy as np

from ..fingerprint import fingerprint64
from .dtypes import INTEGERS, PLAIN
from .each_string import each_string
from .registry import kernel
from .status import InvalidArgumentError

_MASK = (1 << 64) - 1


def _bucketed(x: np.ndarray, hashes: list[object], num_buckets: int) -> np.ndarray:
    if num_buckets < 1:
        raise InvalidArgumentError(f"num_buckets must be 1 or more, got {num_buckets}")
    values = np.array(hashes, np.uint64) % np.uint64(num_buckets)
    return values.astype(np.int64).reshape(x.shape)


def _murmur64(data: bytes) -> int:
    """Hash64 with TensorFlow's seed: MurmurHash64A. Source: TensorFlow tensorflow/core/lib/hash."""
    factor, shift = 0xC6A4A7935BD1E995, 47
    value = 0xDECAFCAFFE ^ (len(data) * factor & _MASK)
    whole = len(data) // 8 * 8
    for at in range(0, whole, 8):
        k = int.from_bytes(data[at : at + 8], "little") * factor & _MASK
        k = (k ^ k >> shift) * factor & _MASK
        value = (value ^ k) * factor & _MASK
    if whole < len(data):
        value = (value ^ int.from_bytes(data[whole:], "little")) * factor & _MASK
    value = (value ^ value >> shift) * factor & _MASK
    return value ^ value >> shift


def _rotated(value: int, left: int) -> int:
    return (value << left | value >> (64 - left)) & _MASK


def _sip_round(v: list[int]) -> None:
    v[0] = v[0] + v[1] & _MASK
    v[2] = v[2] + v[3] & _MASK
    v[1], v[3] = _rotated(v[1], 13) ^ v[0], _rotated(v[3], 16) ^ v[2]
    v[0] = v[0] << 32 & _MASK | v[0] >> 32
    v[2] = v[2] + v[1] & _MASK
    v[0] = v[0] + v[3] & _MASK
    v[1], v[3] = _rotated(v[1], 17) ^ v[2], _rotated(v[3], 21) ^ v[0]
    v[2] = v[2] << 32 & _MASK | v[2] >> 32


def siphash(data: bytes, key: tuple[int, int]) -> int:
    """SipHash-2-4. Source: Aumasson and Bernstein, SipHash: a fast short-input PRF."""
    v = [
        *(key[0] ^ 0x736F6D6570736575, key[1] ^ 0x646F72616E646F6D),
        *(key[0] ^ 0x6C7967656E657261, key[1] ^ 0x7465646279746573),
    ]
    last = len(data) // 8 * 8
    tail = data[last:] + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for at in range(0, last + 8, 8):
        word = int.from_bytes(data[at : at + 8] if at < last else tail, "little")
        v[3] ^= word
        _sip_round(v)
        _sip_round(v)
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(4):
        _sip_round(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def string_to_hash_bucket(x: np.ndarray, *, num_buckets: int) -> np.ndarray:
    """TensorFlow's Hash64 of each string, modulo num_buckets: int64."""
    return _bucketed(x, each_string(_murmur64, x), num_buckets)


def string_to_hash_bucket_fast(x: np.ndarray, *, num_buckets: int) -> np.ndarray:
    """FarmHash's Fingerprint64 of each string, modulo num_buckets: int64."""
    return _bucketed(x, each_string(fingerprint64, x), num_buckets)


def tensor_to_hash_bucket_fast(x: np.ndarray, *, num_buckets: int) -> np.ndarray:
    """FarmHash's Fingerprint64 of each whole number as it is written, modulo num_buckets: int64."""
    return _bucketed(x, [fingerprint64(str(value).encode()) for value in x.reshape(-1).tolist()], num_buckets)


def string_to_hash_bucket_strong(x: np.ndarray, *, num_buckets: int, key: list[int]) -> np.ndarray:
    """SipHash of each string under a key of two numbers, modulo num_buckets: int64."""
    if len(key) != 2:
        raise InvalidArgumentError(f"Key must have 2 elements, got {len(key)}")
    pair = (key[0] & _MASK, key[1] & _MASK)
    return _bucketed(x, each_string(partial(siphash, key=pair), x), num_buckets)


def fingerprint(data: np.ndarray, method: np.ndarray) -> np.ndarray:
    """Fingerprint64 of each row of the first axis, its bytes from the low on: uint8 [rows, 8].

    A row of strings is hashed by the hashes of its strings, unless it is one string.
    """
    if method[()] != b"farmhash64":
        raise InvalidArgumentError(f"Fingerprint: method must be 'farmhash64', got {method[()]!r}")
    if not data.ndim:
        raise InvalidArgumentError("Fingerprint: data must have an axis, got a scalar")
    hashes = [_row_hash(row) for row in data.reshape(len(data), prod(data.shape[1:]))]
    return np.array(hashes, "<u8").view(np.uint8).reshape(len(data), 8)


def _row_hash(row: np.ndarray) -> int:
    if row.dtype.kind != "O":
        return fingerprint64(row.tobytes())
    if len(row) == 1:
        return fingerprint64(row[0])
    return fingerprint64(b"".join(fingerprint64(text).to_bytes(8, "little") for text in row))


REGISTRATIONS = (
    kernel("StringToHashBucket", string_to_hash_bucket),
    kernel("StringToHashBucketFast", string_to_hash_bucket_fast),
    kernel("_TensorToHashBucketFast", tensor_to_hash_bucket_fast, T=INTEGERS),
    kernel("StringToHashBucketStrong", string_to_hash_bucket_strong),
    kernel("Fingerprint", fingerprint, T=PLAIN),
)
