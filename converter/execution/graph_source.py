"""What run_graph takes as a graph, as a GraphDef with names for its tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ...lite.errors import ModelError
from ...schema.graph_def import GraphDef
from ..ir.graph_def_file import graph_def_of_bytes, read_graph
from ..ir.module import Module
from ..keras.model_file import is_keras
from ..onnx.model_file import is_onnx
from ..saved_model.frozen_graph import FrozenGraph
from ..saved_model.loader import SavedModel, load_saved_model
from ..saved_model.model_folder import ModelFolder
from ..stablehlo.model_file import is_stablehlo
from ..stablehlo.xla_calls import with_functions

if TYPE_CHECKING:
    from ..conversion import Entry

# A GraphDef, its serialized form or file (.pb or .pbtxt), a module of the graph IR; a SavedModel, its
# folder, or one of its signatures frozen; the file of an ONNX or Keras model or a StableHLO program.
GraphSource = GraphDef | bytes | str | PathLike[str] | Module | SavedModel | FrozenGraph


@dataclass(frozen=True)
class RunnableGraph:
    """A graph, its tensors by the names that a signature has for them, and nodes that make it ready."""

    definition: GraphDef
    inputs: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    initializers: tuple[str, ...] = ()
    folder: ModelFolder | None = None  # the files that are the model's own


def runnable(graph: GraphSource, signature: str | None = None, allow_files: bool = False) -> RunnableGraph:
    """The graph; of a SavedModel that of the signature, which may be left out when it is the only one.

    allow_files is for a SavedModel that is loaded here.

    ModelError when there is no graph, or no such signature.
    """
    if isinstance(graph, str | PathLike):
        path = Path(graph)
        entry = None if path.is_dir() else _entry(path)
        if entry is not None:
            return RunnableGraph(_graph_def(entry.module), entry.inputs, entry.outputs)
        graph = load_saved_model(path, allow_files=allow_files) if path.is_dir() else read_graph(path)
    if isinstance(graph, SavedModel):
        return replace(_frozen(graph.freeze(signature)), folder=graph.folder)
    if signature is not None:
        raise ModelError(f"graph: signatures are a SavedModel's, got {signature!r} for a graph")
    if isinstance(graph, FrozenGraph):
        return _frozen(graph)
    return RunnableGraph(with_functions(_graph_def(graph)))


def _entry(path: Path) -> Entry | None:
    """What another front end makes of the file, None where it is a GraphDef's."""
    with open(path, "rb") as file:
        start = file.read(1 << 16)
    if is_keras(path, start):
        from ..keras.model_import import keras_entry

        return keras_entry(path)
    if is_stablehlo(start):
        from ..stablehlo.model_import import stablehlo_entry

        return stablehlo_entry(path)
    if is_onnx(start):
        from ..onnx.model_import import onnx_entry

        return onnx_entry(path)
    return None


def _frozen(graph: FrozenGraph) -> RunnableGraph:
    inputs = {name: tensor.tensor for name, tensor in graph.inputs.items()}
    outputs = {name: tensor.tensor for name, tensor in graph.outputs.items()}
    return RunnableGraph(graph.graph_def(), inputs, outputs, graph.initializers)


def _graph_def(graph: object) -> GraphDef:
    if isinstance(graph, GraphDef):
        return graph
    if isinstance(graph, bytes):
        return graph_def_of_bytes(graph)
    if isinstance(graph, Module):
        from ..ir.export_graph import export_graph_def

        return export_graph_def(graph)
    message = "must be a GraphDef, its bytes, a path, a Module or a SavedModel"
    raise ModelError(f"graph: {message}, got {type(graph).__name__}")
