"""A page that tells what became of a graph: its nodes, the model's operators, and where its bytes are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from .. import __version__
from ..converter.flatbuffer import name_in_file
from ..schema.page import head, table

if TYPE_CHECKING:
    from ..converter.conversion import Conversion
    from ..converter.lite_graph import LiteGraph, LiteTensor

_LEGEND = (
    "The nodes of the graph, after calls were inlined; those of branches and loops are the operators of "
    "their subgraphs. <i>folded</i>: known when the model was made, or the same tensor in another place; "
    "<i>removed</i>: it only handed on its input; <i>absorbed by a pass</i>: other operators do its work, or "
    "it changed nothing; <i>not needed</i>: no output depends on it."
)
# So many of the largest constants are listed.
_LARGEST = 20


def report(title: str, conversion: Conversion, size: int) -> str:
    """The page. size is the file's, in bytes."""
    graphs = conversion.lite.graphs()
    parts = [
        f"{head(title)}<p>{size:,} bytes, {_count(sum(len(g) for g in graphs), 'operator')} in ",
        f"{_count(len(graphs), 'subgraph')}, from {_count(len(conversion.outcomes), 'node')}; "
        f"numlite {escape(__version__)}</p>",
        "<h2>Signatures</h2>",
        table(("signature", "inputs", "outputs"), _signatures(conversion)),
        "<h2>Operators</h2>",
        table(("subgraph", "operator", "count"), _operators(graphs)),
        "<h2>Largest constants</h2>",
        table(("constant", "type", "shape", "bytes"), _constants(graphs)),
        f"<h2>Nodes</h2><p>{_LEGEND}</p>",
        table(("node", "op", "became"), ((f.node, f.op, f.became) for f in conversion.outcomes)),
    ]
    return "\n".join(parts) + "\n"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _signatures(conversion: Conversion) -> Iterable[tuple[str, str, str]]:
    for signature in conversion.lite.signatures:
        pairs = (
            (signature.input_names, signature.graph.inputs),
            (signature.output_names, signature.graph.outputs),
        )
        inputs, outputs = (
            ", ".join(f"{name}: {_described(tensor)}" for name, tensor in zip(names, tensors, strict=True))
            for names, tensors in pairs
        )
        yield signature.key, inputs, outputs


def _described(tensor: LiteTensor) -> str:
    """Type, shape and the name that the file has for the tensor."""
    shape = "unknown rank" if tensor.shape is None else str(["?" if n == -1 else n for n in tensor.shape])
    return f"{tensor.type.name.lower()} {shape.replace(chr(39), '')} ({name_in_file(tensor.name)})"


def _operators(graphs: Sequence[LiteGraph]) -> Iterable[tuple[str, str, int]]:
    for graph in graphs:
        counts = Counter(operator.custom_code or operator.code.name for operator in graph)
        for name, count in counts.most_common():
            yield name_in_file(graph.name), name, count


def _constants(graphs: Sequence[LiteGraph]) -> list[tuple[str, str, str, int]]:
    found = {
        (
            name_in_file(tensor.name),
            tensor.type.name.lower(),
            str(list(tensor.data.shape)),
            tensor.data.nbytes,
        )
        for graph in graphs
        for tensor in graph.tensors()
        if tensor.data is not None
    }
    return sorted(found, key=lambda row: (-row[3], row[0]))[:_LARGEST]
