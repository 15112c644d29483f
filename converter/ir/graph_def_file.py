"""GraphDefs from files and bytes, binary and text."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from ...lite.errors import ModelError
from ...schema.graph_def import GraphDef

# So much of a file tells whether it is a text.
_LOOKED_AT = 1 << 16
# A message has bytes that no text has: the tags of its fields are among them.
_NOT_IN_TEXTS = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f")


def is_text(content: bytes) -> bool:
    """Whether the bytes are some of a text, and not of a message; nothing at all is a message."""
    return bool(content) and len(content.translate(None, _NOT_IN_TEXTS)) == len(content)


def read_graph(path: str | PathLike[str]) -> GraphDef:
    """The GraphDef in a file, binary or text; ModelError when it holds none."""
    path = Path(path)
    content = path.read_bytes()
    if path.suffix == ".pbtxt" or is_text(content[:_LOOKED_AT]):
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
