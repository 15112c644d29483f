"""QuantizedBatchNormWithGlobalNormalization."""

from __future__ import annotations

import numpy as np

from ...schema import graph_def
from .quantized_range import checked_range, floats, limits, number, quantized
from .registry import kernel
from .status import InvalidArgumentError

_BYTES = frozenset((graph_def.DT_QUINT8,))
_WIDE = frozenset((graph_def.DT_QINT32,))
# The result stands for numbers from -2^20 to 2^20, whatever the inputs' ranges.
_REACH = float(1 << 20)


def quantized_batch_norm(
    x: np.ndarray,
    min_x: np.ndarray,
    max_x: np.ndarray,
    mean: np.ndarray,
    min_mean: np.ndarray,
    max_mean: np.ndarray,
    variance: np.ndarray,
    min_variance: np.ndarray,
    max_variance: np.ndarray,
    beta: np.ndarray,
    min_beta: np.ndarray,
    max_beta: np.ndarray,
    gamma: np.ndarray,
    min_gamma: np.ndarray,
    max_gamma: np.ndarray,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(x - mean) / sqrt(variance + epsilon) [gamma] + beta, by the last of x's 4 axes, and its range.

    Source: TensorFlow tensorflow/core/kernels/quantized_batch_norm_op.cc, FixedPointBatchNorm.
    """
    op = "QuantizedBatchNormWithGlobalNormalization"
    vectors = (
        (mean, min_mean, max_mean),
        (variance, min_variance, max_variance),
        (beta, min_beta, max_beta),
        (gamma, min_gamma, max_gamma),
    )
    if x.ndim != 4 or any(vector.shape != x.shape[-1:] for vector, _, _ in vectors):
        shapes = [list(vector.shape) for vector, _, _ in vectors]
        message = "t must have 4 dimensions and m, v, beta and gamma an element for each channel"
        raise InvalidArgumentError(f"{op}: {message}, got {list(x.shape)} and {shapes}")
    m, v, b, g = (floats(vector, *checked_range(op, low, high)) for vector, low, high in vectors)
    scale = 1 / np.sqrt(v + np.float32(variance_epsilon))
    if scale_after_normalization:
        scale = scale * g
    wide = np.dtype(np.int32)
    factor, offset, values = (
        quantized(value, -_REACH, _REACH, wide).astype(np.int64)
        for value in (scale, b - m * scale, floats(x, *checked_range(op, min_x, max_x)))
    )
    one = int(quantized(1.0, -_REACH, _REACH, wide))
    # What is less than a step is cut off, as C divides.
    found = np.trunc(values * factor / one).astype(np.int64) + offset
    return np.clip(found, *limits(wide)).astype(wide), number(-_REACH), number(_REACH)


REGISTRATIONS = (
    kernel("QuantizedBatchNormWithGlobalNormalization", quantized_batch_norm, Tinput=_BYTES, out_type=_WIDE),
)
