"""Cases of SOFTMAX and LOG_SOFTMAX."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case, Close, Closeness, Quanta
from .single_op import Kind, single_op


def _softmax(x: np.ndarray, beta: float) -> np.ndarray:
    exponentials = np.exp(beta * (x - x.max(axis=-1, keepdims=True)))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def softmax_case(
    x: Kind, beta: float = 1.0, reference: Closeness | None = None, out: Kind | None = None
) -> Case:
    """out is the result's kind, where it is not what the operator has for x."""
    dtype = np.dtype(x.dtype)
    id = f"SOFTMAX-{dtype.name}-{'x'.join(map(str, x.shape))}-{x.scale}-{beta}"
    if out is not None:
        id += f"-{np.dtype(out.dtype).name}-{out.scale}"
    quantization = (1 / 256, int(np.iinfo(dtype).min)) if x.scale else (None, 0)
    if x.dtype is np.int16:
        quantization = (1 / 32768, 0)
    y = out or Kind(x.shape, x.dtype, *quantization)
    return Case(
        id=id,
        make=lambda: single_op(
            BuiltinOperator.SOFTMAX, [x], y, tflite.SoftmaxOptionsT(beta=beta), 2 if x.scale else 1
        ),
        inputs=[x.random(id)],
        oracle=lambda stored: y.stored(_softmax(x.real(stored), beta)),
        # Sums are taken in another order; exponentials are within 1 unit in the last place.
        # int16 interpolates in tables.
        closeness=Quanta(16 if y.dtype is np.int16 else 1) if x.scale else Close(rtol=2e-6, atol=1e-12),
        litert_reference=reference,
    )


_FAR = Quanta(6)  # the last results before the lowest are the lowest in the reference


def log_softmax_case(shape: tuple[int, ...], dtype: type = np.float32, scale: float = 0.1) -> Case:
    """A scale of a little more than a power of two makes the reference leave out far elements."""
    x = y = Kind(shape)
    if dtype is not np.float32:
        x, y = Kind(shape, dtype, scale, 3), Kind(shape, dtype, 1 / 16, int(np.iinfo(dtype).max))
    id = f"LOG_SOFTMAX-{np.dtype(dtype).name}-{'x'.join(map(str, shape))}-{scale}"
    return Case(
        id=id,
        make=lambda: single_op(
            BuiltinOperator.LOG_SOFTMAX, [x], y, tflite.LogSoftmaxOptionsT(), 2 if dtype is np.int8 else 1
        ),
        inputs=[x.random(id)],
        oracle=lambda stored: y.stored(np.log(_softmax(x.real(stored), 1.0))),
        closeness=_FAR if scale > 0.2 else Quanta(1) if x.scale else Close(rtol=1e-6, atol=1e-6),
    )


CASES = [
    *(softmax_case(Kind(shape), beta) for shape in ((1, 1001), (2, 3, 5), (7,)) for beta in (1.0, 0.5)),
    *(
        softmax_case(Kind(shape, dtype, scale, 3))
        for dtype in (np.int8, np.uint8)
        for scale in (0.01, 0.1, 0.6)
        for shape in ((1, 12), (2, 3, 5), (1, 1001), (37, 5, 197))
    ),
    *(
        softmax_case(Kind(shape, dtype, scale, 3), beta, out=Kind(shape, np.int16, 1 / 65536, -32768))
        for dtype in (np.int8, np.uint8)
        for scale, beta in ((0.02, 1.0), (0.1, 1.0), (0.6, 0.5))
        for shape in ((1, 12), (2, 3, 5), (70, 31))
    ),
    # LiteRT takes the scale as it is, not as 1/256.
    *(
        softmax_case(Kind((90, 7), np.int8, 0.07), out=Kind((90, 7), np.int8, s, -128))
        for s in (0.003906, 0.003909)
    ),
    *(softmax_case(Kind(shape, np.int16, 0.0004)) for shape in ((1, 12), (2, 3, 5), (1, 300))),
    *(log_softmax_case((8, 40), dtype, 0.2503) for dtype in (np.int8, np.uint8)),
    *(log_softmax_case((2, 40), dtype) for dtype in (np.int8, np.uint8)),
    *(log_softmax_case(shape) for shape in ((1, 1001), (2, 3, 5))),
    softmax_case(Kind((0, 5))),
]
