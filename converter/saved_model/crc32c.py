"""CRC-32C, the checksum of checkpoints and their index, at a GB/s and without compiled code.

A checksum is linear: that of a text is the xor of those of its parts, each followed by as many zeros
as stand after it. So a text is cut into lanes of equal length, all lanes advance together, and pairs
of lanes are joined until one is left.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

_POLYNOMIAL = 0x82F63B78
_ONES = 0xFFFFFFFF
_MASK_DELTA = 0xA282EAD8
# Below this many bytes a plain loop is quicker.
_SHORT = 4096
_MOST_LANES = 8192
_LONGEST_LANE = 512


def crc32c(content: bytes | memoryview | np.ndarray, before: int = 0) -> int:
    """The checksum of the bytes; `before` is that of the text that they continue."""
    data = np.frombuffer(content, np.uint8)
    if len(data) < _SHORT:
        return _plain(data.tobytes(), before ^ _ONES) ^ _ONES
    state = _shift(before ^ _ONES, len(data))
    lane = _LONGEST_LANE
    while lane > 64 and lane * lane > 2 * len(data):
        lane //= 2
    block = lane * _MOST_LANES
    # Zeros before a text that starts from zero change nothing, so the first block may be filled up.
    first = len(data) % block
    checksum = _of_lanes(data[:first], lane) if first else 0
    for start in range(first, len(data), block):
        checksum = _shift(checksum, block) ^ _of_lanes(data[start : start + block], lane)
    return state ^ checksum ^ _ONES


def masked(checksum: int) -> int:
    """The form in which checksums are stored beside what they check.

    Source: LevelDB util/crc32c.h, Mask: rotated right by 15 bits, plus a constant.
    """
    return ((checksum >> 15 | checksum << 17) + _MASK_DELTA) & _ONES


def _plain(content: bytes, state: int) -> int:
    table = _byte_table()
    for byte in content:
        state = table[(state ^ byte) & 255] ^ (state >> 8)
    return state


@lru_cache(1)
def _byte_table() -> list[int]:
    found: list[int] = _steps(1)[0].tolist()
    return found


def _steps(count: int) -> list[np.ndarray]:
    """For each n < count the state that a byte leaves when n zeros follow it, by byte."""
    one = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        one = np.where(one & 1, (one >> 1) ^ np.uint32(_POLYNOMIAL), one >> 1)
    found = [one]
    for _ in range(count - 1):
        found.append(one[found[-1] & 255] ^ (found[-1] >> 8))
    return found


@lru_cache(1)
def _word_tables() -> tuple[np.ndarray, np.ndarray]:
    """The state that the low and the high half of a little-endian word of four bytes leave."""
    after = _steps(4)
    half = np.arange(1 << 16)
    low, high = half & 255, half >> 8
    return after[3][low] ^ after[2][high], after[1][low] ^ after[0][high]


def _of_lanes(data: np.ndarray, lane: int) -> int:
    """State that the bytes (uint8) leave from zero; at most _MOST_LANES lanes of that length."""
    lanes = 1
    while lanes * lane < len(data):
        lanes *= 2
    if len(data) < lanes * lane:
        data = np.concatenate([np.zeros(lanes * lane - len(data), np.uint8), data])
    words = np.ascontiguousarray(data.view("<u4").reshape(lanes, lane // 4).T)
    states = _advanced(words.astype(np.uint32, copy=False), lanes)
    length = lane.bit_length() - 1
    while len(states) > 1:
        states = _zeros_appended(states[::2], length) ^ states[1::2]
        length += 1
    return int(states[0])


def _advanced(words: np.ndarray, lanes: int) -> np.ndarray:
    """States of all lanes after their words, which are [word, lane]."""
    low, high = _word_tables()
    states, mixed, part = (np.zeros(lanes, np.uint32) for _ in range(3))
    index = np.empty(lanes, np.intp)
    mask = np.uint32(0xFFFF)
    for row in words:
        np.bitwise_xor(states, row, out=mixed)
        np.bitwise_and(mixed, mask, out=index, casting="unsafe")
        low.take(index, out=part, mode="wrap")
        np.right_shift(mixed, 16, out=index, casting="unsafe")
        high.take(index, out=states, mode="wrap")
        np.bitwise_xor(states, part, out=states)
    return states


@lru_cache(64)
def _zero_tables(length: int) -> np.ndarray:
    """[4, 256]: what 2**length zero bytes make of each byte of a state."""
    if length == 0:
        byte = np.arange(256, dtype=np.uint32)
        one = _steps(1)[0]
        return np.stack([one, byte, byte << 8, byte << 16])
    before = _zero_tables(length - 1)
    return _applied(before, before)


def _applied(tables: np.ndarray, states: np.ndarray) -> np.ndarray:
    return (
        tables[0][states & 255]
        ^ tables[1][(states >> 8) & 255]
        ^ tables[2][(states >> 16) & 255]
        ^ tables[3][states >> 24]
    )


def _zeros_appended(states: np.ndarray, length: int) -> np.ndarray:
    """The states after 2**length zero bytes more."""
    return _applied(_zero_tables(length), states)


def _shift(state: int, count: int) -> int:
    """The state after that many zero bytes more."""
    states = np.array([state], np.uint32)
    for bit in range(count.bit_length()):
        if count >> bit & 1:
            states = _zeros_appended(states, bit)
    return int(states[0])
