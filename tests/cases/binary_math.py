"""Cases of POW, FLOOR_DIV, FLOOR_MOD and ATAN2."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numlite.schema.tflite import BuiltinOperator

from .case import EXACT, Case, Close, Refuses
from .single_op import Kind, single_op


def _floor_mod(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    remainder = np.fmod(x, y)
    return np.where((remainder != 0) & ((remainder < 0) != (y < 0)), remainder + y, remainder)


_FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {
    "POW": np.power,
    "FLOOR_DIV": lambda x, y: np.floor(x / y) if x.dtype.kind == "f" else x // y,
    "FLOOR_MOD": lambda x, y: _floor_mod(x, y) if x.dtype.kind == "f" else x % y,
    "ATAN2": np.arctan2,
}


def _case(name: str, dtype: type, x: np.ndarray, y: np.ndarray, litert: Refuses | None = None) -> Case:
    shapes = "-".join("x".join(map(str, z.shape)) for z in (x, y))
    kinds = [Kind(x.shape, dtype), Kind(y.shape, dtype), Kind(np.broadcast_shapes(x.shape, y.shape), dtype)]
    smooth = name in ("POW", "ATAN2") and np.dtype(dtype).kind == "f"

    def oracle(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(_FUNCTIONS[name](x, y)).astype(dtype)

    rtol = 1e-3 if dtype is np.float16 else 5e-7  # one unit in the last place
    return Case(
        id=f"{name}-{np.dtype(dtype).name}-{shapes}",
        make=lambda: single_op(BuiltinOperator[name], kinds[:2], kinds[2]),
        inputs=[x.astype(dtype), y.astype(dtype)],
        oracle=oracle,
        closeness=Close(rtol=rtol, atol=0) if smooth else EXACT,
        litert_default=litert,
        litert_reference=litert,
    )


_SPECIAL = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 0.5, 1.0, -1.0, 7.0, -2.5])
_DIVISORS = _SPECIAL[2:]
_INTEGERS = np.array([-128, -9, -1, 0, 1, 5, 127])
_SHAPES = (((3, 40), (3, 40)), ((2, 1, 5), (3, 1)), ((4,), ()), ((0, 2), (2,)))


def _drawn(shape: tuple[int, ...], seed: str) -> np.ndarray:
    return Kind(shape).random(seed)


CASES = [
    *(_case(name, np.float32, _SPECIAL[:, None], _SPECIAL[None]) for name in ("POW", "FLOOR_MOD")),
    _case("ATAN2", np.float32, *np.meshgrid(_SPECIAL, _SPECIAL)),
    _case("FLOOR_DIV", np.float32, _SPECIAL[:, None], _DIVISORS[None]),
    *(
        _case(name, np.float32, np.abs(_drawn(a, "a")), _drawn(b, "b"))
        for name in ("POW", "FLOOR_DIV", "FLOOR_MOD")
        for a, b in _SHAPES
    ),
    *(
        _case("ATAN2", dtype, _drawn(a, "a"), _drawn(b, "b"))
        for dtype in (np.float16, np.float32, np.float64)
        for a, b in _SHAPES[:1]
    ),
    *(
        _case(name, dtype, _INTEGERS[:, None], _INTEGERS[_INTEGERS != 0][None])
        for name in ("FLOOR_DIV", "FLOOR_MOD")
        for dtype in (np.int8, np.int16, np.int32)
    ),
    _case("FLOOR_DIV", np.int64, _INTEGERS, np.array([3]), Refuses("not supported by floor_div")),
    _case("FLOOR_MOD", np.int64, _INTEGERS * 10**12, np.array([-7])),
    _case("POW", np.int32, np.arange(-5, 6)[:, None], np.arange(9)[None]),
]
