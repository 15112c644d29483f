"""Layers of NVIDIA's library: their weights lie otherwise, what they compute is Keras's LSTM and GRU."""

from __future__ import annotations

import io
import json

import h5py
import numpy as np
import pytest
from numlite.converter.converter import Converter

from .recorded_models import results

# What tf_keras computes of these weights, brought into its own order by its preprocess_weights_for_loading.
EXPECTED = {
    "LSTM": [[0.039138, 0.0161], [-0.143414, -0.014092], [-0.112807, -0.042974]],
    "GRU": [[-0.306414, -0.48726], [-0.109814, -0.527801], [0.505641, -0.293693]],
}
GATES = {"LSTM": 4, "GRU": 3}


def given() -> tuple[np.ndarray, dict[str, list[np.ndarray]]]:
    """The input, and the weights by layer, of one generator."""
    random = np.random.default_rng(5)
    x = random.standard_normal((1, 3, 2)).astype(np.float32)
    return x, {
        name: [
            random.normal(0, 0.5, size).astype(np.float32)
            for size in ((2, 2 * gates), (2, 2 * gates), (2 * 2 * gates,))
        ]
        for name, gates in GATES.items()
    }


def file_of(name: str, weights: list[np.ndarray]) -> bytes:
    settings = {"name": "rnn", "trainable": True, "units": 2, "return_sequences": True}
    layers = [
        {
            "class_name": "InputLayer",
            "config": {"batch_input_shape": [None, 3, 2], "dtype": "float32", "name": "x"},
        },
        {"class_name": f"CuDNN{name}", "config": settings},
    ]
    stored = io.BytesIO()
    with h5py.File(stored, "w") as file:
        config = {"class_name": "Sequential", "config": {"name": "model", "layers": layers}}
        file.attrs["model_config"], file.attrs["keras_version"] = json.dumps(config), "2.4.0"
        root = file.create_group("model_weights")
        root.attrs["layer_names"] = [b"rnn"]
        names = [f"rnn/{each}:0" for each in ("kernel", "recurrent_kernel", "bias")]
        root.require_group("rnn").attrs["weight_names"] = [each.encode() for each in names]
        for each, array in zip(names, weights, strict=True):
            file.create_dataset(f"model_weights/rnn/{each}", data=array)
    return stored.getvalue()


@pytest.mark.parametrize("name", EXPECTED)
def test_weights_are_brought_into_keras_order(name: str) -> None:
    x, weights = given()
    [y] = results(Converter.from_keras_file(file_of(name, weights[name])), [x])
    np.testing.assert_allclose(y, [EXPECTED[name]], rtol=0, atol=2e-6)
