"""Cases of NumericVerify."""

from __future__ import annotations

import numpy as np

from .case import Case, Close
from .custom_case import custom_model


def case(dtype: type, checks: bool, per_channel: bool = False) -> Case:
    random = np.random.default_rng(3)
    scales = np.array([0.25, 0.5, 0.125], np.float32) if per_channel else np.array([0.25], np.float32)
    zero_point = 0 if per_channel or dtype is np.int16 else 5
    if dtype is np.float16:
        x = random.standard_normal((4, 3)).astype(dtype)
    else:
        low = max(np.iinfo(dtype).min, -100)
        x = random.integers(low, 100, (4, 3)).astype(dtype)
    quantization = {"scale": scales, "zero_point": zero_point, "quantized_dimension": 1}
    real = x.astype(np.float32)
    if dtype is not np.float16:
        real = (real - zero_point) * scales
    reference = (real + random.uniform(-0.1, 0.1, x.shape)).astype(np.float32)
    options = {"tolerance": 5.0, "log_if_failed": checks}

    def make() -> bytes:
        given = [] if dtype is np.float16 else [quantization]
        return custom_model(
            "NumericVerify", [x, reference], [(x.shape, np.float32)], options, quantization=given
        )

    return Case(
        id=f"NumericVerify-{dtype.__name__}-{checks}{'-channels' * per_channel}",
        make=make,
        inputs=[x, reference],
        oracle=lambda x, reference: real - reference,
        closeness=Close(rtol=1e-6, atol=1e-6),
    )


CASES = [
    case(np.int8, True),
    case(np.uint8, False),
    case(np.int16, True),
    case(np.float16, False),
    case(np.int8, False, per_channel=True),
]
