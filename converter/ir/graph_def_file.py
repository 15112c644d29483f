"""GraphDefs from files and bytes, binary and text."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from ...lite.errors import ModelError
from ...lite.foreign_file import what_it_is
from ...schema.graph_def import GraphDef

# So much of a file tells whether it is a text.
_LOOKED_AT = 1 << 16
# A message has bytes that no text has: the tags of its fields are among them.
_NOT_IN_TEXTS = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f")


# A mark that editors put in front of texts in UTF-8.
_MARK = b"\xef\xbb\xbf"


def without_mark(content: bytes) -> bytes:
    """A text's bytes without the mark of UTF-8 in front of them, which says nothing."""
    return content.removeprefix(_MARK)


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
    """ModelError, saying what the bytes are where that is known, when they hold no GraphDef."""
    try:
        graph = GraphDef.FromString(content)
    except DecodeError as error:
        raise _no_graph_def(name, content, str(error)) from error
    assert isinstance(graph, GraphDef)
    _check_has_contents(graph, name, content)
    return graph


def _check_has_contents(graph: GraphDef, name: str, content: bytes) -> None:
    """Other messages parse as a GraphDef with nothing in it that a GraphDef has."""
    if graph.node or graph.library.function:
        return
    if graph.HasField("versions") and what_it_is(content) is None:
        return
    raise _no_graph_def(name, content, "it has no nodes")


def _no_graph_def(name: str, content: bytes, fault: str) -> ModelError:
    known = what_it_is(content)
    return ModelError(f"{name}: not a GraphDef ({f'it is {known}' if known else fault})")


def graph_def_of_text(content: bytes, name: str = "graph") -> GraphDef:
    if not without_mark(content).strip():
        raise ModelError(f"{name}: not a GraphDef in text form (it is empty)")
    graph = GraphDef()
    try:
        text_format.Parse(without_mark(content).decode(), graph)
    except (text_format.ParseError, UnicodeDecodeError, RecursionError) as error:
        known = what_it_is(content)
        raise ModelError(
            f"{name}: not a GraphDef in text form ({f'it is {known}' if known else error})"
        ) from error
    return graph
