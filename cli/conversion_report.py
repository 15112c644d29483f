"""A page that tells what became of a graph: its nodes, the model's operators, and where its bytes are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from .. import __version__

if TYPE_CHECKING:
    from ..converter.conversion import Conversion
    from ..converter.lite_graph import LiteGraph

_STYLE = (
    "body{font:14px/1.4 sans-serif;margin:2em}table{border-collapse:collapse;margin:1em 0}"
    "td,th{border:1px solid #ccc;padding:.2em .6em;text-align:left}td.n{text-align:right}"
)
# So many of the largest constants are listed.
_LARGEST = 20


def report(title: str, conversion: Conversion, size: int) -> str:
    """The page. size is the file's, in bytes."""
    graphs = conversion.lite.graphs()
    parts = [
        f"<!doctype html><meta charset=utf-8><title>{escape(title)}</title><style>{_STYLE}</style>",
        f"<h1>{escape(title)}</h1><p>{size:,} bytes, {sum(len(g.operators) for g in graphs):,} operators in ",
        f"{len(graphs)} subgraphs, from {len(conversion.fates):,} nodes; numlite {escape(__version__)}</p>",
        "<h2>Signatures</h2>",
        _table(("signature", "inputs", "outputs"), _signatures(conversion)),
        "<h2>Operators</h2>",
        _table(("subgraph", "operator", "count"), _operators(graphs)),
        "<h2>Largest constants</h2>",
        _table(("constant", "type", "shape", "bytes"), _constants(graphs)),
        "<h2>Nodes</h2>",
        _table(("node", "op", "became"), ((f.node, f.op, f.became) for f in conversion.fates)),
    ]
    return "\n".join(parts) + "\n"


def _signatures(conversion: Conversion) -> Iterable[tuple[str, str, str]]:
    for signature in conversion.lite.signatures:
        pairs = (
            (signature.input_names, signature.graph.inputs),
            (signature.output_names, signature.graph.outputs),
        )
        inputs, outputs = (
            ", ".join(f"{name} ({tensor!r})" for name, tensor in zip(names, tensors, strict=True))
            for names, tensors in pairs
        )
        yield signature.key, inputs, outputs


def _operators(graphs: Sequence[LiteGraph]) -> Iterable[tuple[str, str, int]]:
    for graph in graphs:
        counts = Counter(operator.custom_code or operator.code.name for operator in graph.operators)
        for name, count in counts.most_common():
            yield graph.name, name, count


def _constants(graphs: Sequence[LiteGraph]) -> list[tuple[str, str, str, int]]:
    found = {
        (tensor.name, tensor.type.name.lower(), str(list(tensor.data.shape)), tensor.data.nbytes)
        for graph in graphs
        for tensor in graph.tensors()
        if tensor.data is not None
    }
    return sorted(found, key=lambda row: (-row[3], row[0]))[:_LARGEST]


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = ["<table><tr>" + "".join(f"<th>{escape(cell)}" for cell in head)]
    for row in rows:
        cells = (
            f"<td class=n>{cell:,}" if isinstance(cell, int) else f"<td>{escape(str(cell))}" for cell in row
        )
        lines.append("<tr>" + "".join(cells))
    return "\n".join([*lines, "</table>"])
