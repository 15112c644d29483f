"""Graphs from files of any kind that holds one."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ..lite.errors import ModelError
from .ir.graph_def_file import is_text, read_graph, without_mark
from .ir.import_graph import import_graph_def
from .ir.module import Module
from .keras.model_file import is_keras
from .onnx.model_file import is_onnx
from .saved_model.loader import load_saved_model
from .stablehlo.model_file import is_stablehlo

if TYPE_CHECKING:
    from .conversion import Entry


class FileKind(Enum):
    """What a graph is read from."""

    GRAPH_DEF = "GraphDef"
    GRAPH_DEF_TEXT = "GraphDef in text form"
    GRAPH_TEXT = "text of the graph IR"
    SAVED_MODEL = "SavedModel"
    ONNX = "ONNX model"
    KERAS = "Keras model"
    STABLEHLO = "StableHLO program"


# What the first line of the graph IR's text starts with, behind comments.
_GRAPH_TEXT = ("module", "tfg.graph", "tfg.func", '"tfg.', "graph", "#")
_SAVED_MODELS = ("saved_model.pb", "saved_model.pbtxt")


def file_kind(path: str | PathLike[str]) -> FileKind:
    """What the file holds, by its content; a folder, or its saved_model.pb, is a SavedModel."""
    path = Path(path)
    if path.is_dir() or path.name in _SAVED_MODELS:
        return FileKind.SAVED_MODEL
    with open(path, "rb") as file:
        start = file.read(1 << 16)
    if is_keras(path, start):
        return FileKind.KERAS
    if is_stablehlo(start):
        return FileKind.STABLEHLO
    if not is_text(start):
        return FileKind.ONNX if is_onnx(start) else FileKind.GRAPH_DEF
    for line in without_mark(start).decode(errors="replace").split("\n"):
        line = line.strip()
        # A comment starts with // there, and with # in the text of messages.
        if line and not line.startswith(("//", "# ")):
            return FileKind.GRAPH_TEXT if line.startswith(_GRAPH_TEXT) else FileKind.GRAPH_DEF_TEXT
    return FileKind.GRAPH_DEF_TEXT


def load_graph(path: str | PathLike[str], tags: Iterable[str] | None = None) -> Module:
    """The graph in a GraphDef, text of the graph IR, SavedModel as it is, ONNX, StableHLO or Keras model.

    tags choose among the graphs of a SavedModel. ModelError when the file is damaged or holds no graph.
    """
    path, kind = Path(path), file_kind(path)
    if kind == FileKind.SAVED_MODEL:
        folder = path if path.is_dir() else path.parent
        return load_saved_model(folder, tags).module()
    if kind == FileKind.GRAPH_TEXT:
        try:
            # Imported for this one kind of file.
            from .tfg.text_parser import parse_module

            return parse_module(path.read_text(encoding="utf-8-sig"))
        except UnicodeDecodeError as error:
            raise ModelError(f"{path.name}: not a text ({error})") from error
    if kind == FileKind.KERAS:
        from .keras.model_import import keras_entry

        return keras_entry(path).module
    if kind in (FileKind.ONNX, FileKind.STABLEHLO):
        try:
            return _imported(path, kind).module
        except ModelError as error:
            raise ModelError(f"{path.name}: {error}") from error
    return import_graph_def(read_graph(path))


def _imported(path: Path, kind: FileKind) -> Entry:
    """The graph of another front end's file."""
    if kind == FileKind.ONNX:
        from .onnx.model_import import onnx_entry

        return onnx_entry(path)
    from .stablehlo.model_import import stablehlo_entry

    return stablehlo_entry(path)
