"""Cases of operators that work on each element by itself."""

from __future__ import annotations

import numpy as np
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder
from .case import Case, Close

RANDOM = np.random.default_rng(1)


def unary(code: BuiltinOperator, shape: tuple[int, ...]) -> bytes:
    """One operator on a float32 tensor."""
    model = ModelBuilder()
    x, y = model.tensor(shape), model.tensor(shape)
    model.op(code, [x], [y])
    return model.build([x], [y])


CASES = [
    Case(
        id="sin-float",
        make=lambda: unary(BuiltinOperator.SIN, (2, 3, 5)),
        inputs=[RANDOM.uniform(-10, 10, (2, 3, 5)).astype(np.float32)],
        oracle=np.sin,
        # Libraries' sines differ in the last bit.
        closeness=Close(rtol=2e-7, atol=2e-7),
    ),
]
