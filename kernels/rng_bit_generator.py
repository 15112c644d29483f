"""STABLEHLO_RNG_BIT_GENERATOR: random bits and the generator's next state."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from .index_vector import check_counts
from .philox import philox_4x32

STABLEHLO_RNG_BIT_GENERATOR = 204  # the schema's BuiltinOperator
_DEFAULT, _PHILOX, _THREEFRY = range(3)  # RngAlgorithm
_BITS_TYPES = (TensorType.INT32, TensorType.UINT32, TensorType.INT64, TensorType.UINT64)
_MASK = (1 << 64) - 1
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


def threefry_2x32(key: int, counter: int, count: int) -> np.ndarray:
    """Blocks of the counters from `counter` on: uint32 [count, 2], after 20 rounds.

    Source: Salmon, Moraes, Dror and Shaw, Parallel Random Numbers: As Easy as 1, 2, 3.
    """
    first, second = key & 0xFFFFFFFF, key >> 32
    keys = [np.uint32(k) for k in (first, second, _PARITY ^ first ^ second)]
    counters = np.uint64(counter) + np.arange(count, dtype=np.uint64)
    x = (counters & np.uint64(0xFFFFFFFF)).astype(np.uint32) + keys[0]
    y = (counters >> np.uint64(32)).astype(np.uint32) + keys[1]
    for group in range(5):
        for bits in _ROTATIONS[group % 2]:
            x = x + y
            y = (y << np.uint32(bits) | y >> np.uint32(32 - bits)) ^ x
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + np.uint32(group + 1)
    return np.stack([x, y], axis=1)


def _operands(context: Context, node: Node) -> tuple[int, Tensor, Tensor, Tensor]:
    """The algorithm, the state before and after, and the bits."""
    operator = "STABLEHLO_RNG_BIT_GENERATOR"
    check_counts(operator, node, 1, 2)
    state, after, bits = context.input(node, 0), context.output(node, 0), context.output(node, 1)
    algorithm = _DEFAULT if node.options is None else int(node.options.algorithm)
    if algorithm not in (_DEFAULT, _PHILOX, _THREEFRY):
        raise PrepareError(f"{operator}: the algorithm must be 0, 1 or 2, got {algorithm}")
    shapes = ((2,),) if algorithm == _THREEFRY else ((2,), (3,))
    if not state.type == after.type == TensorType.UINT64 or state.shape not in shapes:
        raise PrepareError(
            f"{operator}: states must be uint64 vectors of 2 (or 3 with Philox), got {state!r} and {after!r}"
        )
    if bits.type not in _BITS_TYPES:
        raise PrepareError(f"{operator}: the bits must be integers of 32 or 64 bits, got {bits!r}")
    return algorithm, state, after, bits


def prepare(context: Context, node: Node) -> None:
    """The bits have the shape that the model gives them."""
    _, state, after, bits = _operands(context, node)
    context.resize_tensor(after, state.shape)
    context.resize_tensor(bits, bits.shape)


def invoke(context: Context, node: Node) -> None:
    """With a state of two, Philox's counter has the key as its upper half."""
    algorithm, state, after, bits = _operands(context, node)
    key, low, *high = (int(word) for word in state.array())
    words = bits.nbytes // 4
    per_block = 2 if algorithm == _THREEFRY else 4
    count = -(-words // per_block)
    with np.errstate(over="ignore"):
        if algorithm == _THREEFRY:
            blocks = threefry_2x32(key, low, count)
            following = [key, low + count & _MASK]
        else:
            upper = high[0] if high else key
            blocks = philox_4x32(key, low, upper, count)
            counter = (upper << 64 | low) + count
            following = [key, counter & _MASK, counter >> 64 & _MASK][: len(state.array())]
    if bits.size:
        bits.array()[...] = blocks.ravel()[:words].view(bits.dtype).reshape(bits.shape)
    after.array()[...] = np.array(following, np.uint64)


REGISTRATIONS = (
    Registration("STABLEHLO_RNG_BIT_GENERATOR", prepare, invoke, builtin_code=STABLEHLO_RNG_BIT_GENERATOR),
)
