"""The digits example: its graph converts, and classifies images it was not trained on."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
from numlite.converter import convert_graph, read_graph
from numlite.interpreter import Interpreter

from ..running import run
from .graphs import checked, histogram

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_digits() -> None:
    model = checked(convert_graph(read_graph(EXAMPLES / "digits.pb")))
    assert len(model) < 200_000
    assert histogram(model)["CONV_2D"] == 2 and "ADD" not in histogram(model)
    table = np.loadtxt(EXAMPLES / "digits_test.csv", delimiter=",")
    images, labels = table[:, :64].reshape(-1, 8, 8, 1).astype(np.float32), table[:, 64]
    [probabilities] = run(Interpreter(model_content=model), images)
    assert np.mean(probabilities.argmax(axis=1) == labels) >= 0.97


def test_the_guide_to_quantization() -> None:
    """Every scheme tells as many digits as floats do, but for one in a hundred, in less space."""
    guide = runpy.run_path(str(EXAMPLES / "quantize_digits.py"))
    models = {name: guide["converter"](**settings).convert() for name, settings in guide["SCHEMES"].items()}
    right = {name: guide["accuracy"](model) for name, model in models.items()}
    sizes = {name: len(model) for name, model in models.items()}
    assert min(right.values()) >= right["float"] - 0.01
    assert all(size < 0.6 * sizes["float"] for name, size in sizes.items() if name != "float")
