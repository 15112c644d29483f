"""A functional If or Case becomes Switches, the nodes of its branches, and Merges."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.attributes import FuncAttr
from ..ir.module import Function
from .lowering import Lowering


def lower_conditional(lowering: Lowering, branches: Sequence[Function]) -> None:
    """Lower an If or Case; the branches are in the order of the index that chooses them.

    Given:  y = Case(i, x) {branches = [@f, @g]}
    Result: a, b = _SwitchN(x, i); y, _ = Merge(f(a), g(b))

    All of a branch waits for its pivot, which is dead in the others. What waited for the node waits for a
    Merge of the pivots, which waits for all that the branches do, dead or not.
    Source: TensorFlow core/common_runtime/lower_if_op.cc, lower_case_op.cc.
    """
    node, ways = lowering.node, len(branches)
    by, *operands = node.operands
    chosen = lowering.switch(by, by, ways, lowering.entry())
    pivots = [lowering.passed("Identity", f"pivot_{i}", value) for i, value in enumerate(chosen.results)]
    switches = [lowering.switch(value, by, ways) for value in operands]
    types = [result.type for result in node.results]
    calls = [
        lowering.call(
            f"branch{i}",
            FuncAttr(branch.name, {}),
            [switch.results[i] for switch in switches],
            types,
            pivot.control,
        )
        for i, (branch, pivot) in enumerate(zip(branches, pivots, strict=True))
    ]
    results = [
        lowering.merge("merge", [call.results[i] for call in calls], result.type).results[0]
        if lowering.is_used(result)
        else None
        for i, result in enumerate(node.results)
    ]
    tokens = []
    if lowering.needs_end:
        alive = [pivot.results[0] for pivot in pivots]
        done = [call.control for call in calls]
        tokens.append(lowering.merge("branch_executed", alive, alive[0].type, done).control)
    lowering.finish(results, tokens)
    for call, branch in zip(calls, branches, strict=True):
        lowering.inline(call, branch)
