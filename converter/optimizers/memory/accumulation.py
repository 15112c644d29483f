"""Large sums are added up as their operands come, which need not be there all at once."""

from __future__ import annotations

from collections.abc import Sequence

from ...graph.rule import rule
from ...ir.attributes import Attributes, ShapeAttr
from ...ir.node import Node
from ...ir.types import REFERENCE, TensorType, element_type
from ...shapes.dimensions import is_known
from ...transforms.node_rewriter import data_type
from ..arithmetic.nodes import device, element, shape
from ..rewriter import OptimizingRewriter
from .estimate import MemoryEstimate

_SOURCE = "TensorFlow core/grappler/optimizers/memory_optimizer.cc, SchedulingPass"
SUMS = ("AddN", "AccumulateNV2")
_TYPES = ("f16", "f32", "f64")
# Fewer operands are there at once anyway.
_LEAST_OPERANDS = 3


@rule(*SUMS, needs=("shapes",), keeps_bits=False, source=_SOURCE)
def accumulate(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A sum whose operands do not fit into the device's memory is added up in a temporary variable.

    Given:  y = AddN(a, b, c)
    Result: v = TemporaryVariable; i = Assign(v, a); p = AssignAdd(i, b); q = AssignAdd(i, c);
            y = DestroyTemporaryVariable(i) [^p, ^q]
    """
    sizes = shape(node.results[0])
    waiting = rewriter.notes["sums"]
    if node not in waiting or rewriter.is_kept(node) or not is_known(sizes) or sizes is None:
        return False
    waiting.discard(node)
    kind, name = data_type(node.results[0].type), f"{node.name}/tmp_var"
    reference = TensorType(element_type(kind.number + REFERENCE), sizes)
    attributes: Attributes = {"dtype": kind, "shape": ShapeAttr(tuple(sizes)), "var_name": name.encode()}
    variable = rewriter.add(node, "TemporaryVariable", name, (), attributes, [reference], node.controls)
    known: Attributes = {"T": kind, "use_locking": True}
    order = rewriter.notes["order"]
    first, *others = sorted(node.operands, key=lambda value: order.get(value.owner, 0))
    assign: Attributes = {**known, "validate_shape": True}
    begun = rewriter.add(
        node, "Assign", f"{name}_initializer", [variable.results[0], first], assign, [reference]
    )
    added = [
        rewriter.add(
            node, "AssignAdd", f"{name}_accum_{i}", [begun.results[0], value], dict(known), [reference]
        )
        for i, value in enumerate(others)
    ]
    made = rewriter.node(
        node, "DestroyTemporaryVariable", begun.results, {"T": kind, "var_name": name.encode()}
    )
    made.controls = [each.control for each in added]
    rewriter.replace(node, made)
    return True


def sums_of(estimates: Sequence[MemoryEstimate], capacity: float) -> set[Node]:
    """The sums of many operands of which one is there when a device needs more bytes than its capacity."""
    return {
        user
        for estimate in estimates
        if estimate.peak_bytes > capacity
        for value, _ in estimate.live
        for user in value.users
        if user.op in SUMS
        and len(user.operands) >= _LEAST_OPERANDS
        and element(user.results[0]) in _TYPES
        and all(isinstance(each.owner, Node) and device(each.owner) == device(user) for each in user.operands)
    }
