"""The nodes of a body that its results need, each after those it depends on."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ...lite.errors import ModelError
from ...schema.shown import shown
from ..ir.node import TERMINATORS, Node, Value
from ..transforms.effects import Effect, Effects

# What a model leaves out: checks and reports.
_LEFT_OUT = frozenset(
    (
        *("Assert", "Print", "PrintV2", "Placeholder", "PlaceholderV2", "ScalarSummary", "HistogramSummary"),
        *("ImageSummary", "AudioSummary", "TensorSummary", "TensorSummaryV2", "Abort"),
    )
)


def changes_state(node: Node, effects: Effects) -> bool:
    """Whether the node must run though nothing uses its results."""
    return node.op not in _LEFT_OUT and effects.of(node) is Effect.WRITES


def ordered(
    outputs: Iterable[Value], tokens: Iterable[Value], given: Collection[Value], effects: Effects
) -> list[Node]:
    """The nodes that the outputs need, and those that change state and must run before them.

    tokens are control tokens that must have run as well. The search ends at given values.
    ModelError on a cycle.
    """
    outputs = list(outputs)
    reached = _depth_first([*outputs, *tokens], given)
    needed: set[Node] = {v.owner for v in outputs if isinstance(v.owner, Node) and v not in given}
    for node in reversed(reached):
        if node in needed or changes_state(node, effects):
            needed.add(node)
            needed.update(v.owner for v in node.operands if isinstance(v.owner, Node) and v not in given)
    return [node for node in reached if node in needed]


def _depth_first(roots: Iterable[Value], given: Collection[Value]) -> list[Node]:
    """All nodes that the roots depend on by data or control, each after those it depends on."""
    finished: dict[Node, bool] = {}
    found: list[Node] = []
    stack = [(v.owner, False) for v in reversed(list(roots)) if v not in given and isinstance(v.owner, Node)]
    while stack:
        node, done = stack.pop()
        if done:
            finished[node] = True
            found.append(node)
            continue
        if node in finished:
            continue
        finished[node] = False
        stack.append((node, True))
        for value in reversed((*node.operands, *node.controls)):
            source = value.owner
            if value in given or not isinstance(source, Node) or finished.get(source) is True:
                continue
            # Begun but not finished: it is among those that wait for this one.
            if finished.get(source) is False:
                raise ModelError(f"node {node.name!r} ({shown(node.op)}) depends on itself")
            stack.append((source, False))
    assert not any(node.op in TERMINATORS for node in found)
    return found
