"""Runs in a Python that has Keras: saves models with weights by seed, and what they give."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
sys.path.insert(0, str(Path(__file__).parent))

import seeded
from layer_cases.case import Case
from layer_cases.register import cases

# Settings that only training needs.
_DROPPED = ("initializer", "regularizer", "constraint")
_ALSO_DROPPED = ("compile_config", "build_config", "shared_object_id")
_SHOWN = 12


def keras_of(version: int) -> Any:
    """Keras 3, or tf_keras."""
    if version == 3:
        import keras
    else:
        import tf_keras as keras
    return keras


def with_weights(path: Path) -> dict[str, list[int]]:
    """Give the file's weights their values by seed; their shapes by path."""
    import h5py

    layout: dict[str, list[int]] = {}
    # Counts of what was learned are integers, which nothing is computed of.

    def fill(file: Any) -> None:
        def visit(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset) and item.dtype.kind in "fi":
                layout[name] = list(item.shape)
                item[...] = seeded.weight(name, item.shape)

        file.visititems(visit)

    if path.suffix == ".h5":
        with h5py.File(path, "r+") as file:
            fill(file)
        return layout
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    stored = io.BytesIO(parts["model.weights.h5"])
    with h5py.File(stored, "r+") as file:
        fill(file)
    parts["model.weights.h5"] = stored.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return layout


def inputs_of(model: Any, case: Case) -> list[np.ndarray]:
    """Inputs by seed; open sizes are the case's."""
    found = []
    for place, tensor in enumerate(model.inputs):
        shape = [case.batch, *(case.time if size is None else int(size) for size in tensor.shape[1:])]
        dtype = tensor.dtype if isinstance(tensor.dtype, str) else tensor.dtype.name
        found.append(seeded.model_input(place, shape, dtype, case.high))
    return found


def outputs_of(model: Any, inputs: list[np.ndarray]) -> list[np.ndarray]:
    import tensorflow as tf

    given = [tf.constant(x.tolist(), tf.string) if x.dtype == object else tf.constant(x) for x in inputs]
    result = model(given if len(given) > 1 else given[0], training=False)
    return [np.asarray(y) for y in tf.nest.flatten(result)]


def shorter(config: Any) -> Any:
    """The config without what only training needs."""
    if isinstance(config, dict):
        return {
            key: shorter(value)
            for key, value in config.items()
            if not key.endswith(_DROPPED) and not (key in _ALSO_DROPPED and not isinstance(value, int))
        }
    return [shorter(each) for each in config] if isinstance(config, list) else config


def recorded(case: Case, version: int, folder: Path) -> dict:
    """What a test needs to make the model's file anew, and what Keras gave."""
    keras = keras_of(version)
    keras.backend.clear_session()
    path = folder / f"{case.name.replace(' ', '_').replace('/', '_')}_{version}.keras"
    case.build(keras).save(path)
    layout = with_weights(path)
    model = keras.models.load_model(path, compile=False)
    inputs = inputs_of(model, case)
    outputs = outputs_of(model, inputs)
    np.savez(path.with_suffix(".npz"), **{f"y{place}": y for place, y in enumerate(outputs)})
    with zipfile.ZipFile(path) as archive:
        config = json.loads(archive.read("config.json"))
        assets = {
            name: archive.read(name).decode() for name in archive.namelist() if name.startswith("assets/")
        }
    return {
        "name": case.name,
        "keras": version,
        "config": shorter(config),
        "layout": layout,
        "assets": assets,
        "high": case.high,
        "inputs": [[list(x.shape), "string" if x.dtype == object else x.dtype.name] for x in inputs],
        "outputs": [summary(y) for y in outputs],
    }


# Models that are also recorded as .h5 files.
HDF5_CASES = (
    *("Conv2D", "Bidirectional concat", "MultiHeadAttention", "RNN of cells", "frozen layers", "transformer"),
    *("nested models", "Sequential without input", "dictionaries", "GRU", "TimeDistributed Dense"),
)


def recorded_hdf5(case: Case, version: int, folder: Path) -> dict:
    """The same of a .h5 file: the names that its groups list."""
    import h5py

    keras = keras_of(version)
    keras.backend.clear_session()
    path = folder / f"{case.name.replace(' ', '_')}_{version}.h5"
    case.build(keras).save(path)
    layout = with_weights(path)
    model = keras.models.load_model(path, compile=False)
    inputs = inputs_of(model, case)
    with h5py.File(path) as file:
        config = json.loads(file.attrs["model_config"])
        root = file["model_weights"]
        layers = {
            str(name): [str(each) for each in root[name].attrs["weight_names"]]
            for name in root.attrs["layer_names"]
        }
    return {
        "name": case.name,
        "keras": version,
        "config": shorter(config),
        "layout": layout,
        "layers": layers,
        "high": case.high,
        "inputs": [[list(x.shape), x.dtype.name] for x in inputs],
        "outputs": [summary(y) for y in outputs_of(model, inputs)],
    }


def summary(y: np.ndarray) -> dict:
    """Shape, sum, and some of the numbers, evenly spread."""
    if y.dtype.kind not in "fiub":
        return {"shape": list(y.shape), "texts": [each.decode() for each in y.reshape(-1)[:_SHOWN].tolist()]}
    numbers = y.astype(np.float64).reshape(-1)
    places = np.linspace(0, max(numbers.size - 1, 0), min(_SHOWN, numbers.size)).astype(int)
    return {
        "shape": list(y.shape),
        "sum": float(np.round(numbers.sum(), 5)),
        "some": [float(f"{number:.7g}") for number in numbers[places]],
    }


def main() -> None:
    """Writes a line of JSON for each case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--keras", type=int, default=3)
    parser.add_argument("--match", default="")
    parser.add_argument("--hdf5", action="store_true")
    parser.add_argument("--random", type=int)
    parser.add_argument("--count", type=int, default=50)
    options = parser.parse_args()
    found = cases()
    if options.random is not None:
        import random_cases

        found = random_cases.cases(options.random, options.count)
    record, stem = (recorded_hdf5, "hdf5") if options.hdf5 else (recorded, "recorded")
    if options.hdf5:
        found = [case for case in found if case.name in HDF5_CASES]
    with open(options.folder / f"{stem}_{options.keras}.jsonl", "w") as file:
        for case in found:
            if options.keras not in case.keras or options.match not in case.name:
                continue
            try:
                line = record(case, options.keras, options.folder)
            except Exception as error:  # Keras itself refuses some random settings
                print(f"{case.name} (Keras {options.keras}): {type(error).__name__}: {str(error)[:200]}")
                continue
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
