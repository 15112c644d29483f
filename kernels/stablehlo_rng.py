"""STABLEHLO_RNG_BIT_GENERATOR: random bits, and the state that the next ones come from."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.node import Node
from ..lite.tensor import TensorType
from .index_vector import check_counts, check_index_type
from .operators import registration
from .philox import philox_4x32

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_GROUPS = 5  # of four rounds
_PARITY = 0x1BD11BDA


def threefry_2x32(key: int, counters: np.ndarray) -> np.ndarray:
    """A block for each counter (uint64): uint32 [counters, 2]. key has 64 bits.

    Source: Salmon, Moraes, Dror and Shaw, Parallel Random Numbers: As Easy as 1, 2, 3.
    """
    low, high = key & 0xFFFFFFFF, key >> 32
    keys = [np.uint32(low), np.uint32(high), np.uint32(_PARITY ^ low ^ high)]
    first = (counters & np.uint64(0xFFFFFFFF)).astype(np.uint32) + keys[0]
    second = (counters >> np.uint64(32)).astype(np.uint32) + keys[1]
    for group in range(_GROUPS):
        for rotation in _ROTATIONS[group % 2]:
            first = first + second
            second = (second << np.uint32(rotation) | second >> np.uint32(32 - rotation)) ^ first
        first = first + keys[(group + 1) % 3]
        second = second + keys[(group + 2) % 3] + np.uint32(group + 1)
    return np.stack([first, second], axis=1)


_DEFAULT, _PHILOX, _THREEFRY = 0, 1, 2  # the schema's RngAlgorithm
_TYPES = (TensorType.INT32, TensorType.INT64, TensorType.UINT32, TensorType.UINT64)
_ALL_BITS = (1 << 64) - 1


def _algorithm(node: Node) -> int:
    algorithm = int(getattr(node.options, "algorithm", _DEFAULT))
    if algorithm not in (_DEFAULT, _PHILOX, _THREEFRY):
        raise PrepareError(f"STABLEHLO_RNG_BIT_GENERATOR: algorithm must be 0, 1 or 2, got {algorithm}")
    return _PHILOX if algorithm == _DEFAULT else algorithm


def prepare(context: Context, node: Node) -> None:
    check_counts("STABLEHLO_RNG_BIT_GENERATOR", node, 1, 2)
    state, next_state, y = context.input(node, 0), context.output(node, 0), context.output(node, 1)
    sizes = (2,) if _algorithm(node) == _THREEFRY else (2, 3)
    if state.type != TensorType.UINT64 or len(state.shape) != 1 or state.shape[0] not in sizes:
        words = " or ".join(map(str, sizes))
        raise PrepareError(f"STABLEHLO_RNG_BIT_GENERATOR: state must be {words} of uint64, got {state!r}")
    if next_state.type != TensorType.UINT64:
        raise PrepareError(
            f"STABLEHLO_RNG_BIT_GENERATOR: the state given back must be uint64, got {next_state!r}"
        )
    check_index_type("STABLEHLO_RNG_BIT_GENERATOR", "output", y, _TYPES)
    context.resize_tensor(next_state, state.shape)
    context.resize_tensor(y, y.shape)


def invoke(context: Context, node: Node) -> None:
    """The state is the key, the counter's lower half and (its upper half, else the key again).

    Source: LiteRT tflite/kernels/rng_bit_generator.cc.
    """
    state = [int(word) for word in context.input(node, 0).array()]
    y = context.output(node, 1)
    words = y.nbytes // 4
    philox = _algorithm(node) == _PHILOX
    blocks = -(-words // (4 if philox else 2))
    counters = np.uint64(state[1]) + np.arange(blocks, dtype=np.uint64)
    if philox:
        bits = philox_4x32(
            state[0], counters, np.full(blocks, state[-1] if state[2:] else state[0], np.uint64)
        )
    else:
        bits = threefry_2x32(state[0], counters)
    y.array()[...] = bits.ravel()[:words].view(y.dtype).reshape(y.shape)
    state[1] = (state[1] + blocks) & _ALL_BITS
    context.output(node, 0).array()[...] = np.array(state, np.uint64)


REGISTRATIONS = (registration("STABLEHLO_RNG_BIT_GENERATOR", prepare, invoke),)
