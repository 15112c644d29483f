"""HASHTABLE_LOOKUP: rows of a table, found by sorted keys."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError
from ..lite.kernel_call import KernelCall, argument_block
from ..lite.node import Node
from ..lite.string_tensor import pack_strings, strings_of
from ..lite.tensor import Tensor, TensorType
from .index_vector import check_counts, check_index_type, check_same_type
from .operators import registration
from .strided_copy import element_bytes

HASHTABLE_LOOKUP_ARGS = argument_block("lookups keys values y hits size count row_bytes")
EMPTY_TABLE = 1

_NAME = "HASHTABLE_LOOKUP"


def _operands(context: Context, node: Node) -> list[Tensor]:
    """(lookups, keys, values, y, hits) of a node, checked."""
    check_counts(_NAME, node, 3, 2)
    lookups, keys, values = (context.input(node, i) for i in range(3))
    y, hits = context.output(node, 0), context.output(node, 1)
    for what, tensor in (("lookups", lookups), ("keys", keys)):
        check_index_type(_NAME, what, tensor, (TensorType.INT32,))
        if len(tensor.shape) != 1:
            raise PrepareError(f"{_NAME}: {what} must be a vector, got {tensor!r}")
    check_index_type(_NAME, "hits", hits, (TensorType.UINT8,))
    check_same_type(_NAME, values, y)
    strings = values.type == TensorType.STRING
    if values.shape[:1] != keys.shape or (strings and len(values.shape) != 1):
        raise PrepareError(f"{_NAME}: there must be one value a key, got {values!r} for {keys!r}")
    return [lookups, keys, values, y, hits]


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    lookups, keys, values, y, hits = _operands(context, node)
    context.resize_tensor(hits, lookups.shape)
    if values.type == TensorType.STRING:
        context.set_dynamic(y)
        return None
    item_bytes = element_bytes(values, _NAME)
    context.resize_tensor(y, (*lookups.shape, *values.shape[1:]))
    args = np.zeros(1, HASHTABLE_LOOKUP_ARGS)
    args["size"], args["count"] = lookups.size, values.shape[0]
    args["row_bytes"] = math.prod(values.shape[1:]) * item_bytes
    tensors = {"lookups": lookups, "keys": keys, "values": values, "y": y, "hits": hits}
    messages = {EMPTY_TABLE: f"{_NAME}: the table must not be empty, got {values!r}"}
    return [KernelCall("hashtable_lookup", "hashtable_lookup", args, tensors, messages=messages)]


def binary_search(keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where each wanted key is found first by halving, or -1; keys (int32) should be sorted."""
    low = np.zeros(wanted.size, np.int64)
    high = np.full(wanted.size, keys.size, np.int64)
    found = np.full(wanted.size, -1, np.int64)
    while (searching := (low < high) & (found < 0)).any():
        middle = (low + high) // 2
        candidates = keys[np.minimum(middle, keys.size - 1)]
        found[searching & (candidates == wanted)] = middle[searching & (candidates == wanted)]
        high = np.where(searching & (wanted < candidates), middle, high)
        low = np.where(searching & (wanted > candidates), middle + 1, low)
    return found


def invoke(context: Context, node: Node) -> None:
    """Look strings up."""
    lookups, keys, values, y, hits = _operands(context, node)
    if values.shape[0] == 0:
        raise InvokeError(f"{_NAME}: the table must not be empty, got {values!r}")
    found = binary_search(keys.array(), lookups.array())
    hits.array()[...] = found >= 0
    strings = strings_of(values)
    context.resize_tensor(y, lookups.shape)
    y.bind(pack_strings([strings[at] if at >= 0 else b"" for at in found.tolist()]))


REGISTRATIONS = (registration(_NAME, prepare, invoke),)
