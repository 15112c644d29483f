"""Damaged SavedModels: the graph, the signatures, the objects, the assets, the checkpoint."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from google.protobuf import text_format
from google.protobuf.message import DecodeError
from numlite.converter import Converter, GraphRunner, load_saved_model
from numlite.converter.ir import verify
from numlite.kernels.fallback.dtypes import numpy_dtype
from numlite.schema.saved_model import SavedModel

from tests.converter.saved_model import saved_models as made
from tests.fuzzing.checkpoints import SAVED_MODELS, damaged_files
from tests.fuzzing.folders import files_of, in_folder, save
from tests.fuzzing.graph_changes import change_graph
from tests.fuzzing.kind import Kind, Mutant, Seed
from tests.fuzzing.messages import change_field, damaged_bytes, packed
from tests.fuzzing.text_changes import damaged_text

MAX_BYTES = 150_000
MAX_GRAPH_BYTES = 60_000
RUN_SECONDS = 3
_GRAPH, _TEXT = "saved_model.pb", "saved_model.pbtxt"


def seeds(given: Sequence[Path]) -> list[Seed]:
    """SavedModels: the named folders, else the small ones of the shared ones, and one that is made here."""
    if given:
        return [Seed(path.name, files_of(path)) for path in given]
    folders = sorted(path.parent for path in SAVED_MODELS.rglob("saved_model.pb*"))
    found = [Seed(folder.parent.name, files_of(folder)) for folder in folders]
    return [*(seed for seed in found if _is_small(seed.content)), *_own_seeds()]


def _is_small(files: dict[str, bytes]) -> bool:
    graph = files.get(_GRAPH, files.get(_TEXT, b""))
    return len(graph) <= MAX_GRAPH_BYTES and sum(map(len, files.values())) <= MAX_BYTES


def _own_seeds() -> Iterator[Seed]:
    """y = f(x) = x * v, where v comes from the checkpoint."""
    meta_graph, graph = made.new_model()
    made.add(graph, "Placeholder", "x", dtype=made.FLOAT)
    made.variable(graph, "v", 2)
    made.add(graph, "ReadVariableOp", "read", "v", dtype=made.FLOAT)
    body = made.function(graph, "f", {"a": made.FLOAT, "b": made.FLOAT}, {"c": (made.FLOAT, "p:z:0")})
    made.add(body, "Mul", "p", "a", "b", T=made.FLOAT)
    call = made.add(graph, "PartitionedCall", "y", "x", "read")
    call.attr["f"].func.name = "f"
    call.attr["Tin"].list.type.extend([1, 1])
    call.attr["Tout"].list.type.append(1)
    made.signature(meta_graph, "serving_default", {"x": "x:0"}, {"y": "y:0"})
    made.restores(meta_graph, {"v": "v"})
    with tempfile.TemporaryDirectory() as folder:
        values = {"v": np.float32([1, 2])}
        yield Seed("variable", files_of(made.write_model(Path(folder), meta_graph, tensors=values)))


def damage(seed: Seed, draw: random.Random) -> Mutant:
    files = dict(seed.content)
    how = draw.random()
    if how < 0.75 and (_GRAPH in files or _TEXT in files):
        _damage_model(files, draw)
    elif how < 0.9:
        inner = {
            name.removeprefix("variables/"): files.pop(name) for name in list(files) if "variables/" in name
        }
        changed = damaged_files(inner, draw) if inner else inner
        files |= {f"variables/{name}": content for name, content in changed.items()}
    else:
        name = draw.choice(sorted(files))
        files[name] = damaged_bytes(files[name], draw)
    return Mutant(files, "damaged SavedModel", draw=draw.getrandbits(32))


def _damage_model(files: dict[str, bytes], draw: random.Random) -> None:
    if _TEXT in files and draw.random() < 0.8:
        files[_TEXT] = damaged_text(files[_TEXT].decode(), draw).encode(errors="surrogateescape")
        return
    if _TEXT in files:
        model = SavedModel()
        text_format.Parse(files.pop(_TEXT), model)
    else:
        try:
            model = SavedModel.FromString(files[_GRAPH])
        except DecodeError:
            return
    for _ in range(draw.choice((1, 1, 2, 3))):
        graph = draw.choice(list(model.meta_graphs))
        parts = [
            graph,
            graph.object_graph_def,
            graph.signature_def,
            graph.asset_file_def,
            graph.collection_def,
        ]
        part = draw.choice(parts)
        if draw.random() < 0.4:
            change_graph(graph.graph_def, draw)
        elif part is graph or part is graph.object_graph_def:
            change_field(part, draw)
        elif len(part):
            change_field(draw.choice(list(part)), draw)
    files[_GRAPH] = packed(model, files.get(_GRAPH, b""))


def use(folder: Path, mutant: Mutant) -> str:
    """Look at everything, then freeze, run or convert."""
    draw = random.Random(mutant.draw)
    model = load_saved_model(folder)
    _ = model.variables, model.assets, model.init_op
    if draw.random() < 0.3:
        verify(model.module())
        return "read"
    name = draw.choice(sorted(model.signatures)) if model.signatures else None
    how = draw.randrange(4)
    if how == 0:
        model.freeze(name)
        return "frozen"
    if how == 1:
        from numlite.cli.graph_summary import summary

        summary(folder, None, name, None)
        return "read"
    if how == 2:
        Converter.from_saved_model(str(folder)).convert()
        return "converted"
    runner = GraphRunner(model, signature=name)
    feeds = {}
    for key, tensor in model.signature(name).inputs.items():
        dtype = numpy_dtype(tensor.dtype)
        shape = [size if size and size > 0 else 2 for size in tensor.shape or ()]
        if np.prod(shape, dtype=float) > 1 << 16:
            return "not run"
        feeds[key] = np.full(shape, b"a", object) if dtype.kind in "OSU" else np.ones(shape, dtype)
    runner.run(feeds, list(runner.outputs), timeout_s=RUN_SECONDS)
    return "run"


_ENDINGS = frozenset({"read", "frozen", "converted", "run", "not run"})
SAVED = Kind("saved models", seeds, damage, in_folder(use), _ENDINGS, "", save)
