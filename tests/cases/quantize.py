"""Cases of QUANTIZE and DEQUANTIZE."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import EXACT, Case, Close, Closeness, Quanta
from .single_op import Kind, single_op

_OPTIONS = {"QUANTIZE": tflite.QuantizeOptionsT, "DEQUANTIZE": tflite.DequantizeOptionsT}


def conversion_case(
    x: Kind, y: Kind, closeness: Closeness = EXACT, tail: str = "", spread: float = 4.0, num_threads: int = 1
) -> Case:
    """From x to y; an element more than whole vectors where `tail` says so."""
    name = "DEQUANTIZE" if y.dtype is np.float32 else "QUANTIZE"
    names = np.dtype(x.dtype).name, np.dtype(y.dtype).name
    id = f"{name}-{names[0]}-{names[1]}-{'x'.join(map(str, x.shape))}-{x.scale or y.scale}{tail}"
    return Case(
        id=id,
        make=lambda: single_op(
            BuiltinOperator[name], [x], y, _OPTIONS[name](), 3 if names[0] == "float16" else 2
        ),
        inputs=[x.random(id, spread)],
        oracle=lambda stored: y.stored(x.real(stored)),
        closeness=closeness,
        num_threads=num_threads,
    )


def packed_case(type_: tflite.TensorType, zero_point: int, count: int, scale: float = 0.25) -> Case:
    """float32 to a packed type, read back through DEQUANTIZE: not every API shows packed tensors."""
    low = 0 if type_ == tflite.TensorType.UINT4 else -8

    def make() -> bytes:
        model = ModelBuilder()
        x, y = model.tensor((count,)), model.tensor((count,))
        stored = model.tensor((count,), type_, scale=scale, zero_point=zero_point)
        model.op(BuiltinOperator.QUANTIZE, [x], [stored], tflite.QuantizeOptionsT(), 4)
        model.op(BuiltinOperator.DEQUANTIZE, [stored], [y], tflite.DequantizeOptionsT(), 9)
        return model.build([x], [y])

    def oracle(x: np.ndarray) -> np.ndarray:
        rounded = np.copysign(np.floor(np.abs(x / scale) + 0.5), x) + zero_point
        return (scale * (np.clip(rounded, low, low + 15) - zero_point)).astype(np.float32)

    id = f"QUANTIZE-float32-{type_.name}-{zero_point}-{count}-{scale}"
    x = Kind((count,)).random(id, 2.0)
    x[:4] = 0.125, -0.125, 0.375, -0.375
    return Case(
        id=id,
        make=make,
        inputs=[x],
        oracle=oracle,
        closeness=Close(2e-6),
        litert_default=EXACT,
        litert_reference=EXACT,
    )


_SHAPE = (3, 8, 16)
_STORED = ((np.int8, 0.05, 7), (np.uint8, 0.04, 131), (np.int16, 0.001, 0))
_CHANNELS = (0.1, 0.02, 0.3, 0.005)

CASES = [
    *(conversion_case(Kind(_SHAPE), Kind(_SHAPE, *stored), Quanta(1)) for stored in _STORED),
    *(conversion_case(Kind(_SHAPE, *stored), Kind(_SHAPE), Close(1e-7, 0)) for stored in _STORED),
    *(conversion_case(Kind((5, 13), *stored), Kind((5, 13)), Close(1e-7, 0), "-tail") for stored in _STORED),
    conversion_case(Kind((5, 77), np.float16), Kind((5, 77)), EXACT),
    *(
        conversion_case(Kind(_SHAPE, dtype, scale, zero), Kind(_SHAPE, to, 0.06, 3), Quanta(1))
        for dtype, scale, zero in _STORED[:2]
        for to in (np.int8, np.uint8)
    ),
    *(
        conversion_case(
            Kind((n,), dtype, scale, zero), Kind((n,), to, 0.06 + 0.007 * k, 3), Quanta(1), f"-rest{k}"
        )
        for dtype, scale, zero, to in ((np.int8, 0.05, 7, np.uint8), (np.uint8, 0.04, 131, np.int8))
        for n in (1, 15, 47, 255)
        for k in range(3)
    ),
    *(
        conversion_case(Kind(_SHAPE, dtype, scale, zero), Kind(_SHAPE, np.int16, 0.0007, 0), Quanta(1))
        for dtype, scale, zero in _STORED
    ),
    conversion_case(Kind(_SHAPE, np.int16, 0.001, 0), Kind(_SHAPE, np.int8, 0.05, 7), Quanta(1)),
    conversion_case(Kind(_SHAPE, np.int16, 0.001, 0), Kind(_SHAPE, np.int32, 0.0004, 0), Quanta(1)),
    conversion_case(Kind(_SHAPE, np.int32, 0.001, 0), Kind(_SHAPE, np.int8, 0.05, 0), Quanta(1)),
    *(
        conversion_case(Kind(shape, np.int8, _CHANNELS, 0, axis), Kind(shape), Close(1e-7, 0), f"-axis{axis}")
        for axis, shape in ((0, (4, 3, 5)), (2, (3, 5, 4)))
    ),
    conversion_case(Kind((4, 33)), Kind((4, 33), np.int8, _CHANNELS, 0, 0), Quanta(1), "-axis0", spread=0.5),
    *(
        packed_case(type_, zero_point, count, scale)
        for type_, zero_point in ((tflite.TensorType.INT4, 0), (tflite.TensorType.UINT4, 7))
        for count in (24, 15)
        for scale in (0.25, 0.3)
    ),
    conversion_case(Kind((0, 3)), Kind((0, 3), *_STORED[0])),
    conversion_case(Kind((800, 800)), Kind((800, 800), *_STORED[0]), Quanta(1), num_threads=2),
]
