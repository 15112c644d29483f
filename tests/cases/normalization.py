"""Cases of L2_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case, Close, Differs, Quanta
from .single_op import Kind, single_op


def _l2(x: Kind, y: Kind) -> Case:
    id = f"L2_NORMALIZATION-{np.dtype(x.dtype).name}-{'x'.join(map(str, x.shape))}"

    def oracle(stored: np.ndarray) -> np.ndarray:
        real = x.real(stored)
        norm = np.sqrt(np.sum(np.square(real), -1, keepdims=True))
        return y.stored(real / np.maximum(norm, 1e-6))

    return Case(
        id=id,
        make=lambda: single_op(BuiltinOperator.L2_NORMALIZATION, [x], y, tflite.L2NormOptionsT(), 2),
        inputs=[x.random(id)],
        oracle=oracle,
        closeness=Close() if y.scale is None else Quanta(1),
    )


_SHORT_WINDOW = Differs("LiteRT's reference kernel, alone, leaves the last element out of a window")


def _local_response(shape: tuple[int, ...], radius: int, beta: float) -> Case:
    kind = Kind(shape)
    id = f"LOCAL_RESPONSE_NORMALIZATION-{'x'.join(map(str, shape))}-{radius}-{beta}"
    options = tflite.LocalResponseNormalizationOptionsT(radius=radius, bias=1.5, alpha=0.3, beta=beta)

    def oracle(x: np.ndarray) -> np.ndarray:
        squares = np.square(x.astype(np.float64))
        windows = [squares[..., max(0, c - radius) : c + radius + 1].sum(-1) for c in range(shape[-1])]
        return (x * (1.5 + 0.3 * np.stack(windows, -1)) ** -beta).astype(np.float32)

    return Case(
        id=id,
        make=lambda: single_op(BuiltinOperator.LOCAL_RESPONSE_NORMALIZATION, [kind], kind, options),
        inputs=[kind.random(id)],
        oracle=oracle,
        closeness=Close(rtol=1e-5),
        litert_reference=_SHORT_WINDOW if radius < shape[-1] else None,
    )


CASES = [
    *(_l2(Kind(shape), Kind(shape)) for shape in ((2, 7), (5,), (1, 2, 3, 40))),
    *(_l2(Kind(s, np.int8, 0.1, 7), Kind(s, np.int8, 1 / 128, 0)) for s in ((300, 3), (9, 70), (1,))),
    *(_l2(Kind(s, np.uint8, 0.1, 130), Kind(s, np.uint8, 1 / 128, 128)) for s in ((300, 3), (9, 70))),
    *(_local_response((2, 3, 4, 9), radius, beta) for radius in (0, 2, 20) for beta in (0.5, 0.75, 1.0)),
]
