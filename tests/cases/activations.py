"""Cases of activation functions; 8-bit ones cover every stored value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.schema.tflite import BuiltinOperator

from .case import EXACT, NO_KERNEL, Case, Close, Closeness, Quanta
from .single_op import Kind, single_op

_ALPHA = 0.3


def _options(name: str) -> TableT | None:
    return tflite.LeakyReluOptionsT(alpha=_ALPHA) if name == "LEAKY_RELU" else None


# Function and how close the float kernel is: to the exact value, and to LiteRT's.
_FUNCTIONS: dict[str, tuple[Callable[..., np.ndarray], Closeness, Closeness]] = {
    "RELU": (lambda x: np.maximum(x, 0), EXACT, EXACT),
    "RELU6": (lambda x: np.clip(x, 0, 6), EXACT, EXACT),
    "RELU_N1_TO_1": (lambda x: np.clip(x, -1, 1), EXACT, EXACT),
    "RELU_0_TO_1": (lambda x: np.clip(x, 0, 1), EXACT, EXACT),
    "LEAKY_RELU": (lambda x: np.where(x < 0, np.float32(_ALPHA) * x, x), Close(1e-7, 0), EXACT),
    # 2 units in the last place; LiteRT's own kernels are further off for results near 0.
    "LOGISTIC": (lambda x: 1 / (1 + np.exp(-x)), Close(4e-7, 0), Close(1e-6, 1e-7)),
    "TANH": (np.tanh, Close(4e-7, 0), Close(1e-6, 1e-7)),
    "ELU": (lambda x: np.where(x < 0, np.expm1(x), x), Close(3e-7, 0), Close(1e-6, 1e-7)),
    # Near -3 the sum x + 3 cancels, and libraries form the product in another order.
    "HARD_SWISH": (lambda x: x * np.clip(x + 3, 0, 6) / 6, Close(1e-6, 1e-6), Close(1e-6, 1e-6)),
}


def float_case(name: str, shape: tuple[int, ...], num_threads: int = 1) -> Case:
    function, closeness, litert = _FUNCTIONS[name]
    kind = Kind(shape)
    id = f"{name}-{'x'.join(map(str, shape)) or 'scalar'}-{num_threads}"
    return Case(
        id=id,
        make=lambda: single_op(BuiltinOperator[name], [kind], kind, _options(name)),
        inputs=[kind.random(id)],
        oracle=lambda x: function(x.astype(np.float64)).astype(np.float32),
        closeness=closeness,
        litert_default=litert,
        litert_reference=NO_KERNEL if name == "ELU" else litert,
        num_threads=num_threads,
    )


def byte_case(name: str, dtype: type, x_scale: float, y_scale: float, zeros: tuple[int, int]) -> Case:
    """Zero points are counted from the type's lowest value."""
    function = _FUNCTIONS[name][0]
    lowest = int(np.iinfo(dtype).min)
    x = Kind((256,), dtype, x_scale, lowest + zeros[0])
    y = Kind((256,), dtype, y_scale, lowest + zeros[1])
    closeness: Closeness = Quanta(2) if name == "HARD_SWISH" else Quanta(1)  # HARD_SWISH works with 16 bits
    if _FUNCTIONS[name][1] is EXACT and x_scale == y_scale:
        closeness = EXACT
    one_type = name in ("ELU", "HARD_SWISH", "RELU_N1_TO_1", "RELU_0_TO_1")
    return Case(
        id=f"{name}-{np.dtype(dtype).name}-{x_scale}-{y_scale}",
        make=lambda: single_op(BuiltinOperator[name], [x], y, _options(name), 1 if one_type else 2),
        inputs=[np.arange(lowest, lowest + 256).astype(dtype)],
        oracle=lambda stored: y.stored(function(x.real(stored))),
        closeness=closeness,
        litert_reference=NO_KERNEL if name == "ELU" else None,
    )


def int16_case(name: str, x_scale: float, y_scale: float) -> Case:
    """Every 16-bit value."""
    function = _FUNCTIONS[name][0]
    x, y = Kind((1 << 16,), np.int16, x_scale), Kind((1 << 16,), np.int16, y_scale)
    smooth = name in ("LOGISTIC", "TANH")
    return Case(
        id=f"{name}-int16-{x_scale}",
        make=lambda: single_op(BuiltinOperator[name], [x], y, _options(name), 2),
        inputs=[np.arange(-(1 << 15), 1 << 15).astype(np.int16)],
        oracle=lambda stored: y.stored(function(x.real(stored))),
        # Straight lines between samples 1/24 apart, or LiteRT's 16-bit fixed point.
        closeness=Quanta(20) if smooth else Quanta(1),
        litert_default=EXACT,
        litert_reference=EXACT,
    )


_RESULT_SCALES = {"LOGISTIC": (1 / 256, 0), "TANH": (1 / 128, 128)}

CASES = [
    *(float_case(name, shape) for name in _FUNCTIONS for shape in ((2, 5, 33), (1,))),
    float_case("LOGISTIC", (0, 4)),
    *(
        int16_case(name, x_scale, y_scale)
        for name, y_scale in (
            ("LOGISTIC", 1 / 32768),
            ("TANH", 1 / 32768),
            ("RELU", 0.0005),
            ("RELU6", 0.0005),
            ("LEAKY_RELU", 0.0005),
        )
        for x_scale in (0.0003, 0.00021)
    ),
    *(
        int16_case(name, x_scale, 1 / 32768)
        for name in ("LOGISTIC", "TANH")
        for x_scale in (2**-13, 2**-12, 2**-11, 2**-12 * 1.0005, 1 / 48)
    ),
    float_case("HARD_SWISH", (700, 701), num_threads=2),
    *(
        byte_case(
            name,
            dtype,
            x_scale,
            _RESULT_SCALES.get(name, (y_scale, 0))[0],
            (x_zero, _RESULT_SCALES.get(name, (0, 100))[1]),
        )
        for name in _FUNCTIONS
        for dtype in (np.int8, np.uint8)
        for x_scale, y_scale, x_zero in ((0.05, 0.05, 100), (0.0625, 0.125, 131), (0.021, 0.017, 77))
        if not (name == "ELU" and dtype is np.uint8)
    ),
]
