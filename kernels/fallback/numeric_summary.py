"""What debuggers ask of a tensor: its size, and how many of its elements are no numbers."""

from __future__ import annotations

import numpy as np

from ...schema import graph_def
from .attributes import DataType
from .dtypes import BOOL, REAL, numpy_dtype
from .registry import kernel
from .status import InvalidArgumentError

_CURT, _CONCISE, _FULL, _SHAPE, _SLOTS = 2, 3, 4, 5, 8
_NO_DEVICE = -1
_MOST_AXES = 6


def debug_numeric_summary_v2(
    x: np.ndarray, *, T: DataType, tensor_debug_mode: int, tensor_id: int, output_dtype: DataType
) -> np.ndarray:
    """A vector that begins with the tensor's number; what follows hangs on the mode.

    2: whether there is an infinity or NaN. 3: size, and how many are -inf, inf and NaN. 4: device, type,
    rank, size, those three, and how many others are negative, 0 and positive. 5: type, rank, size and the
    last six sizes. 8, without the number: -inf, inf and NaN, or 0 for each that there is not.
    """
    low, high, none = x == -np.inf, x == np.inf, np.isnan(x)
    kinds = [int(np.count_nonzero(found)) for found in (low, high, none)]
    if tensor_debug_mode == _CURT:
        summary = [tensor_id, int(any(kinds))]
    elif tensor_debug_mode == _CONCISE:
        summary = [tensor_id, x.size, *kinds]
    elif tensor_debug_mode == _FULL:
        signs = [int(np.count_nonzero(found)) for found in ((x < 0) & ~low, x == 0, (x > 0) & ~high)]
        summary = [tensor_id, _NO_DEVICE, int(T), x.ndim, x.size, *kinds, *signs]
    elif tensor_debug_mode == _SHAPE:
        sizes = [*x.shape, *[0] * _MOST_AXES][:_MOST_AXES] if x.ndim < _MOST_AXES else x.shape[-_MOST_AXES:]
        summary = [tensor_id, int(T), x.ndim, x.size, *sizes]
    elif tensor_debug_mode == _SLOTS:
        slots = (-np.inf, np.inf, np.nan)
        return np.array([s if n else 0 for s, n in zip(slots, kinds, strict=True)], numpy_dtype(output_dtype))
    else:
        raise InvalidArgumentError(f"tensor_debug_mode must be 2, 3, 4, 5 or 8, got {tensor_debug_mode}")
    return np.array(summary, numpy_dtype(output_dtype))


_WIDE = frozenset((graph_def.DT_FLOAT, graph_def.DT_DOUBLE))

REGISTRATIONS = (
    kernel("DebugNumericSummaryV2", debug_numeric_summary_v2, T=REAL | BOOL, output_dtype=_WIDE),
)
