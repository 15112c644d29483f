"""BUCKETIZE: between which of the boundaries each value lies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import TensorType
from .index_vector import check_counts, check_index_type

BUCKETIZE = 147  # the schema's BuiltinOperator

_TYPES = (TensorType.FLOAT32, TensorType.FLOAT64, TensorType.INT32, TensorType.INT64)


def _boundaries(node: Node) -> np.ndarray:
    """The boundaries (float32), which must rise."""
    found = getattr(node.options, "boundaries", None)
    boundaries = np.zeros(0, np.float32) if found is None else np.array(found, np.float32)
    if (boundaries[1:] < boundaries[:-1]).any():
        raise PrepareError(f"BUCKETIZE: boundaries must be sorted, got {boundaries.tolist()}")
    return boundaries


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("BUCKETIZE", node, 1)
    x, y = context.input(node, 0), context.output(node, 0)
    check_index_type("BUCKETIZE", "output", y, (TensorType.INT32,))
    if x.type not in _TYPES:
        raise UnsupportedError(f"BUCKETIZE: float32, float64, int32 and int64 are built, got {x!r}")
    _boundaries(node)
    context.resize_tensor(y, x.shape)
    return None


def invoke(context: Context, node: Node) -> None:
    values = context.input(node, 0).array()
    if values.dtype != np.float64:
        # Integers are compared as float32, as C++ does.
        values = values.astype(np.float32)
    y = context.output(node, 0)
    y.array()[...] = np.searchsorted(_boundaries(node), values, side="right")


REGISTRATIONS = (Registration("BUCKETIZE", prepare, invoke, builtin_code=BUCKETIZE),)
