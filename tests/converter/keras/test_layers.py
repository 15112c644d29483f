"""Every layer that is read, with its settings, against what Keras 3 and tf_keras gave."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numlite.converter import OpsSet, run_graph
from numlite.converter.converter import Converter
from numlite.converter.keras.register import FAMILIES

from ...keras_models import DOCS, classes_in, with_table
from .layer_cases.case import SELECT
from .recorded_models import differences, hdf5_file, inputs_of, keras_file, lines, results, weights_file

LINES = [line for version in (3, 2) for line in lines(version)]
# A third of them runs by default.
FEW = 3
# Cells and inputs come with the layers that hold them.
_WITHIN = {
    *("InputLayer", "LSTMCell", "GRUCell", "SimpleRNNCell", "StackedRNNCells"),
    *(f"ConvLSTMCell{rank}D" for rank in (1, 2, 3)),
}

# Aliases, and what differs from a recorded class in its name alone.
UNRECORDED = {
    *("CuDNNGRU", "CuDNNLSTM", "SyncBatchNormalization", "LayerScale", "StochasticDepth"),
    *("AugMix", "CutMix", "MixUp", "RandAugment", "RandomColorDegeneration", "RandomColorJitter"),
    *("RandomElasticTransform", "RandomErasing", "RandomGaussianBlur", "RandomGrayscale", "RandomHeight"),
    *("RandomHue", "RandomInvert", "RandomPerspective", "RandomPosterization", "RandomSaturation"),
    *("RandomSharpness", "RandomShear", "RandomWidth"),
}


def name_of(line: dict) -> str:
    return f"{line['name']}-{line['keras']}"


def compare(line: dict) -> None:
    converter = Converter.from_keras_file(keras_file(line))
    if line["name"].startswith(SELECT):
        converter.target_spec.supported_ops = [OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS]
    assert not differences(results(converter, inputs_of(line)), line["outputs"])


@pytest.mark.parametrize("line", LINES[::FEW], ids=name_of)
def test_layers_give_what_keras_gave(line: dict) -> None:
    compare(line)


@pytest.mark.long
@pytest.mark.parametrize("line", [line for i, line in enumerate(LINES) if i % FEW], ids=name_of)
def test_more_layers_give_what_keras_gave(line: dict) -> None:
    compare(line)


@pytest.mark.parametrize("line", [line for version in (3, 2) for line in lines(version, "hdf5")], ids=name_of)
def test_hdf5_files_give_what_keras_gave(line: dict) -> None:
    converter = Converter.from_keras_file(hdf5_file(line))
    assert not differences(results(converter, inputs_of(line)), line["outputs"])


def line_of(name: str, version: int = 3) -> dict:
    return next(line for line in LINES if line["name"] == name and line["keras"] == version)


@pytest.mark.parametrize("name", ["nested models", "transformer"])
def test_weights_and_their_config_are_a_model(name: str) -> None:
    line = line_of(name)
    converter = Converter.from_keras_file(weights_file(line), config=json.dumps(line["config"]))
    assert not differences(results(converter, inputs_of(line)), line["outputs"])


@pytest.mark.parametrize("name", ["Conv2D", "LSTM open", "transformer", "dictionaries"])
def test_run_graph_takes_files(name: str, tmp_path: Any) -> None:
    line = line_of(name)
    path = tmp_path / "model.keras"
    path.write_bytes(keras_file(line))
    entry = Converter.from_keras_file(path).entries[0]
    feeds = dict(zip(entry.inputs, inputs_of(line), strict=True))
    found = run_graph(path, feeds, list(entry.outputs))
    assert not differences([np.asarray(y) for y in found], line["outputs"])


def test_every_class_is_recorded() -> None:
    recorded = set().union(*(classes_in(line["config"]) for line in LINES))
    layers = {name for name in FAMILIES.names() if not name.startswith("ops.")}
    assert not layers - recorded - _WITHIN - UNRECORDED


def test_the_page_has_the_table_that_is_true() -> None:
    assert DOCS.read_text() == with_table(DOCS.read_text())
