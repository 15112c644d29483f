"""Stage: the part of a subgraph that is ready to run, also node by node; whether the whole can run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .memory import StageMemory
    from .plan import Plan
    from .subgraph import Subgraph


# Takes a subgraph and the numbers of its tensors that have just got values: when a run begins those of its
# inputs, then the results of each node. In place, operators write over their inputs: those were seen before.
Observer = Callable[["Subgraph", Sequence[int]], None]


class State(Enum):
    """Whether the subgraph can run; the names are TFLite's."""

    UNINVOKABLE = "uninvokable"
    INVOKABLE = "invokable"


class Stage:
    """Nodes at positions first to last (inclusive) of the execution plan, ready to run.

    A subgraph without dynamic tensors has one stage. Otherwise a stage ends with the node
    whose output shapes are known only when it has run; the next one is prepared then. found says what
    it was prepared for.
    """

    __slots__ = ("first", "found", "last", "memory", "plan")

    def __init__(
        self, first: int, last: int, memory: StageMemory, plan: Plan, found: tuple[object, ...] = ()
    ) -> None:
        self.first = first
        self.last = last
        self.memory = memory
        self.plan = plan
        self.found = found


def run_observed(subgraph: Subgraph, stage: Stage, observer: Observer) -> None:
    """Run the stage with a function that sees each value before another overwrites it.

    Errors are those of an ordinary run.
    """
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
