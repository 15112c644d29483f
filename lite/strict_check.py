"""What is wrong or unusual in a model file, all of it: also what opening it passes over."""

from __future__ import annotations

from ..schema.verifier import strict_findings
from .errors import ModelError, UnsupportedError
from .graph_check import graph_deviations, graph_faults
from .model import Model
from .subgraph_builder import read_graph


def model_findings(content: bytes) -> list[str]:
    """One line for each thing in the file that the format or the order of a graph does not allow.

    Graphs are looked at when the file can be read at all.
    """
    found = strict_findings(content)
    try:
        model = Model(content)
    except ModelError:
        return found
    for index, subgraph in enumerate(model.root.subgraphs):
        where = f"subgraph {index} {subgraph.name or ''!r}"
        try:
            graph = read_graph(subgraph, model)
        except (ModelError, UnsupportedError) as error:
            found.append(f"{where}: {error}")
            continue
        found += [f"{where}: {fault}" for fault in (*graph_deviations(*graph), *graph_faults(*graph))]
    return found
