"""WHERE and UNIQUE: outputs whose sizes depend on the input's values."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall, argument_block
from ..lite.node import Node
from ..lite.tensor import NUMPY_DTYPES, Tensor, TensorType
from .dynamic_output import dynamic_call
from .index_vector import INDEX_TYPES, check_counts, check_index_type, check_same_type
from .operators import registration

# count is how many indices y has room for, found how many there are. An element is set where it has
# one of the bits of mask. indices are the sizes of x's axes, then as many words of scratch.
WHERE_ARGS = argument_block("x y size rank indices mask count found")

# first holds the values until it is known how many there are; slots, of which there are 2**(64 - shift),
# hold the number of a value, counted from 1. counted tells that both are done.
UNIQUE_ARGS = argument_block(
    "x values places size first slots shift factor wide count found counted cancellation"
)

# Where an element is 0 whatever its sign.
_MASKS = {
    TensorType.FLOAT16: 0x7FFF,
    TensorType.FLOAT32: 0x7FFFFFFF,
    TensorType.FLOAT64: 0x7FFFFFFFFFFFFFFF,
    TensorType.COMPLEX64: 0x7FFFFFFF7FFFFFFF,
    TensorType.COMPLEX128: 0x7FFFFFFFFFFFFFFF,
}


def _prepare_where(context: Context, node: Node) -> Sequence[KernelCall]:
    check_counts("WHERE", node, 1)
    x, y = context.input(node, 0), context.output(node, 0)
    check_index_type("WHERE", "output", y, (TensorType.INT64,))
    if x.type not in NUMPY_DTYPES:
        raise UnsupportedError(f"WHERE: conditions of type {x.type_name} are not built, got {x!r}")
    rank = len(x.shape)
    if not rank:
        raise PrepareError(f"WHERE: the condition must have 1 dimension at least, got {x!r}")
    args = np.zeros(1, WHERE_ARGS)
    indices = np.array([*x.shape, *[0] * rank], np.int64)
    args["size"], args["rank"], args["indices"] = x.size, rank, indices.ctypes.data
    args["mask"] = _MASKS.get(TensorType(x.type), -1)
    call = KernelCall("where", f"where_{x.dtype.itemsize}", args, {"x": x}, keep=(indices,))
    return [dynamic_call(call, context, {"y": (y, (rank,))}, "count", "found")]


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
    context.resize_tensor(places, x.shape)
    kernel = _unique_kernel(x)
    if not kernel:
        context.set_dynamic(values)
        return None
    return [_unique_call(context, node, kernel, x, values, places)]


def _unique_kernel(x: Tensor) -> str:
    """The name of the kernel for x's type; none for those that only NumPy compares."""
    if x.type in (TensorType.FLOAT32, TensorType.FLOAT64):
        return f"unique_f{8 * x.dtype.itemsize}"
    return f"unique_{x.dtype.itemsize}" if x.dtype.kind in "iub" else ""


def _unique_call(
    context: Context, node: Node, kernel: str, x: Tensor, values: Tensor, places: Tensor
) -> KernelCall:
    args = np.zeros(1, UNIQUE_ARGS)
    bits = max(4, (2 * x.size).bit_length())
    # A factor that nobody knows: no input can be made to fall into few slots.
    args["factor"] = np.array(secrets.randbits(64) | 1, np.uint64).view(np.int64)
    args["size"], args["shift"] = x.size, 64 - bits
    args["wide"] = places.type == TensorType.INT64
    tensors = {
        "x": x,
        "places": places,
        "first": context.add_temporary(node, x.nbytes),
        "slots": context.add_temporary(node, 4 << bits),
    }
    call = KernelCall("where", kernel, args, tensors)
    return dynamic_call(call, context, {"values": (values, ())}, "count", _counted)


def _counted(args: np.ndarray) -> int:
    args["counted"] = 1
    return int(args["found"][0])


def first_occurrences(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(values in the order in which they first occur, the place of each element among them).

    No NaN equals another, as in TensorFlow; the reference's ordered map has no order for them.
    """
    values, first, places = np.unique(x, return_index=True, return_inverse=True, equal_nan=False)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return values[order], rank[places]


def _invoke_unique(context: Context, node: Node) -> None:
    found, places = first_occurrences(context.input(node, 0).array())
    values = context.output(node, 0)
    context.resize_tensor(values, found.shape)
    values.array()[...] = found
    context.output(node, 1).array()[...] = places


REGISTRATIONS = (
    registration("WHERE", _prepare_where),
    registration("UNIQUE", _prepare_unique, _invoke_unique),
)
