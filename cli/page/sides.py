"""The files of a page: what each holds, and what its runs told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from ...lite.errors import ModelError
from ...lite.model import Model
from ...schema.shown import shown
from ..model_runs import set_inputs
from ..timing import median_of_runs
from .document import Side
from .measuring import measured, seen_ranges
from .tflite_graphs import graphs_of

if TYPE_CHECKING:
    from ...converter.ir.module import Module
    from ...interpreter import Interpreter

_SECONDS = 0.2  # how long a model is timed as a whole


@dataclass(frozen=True)
class Runs:
    """How a model is run for its page.

    open_model opens a file; with True all tensors are kept and no delegate runs, and numerics may be named.
    """

    sources: tuple[str, ...]
    seed: int
    count: int | None  # of timed runs; None for as many as take a third of a second
    open_model: Callable[..., Interpreter]


def tflite_side(path: str, runs: Runs | None) -> Side:
    """A .tflite file, measured unless runs is None; a model that cannot run has a note that says why."""
    model = Model.from_path(path)
    side = Side(label_of(Path(path)), "tflite", _facts(path, model), [])
    side.graphs = graphs_of(model, _values_of(path, side))
    if runs is not None:
        try:
            _measure(path, side, runs)
        except (ValueError, RuntimeError) as error:
            side.notes.append(f"not run: {shown(' '.join(str(error).split()))}")
    return side


def label_of(path: Path) -> str:
    """The file's name; that of a folder with what it lies in, for many are called model, or 1."""
    full = path.resolve()
    return shown(f"{full.parent.name}/{full.name}" if path.is_dir() else full.name)


def _facts(path: str, model: Model) -> list[tuple[str, str]]:
    found = [("file", shown(path)), ("bytes", f"{model.nbytes:,}"), ("schema", str(model.root.version))]
    if model.description:
        found.append(("description", shown(model.description)))
    for key, signature in model.signatures().items():
        ends = (", ".join(map(shown, names)) for names in (signature.inputs, signature.outputs))
        found.append((f"signature {shown(key)}", " → ".join(ends)))
    if names := list(model.metadata()):
        found.append(("metadata", ", ".join(map(shown, names))))
    return found


def _values_of(path: str, side: Side) -> Callable[[int, int], np.ndarray | None]:
    """Values of constants as an interpreter gives them, which it need not be able to run."""
    from ...interpreter import Interpreter

    try:
        core = Interpreter(path).core
    except (ValueError, RuntimeError) as error:
        side.notes.append(f"values are not shown: {shown(' '.join(str(error).split()))}")
        return lambda graph, index: None

    def value(graph: int, index: int) -> np.ndarray | None:
        try:
            return np.asarray(core.get_tensor(index, graph))
        except (ValueError, RuntimeError):  # damaged, sparse, or of a type that NumPy has not
            return None

    return value


def _measure(path: str, side: Side, runs: Runs) -> None:
    interpreter = runs.open_model(path, False)
    set_inputs(interpreter, runs.sources, runs.seed)
    interpreter.invoke()
    latency = median_of_runs(interpreter.invoke, _SECONDS)
    count, offered = len(side.graphs[0].nodes), interpreter.core.runtime.offered_delegates
    side.measured = measured(interpreter, count, latency, runs.count, next(iter(offered), None))
    keeping = runs.open_model(path, True)
    set_inputs(keeping, runs.sources, runs.seed)
    keeping.invoke()
    tensors = {t for node in side.graphs[0].nodes for t in node.outputs if t >= 0}
    side.measured.seen = seen_ranges(keeping, sorted(tensors.union(side.graphs[0].inputs)))


def graph_side(path: Path, tags: list[str] | None, signature: str | None, runs: Runs | None) -> Side:
    """A GraphDef, a graph's text or a SavedModel, of which a signature is frozen where one can be chosen.

    Run by the kernels in NumPy unless runs is None; a graph that cannot run has a note that says why.
    """
    from ...converter.source_file import FileKind, file_kind
    from ...converter.tfg.shape_inference import infer_shapes
    from ..graph_source import load
    from .graph_runs import measured_graph
    from .tensorflow_graphs import graphs_of as tensorflow_graphs

    kind = file_kind(path)
    facts = [("file", shown(path)), ("kind", kind.value)]
    if kind == FileKind.SAVED_MODEL and signature is None:
        signature = _default_signature(path, tags, facts)
    module: Module = load(path, tags, signature)
    if signature is not None:
        facts.append(("signature", f"{shown(signature)}, frozen"))
    notes = []
    try:
        infer_shapes(module)
    except (ValueError, RuntimeError) as error:
        notes.append(f"shapes are as the file has them: {shown(' '.join(str(error).split()))}")
    side = Side(label_of(path), kind.value, facts, tensorflow_graphs(module), notes=notes)
    if not side.graphs:
        raise ModelError(f"{path}: a page must have a graph to show, got none")
    if runs is not None and module.graph is not None:
        try:
            side.measured = measured_graph(
                module, module.graph, side.graphs[0], runs.sources, runs.seed, runs.count
            )
        except (ValueError, RuntimeError, click.ClickException) as error:
            side.notes.append(f"not run: {shown(' '.join(str(error).split()))}")
    return side


def _default_signature(path: Path, tags: list[str] | None, facts: list[tuple[str, str]]) -> str | None:
    """serving_default, or the only one that there is."""
    from ...converter.saved_model.loader import load_saved_model

    names = list(load_saved_model(path if path.is_dir() else path.parent, tags).signatures)
    facts.append(("signatures", ", ".join(map(shown, names)) or "none"))
    return "serving_default" if "serving_default" in names else names[0] if len(names) == 1 else None
