"""Cases of logical and bitwise operators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .single_op import Kind, single_op


def _right_shift(x: np.ndarray, bits: np.ndarray) -> np.ndarray:
    limit = x.dtype.itemsize * 8 - 1
    wide = x.astype(np.int64) // 2 ** np.clip(bits.astype(np.int64), 0, limit)
    return wide.astype(x.dtype)


_FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {
    "LOGICAL_AND": np.logical_and,
    "LOGICAL_OR": np.logical_or,
    "LOGICAL_NOT": np.logical_not,
    "BITWISE_XOR": np.bitwise_xor,
    "RIGHT_SHIFT": _right_shift,
}


def _case(name: str, *kinds: Kind) -> Case:
    shapes = "-".join("x".join(map(str, kind.shape)) for kind in kinds)
    id = f"{name}-{np.dtype(kinds[0].dtype).name}-{shapes}"
    inputs = [kind.random(f"{id}-{i}") for i, kind in enumerate(kinds)]
    if name == "RIGHT_SHIFT":
        inputs[1] = (inputs[1] % 12).astype(kinds[1].dtype)
    out = Kind(np.broadcast_shapes(*(kind.shape for kind in kinds)), kinds[0].dtype)
    return Case(
        id=id,
        make=lambda: single_op(BuiltinOperator[name], kinds, out),
        inputs=inputs,
        oracle=_FUNCTIONS[name],
    )


_INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32)

CASES = [
    *(
        _case(name, Kind(a, np.bool_), Kind(b, np.bool_))
        for name in ("LOGICAL_AND", "LOGICAL_OR")
        for a, b in (((3, 70), (3, 70)), ((2, 1, 5), (3, 1)), ((4,), ()), ((0, 2), (2,)))
    ),
    _case("LOGICAL_NOT", Kind((3, 70), np.bool_)),
    _case("LOGICAL_NOT", Kind((), np.bool_)),
    *(
        _case(name, Kind((3, 4, 5), dtype), Kind(b, dtype))
        for name in ("BITWISE_XOR", "RIGHT_SHIFT")
        for dtype in _INTEGERS
        for b in ((3, 4, 5), (4, 1))
    ),
]
