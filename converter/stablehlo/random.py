"""Random bits of a state: counters of 128 or 64 bits, mixed with a key of 64 by Philox or Threefry.

Sources: J. Salmon and others, Parallel random numbers: as easy as 1, 2, 3; for the order, what XLA gives.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_INT32, DT_UINT32
from ..building.linear_algebra import counted_loop
from ..building.tensor import Tensor
from .element_types import inner_type
from .elementwise import as_int32, as_type
from .held import NO_WORDS, Words
from .step import Result, Rule, Step

# Words are computed as int32, whose sums and products wrap.
_PHILOX_FACTORS, _PHILOX_ROUNDS = (0xD2511F53, 0xCD9E8D57), 10
_PHILOX_STEPS = (0x9E3779B9, 0xBB67AE85)
_THREEFRY_TURNS = (13, 15, 26, 6, 17, 29, 16, 24)
_THREEFRY_PARITY, _THREEFRY_GROUPS = 0x1BD11BDA, 5
# A default is whatever a device does; the CPU of JAX does Philox.
_PHILOX = ("DEFAULT", "PHILOX")
_BITS = ("ui8", "ui16", "ui32")


def rng(step: Step) -> Result:
    """UnsupportedError: each call gives other numbers, of whichever generator runs it."""
    raise UnsupportedError(
        "its numbers are another device's in each run; make them of a key (jax.random with threefry2x32) or "
        "have them as an input"
    )


def rng_bit_generator(step: Step) -> Result:
    """The state with its counter moved on, and bits."""
    state, shape = step.held(0), step.result_type(1).shape
    words = _state_words(step)
    if step.result_type(1).element not in _BITS or min(shape, default=0) < 0:
        raise UnsupportedError(f"bits of type {step.result_type(1)}: at most 32, of known sizes, are built")
    key, counter = words[:2], words[2:]
    if step.text("rng_algorithm") in _PHILOX:
        bits, count = _philox_bits(step, key, counter, shape)
    else:
        bits, count = _threefry_bits(step, key, counter, shape)
    moved = _counted(counter, step.body.scalar(count, DT_INT32))
    rows = [step.make("Pack", *pair, axis=0) for pair in (key, moved)]
    new = Words(as_type(step.make("Pack", *rows, axis=0), DT_UINT32), state.shape)
    return [new, step.body.cast(as_type(bits, DT_UINT32), inner_type(step.result_type(1)))]


def _state_words(step: Step) -> list[Tensor]:
    """The key's two halves and the counter's, the lower ones first."""
    state, body = step.held(0), step.body
    if state.shape != (2,):
        raise UnsupportedError(f"a state must be 2 numbers of 64 bits, got shape {list(state.shape)}")
    if isinstance(state, Words):
        words = as_int32(state.tensor)
    else:
        if state.tensor.data is None:
            # Regions have values of operators' types only.
            raise UnsupportedError("a state that a loop or branch is given; " + NO_WORDS)
        whole = np.broadcast_to(state.tensor.data, (2,)).astype(np.uint64)
        words = body.constant(whole.view(np.int32).reshape(2, 2))
    line = body.reshaped(words, [4])
    return [body.element(line, place) for place in range(4)]


def _xor(*parts: Tensor) -> Tensor:
    found = parts[0]
    for part in parts[1:]:
        found = found.body.op("BitwiseXor", found, part)
    return found


def _right(x: Tensor, by: int | Tensor) -> Tensor:
    """Moved right, with zeros from the left."""
    amount = x.body.scalar(by, DT_UINT32) if isinstance(by, int) else as_type(by, DT_UINT32)
    return as_int32(x.body.op("RightShift", as_type(x, DT_UINT32), amount))


def _signed(number: int) -> int:
    return number - (1 << 32) if number >= 1 << 31 else number


def _word(x: Tensor, number: int) -> Tensor:
    return x.body.scalar(_signed(number), DT_INT32)


def _line(step: Step, count: int) -> Tensor:
    return step.body.constant(np.arange(count, dtype=np.int32))


def _counted(words: Sequence[Tensor], more: Tensor) -> list[Tensor]:
    """A number of several words, the lowest first, and small ones more."""
    first = words[0] + more
    # As many are gone over as the sum is below what was added, which has no sign.
    over = first.body.op("LogicalAnd", first >= 0, first < more)
    found = [first]
    for word in words[1:]:
        found.append(word + word.body.cast(over, DT_INT32))
        over = word.body.op("LogicalAnd", over, found[-1].equals(0))
    return found


def _philox_bits(
    step: Step, key: Sequence[Tensor], counter: Sequence[Tensor], shape: Sequence[int]
) -> tuple[Tensor, int]:
    """Four words of each counter, whose upper half is the key; and how many counters."""
    body, size = step.body, math.prod(shape)
    count = -(-size // 4)
    words = _counted([*counter, *key], _line(step, count))

    def turn(place: Tensor, state: Sequence[Tensor], _: dict[str, Tensor]) -> list[Tensor]:
        a, b, c, d, low_key, high_key = state
        (high, low), (high_c, low_c) = (
            _product(x, factor) for x, factor in zip((a, c), _PHILOX_FACTORS, strict=True)
        )
        mixed = [_xor(high_c, b, low_key), low_c, _xor(high, d, high_key), low]
        keys = (low_key + _word(a, _PHILOX_STEPS[0]), high_key + _word(a, _PHILOX_STEPS[1]))
        return [*mixed, *keys]

    mixed = counted_loop(step.importer.shared, step.body, _PHILOX_ROUNDS, [*words, *key], {}, turn)[:4]
    line = body.reshaped(step.make("Pack", *mixed, axis=1), [4 * count])
    return body.reshaped(_first(line, [size]), shape), count


def _product(x: Tensor, factor: int) -> tuple[Tensor, Tensor]:
    """The upper and the lower word of a product, of halves of both."""
    high, by_low, by_high = _right(x, 16), factor & 0xFFFF, factor >> 16
    low = x - high * (1 << 16)
    lows, crossed, other, highs = low * by_low, high * by_low, low * by_high, high * by_high
    upper = [_right(each, 16) for each in (crossed, other)]
    middle = _right(lows, 16)
    for whole, part in zip((crossed, other), upper, strict=True):
        middle = middle + (whole - part * (1 << 16))
    return highs + upper[0] + upper[1] + _right(middle, 16), x * _word(x, factor)


def _threefry_bits(
    step: Step, key: Sequence[Tensor], counter: Sequence[Tensor], shape: Sequence[int]
) -> tuple[Tensor, int]:
    """Two words of each counter, beside each other along an axis of even size, else the largest one."""
    body, sizes = step.body, list(shape) or [1]
    axis = next((axis for axis, size in enumerate(sizes) if size % 2 == 0), sizes.index(max(sizes)))
    half = [-(-size // 2) if place == axis else size for place, size in enumerate(sizes)]
    count = math.prod(half)
    pair = _threefry(step, key, _counted(counter, _line(step, count)))
    both = step.make("Pack", *(body.reshaped(x, half) for x in pair), axis=axis + 1)
    whole = [2 * size if place == axis else size for place, size in enumerate(half)]
    return body.reshaped(_first(body.reshaped(both, whole), sizes), shape), count


def _threefry(step: Step, key: Sequence[Tensor], words: Sequence[Tensor]) -> list[Tensor]:
    """Both words of each counter mixed: five times four rounds, each time with another part of the key."""
    keys = [*key, _xor(*key, _word(key[0], _THREEFRY_PARITY))]
    held = {"keys": step.make("Pack", *keys, axis=0)}

    def turn(place: Tensor, state: Sequence[Tensor], held: dict[str, Tensor]) -> list[Tensor]:
        a, b = state
        body, row = place.body, place * 4

        def told(numbers: Sequence[int], at: Tensor) -> Tensor:
            table = body.constant(np.array(numbers, np.int64).astype(np.uint32).view(np.int32))
            return body.op("GatherV2", table, at, body.scalar(0, DT_INT32))

        turns = (_THREEFRY_TURNS * 3)[: 4 * _THREEFRY_GROUPS]
        for number in range(4):
            at = row + number
            a = a + b
            left, right = told([1 << by for by in turns], at), told([32 - by for by in turns], at)
            b = _xor(b * left, _right(b, right), a)
        first, second = (
            body.op(
                "GatherV2",
                held["keys"],
                told([(group + ahead) % 3 for group in range(_THREEFRY_GROUPS)], place),
                body.scalar(0, DT_INT32),
            )
            for ahead in (1, 2)
        )
        return [a + first, b + second + place + 1]

    begins = [word + part for word, part in zip(words, key, strict=True)]
    return counted_loop(step.importer.shared, step.body, _THREEFRY_GROUPS, begins, held, turn)


def _first(x: Tensor, sizes: Sequence[int]) -> Tensor:
    """So many of each axis."""
    if list(x.sizes) == list(sizes):
        return x
    return x.body.op("Slice", x, x.body.integers([0] * x.rank), x.body.integers(sizes))


REGISTRATIONS: dict[str, Rule] = {"rng": rng, "rng_bit_generator": rng_bit_generator}
