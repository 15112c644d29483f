"""What run_graph takes as a graph, as a GraphDef."""

from __future__ import annotations

from os import PathLike

from ...lite.errors import ModelError
from ...schema.graph_def import GraphDef
from ..ir.graph_def_file import graph_def_of_bytes, read_graph_def
from ..ir.module import Module

# A GraphDef, its serialized form, its file (.pb or .pbtxt), or a module of the graph IR.
GraphSource = GraphDef | bytes | str | PathLike[str] | Module


def graph_def_of(graph: GraphSource) -> GraphDef:
    """The graph; ModelError when it holds none."""
    if isinstance(graph, GraphDef):
        return graph
    if isinstance(graph, bytes):
        return graph_def_of_bytes(graph)
    if isinstance(graph, Module):
        from ..ir.export_graph import export_graph_def

        return export_graph_def(graph)
    if isinstance(graph, str | PathLike):
        return read_graph_def(graph)
    raise ModelError(f"graph: must be a GraphDef, its bytes, a path or a Module, got {type(graph).__name__}")
