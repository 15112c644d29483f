"""Which nodes may be merged, moved or computed beforehand: their results depend on their operands alone."""

from __future__ import annotations

from functools import lru_cache

from ...schema.op_defs import op_defs
from ..ir.node import REGION_OPS, Node
from ..ir.types import REFERENCE, ElementType, TensorType, Type

# What comes from outside: two of one kind are not the same value.
_FED = ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "_Arg", "_DeviceArg")
_RESULTS = ("_Retval", "_DeviceRetval")
# Nodes that run in frames, or not at all: where they stand is what they mean.
CONTROL_FLOW = frozenset(
    prefix + op
    for op in ("Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond")
    for prefix in ("", "Ref")
) | {"_SwitchN"}
ENTERS = ("Enter", "RefEnter")
# Calls: whether they have effects depends on the function.
_CALLS = frozenset(("PartitionedCall", "StatelessPartitionedCall", "SymbolicGradient", "RemoteCall"))
_NOT_PURE = CONTROL_FLOW | _CALLS | frozenset((*_FED, *_RESULTS))


@lru_cache(4096)
def is_stateless(op: str) -> bool:
    """Whether TensorFlow has the op, and says that it has no state."""
    found = op_defs().find(op)
    return found is not None and not found.is_stateful


def is_pure(node: Node) -> bool:
    """Whether the node gives the same results for the same operands, and does nothing else."""
    if node.op in REGION_OPS or node.regions or node.op in _NOT_PURE or not is_stateless(node.op):
        return False
    return not any(is_reference(value.type) for value in (*node.operands, *node.results))


def is_reference(type: Type) -> bool:
    """Whether it is the type of a variable that others may write."""
    if not isinstance(type, TensorType) or not isinstance(type.element, ElementType):
        return False
    return type.element.name.endswith("ref") and type.element.number > REFERENCE
