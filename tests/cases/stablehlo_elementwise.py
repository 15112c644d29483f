"""Cases of StableHLO's elementwise operators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import EXACT, NO_KERNEL, Case, Close, Differs, Refuses
from .single_op import Kind, single_op

_SHIFTED_BY_LITERT = (np.int8, np.int16, np.int32)
_PROCESSOR = Differs("LiteRT leaves such shifts to the compiler and the processor")
_NO_TYPE = Refuses("Didn't find op|currently not supported")


def _truncated(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.trunc(x / y) if x.dtype.kind in "iu" else x / y


_BINARY: dict[str, Callable[..., np.ndarray]] = {
    "ADD": np.add,
    "SUBTRACT": np.subtract,
    "MULTIPLY": np.multiply,
    "DIVIDE": _truncated,
    "MAXIMUM": np.maximum,
    "MINIMUM": np.minimum,
    "POWER": np.power,
    "REMAINDER": np.fmod,
    "AND": np.bitwise_and,
    "OR": np.bitwise_or,
    "SHIFT_LEFT": lambda x, y: x * 2 ** y.astype(np.int64),
}
_UNARY: dict[str, Callable[..., np.ndarray]] = {
    "LOGISTIC": lambda x: 1 / (1 + np.exp(-x)),
    "TANH": np.tanh,
    "COSINE": np.cos,
    "EXPONENTIAL": np.exp,
    "LOG": np.log,
    "RSQRT": lambda x: 1 / np.sqrt(x),
    "CBRT": np.cbrt,
    "FLOOR": np.floor,
    "NEGATE": np.negative,
    "ABS": np.abs,
}
_COMPARISONS = (np.equal, np.not_equal, np.greater_equal, np.greater, np.less_equal, np.less)
_RUN_BY_LITERT = ("ADD", "MULTIPLY", "MAXIMUM", "MINIMUM", "AND", "SHIFT_LEFT")
_INTEGERS = (np.int8, np.uint8, np.int16, np.int32, np.int64)


def _binary(name: str, dtype: type) -> Case:
    kind = Kind((3, 41), dtype)
    id = f"STABLEHLO_{name}-{np.dtype(dtype).name}"
    x, y = kind.random(id), kind.random(f"{id}2")
    if name in ("DIVIDE", "REMAINDER", "POWER") and np.dtype(dtype).kind in "iu":
        y = (y % 5 + 1).astype(dtype)
    if name == "SHIFT_LEFT":
        y = (y % 7).astype(dtype)
    if name == "POWER":
        x = np.abs(x)
    options = tflite.StablehloShiftLeftOptionsT() if name == "SHIFT_LEFT" else None
    runs = name in _RUN_BY_LITERT and not (name == "SHIFT_LEFT" and dtype not in _SHIFTED_BY_LITERT)
    referenced = runs and name not in ("AND", "SHIFT_LEFT")
    with np.errstate(all="ignore"):
        expected = np.asarray(_BINARY[name](x, y)).astype(dtype)
    return Case(
        id=id,
        make=lambda: single_op(BuiltinOperator[f"STABLEHLO_{name}"], [kind, kind], kind, options),
        inputs=[x, y],
        oracle=lambda x, y: expected,
        closeness=Close(atol=0) if name == "POWER" and np.dtype(dtype).kind == "f" else EXACT,
        litert_default=None if runs else _NO_TYPE,
        litert_reference=None if referenced else NO_KERNEL,
    )


def _beyond(dtype: type) -> Case:
    """Shifts by less than 0 and by more than there are bits."""
    counts = np.array([0, 1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, -1, -7, -64], np.int64).astype(dtype)
    kind = Kind(counts.shape, dtype)
    bits = 8 * np.dtype(dtype).itemsize

    def oracle(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        shifted = [int(a) << int(b) if 0 <= b < bits else 0 for a, b in zip(x, y, strict=True)]
        return np.array([value & (2**bits - 1) for value in shifted], np.uint64).astype(dtype)

    return Case(
        id=f"STABLEHLO_SHIFT_LEFT-beyond-{np.dtype(dtype).name}",
        make=lambda: single_op(
            BuiltinOperator.STABLEHLO_SHIFT_LEFT, [kind, kind], kind, tflite.StablehloShiftLeftOptionsT()
        ),
        inputs=[np.full(counts.shape, 3, dtype), counts],
        oracle=oracle,
        litert_default=_PROCESSOR if dtype in _SHIFTED_BY_LITERT else _NO_TYPE,
        litert_reference=NO_KERNEL,
    )


_EXACT = ("ABS", "NEGATE", "FLOOR")


def _unary(name: str, dtype: type) -> Case:
    kind = Kind((3, 41), dtype)
    id = f"STABLEHLO_{name}-{np.dtype(dtype).name}"
    x = kind.random(id)
    if name in ("LOG", "RSQRT"):
        x = (np.abs(x) + 0.1).astype(dtype)
    return Case(
        id=id,
        make=lambda: single_op(BuiltinOperator[f"STABLEHLO_{name}"], [kind], kind),
        inputs=[x],
        oracle=lambda x: _UNARY[name](x).astype(dtype),
        closeness=EXACT if name in _EXACT else Close(rtol=2e-3 if dtype is np.float16 else 1e-6),
        litert_default=NO_KERNEL,
        litert_reference=NO_KERNEL,
    )


def _convert(of: type, to: type) -> Case:
    kind = Kind((3, 41), of)
    id = f"STABLEHLO_CONVERT-{np.dtype(of).name}-{np.dtype(to).name}"
    return Case(
        id=id,
        make=lambda: single_op(BuiltinOperator.STABLEHLO_CONVERT, [kind], Kind(kind.shape, to)),
        inputs=[kind.random(id)],
        oracle=lambda x: x.astype(to),
        litert_default=NO_KERNEL,
        litert_reference=NO_KERNEL,
    )


def _compare(direction: int, dtype: type) -> Case:
    kind = Kind((7, 9), dtype)
    id = f"STABLEHLO_COMPARE-{direction}-{np.dtype(dtype).name}"
    options = tflite.StablehloCompareOptionsT(comparison_direction=direction)
    return Case(
        id=id,
        make=lambda: single_op(
            BuiltinOperator.STABLEHLO_COMPARE, [kind, kind], Kind(kind.shape, np.bool_), options
        ),
        inputs=[np.rint(kind.random(f"{id}{i}", 1) % 4).astype(dtype) for i in range(2)],
        oracle=_COMPARISONS[direction],
        litert_default=NO_KERNEL,
        litert_reference=NO_KERNEL,
    )


def _ternary(name: str, kinds: list[Kind], oracle: Callable[..., np.ndarray]) -> Case:
    shapes = "-".join("x".join(map(str, kind.shape)) for kind in kinds)
    id = f"STABLEHLO_{name}-{np.dtype(kinds[1].dtype).name}-{shapes}"
    inputs = [kind.random(f"{id}{i}") for i, kind in enumerate(kinds)]
    if name == "CLAMP":
        inputs[2] = np.maximum(inputs[0], inputs[2])
    return Case(
        id=id,
        make=lambda: single_op(BuiltinOperator[f"STABLEHLO_{name}"], kinds, kinds[1]),
        inputs=inputs,
        oracle=oracle,
        litert_default=NO_KERNEL,
        litert_reference=NO_KERNEL,
    )


def _clamp(low: np.ndarray, x: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.minimum(np.maximum(x, low), high)


CASES = [
    *(
        _binary(name, dtype)
        for name in ("ADD", "MULTIPLY", "MAXIMUM", "MINIMUM")
        for dtype in (np.float16, np.float32, np.float64, np.bool_, *_INTEGERS)
    ),
    *(
        _binary(name, dtype)
        for name in ("SUBTRACT", "DIVIDE", "POWER", "REMAINDER")
        for dtype in (np.float16, np.float32, np.int8, np.int32)
    ),
    *(_binary(name, dtype) for name in ("AND", "OR") for dtype in (np.bool_, *_INTEGERS)),
    *(_binary("SHIFT_LEFT", dtype) for dtype in _INTEGERS),
    *(_beyond(dtype) for dtype in (np.int8, np.int16, np.int32, np.int64)),
    *(_unary(name, dtype) for name in _UNARY for dtype in (np.float16, np.float32, np.float64)),
    *(_unary(name, np.int32) for name in ("NEGATE", "ABS")),
    *(
        _convert(of, to)
        for of, to in (
            (np.float32, np.int32),
            (np.int8, np.float16),
            (np.int64, np.bool_),
            (np.bool_, np.int16),
        )
    ),
    *(_compare(direction, dtype) for direction in range(6) for dtype in (np.float32, np.int8)),
    *(
        _ternary("SELECT", [Kind(shape, np.bool_), Kind((3, 41), dtype), Kind((3, 41), dtype)], np.where)
        for shape in ((), (3, 41))
        for dtype in (np.float32, np.int8)
    ),
    *(
        _ternary("CLAMP", [Kind(shape, dtype), Kind((3, 41), dtype), Kind((), dtype)], _clamp)
        for shape in ((), (3, 41))
        for dtype in (np.float32, np.int8, np.float64)
    ),
]
