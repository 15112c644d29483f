"""WHERE and UNIQUE: outputs whose sizes depend on the input's values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import NUMPY_DTYPES, Tensor, TensorType
from .index_vector import INDEX_TYPES, check_counts, check_index_type, check_same_type

WHERE = 109  # the schema's BuiltinOperator
UNIQUE = 103


def _prepare_where(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("WHERE", node, 1)
    x, y = context.input(node, 0), context.output(node, 0)
    check_index_type("WHERE", "output", y, (TensorType.INT64,))
    if x.type not in NUMPY_DTYPES:
        raise UnsupportedError(f"WHERE: conditions of type {x.type_name} are not built, got {x!r}")
    if not x.shape:
        raise PrepareError(f"WHERE: the condition must have 1 dimension at least, got {x!r}")
    context.set_dynamic(y)
    return None


def _invoke_where(context: Context, node: Node) -> None:
    x, y = context.input(node, 0), context.output(node, 0)
    places = np.flatnonzero(x.array().astype(np.bool_, copy=False))
    context.resize_tensor(y, (places.size, len(x.shape)))
    columns = y.array()
    for axis in range(len(x.shape) - 1, 0, -1):
        outer = places // x.shape[axis]
        columns[:, axis] = places - outer * x.shape[axis]
        places = outer
    columns[:, 0] = places


def _prepare_unique(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("UNIQUE", node, 1, 2)
    x, values, places = context.input(node, 0), context.output(node, 0), context.output(node, 1)
    check_same_type("UNIQUE", x, values)
    check_index_type("UNIQUE", "second output", places)
    wanted = int(getattr(node.options, "idx_out_type", TensorType.INT32))
    if wanted not in INDEX_TYPES or wanted != places.type:
        raise PrepareError(f"UNIQUE: the second output must be of idx_out_type, got {wanted} and {places!r}")
    if x.type not in NUMPY_DTYPES:
        raise UnsupportedError(f"UNIQUE: inputs of type {x.type_name} are not built, got {x!r}")
    if len(x.shape) != 1:
        raise PrepareError(f"UNIQUE: input must have 1 dimension, got {x!r}")
    context.set_dynamic(values)
    context.resize_tensor(places, x.shape)
    return None


def first_occurrences(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(values in the order in which they first occur, the place of each element among them).

    No NaN equals another, as in TensorFlow; the reference's ordered map has no order for them.
    """
    values, first, places = np.unique(x, return_index=True, return_inverse=True, equal_nan=False)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return values[order], rank[places]


def _resized(context: Context, tensor: Tensor, values: np.ndarray) -> None:
    context.resize_tensor(tensor, values.shape)
    tensor.array()[...] = values


def _invoke_unique(context: Context, node: Node) -> None:
    values, places = first_occurrences(context.input(node, 0).array())
    _resized(context, context.output(node, 0), values)
    context.output(node, 1).array()[...] = places


REGISTRATIONS = (
    Registration("WHERE", _prepare_where, _invoke_where, builtin_code=WHERE, max_version=2),
    Registration("UNIQUE", _prepare_unique, _invoke_unique, builtin_code=UNIQUE),
)
