"""Cases of SIGN, GELU, FAKE_QUANT, ADD_N and the parts of complex numbers."""

from __future__ import annotations

import math

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import EXACT, Case, Close, Closeness, Quanta
from .single_op import Kind, single_op

_SPECIAL = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 0.5, -1.0, 7.0, -2.5, 1e-30], np.float32)


def _sign(dtype: type, x: np.ndarray) -> Case:
    kind = Kind(x.shape, dtype)
    return Case(
        id=f"SIGN-{np.dtype(dtype).name}",
        make=lambda: single_op(BuiltinOperator.SIGN, [kind], kind),
        inputs=[x.astype(dtype)],
        oracle=lambda x: np.where(x > 0, 1, np.where(x < 0, -1, np.where(x == 0, 0, x))).astype(dtype),
    )


def _gelu_of(x: np.ndarray, approximate: bool) -> np.ndarray:
    if approximate:
        return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def _gelu(x: Kind, y: Kind, approximate: bool, closeness: Closeness) -> Case:
    id = f"GELU-{np.dtype(x.dtype).name}-{approximate}"
    options = tflite.GeluOptionsT(approximate=approximate)
    return Case(
        id=id,
        make=lambda: single_op(BuiltinOperator.GELU, [x], y, options, 2),
        inputs=[x.random(id, 2)],
        oracle=lambda stored: y.stored(_gelu_of(x.real(stored), approximate)),
        closeness=closeness,
    )


def _fake_quant(low: float, high: float, bits: int) -> Case:
    kind = Kind((3, 50))
    id = f"FAKE_QUANT-{low}-{high}-{bits}"
    options = tflite.FakeQuantOptionsT(min=low, max=high, num_bits=bits)

    def oracle(x: np.ndarray) -> np.ndarray:
        scale = (high - low) / (2**bits - 1)
        zero = np.clip(np.round(-low / scale), 0, 2**bits - 1)
        level = np.clip(np.round(x / scale) + zero, 0, 2**bits - 1)
        return ((level - zero) * scale).astype(np.float32)

    return Case(
        id=id,
        make=lambda: single_op(BuiltinOperator.FAKE_QUANT, [kind], kind, options, 2),
        inputs=[kind.random(id, 1)],
        oracle=oracle,
        closeness=Close(atol=1e-6),
        litert_default=EXACT,
        litert_reference=EXACT,
    )


def _add_n(dtype: type, count: int) -> Case:
    kind = Kind((3, 7), dtype)
    id = f"ADD_N-{np.dtype(dtype).name}-{count}"
    return Case(
        id=id,
        make=lambda: single_op(BuiltinOperator.ADD_N, [kind] * count, kind),
        inputs=[kind.random(f"{id}{i}") for i in range(count)],
        oracle=lambda *xs: sum(xs[1:], xs[0]),
    )


def _complex(name: str) -> Case:
    x = (_SPECIAL[:, None] + 1j * np.nan_to_num(_SPECIAL)[None]).astype(np.complex64)
    x = np.where(np.isfinite(x), x, 0).astype(np.complex64)
    functions = {"REAL": np.real, "IMAG": np.imag, "COMPLEX_ABS": lambda x: np.hypot(x.real, x.imag)}
    return Case(
        id=f"{name}-complex64",
        make=lambda: single_op(BuiltinOperator[name], [Kind(x.shape, np.complex64)], Kind(x.shape)),
        inputs=[x],
        oracle=functions[name],
    )


CASES = [
    _sign(np.float32, _SPECIAL),
    _sign(np.float64, _SPECIAL),
    _sign(np.int32, np.arange(-9, 10)),
    *(_gelu(Kind((3, 37)), Kind((3, 37)), a, Close(rtol=1e-6, atol=5e-7)) for a in (False, True)),
    *(
        _gelu(Kind((256,), np.int8, 0.03, 5), Kind((256,), np.int8, 0.02, -30), a, Quanta(1))
        for a in (False, True)
    ),
    *(
        _gelu(Kind((256,), np.uint8, 0.03, 133), Kind((256,), np.uint8, 0.02, 98), a, Quanta(1))
        for a in (False, True)
    ),
    _gelu(Kind((999,), np.int16, 0.003), Kind((999,), np.int16, 0.002), False, Quanta(8)),
    *(_fake_quant(*case) for case in ((-1.0, 1.2, 8), (0.5, 2.0, 8), (-6.0, -0.5, 4), (0.0, 1.0, 16))),
    *(_add_n(dtype, count) for dtype in (np.float32, np.int32) for count in (2, 5)),
    *(_complex(name) for name in ("REAL", "IMAG", "COMPLEX_ABS")),
]
