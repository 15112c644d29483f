"""Graphs with XlaCallModule nodes, told apart from all others before anything of StableHLO is imported."""

from __future__ import annotations

from collections.abc import Iterator

from ...schema.graph_def import GraphDef, NodeDef

XLA_CALL_MODULE = "XlaCallModule"


def with_functions(graph: GraphDef) -> GraphDef:
    """The graph with a PartitionedCall in place of each XlaCallModule; the graph itself where it has none.

    Raises ModelError for a damaged program, UnsupportedError that lists what has no operators.
    """
    if next(_calls(graph), None) is None:
        return graph
    from .call_module import expand

    made = GraphDef()
    made.CopyFrom(graph)
    expand(made, list(_calls(made)))
    return made


def _calls(graph: GraphDef) -> Iterator[NodeDef]:
    """The nodes of the op, in the graph and in its functions."""
    for nodes in (graph.node, *(function.node_def for function in graph.library.function)):
        yield from (node for node in nodes if node.op == XLA_CALL_MODULE)
