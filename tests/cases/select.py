"""Cases of SELECT and SELECT_V2: element sizes, and which operand stretches."""

from __future__ import annotations

import numpy as np
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .single_op import Kind, single_op

Shape = tuple[int, ...]


def _case(name: str, condition: Shape, a: Shape, b: Shape, dtype: type = np.float32) -> Case:
    shapes = "-".join("x".join(map(str, shape)) for shape in (condition, a, b))
    id = f"{name}-{np.dtype(dtype).name}-{shapes}"
    rows = name == "SELECT" and len(condition) == 1
    first = (*condition, *[1] * (len(a) - 1)) if rows else condition
    kinds = [Kind(condition, np.bool_), Kind(a, dtype), Kind(b, dtype)]
    out = Kind(np.broadcast_shapes(first, a, b), dtype)
    return Case(
        id=id,
        make=lambda: single_op(BuiltinOperator[name], kinds, out),
        inputs=[kind.random(f"{id}{i}") for i, kind in enumerate(kinds)],
        oracle=lambda c, x, y: np.where(c.reshape(first), x, y),
    )


def _single_case(name: str, out: Shape, shapes: tuple[Shape, ...], dtype: type = np.float32) -> Case:
    """All have one element, in any ranks: the declared shape of the output stays."""
    told = "-".join("x".join(map(str, shape)) or "scalar" for shape in (*shapes, out))
    id = f"{name}-single-{np.dtype(dtype).name}-{told}"
    kinds = [Kind(shape, np.bool_ if i == 0 else dtype) for i, shape in enumerate(shapes)]
    return Case(
        id=id,
        make=lambda: single_op(BuiltinOperator[name], kinds, Kind(out, dtype)),
        inputs=[kind.random(f"{id}{i}") for i, kind in enumerate(kinds)],
        oracle=lambda c, x, y: np.where(c.reshape(()), x.reshape(out), y.reshape(out)),
    )


_TYPES = (np.bool_, np.int8, np.uint8, np.int16, np.float16, np.int32, np.uint32, np.int64, np.float64)

CASES = [
    *(_case("SELECT", c, (3, 40), (3, 40)) for c in ((3, 40), (), (3,))),
    *(_case("SELECT_V2", (3, 1, 5), (4, 1), (3, 1, 1), dtype) for dtype in _TYPES),
    *(
        _case("SELECT_V2", *shapes)
        for shapes in (
            ((3, 70), (3, 70), (3, 70)),
            ((3, 70), (), (3, 70)),
            ((3, 70), (3, 70), ()),
            ((3, 70), (1,), (1,)),
            ((3, 1), (3, 70), (1, 70)),
            ((), (3, 70), (3, 70)),
            ((2, 1, 3, 1, 2), (1, 2, 1, 3, 1), (2, 1, 1, 1, 2)),
            ((0, 3), (1, 3), (1, 1)),
            ((), (), ()),
        )
    ),
    *(
        _single_case(name, out, shapes)
        for name in ("SELECT", "SELECT_V2")
        for out in ((), (1,), (1, 1))
        for shapes in (((1,), (), ()), ((), (1,), (1, 1)), ((1, 1), (1, 1), (1, 1)))
    ),
]
