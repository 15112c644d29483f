"""Broadcasting of two operands: the shape rule, and the loops that it collapses to."""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from ..lite.errors import PrepareError, UnsupportedError
from ..lite.tensor import Shape

BROADCAST_RANK = 8

# Fields of an argument block: out[i0, ..., i7] = f(a[i . a_strides], b[i . b_strides]), strides
# counted in elements, the last dimension innermost.
BROADCAST_FIELDS = [
    ("shape", np.int64, (BROADCAST_RANK,)),
    ("a_strides", np.int64, (BROADCAST_RANK,)),
    ("b_strides", np.int64, (BROADCAST_RANK,)),
]


class Loops(NamedTuple):
    """A loop nest over the result: sizes and strides of equal length, innermost last.

    The innermost stride of each operand is 1 (its elements follow one another) or 0 (one
    element serves the whole inner loop).
    """

    shape: Shape
    a_strides: Shape
    b_strides: Shape


def broadcast_shape(operator: str, a: Shape, b: Shape) -> Shape:
    """The shape of an operator's result from the shapes of its two operands.

    Dimensions are matched from the last; those of equal size stay, size 1 stretches. Raises
    PrepareError, naming the operator, when a pair differs and neither is 1.
    """
    result = []
    for m, n in zip_longest(reversed(a), reversed(b), fillvalue=1):
        if m != n and 1 not in (m, n):
            raise PrepareError(
                f"{operator}: operands must have equal or broadcastable shapes, "
                f"got {'x'.join(map(str, a))} and {'x'.join(map(str, b))}"
            )
        result.append(n if m == 1 else m)
    return tuple(reversed(result))


def broadcast_strides(shape: Shape, rank: int) -> list[int]:
    """Element strides in a result of a given rank; 0 where the operand stretches."""
    strides = [0] * rank
    step = 1
    for k in range(1, len(shape) + 1):
        if shape[-k] != 1:
            strides[-k] = step
        step *= shape[-k]
    return strides


def collapse(operator: str, a: Shape, b: Shape) -> Loops:
    """The fewest loops that compute a broadcast of two shapes that fit together.

    Neighbouring dimensions that both operands walk through alike become one. Raises
    UnsupportedError when more than BROADCAST_RANK remain.
    """
    out = broadcast_shape(operator, a, b)
    shape: list[int] = []
    a_strides: list[int] = []
    b_strides: list[int] = []
    for n, s, t in zip(out, broadcast_strides(a, len(out)), broadcast_strides(b, len(out)), strict=True):
        if n == 1:
            continue
        if shape and a_strides[-1] == s * n and b_strides[-1] == t * n:
            shape[-1] *= n
            a_strides[-1], b_strides[-1] = s, t
        else:
            shape.append(n)
            a_strides.append(s)
            b_strides.append(t)
    if len(shape) > BROADCAST_RANK:
        raise UnsupportedError(
            f"{operator}: broadcasts of up to {BROADCAST_RANK} alternating dimensions are built, "
            f"got {len(shape)}; reshaping or splitting the operands would run"
        )
    if not shape:
        return Loops((1,), (1,), (1,))
    return Loops(tuple(shape), tuple(a_strides), tuple(b_strides))


def fill_loops(args: np.ndarray, loops: Loops) -> None:
    """Write a loop nest into an argument block that has BROADCAST_FIELDS, padded in front with size 1."""
    rank = len(loops.shape)
    args["shape"] = 1
    args["shape"][0, BROADCAST_RANK - rank :] = loops.shape
    args["a_strides"][0, BROADCAST_RANK - rank :] = loops.a_strides
    args["b_strides"][0, BROADCAST_RANK - rank :] = loops.b_strides
