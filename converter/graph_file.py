"""Reading of GraphDef files, binary (.pb) and text (.pbtxt)."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from ..lite.errors import ModelError
from ..schema.graph_def import GraphDef


def read_graph(path: str | PathLike[str]) -> GraphDef:
    """The graph in a file; ModelError when it is none.

    A name that ends in .pbtxt or .txt holds the text form, any other the binary one.
    """
    path = Path(path)
    content = path.read_bytes()
    if path.suffix in (".pbtxt", ".txt"):
        return parse_text(content, str(path))
    return parse_binary(content, str(path))


def parse_binary(content: bytes, name: str = "graph") -> GraphDef:
    """A graph from its serialized form."""
    try:
        graph = GraphDef.FromString(content)
    except DecodeError as error:
        raise ModelError(f"{name}: not a GraphDef ({error})") from error
    assert isinstance(graph, GraphDef)
    if content and not graph.node:
        raise ModelError(f"{name}: a GraphDef must have nodes, this has none")
    return graph


def parse_text(content: bytes, name: str = "graph") -> GraphDef:
    """A graph from its text form."""
    graph = GraphDef()
    try:
        text_format.Parse(content.decode(), graph)
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise ModelError(f"{name}: not a GraphDef in text form ({error})") from error
    return graph
