"""Running node by node, with a function that sees each value before another one overwrites it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .stage import Stage
    from .subgraph import Subgraph

# Takes a subgraph and the numbers of its tensors that have just got values: when a run begins those of its
# inputs, then the results of each node. In place, operators write over their inputs: those were seen before.
Observer = Callable[["Subgraph", Sequence[int]], None]


def run_observed(subgraph: Subgraph, stage: Stage, observer: Observer) -> None:
    """Run the stage; errors are those of an ordinary run."""
    if stage.first == 0:
        observer(subgraph, subgraph.inputs)
    for node, segment in stage.plan.by_node:
        if segment is None:
            subgraph.run_in_python(node)
        else:
            status = segment.plan.invoke()
            if status:
                subgraph.resume(segment, status)
        observer(subgraph, node.outputs)
