"""BUCKETIZE: between which of the boundaries each value lies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, argument_block, chunk_count
from ..lite.node import Node
from ..lite.tensor import TensorType
from .index_vector import check_counts, check_index_type
from .operators import check_type, registration

# Integers are compared as float32, as C++ does.
_SUFFIXES = {
    TensorType.FLOAT32: "f32",
    TensorType.FLOAT64: "f64",
    TensorType.INT32: "i32",
    TensorType.INT64: "i64",
}

BUCKETIZE_ARGS = argument_block("x y size boundaries count")


def _boundaries(node: Node) -> np.ndarray:
    """The boundaries (float32), which must rise."""
    found = getattr(node.options, "boundaries", None)
    boundaries = np.zeros(0, np.float32) if found is None else np.array(found, np.float32)
    if (boundaries[1:] < boundaries[:-1]).any():
        raise PrepareError(f"BUCKETIZE: boundaries must be sorted, got {boundaries.tolist()}")
    return boundaries


def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
    check_counts("BUCKETIZE", node, 1)
    x, y = context.input(node, 0), context.output(node, 0)
    check_index_type("BUCKETIZE", "output", y, (TensorType.INT32,))
    check_type("BUCKETIZE", x)
    boundaries = _boundaries(node)
    context.resize_tensor(y, x.shape)
    args = np.zeros(1, BUCKETIZE_ARGS)
    args["size"], args["count"], args["boundaries"] = x.size, boundaries.size, boundaries.ctypes.data
    chunks = chunk_count(context, x.size * max(boundaries.size, 1) * 0.1)
    kernel = f"bucketize_{_SUFFIXES[TensorType(x.type)]}"
    return [KernelCall("bucketize", kernel, args, {"x": x, "y": y}, chunks, (boundaries,))]


REGISTRATIONS = (registration("BUCKETIZE", prepare),)
