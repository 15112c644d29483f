"""Cases of PRELU: how the slope broadcasts, and types."""

from __future__ import annotations

import numpy as np
from numlite.schema.tflite import BuiltinOperator

from .case import EXACT, Case, Differs, Quanta
from .single_op import Kind, single_op


def _case(x: Kind, slope: Kind, y: Kind, constant: bool = False, litert: Differs | None = None) -> Case:
    """The slope is an input of the model where it is not constant."""
    names = [np.dtype(kind.dtype).name for kind in (x, slope)]
    id = f"PRELU-{'-'.join(dict.fromkeys(names))}-{'x'.join(map(str, slope.shape))}"
    slopes = slope.random(f"{id}s", 0.5)

    def oracle(a: np.ndarray, b: np.ndarray = slopes) -> np.ndarray:
        real = x.real(a)
        return y.stored(np.where(real >= 0, real, real * slope.real(b)))

    return Case(
        id=id,
        make=lambda: single_op(
            BuiltinOperator.PRELU, [x, slope], y, constants={1: slopes} if constant else None
        ),
        inputs=[x.random(id)] if constant else [x.random(id), slopes],
        litert_default=litert,
        litert_reference=litert,
        oracle=oracle,
        closeness=EXACT if y.scale is None else Quanta(1),
    )


_SHAPE = (2, 3, 5, 37)

CASES = [
    *(_case(Kind(_SHAPE), Kind(s), Kind(_SHAPE)) for s in ((1, 1, 37), (3, 5, 37), (1,), (3, 1, 1))),
    *(
        _case(Kind(_SHAPE, np.int8, 0.05, 3), Kind(s, np.int8, 0.01, -4), Kind(_SHAPE, np.int8, 0.06, -9))
        for s in ((1, 1, 37), (3, 1, 1))
    ),
    _case(
        Kind(_SHAPE, np.uint8, 0.05, 131),
        Kind((1, 1, 37), np.uint8, 0.01, 124),
        Kind(_SHAPE, np.uint8, 0.06, 119),
    ),
    *(
        _case(
            Kind(_SHAPE, np.int16, 0.001),
            Kind(s, np.int8, 0.01),
            Kind(_SHAPE, np.int16, 0.0012),
            constant=True,
        )
        for s in ((1, 1, 37), (3, 1, 1), _SHAPE)
    ),
    _case(
        Kind(_SHAPE, np.int16, 0.001),
        Kind((3, 1, 1), np.int16, 0.0005),
        Kind(_SHAPE, np.int16, 0.0012),
        litert=Differs("LiteRT reads int16 slopes as int8"),
    ),
]
