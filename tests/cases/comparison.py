"""Cases of comparisons: types, broadcasting, scales that differ."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numlite.schema.tflite import BuiltinOperator

from .case import Case, Differs
from .single_op import Kind, single_op

_NOT_WRITTEN = Differs("LiteRT leaves the output of NOT_EQUAL on int16 as it was")

_FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {
    "EQUAL": np.equal,
    "NOT_EQUAL": np.not_equal,
    "LESS": np.less,
    "LESS_EQUAL": np.less_equal,
    "GREATER": np.greater,
    "GREATER_EQUAL": np.greater_equal,
}


def _case(name: str, a: Kind, b: Kind, inputs: tuple[np.ndarray, np.ndarray] | None = None) -> Case:
    shapes = ["x".join(map(str, kind.shape)) for kind in (a, b)]
    id = f"{name}-{np.dtype(a.dtype).name}-{'-'.join(shapes)}-{a.scale}-{b.scale}-{inputs is not None}"
    out = Kind(np.broadcast_shapes(a.shape, b.shape), np.bool_)
    x, y = inputs or (a.random(id, 1), b.random(id + "b", 1))
    if inputs is None and np.dtype(a.dtype).kind in "iu" and a.scale is None:
        x, y = x % 5, y % 5
    litert = _NOT_WRITTEN if (name, a.dtype, a.scale) == ("NOT_EQUAL", np.int16, None) else None
    return Case(
        id=id,
        make=lambda: single_op(BuiltinOperator[name], [a, b], out, None, 2),
        inputs=[x.astype(a.dtype), y.astype(b.dtype)],
        oracle=lambda x, y: _FUNCTIONS[name](a.real(x), b.real(y)),
        litert_default=litert,
        litert_reference=litert,
    )


_SPECIAL = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1e-45, 1.0, -1.0], np.float32)
_BYTES = np.arange(-128, 128, dtype=np.int8)

CASES = [
    *(_case(name, Kind((8, 1)), Kind((1, 8)), (_SPECIAL[:, None], _SPECIAL[None])) for name in _FUNCTIONS),
    *(
        _case(name, Kind((2, 3, 1, 5), dtype), Kind((3, 4, 1), dtype))
        for name in _FUNCTIONS
        for dtype in (np.float32, np.float16, np.int16, np.int32, np.int64)
    ),
    *(
        _case(
            name,
            Kind((256, 1), np.int8, 0.5, 3),
            Kind((1, 256), np.int8, 0.25, -5),
            (_BYTES[:, None], _BYTES[None]),
        )
        for name in _FUNCTIONS
    ),
    *(
        _case(
            name,
            Kind((16, 1), np.int16, 0.5),
            Kind((1, 16), np.int16, 0.25),
            (np.arange(-8, 8)[:, None], np.arange(-8, 8)[None]),
        )
        for name in ("EQUAL", "NOT_EQUAL")
    ),
    *(_case(name, Kind((3, 70), np.uint8, 0.125, 7), Kind((70,), np.uint8, 0.125, 7)) for name in _FUNCTIONS),
    *(_case(name, Kind((5, 9), np.bool_), Kind((), np.bool_)) for name in ("EQUAL", "NOT_EQUAL")),
    _case("LESS", Kind((0, 3)), Kind((1, 3))),
]
