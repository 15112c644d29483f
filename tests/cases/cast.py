"""Cases of CAST and BITCAST."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator, TensorType

from ..model_builder import ModelBuilder
from .case import Case, Refuses
from .movement_case import movement_case

_NO_FLOAT8 = Refuses("unsupported by op Cast")
_TYPES = (
    np.float16,
    np.float32,
    np.float64,
    np.int8,
    np.uint8,
    np.int16,
    np.uint16,
    np.int32,
    np.uint32,
    np.int64,
    np.bool_,
    np.complex64,
)
_EDGES = (
    0,
    -0.0,
    0.5,
    -0.5,
    1.5,
    -1.5,
    127.5,
    128,
    -129,
    255.9,
    256,
    32768,
    -32769,
    65504,
    2**31,
    -(2**31) - 1,
)
_HUGE = (2**32, 2.0**63, -(2.0**63), 1e30, np.nan, np.inf, -np.inf)


def edge_values(dtype: type) -> np.ndarray:
    """Values of a type at which casts turn."""
    kind = np.dtype(dtype).kind
    with np.errstate(all="ignore"):
        if kind == "b":
            return np.array([False, True, True])
        if kind in "fc":
            return np.array([*_EDGES, *_HUGE]).astype(dtype)
    limits = np.iinfo(dtype)
    return np.array([0, 1, 5, 100, limits.max // 3, limits.max - 1, limits.max, limits.min], dtype)


def cast_oracle(x: np.ndarray, target: np.dtype) -> np.ndarray:
    """Floats saturate and are cut, NaN is the highest value, integers wrap."""
    if x.dtype.kind == "c" and target.kind != "c":
        x = x.real
    if target.kind == "b":
        return x != 0
    with np.errstate(all="ignore"):
        if x.dtype.kind == "f" and target.kind in "iu":
            limits = np.iinfo(target)
            exact = [limits.max if v != v else max(limits.min, min(limits.max, v)) for v in x.tolist()]
            return np.array([int(v) for v in exact], target)
        return (x.astype(np.float32) if target == np.float16 else x).astype(target)


def cast_case(source: type, target: type) -> Case:
    kind = np.dtype(target)
    return movement_case(
        f"CAST-{np.dtype(source).name}-{kind.name}",
        BuiltinOperator.CAST,
        [edge_values(source)],
        lambda x: cast_oracle(x, kind),
    )


def there_and_back_case(between: TensorType, oracle: np.ndarray, litert: Refuses | None = None) -> Case:
    """float32 to a type that NumPy lacks, and back."""
    x = edge_values(np.float32)

    def make() -> bytes:
        model = ModelBuilder()
        source, middle, target = (model.tensor(x.shape, t) for t in (np.float32, between, np.float32))
        model.op(BuiltinOperator.CAST, [source], [middle], version=9)
        model.op(BuiltinOperator.CAST, [middle], [target], version=9)
        return model.build([source], [target])

    return Case(
        id=f"CAST-float32-{between.name}-float32",
        make=make,
        inputs=[x],
        oracle=lambda x: oracle,
        litert_default=litert,
        litert_reference=litert,
    )


def _bfloat16(x: np.ndarray) -> np.ndarray:
    """The nearest values of 8 significant bits, even ones of two."""
    mantissa, exponent = np.frexp(x.astype(np.float64))
    return np.where(np.isfinite(x), np.ldexp(np.rint(mantissa * 256), exponent - 8), x).astype(np.float32)


def _float8(x: np.ndarray, bits: int, least: int, greatest: float) -> np.ndarray:
    """The nearest values of a few significant bits, even ones of two, in steps of at least 2**least."""
    exponent = np.maximum(np.frexp(np.where(np.isfinite(x), x, 0).astype(np.float64))[1] - bits, least)
    nearest = np.ldexp(np.rint(np.ldexp(x.astype(np.float64), -exponent)), exponent)
    beyond = np.nan if greatest == 448 else np.copysign(np.inf, x)
    return np.where(np.abs(nearest) > greatest, beyond, nearest).astype(np.float32)


def _clipped(low: int, high: int) -> np.ndarray:
    x = edge_values(np.float32)
    return np.trunc(np.where(np.isnan(x), high, np.clip(x, low, high))).astype(np.float32) + np.float32(0)


def bitcast_case(source: type, target: type, shape: tuple[int, ...]) -> Case:
    def oracle(x: np.ndarray) -> np.ndarray:
        y = x.view(target)
        before, after = x.itemsize, y.itemsize
        if before > after:
            return y.reshape(*x.shape, before // after)
        return y.reshape(x.shape[:-1]) if before < after else y

    return movement_case(
        f"BITCAST-{np.dtype(source).name}-{np.dtype(target).name}",
        BuiltinOperator.BITCAST,
        [np.arange(1, 1 + int(np.prod(shape))).astype(source).reshape(shape)],
        oracle,
        tflite.BitcastOptionsT(),
    )


CASES = [
    *(cast_case(source, target) for source in _TYPES for target in _TYPES),
    there_and_back_case(TensorType.BFLOAT16, _bfloat16(edge_values(np.float32))),
    there_and_back_case(TensorType.FLOAT8_E4M3FN, _float8(edge_values(np.float32), 4, -9, 448), _NO_FLOAT8),
    there_and_back_case(TensorType.FLOAT8_E5M2, _float8(edge_values(np.float32), 3, -16, 57344), _NO_FLOAT8),
    there_and_back_case(TensorType.INT4, _clipped(-8, 7)),
    there_and_back_case(TensorType.UINT4, _clipped(0, 15)),
    there_and_back_case(TensorType.INT2, _clipped(-2, 1)),
    bitcast_case(np.float32, np.int32, (2, 3)),
    bitcast_case(np.int32, np.uint8, (2, 3)),
    bitcast_case(np.int16, np.float32, (2, 3, 2)),
]
