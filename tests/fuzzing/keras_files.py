"""Damaged Keras models, of all forms of files: they convert, or end in an error that says why."""

from __future__ import annotations

import io
import json
import random
import tempfile
import zipfile
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numlite.converter import Converter, run_graph
from numlite.kernels.fallback.dtypes import numpy_dtype
from numlite.schema.graph_def import DT_STRING

from tests.converter.keras.recorded_models import hdf5_file, lines, weights_file
from tests.fuzzing.kind import Kind, Mutant, Seed
from tests.fuzzing.messages import NUMBERS, damaged_bytes
from tests.fuzzing.text_changes import damaged_text

RUN_SECONDS = 3
_MOST_ELEMENTS = 1 << 16
_ARCHIVE, _WHOLE, _WEIGHTS = "archive", "whole", "weights"
_ODD = (
    *(None, True, False, "", "x", "relu", "same", "channels_first", "int64", "string", "\x1b[0m"),
    *([], {}, [[]], [None], [1, 2], {"class_name": "Dense"}, {"class_name": "__tuple__", "items": [2, 2]}),
    *(0.5, -0.5, 1e308, float("nan"), float("inf"), -2, 5, 1000, *NUMBERS),
)
_TYPES = ("?", "i1", "u8", "f2", "f8", ">f4", "c8", "S4", "O")


def _seeds(given: Sequence[Path]) -> list[Seed]:
    """The given files, else models that Keras has told, in each form of file."""
    if given:
        return [Seed(path.name, {"form": "", "content": path.read_bytes()}) for path in given]
    seeds = []
    for version in (2, 3):
        for form, stem in ((_ARCHIVE, "recorded"), (_WEIGHTS, "recorded"), (_WHOLE, "hdf5")):
            told = lines(version, stem)[:: 3 if form == _WEIGHTS else 1]
            seeds += [Seed(f"{line['name']}, Keras {version}", {"form": form, **line}) for line in told]
    return seeds


def _damage(seed: Seed, draw: random.Random) -> Mutant:
    """Mostly one part of the model: its config, what the weights are, or bytes."""
    model = dict(seed.content)
    number = draw.getrandbits(32)
    if not model["form"]:
        return Mutant((damaged_bytes(model["content"], draw), None), "damaged file", draw=number)
    how = draw.choice(("config", "config", "config", "config", "weights", "stored bytes", "file"))
    text = json.dumps(model["config"])
    if how == "config":
        text = _damaged_config(text, draw)
    change = _changed_weights if how == "weights" else None
    if model["form"] == _WHOLE:
        content = _changed_names(_stored(hdf5_file(model), change, draw), text, how == "weights", draw)
        wants_config = False
    else:
        content = _stored(weights_file(model), change, draw)
        wants_config = model["form"] == _WEIGHTS
    if how == "stored bytes":
        content = damaged_bytes(content, draw)
    if model["form"] == _ARCHIVE:
        content = _archive(model, text, content, how == "file", draw)
    if how == "file" and draw.random() < 0.7:
        content = damaged_bytes(content, draw)
    return Mutant((content, text if wants_config else None), f"damaged {how}", draw=number)


def _damaged_config(text: str, draw: random.Random) -> str:
    """Settings become others, or those of another place; or the text is damaged."""
    if draw.random() < 0.1:
        return damaged_text(text, draw, '{}[]",:0-1e.tnu\\')
    whole = [json.loads(text)]
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        places = list(_places(whole))
        owner, key = draw.choice(places)
        how = draw.random()
        if how < 0.2:
            other, other_key = draw.choice(places)
            owner[key] = json.loads(json.dumps(other[other_key]))
        elif how < 0.4:
            # Of the same name, so that it may still make sense.
            alike = [place for place in places if place[1] == key]
            other, other_key = draw.choice(alike)
            owner[key] = json.loads(json.dumps(other[other_key]))
        elif how < 0.5 and isinstance(owner, dict):
            del owner[key]
        elif how < 0.6 and isinstance(owner, list):
            owner.insert(key, json.loads(json.dumps(owner[key])))
        elif isinstance(owner[key], int) and draw.random() < 0.5:
            owner[key] = draw.choice((owner[key] + 1, owner[key] - 1, 2 * owner[key], -owner[key]))
        else:
            # A copy: what is put into it later must not come into itself, nor into other damage.
            owner[key] = deepcopy(draw.choice(_ODD))
    return json.dumps(whole[0])


def _places(value: Any) -> Any:
    """Every setting, as what it is in and its key there."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield value, key
        yield from _places(inner)


def _stored(content: bytes, change: Any, draw: random.Random) -> bytes:
    """An HDF5 file with its arrays changed."""
    if change is None:
        return content
    held = io.BytesIO(content)
    with h5py.File(held, "r+") as file:
        change(file, draw)
    return held.getvalue()


def _changed_weights(file: h5py.File, draw: random.Random) -> None:
    paths: list[str] = []
    file.visititems(lambda path, found: paths.append(path) if isinstance(found, h5py.Dataset) else None)
    for _ in range(draw.choice((1, 1, 2)) if paths else 0):
        path = paths.pop(draw.randrange(len(paths)))
        shape = file[path].shape
        del file[path]
        how = draw.randrange(8)
        if how == 0:
            file[path] = h5py.SoftLink(draw.choice(("/", path, "/nothing", f"/{paths[0]}" if paths else "/")))
        elif how == 1:
            file[path] = h5py.ExternalLink(draw.choice(("/etc/passwd", "other.h5", "x")), "/")
        elif how == 2:
            file.create_group(path)
        elif how == 3:
            sizes = [draw.choice((0, 1, 1 << 20, 1 << 40)) for _ in range(draw.randrange(1, 4))]
            huge = np.prod(sizes, dtype=float) < 2.0**60
            file.create_dataset(path, sizes if huge else (1 << 40,), "f4", chunks=True, compression="gzip")
        elif how == 4:
            file.create_dataset(path, data=np.ones(shape, "f4").astype(draw.choice(_TYPES[:-2])))
        elif how == 5:
            file.create_dataset(
                path, data=draw.choice((b"text", "text", np.array([b"a"], "S1"), h5py.Empty("f4")))
            )
        elif how == 6:
            sizes = (
                [*shape, 2]
                if draw.random() < 0.3
                else [max(0, size + draw.choice((-1, 0, 1))) for size in shape]
            )
            file.create_dataset(path, data=np.ones(sizes, "f4"))
        if not paths:
            break


def _changed_names(content: bytes, text: str, changed: bool, draw: random.Random) -> bytes:
    """A whole model's file with that config, and perhaps other lists of names."""
    held = io.BytesIO(content)
    with h5py.File(held, "r+") as file:
        file.attrs["model_config"] = text
        if changed and draw.random() < 0.6:
            owners = [file["model_weights"], *file["model_weights"].values()]
            owner = draw.choice([each for each in owners if isinstance(each, h5py.Group)])
            name = draw.choice(sorted(owner.attrs) or ["layer_names"])
            if draw.random() < 0.2:
                owner.attrs[draw.choice(("layer_names0", "weight_names0", "weight_names"))] = [b"x"]
            elif name in owner.attrs and draw.random() < 0.3:
                del owner.attrs[name]
            else:
                owner.attrs[name] = draw.choice(
                    (0, 1.5, b"x", "x", [b"x", b"../x"], [1, 2], [b"/"], np.zeros(0))
                )
        if draw.random() < 0.05:
            name = draw.choice(("model_config", "keras_version"))
            file.attrs[name] = draw.choice((1, b"\xff", np.zeros(3), [b"{}"], "{}"))
    return held.getvalue()


def _archive(model: Any, text: str, weights: bytes, changed: bool, draw: random.Random) -> bytes:
    """The archive, and perhaps without a part, with one twice, or one of another name."""
    version = json.dumps({"keras_version": f"{model['keras']}.0.0"}).encode()
    parts = [("config.json", text.encode(errors="surrogateescape")), ("metadata.json", version)]
    parts += [
        ("model.weights.h5", weights),
        *((name, each.encode()) for name, each in model["assets"].items()),
    ]
    if changed:
        at = draw.randrange(len(parts))
        name, data = parts[at]
        how = draw.randrange(5)
        if how == 0:
            del parts[at]
        elif how == 1:
            parts.append(parts[at])
        elif how == 2:
            parts[at] = draw.choice(("model.weights.json", f"../{name}", f"assets/{name}", "x")), data
        elif how == 3:
            parts[at] = name, damaged_bytes(data, draw)
        else:
            parts[at] = name, bytes(draw.choice((0, 1 << 20, 1 << 24)))
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", draw.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, data in parts:
            info = zipfile.ZipInfo(name)  # without the time of day
            info.compress_type = archive.compression
            archive.writestr(info, data)
    return held.getvalue()


def _attempt(mutant: Mutant) -> str:
    converter = _opened(*mutant.content)
    if random.Random(mutant.draw).random() < 0.7:
        converter.convert()
        return "converted"
    entry = converter.entries[0]
    placed = {node.name: node for node in entry.module.graph.body}  # type: ignore[union-attr]
    feeds = {}
    for node_name in entry.inputs.values():
        node = placed[node_name]
        shape = [2 if size < 0 else size for size in node.shape("shape") or ()]
        dtype = node.type("dtype")
        if np.prod(shape, dtype=float) > _MOST_ELEMENTS:
            return "not run"
        feeds[node_name] = np.full(shape, b"the" if dtype == DT_STRING else 1, numpy_dtype(dtype))
    run_graph(entry.module, feeds, list(entry.outputs.values()), timeout_s=RUN_SECONDS)
    return "run"


def _opened(content: bytes, config: str | None) -> Converter:
    if config is None:
        return Converter.from_keras_file(content)
    with tempfile.NamedTemporaryFile("w", suffix=".json", errors="surrogateescape") as file:
        file.write(config)
        file.flush()
        return Converter.from_keras_file(content, config=file.name)


def _save(mutant: Mutant, path: Path) -> None:
    content, config = mutant.content
    path.write_bytes(content)
    if config is not None:
        path.with_suffix(".json").write_text(config, errors="surrogateescape")


KERAS = Kind(
    "keras",
    _seeds,
    _damage,
    _attempt,
    frozenset({"converted", "run", "not run"}),
    ".keras",
    _save,
    runs_models=False,
)
