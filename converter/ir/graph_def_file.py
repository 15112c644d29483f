"""GraphDefs from files and bytes, binary and text."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from ...lite.errors import ModelError
from ...schema.graph_def import GraphDef


def read_graph_def(path: str | PathLike[str]) -> GraphDef:
    """The GraphDef in a file, text if its name ends in .pbtxt; ModelError when it holds none."""
    path = Path(path)
    content = path.read_bytes()
    if path.suffix == ".pbtxt":
        return graph_def_of_text(content, path.name)
    return graph_def_of_bytes(content, path.name)


def graph_def_of_bytes(content: bytes, name: str = "graph") -> GraphDef:
    try:
        graph = GraphDef.FromString(content)
    except DecodeError as error:
        raise ModelError(f"{name}: not a GraphDef ({error})") from error
    assert isinstance(graph, GraphDef)
    return graph


def graph_def_of_text(content: bytes, name: str = "graph") -> GraphDef:
    graph = GraphDef()
    try:
        text_format.Parse(content.decode(), graph)
    except (text_format.ParseError, UnicodeDecodeError, RecursionError) as error:
        raise ModelError(f"{name}: not a GraphDef in text form ({error})") from error
    return graph
