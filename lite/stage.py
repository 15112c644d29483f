"""Stage: the part of a subgraph that is ready to run, also node by node; whether the whole can run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from ..schema.named_tuple import NamedTuple
from .plan import NativeSegment

if TYPE_CHECKING:
    from .kernel_call import KernelCall
    from .memory import StageMemory
    from .node import Node
    from .node_context import NodeContext
    from .plan import Plan
    from .subgraph import Subgraph


# Takes a subgraph and the numbers of its tensors that have just got values: when a run begins those of its
# inputs, then the results of each node. In place, operators write over their inputs: those were seen before.
Observer = Callable[["Subgraph", Sequence[int]], None]
# Gives kernel calls that look at such tensors, which are then not the observer's. They run between those of
# the nodes, so that a run stays one native call; a status of theirs ends it.
Probe = Callable[["NodeContext", Sequence[int]], "Sequence[KernelCall]"]


class Watch(NamedTuple):
    """Who looks at values as a model runs, each before another one overwrites it."""

    observer: Observer
    probe: Probe | None = None


class State(Enum):
    """Whether the subgraph can run; the names are TFLite's."""

    UNINVOKABLE = "uninvokable"
    INVOKABLE = "invokable"


class Stage:
    """Nodes at positions first to last (inclusive) of the execution plan, ready to run.

    A subgraph without dynamic tensors has one stage. Otherwise a stage ends with the node
    whose output shapes are known only when it has run; the next one is prepared then. found says what
    it was prepared for, borrows whether its plan has been given memory of others.
    """

    __slots__ = ("borrows", "first", "found", "last", "memory", "plan")

    def __init__(
        self, first: int, last: int, memory: StageMemory, plan: Plan, found: tuple[object, ...] = ()
    ) -> None:
        self.first = first
        self.last = last
        self.memory = memory
        self.plan = plan
        self.found = found
        self.borrows = False


def run_watched(subgraph: Subgraph, stage: Stage, watch: Watch) -> None:
    """Run the stage with a function that sees each value before another overwrites it.

    What a probe looks at is left out. Errors are those of an ordinary run.
    """
    observer = watch.observer
    if stage.first == 0:
        observer(subgraph, subgraph.inputs)
    if watch.probe is not None:
        _run_probed(subgraph, stage, observer)
        return
    for node, segment in stage.plan.by_node:
        if segment is None:
            subgraph.run_in_python(node)
        else:
            _run(subgraph, segment)
        observer(subgraph, node.outputs)


def _run_probed(subgraph: Subgraph, stage: Stage, observer: Observer) -> None:
    for step in stage.plan.steps:
        if isinstance(step, NativeSegment):
            _run(subgraph, step)
        else:
            subgraph.run_in_python(step)
            observer(subgraph, step.outputs)
    # Only the last node's results may get their shapes by running.
    last = stage.plan.nodes[-1] if stage.plan.nodes else None
    if last is not None and last.calls is not None and not probed_results(subgraph, last):
        observer(subgraph, last.outputs)


def _run(subgraph: Subgraph, segment: NativeSegment) -> None:
    status = segment.plan.invoke()
    if status:
        subgraph.resume(segment, status)


def probed_results(subgraph: NodeContext, node: Node) -> Sequence[int]:
    """What a probe's calls look at: results of native nodes, whose shapes are known before they run."""
    places = [t for t in node.outputs if t >= 0]
    known = node.calls is not None and not any(subgraph.tensors[t].is_dynamic for t in places)
    return places if known else ()
