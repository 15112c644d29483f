"""SavedModels: what is in the folder, and the graph that its tags name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path, PurePosixPath

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from ...lite.errors import ModelError, UnsupportedError
from ...schema import saved_model as messages
from ...schema.saved_model import AssetFileDef, CollectionDef, MetaGraphDef
from ...schema.shown import shown
from ..ir.module import Module
from .checkpoint import Checkpoint, load_checkpoint
from .frozen_graph import FrozenGraph
from .model_folder import ASSETS, VARIABLES, ModelFolder
from .object_graph import OBJECT_GRAPH
from .reachable import import_part
from .signature import Signature, signature_of
from .tensor_slice import TensorInfo

SERVE = "serve"
INIT_SIGNATURE = "__saved_model_init_op"
# Signatures of TensorFlow's own, which nobody calls.
_INTERNAL = frozenset((INIT_SIGNATURE, "__saved_model_train_op"))


class SavedModel:
    """One graph of a SavedModel, with its signatures, variables and assets.

    signatures are by key. Files outside the folder are read only with allow_files. ModelError for what is
    damaged, or names what is not there.
    """

    def __init__(self, path: Path, meta_graph: MetaGraphDef, allow_files: bool = False) -> None:
        self.path = path
        self.folder = ModelFolder(path, allow_files)
        self.meta_graph = meta_graph
        self.tags = tuple(meta_graph.meta_info_def.tags)
        self.signatures: dict[str, Signature] = {}
        for entry in meta_graph.signature_def:
            if entry.key in self.signatures:
                raise ModelError(f"{path}: signature {entry.key!r} occurs twice")
            if entry.key not in _INTERNAL:
                self.signatures[entry.key] = signature_of(entry.key, entry.value)
        self._checkpoint: Checkpoint | None = None

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The variables, None for a model that has none."""
        prefix = self.path / VARIABLES / "variables"
        if self._checkpoint is None and prefix.with_name("variables.index").is_file():
            self.folder.check_variables()
            self._checkpoint = load_checkpoint(prefix)
        return self._checkpoint

    @property
    def variables(self) -> dict[str, TensorInfo]:
        """The checkpoint's tensors by name, without what describes the Python objects."""
        tensors = {} if self.checkpoint is None else self.checkpoint.tensors
        return {name: info for name, info in tensors.items() if name != OBJECT_GRAPH}

    @property
    def assets(self) -> dict[str, Path]:
        """Files by the tensor that takes their path; ModelError for one outside the model's folder."""
        defs = list(self.meta_graph.asset_file_def)
        for value in self.collection("saved_model_assets").any_list.value:
            try:
                defs.append(AssetFileDef.FromString(value.value))
            except DecodeError as error:
                raise ModelError(
                    f"{self.path}: collection saved_model_assets is damaged ({error})"
                ) from error
        return {asset.tensor_info.name: self._asset(asset.filename) for asset in defs}

    def _asset(self, filename: str) -> Path:
        name = PurePosixPath(filename)
        inside = filename and not name.is_absolute() and ".." not in name.parts
        if not inside or "\\" in filename or "\0" in filename or ":" in filename:
            raise ModelError(f"{self.path}: an asset must lie in the model's assets folder, got {filename!r}")
        return self.path / ASSETS / name

    @property
    def init_op(self) -> str:
        """The node that makes a fresh session ready, "" when nothing is to be done."""
        for entry in self.meta_graph.signature_def:
            if entry.key == INIT_SIGNATURE:
                return next((output.value.name for output in entry.value.outputs), "")
        for collection in ("saved_model_main_op", "legacy_init_op"):
            nodes = self.collection(collection).node_list.value
            if nodes:
                return nodes[0]
        return ""

    def collection(self, name: str) -> CollectionDef:
        """The collection, empty when there is none of that name."""
        found = (entry.value for entry in self.meta_graph.collection_def if entry.key == name)
        return next(found, CollectionDef())

    def module(self) -> Module:
        """The whole graph as it is, with calls and variables."""
        return import_part(self.meta_graph)

    def freeze(self, signature: str | None = None, together: Sequence[str] | None = None) -> FrozenGraph:
        """The graph of a signature, complete in itself.

        Calls are inlined and variables are constants, but for those that a signature assigns to:
        these stay, with their first value. `together` names the signatures that will share the
        variables; by default that is all. Without a name the signature must be the only one, or
        "serving_default". See FrozenGraph for the result.
        ModelError for a name that is not there, and for a variable without a value.
        """
        from .freeze import freeze

        chosen = self.signature(signature)
        others = [self.signature(name) for name in (self.signatures if together is None else together)]
        return freeze(self, chosen, others)

    def signature(self, name: str | None) -> Signature:
        """The signature of that name, or the default one; ModelError lists those that are there."""
        if name is None:
            name = next(iter(self.signatures)) if len(self.signatures) == 1 else "serving_default"
        if name not in self.signatures:
            known = ", ".join(f"{known!r}" for known in self.signatures) or "none"
            raise ModelError(f"{self.path}: no signature {name!r}; there are: {known}")
        return self.signatures[name]


def load_saved_model(
    path: str | PathLike[str], tags: Iterable[str] | None = None, allow_files: bool = False
) -> SavedModel:
    """The SavedModel in a folder.

    Tags choose among its graphs; without any it is the only one, or that for serving. Tables are filled
    from files of its own assets folder; allow_files lets it name any other, too. ModelError when
    the folder holds no SavedModel, the file is damaged, or no graph has exactly these tags.
    """
    path = Path(path)
    graphs = read_saved_model(path).meta_graphs
    return SavedModel(path, _chosen(graphs, None if tags is None else frozenset(tags), path), allow_files)


def read_saved_model(path: Path) -> messages.SavedModel:
    """The message in a folder's saved_model.pb or saved_model.pbtxt."""
    binary, text, chunked = (path / f"saved_model.{suffix}" for suffix in ("pb", "pbtxt", "cpb"))
    found = messages.SavedModel()
    try:
        if binary.is_file():
            found.ParseFromString(binary.read_bytes())
        elif text.is_file():
            text_format.Parse(text.read_bytes().decode("utf-8-sig"), found)
        elif chunked.is_file():
            raise UnsupportedError(f"{chunked}: models in chunks are not read; save it as saved_model.pb")
        else:
            raise ModelError(f"{path}: no SavedModel, neither saved_model.pb nor saved_model.pbtxt is there")
    except (DecodeError, text_format.ParseError, UnicodeDecodeError, RecursionError) as error:
        raise ModelError(f"{path}: saved_model is damaged ({error})") from error
    if not found.meta_graphs:
        raise ModelError(f"{path}: saved_model must hold a graph, it has none")
    return found


def _chosen(graphs: Sequence[MetaGraphDef], tags: frozenset[str] | None, path: Path) -> MetaGraphDef:
    if tags is None and len(graphs) == 1:
        return graphs[0]
    wanted = frozenset((SERVE,)) if tags is None else tags
    found = [graph for graph in graphs if frozenset(graph.meta_info_def.tags) == wanted]
    if len(found) != 1:
        known = ", ".join(_braced(graph.meta_info_def.tags) for graph in graphs)
        number = "no graph has" if not found else f"{len(found)} graphs have"
        raise ModelError(f"{path}: {number} the tags {_braced(wanted)}; there are: {known}")
    return found[0]


def _braced(tags: Iterable[str]) -> str:
    return "{" + ", ".join(map(shown, sorted(tags))) + "}"
