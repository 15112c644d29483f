"""Cases of aeq.hadamard_rotation."""

from __future__ import annotations

import numpy as np

from .case import EXACT, NO_KERNEL, Case, Close
from .custom_case import custom_model

_NAME = "aeq.hadamard_rotation"


def case(shape: tuple[int, ...], size: int) -> Case:
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    options = {"hadamard_size": size, "random_binary_vector": [1] * size}

    def oracle(x: np.ndarray) -> np.ndarray:
        matrix = np.ones((1, 1))
        while len(matrix) < size:
            matrix = np.block([[matrix, matrix], [matrix, -matrix]])
        return ((x.reshape(-1, size) @ matrix) / np.sqrt(size)).reshape(shape).astype(np.float32)

    return Case(
        id=f"{_NAME}-{'x'.join(map(str, shape))}-{size}",
        make=lambda: custom_model(_NAME, [x], [(shape, np.float32)], options),
        inputs=[x],
        oracle=oracle,
        closeness=Close(rtol=1e-5, atol=1e-5),
        litert_default=EXACT,
        litert_reference=NO_KERNEL,
    )


CASES = [case((3, 16), 4), case((2, 3, 256), 128), case((2, 8), 1)]
