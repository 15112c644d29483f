"""Values that are known when a node is prepared: integers from constants, as models put shapes together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .available_memory import allocate
from .errors import InvokeError
from .tensor import MOST_KNOWN_BYTES, AllocationType, TensorType

if TYPE_CHECKING:
    from .node import Node
    from .node_context import NodeContext

_TYPES = (TensorType.INT32, TensorType.INT64, TensorType.BOOL)


def compute_known(context: NodeContext, node: Node) -> None:
    """Run a prepared node, which reads constants alone, now, where its results are small integers.

    They are then constants themselves, for as long as these shapes hold, so that nodes behind them may size
    their results by them. What fails is left for the run to report.
    """
    calls = node.calls
    if not calls or not _has_small_results(context, node):
        return
    outputs = [context.tensors[t] for t in node.outputs if t >= 0]
    for tensor in outputs:
        tensor.allocation_type = AllocationType.PERSISTENT_RO
        tensor.bind(allocate(tensor.nbytes))
    try:
        context.run_calls(node, calls)
    except InvokeError:
        for tensor in outputs:
            tensor.allocation_type = AllocationType.ARENA_RW
            tensor.bind(None)
    else:
        node.calls = ()


def _has_small_results(context: NodeContext, node: Node) -> bool:
    registration = node.registration
    if not registration.is_own or registration.side_effects or node.temporaries:
        return False
    tensors = context.tensors
    results = [tensors[t] for t in node.outputs if t >= 0]
    return all(
        y.type in _TYPES
        and y.allocation_type is AllocationType.ARENA_RW
        and not y.is_variable
        and y.nbytes <= MOST_KNOWN_BYTES
        for y in results
    )
