"""Keras files made anew of what was recorded: config, layout of weights, seeds. See README.md."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numlite
import numpy as np
from numlite.converter.converter import Converter

from .seeded import model_input, weight

FOLDER = Path(__file__).parent
# Sums of float32 in another order.
CLOSE = 3e-5


def lines(version: int, stem: str = "recorded") -> list[dict]:
    """What was recorded with a version of Keras, of .keras files or (stem "hdf5") .h5 files."""
    with open(FOLDER / f"{stem}_{version}.jsonl") as file:
        return [json.loads(line) for line in file]


def weights_file(line: Mapping[str, Any]) -> bytes:
    """The .weights.h5 file."""
    stored = io.BytesIO()
    with h5py.File(stored, "w") as file:
        for path, shape in line["layout"].items():
            file.create_dataset(path, data=weight(path, tuple(shape)))
    return stored.getvalue()


def hdf5_file(line: Mapping[str, Any]) -> bytes:
    """The .h5 file of a whole model."""
    stored = io.BytesIO()
    with h5py.File(stored, "w") as file:
        file.attrs["model_config"] = json.dumps(line["config"])
        file.attrs["keras_version"] = f"{line['keras']}.0.0"
        root = file.create_group("model_weights")
        root.attrs["layer_names"] = [name.encode() for name in line["layers"]]
        for name, weights in line["layers"].items():
            root.require_group(name).attrs["weight_names"] = [each.encode() for each in weights]
        for path, shape in line["layout"].items():
            file.create_dataset(path, data=weight(path, tuple(shape)))
    return stored.getvalue()


def keras_file(line: Mapping[str, Any]) -> bytes:
    """The .keras archive."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as parts:
        parts.writestr("config.json", json.dumps(line["config"]))
        parts.writestr("metadata.json", json.dumps({"keras_version": f"{line['keras']}.0.0"}))
        parts.writestr("model.weights.h5", weights_file(line))
        for name, text in line["assets"].items():
            parts.writestr(name, text)
    return archive.getvalue()


def inputs_of(line: Mapping[str, Any]) -> list[np.ndarray]:
    pairs = enumerate(line["inputs"])
    return [model_input(place, shape, dtype, line["high"]) for place, (shape, dtype) in pairs]


def results(converter: Converter, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """What the converted model gives, in the order of Keras's outputs."""
    entry = converter.entries[0]
    runner = numlite.Interpreter(model_content=converter.convert()).get_signature_runner()
    found = runner(**dict(zip(entry.inputs, inputs, strict=True)))
    return [found[name] for name in entry.outputs]


def differences(found: list[np.ndarray], wanted: list[dict], close: float = CLOSE) -> list[str]:
    """How results differ from what was recorded."""
    if len(found) != len(wanted):
        return [f"{len(found)} outputs, {len(wanted)} wanted"]
    said = []
    for place, (y, summary) in enumerate(zip(found, wanted, strict=True)):
        if list(y.shape) != summary["shape"]:
            said.append(f"output {place}: shape {y.shape}, {summary['shape']} wanted")
            continue
        if "texts" in summary:
            texts = [each.decode() for each in y.reshape(-1)[: len(summary["texts"])].tolist()]
            said += (
                [] if texts == summary["texts"] else [f"output {place}: {texts}, {summary['texts']} wanted"]
            )
            continue
        numbers = y.astype(np.float64).reshape(-1)
        some = np.array(summary["some"])
        places = np.linspace(0, max(numbers.size - 1, 0), some.size).astype(int)
        scale = max(1.0, float(np.abs(some).max(initial=0)))
        away = float(np.abs(numbers[places] - some).max(initial=0)) / scale
        far = abs(float(numbers.sum()) - summary["sum"]) / scale / max(np.sqrt(numbers.size), 1)
        if not (away <= close and far <= close):
            said.append(f"output {place}: {away:.2g} and {far:.2g} away")
    return said
