"""Cases of binary operators: broadcasting, types, fused activations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import EXACT, Case, Close, Closeness, Differs, Quanta
from .single_op import Kind, single_op

NONE, RELU, RELU_N1_TO_1, RELU6 = range(4)
_CLAMPS = {NONE: (-np.inf, np.inf), RELU: (0, np.inf), RELU_N1_TO_1: (-1, 1), RELU6: (0, 6)}

_OPTIONS: dict[str, Callable[..., object]] = {
    "ADD": tflite.AddOptionsT,
    "SUB": tflite.SubOptionsT,
    "MUL": tflite.MulOptionsT,
    "DIV": tflite.DivOptionsT,
}
_FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {
    "ADD": np.add,
    "SUB": np.subtract,
    "MUL": np.multiply,
    "DIV": np.divide,
    "SQUARED_DIFFERENCE": lambda a, b: np.square(a - b),
    "MAXIMUM": np.maximum,
    "MINIMUM": np.minimum,
}


_EXTREMA = ("MAXIMUM", "MINIMUM")


def binary_case(
    name: str,
    a: Kind,
    b: Kind,
    out_scale: tuple[float, int] | None = None,
    *,
    fused: int = NONE,
    closeness: Closeness | Differs | None = None,
    litert: Closeness | None = None,
    num_threads: int = 1,
) -> Case:
    """One operator; out_scale is the scale and zero point of a quantized result."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    out = Kind(shape, a.dtype, *(out_scale or (None,)))
    dtype = np.dtype(a.dtype).name
    id = f"{name}-{dtype}-{'x'.join(map(str, a.shape))}-{'x'.join(map(str, b.shape))}-{fused}-{num_threads}"
    options = _OPTIONS[name](fused_activation_function=fused) if name in _OPTIONS else None
    plain_int16 = dtype == "int16" and out_scale is None
    x, y = a.random(id), b.random(id + "b")
    if name == "DIV":
        y = np.where(y == 0, 1, y).astype(b.dtype)

    def oracle(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        real = np.clip(_FUNCTIONS[name](a.real(x), b.real(y)), *_CLAMPS[fused])
        return out.stored(np.trunc(real) if dtype.startswith("int") and out_scale is None else real)

    if closeness is None:
        rounded = dtype == "float32" and name not in _EXTREMA
        closeness = Quanta(1) if out_scale else Close(rtol=2e-7, atol=1e-7) if rounded else EXACT
    return Case(
        id=id,
        make=lambda: single_op(BuiltinOperator[name], [a, b], out, options, 5 if plain_int16 else 2),
        inputs=[x, y],
        oracle=oracle,
        closeness=closeness,
        litert_default=litert,
        litert_reference=litert,
        num_threads=num_threads,
    )


SHAPES = [
    ((1, 6, 5, 24), (1, 6, 5, 24)),
    ((1, 6, 5, 24), (1, 1, 1, 24)),
    ((1, 6, 5, 1), (1, 6, 5, 17)),
    ((2, 3, 4, 5), (3, 1, 5)),
    ((2, 1, 4, 1), (3, 1, 5)),
    ((1,), (7,)),
    ((), (3, 2)),
    ((1, 2, 1, 2, 1, 3), (2, 1, 2, 1, 2, 1)),
    ((0, 3), (1, 3)),
]
_RANK_8 = ((1, 2, 1, 2, 1, 2, 1, 3), (2, 1, 2, 1, 2, 1, 2, 1))


def _quantized(name: str, dtype: type, a: tuple[int, ...], b: tuple[int, ...], fused: int = NONE) -> Case:
    middle = 0 if dtype is np.int8 else 128
    out_scale = 0.9 if name == "MUL" else 0.15
    return binary_case(
        name,
        Kind(a, dtype, 0.05, middle + 3),
        Kind(b, dtype, 0.11, middle - 21),
        (out_scale, middle - 9),
        fused=fused,
    )


def _selected(name: str, dtype: type, a: tuple[int, ...], b: tuple[int, ...]) -> Case:
    return binary_case(name, Kind(a, dtype, 0.05, 3), Kind(b, dtype, 0.05, 3), (0.05, 3), closeness=EXACT)


def _complex_product(a: tuple[int, ...], b: tuple[int, ...]) -> Case:
    def values(shape: tuple[int, ...], seed: str) -> np.ndarray:
        real, imaginary = (Kind(shape).random(seed + part) for part in ("real", "imaginary"))
        return (real + 1j * imaginary).astype(np.complex64)

    shapes = (a, b, np.broadcast_shapes(a, b))
    return Case(
        id=f"MUL-complex64-{'x'.join(map(str, a))}-{'x'.join(map(str, b))}",
        make=lambda: single_op(
            BuiltinOperator.MUL,
            [Kind(a, np.complex64), Kind(b, np.complex64)],
            Kind(shapes[2], np.complex64),
            tflite.MulOptionsT(),
        ),
        inputs=[values(a, "a"), values(b, "b")],
        oracle=lambda x, y: (x.astype(np.complex128) * y).astype(np.complex64),
        closeness=Close(rtol=1e-5),
        litert_default=EXACT,
        litert_reference=EXACT,
    )


CASES = [
    *(binary_case(name, Kind(a), Kind(b)) for name in _FUNCTIONS for a, b in SHAPES),
    *(
        binary_case(name, Kind(SHAPES[3][0]), Kind(SHAPES[3][1]), fused=fused)
        for name in _OPTIONS
        for fused in (RELU, RELU_N1_TO_1, RELU6)
    ),
    *(
        binary_case(name, Kind(a, dtype), Kind(b, dtype))
        for name in ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM")
        for dtype in (np.int32, np.int64)
        for a, b in SHAPES[1:4]
    ),
    binary_case("DIV", Kind((3, 7), np.int32), Kind((7,), np.int32)),
    *(
        binary_case(
            "DIV",
            Kind((3, 70), dtype, 0.05, zero and zero - 8),
            Kind(shape, dtype, 0.11, low),
            (0.02, zero),
            fused=fused,
            closeness=apart and Differs("LiteRT shifts quotients near 0 by over 31 bits, modulo 32", apart),
        )
        for dtype, zero, low, shape, fused, apart in (
            (np.uint8, 118, 0, (70,), NONE, 137),
            (np.uint8, 118, 0, (3, 70), RELU6, None),
            (np.int8, -5, 0, (70,), NONE, None),
            (np.int8, -5, 0, (3, 70), RELU6, None),
            (np.int16, 0, 0, (70,), NONE, 32768),
            (np.int16, 0, 0, (3, 70), RELU6, 300),
        )
    ),
    *(_complex_product(a, b) for a, b in SHAPES[:4]),
    binary_case("SQUARED_DIFFERENCE", Kind((3, 7), np.int32), Kind((7,), np.int32)),
    *(
        _quantized(name, dtype, a, b)
        for name in ("ADD", "SUB", "MUL")
        for dtype in (np.int8, np.uint8)
        for a, b in SHAPES[:7]
    ),
    *(
        _quantized(name, dtype, (3, 65), (1, 65), fused)
        for name in ("ADD", "SUB", "MUL")
        for dtype in (np.int8, np.uint8)
        for fused in (RELU, RELU6)
    ),
    *(_selected(name, dtype, *SHAPES[2]) for name in ("MAXIMUM", "MINIMUM") for dtype in (np.int8, np.uint8)),
    *(
        binary_case(name, Kind((3, 65), np.int16, 0.001), Kind((1, 65), np.int16, 0.0007), (scale, 0))
        for name, scale in (("ADD", 0.0015), ("SUB", 0.0015), ("MUL", 0.02))
    ),
    binary_case("ADD", Kind((3, 5), np.int16), Kind((5,), np.int16)),
    binary_case(
        "SQUARED_DIFFERENCE", Kind((3, 65), np.int8, 0.05, 3), Kind((1, 65), np.int8, 0.11, -9), (0.9, -20)
    ),
    binary_case("ADD", Kind(_RANK_8[0]), Kind(_RANK_8[1])),
    binary_case("ADD", Kind((512, 1024)), Kind((512, 1024)), num_threads=2),
    binary_case("MUL", Kind((1 << 20,)), Kind((1,)), num_threads=2),
]
