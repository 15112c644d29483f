"""Stored float16 and bfloat16 tensors: the CPU's calls on float32 ones in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...kernels.typed_operator import size_outputs, widened
from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType

if TYPE_CHECKING:
    from ...kernels.contraction.node import FilterNode
    from ...lite.context import Context
    from ...lite.kernel_call import KernelCall
    from ...lite.node import Node
    from ...lite.tensor import Tensor
    from .partition_graph import PartitionGraph

# Operators whose float16 results NumPy rounds from float32's, on the CPU.
_IN_NUMPY = ("ADD", "MUL", "EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
_FLOAT16 = {TensorType.FLOAT16: TensorType.FLOAT32}
_HALVES = {TensorType.FLOAT16: TensorType.FLOAT32, TensorType.BFLOAT16: TensorType.FLOAT32}
FLOATS = frozenset((TensorType.FLOAT32, *_HALVES))


def is_stored_half(tensor: Tensor) -> bool:
    """Whether a tensor is stored in 16 bits."""
    return tensor.type in _HALVES


def checked_in_float32(
    graph: PartitionGraph, node: Node, check: Callable[[Context, Node], FilterNode]
) -> FilterNode:
    """The node checked, its halves as float32 tensors, constants with their values.

    They have the numbers of those that are stored.
    """
    context: Any = graph
    wide = widened(context, node, _HALVES)
    n = check(context, wide)
    if wide is not node:
        size_outputs(context, wide)
    return n


def calls_of(graph: PartitionGraph, node: Node, takes_halves: bool) -> Sequence[KernelCall]:
    """What prepare makes of the node, less the casts around it: kernels convert what they load and store.

    The calls' tensors may be float32 ones, by whose numbers the graph has those that are stored.
    UnsupportedError for what the CPU runs in Python, and for halves in a family that does not take them.
    """
    name = node.registration.name
    context: Any = graph
    calls = node.registration.prepare(context, node)
    if calls is None and name in _IN_NUMPY:
        calls = _widened_calls(context, node)
    if calls is None:
        raise UnsupportedError(f"{name} of these types has no kernel")
    if name == "CAST" or not any(_is_widened(graph, call) for call in calls):
        return calls
    kept = [call for call in calls if call.family != "cast"]
    # A result that is read again would be rounded between.
    if not takes_halves or len(kept) > 1:
        raise UnsupportedError(f"{name} of stored float16 and bfloat16 tensors is not built")
    return kept


def _widened_calls(context: Context, node: Node) -> Sequence[KernelCall] | None:
    wide = widened(context, node, _FLOAT16)
    if wide is node:
        return None
    calls = node.registration.prepare(context, wide)
    size_outputs(context, wide)
    return calls


def _is_widened(graph: PartitionGraph, call: KernelCall) -> bool:
    tensors = call.tensors.values()
    return any(tensor.index >= 0 and tensor.type != graph.tensor(tensor.index).type for tensor in tensors)
