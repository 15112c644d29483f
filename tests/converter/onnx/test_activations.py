"""Activations of ONNX: what they give far from 0, and of how many operators they are."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import Converter, run_graph
from numlite.schema.onnx import ModelProto

from ...onnx_builder import model, node, value
from ..graphs import checked, operators, run_litert, run_numlite

# Beyond these e^x is 0, and infinite, in float32.
FAR = np.array([-200, -105, -90, -20, -3, -0.5, -1e-3, 0, 1e-3, 0.5, 3, 20, 90, 105, 200], np.float32)
X = FAR.astype(np.float64)


def softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(0, x)


def elu(x: np.ndarray, alpha: float = 1.0) -> np.ndarray:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def celu(x: np.ndarray, alpha: float) -> np.ndarray:
    return np.maximum(x, 0) + np.minimum(0, alpha * np.expm1(np.minimum(x / alpha, 700)))


CASES: dict[str, tuple[str, dict[str, float], np.ndarray, int]] = {
    "Softplus": ("Softplus", {}, softplus(X), 5),
    "Mish": ("Mish", {}, X * np.tanh(softplus(X)), 5),
    "Elu": ("Elu", {}, elu(X), 1),
    "Elu of half a unit": ("Elu", {"alpha": 0.5}, elu(X, 0.5), 2),
    "Elu of two units": ("Elu", {"alpha": 2.0}, elu(X, 2.0), 2),
    "Elu that turns back": ("Elu", {"alpha": -0.5}, elu(X, -0.5), 2),
    "Selu": ("Selu", {}, 1.0507009873554805 * elu(X, 1.6732632423543772), 3),
    "Selu of other numbers": ("Selu", {"alpha": 0.5, "gamma": 2.0}, 2 * elu(X, 0.5), 3),
    "Celu": ("Celu", {}, celu(X, 1.0), 1),
    "Celu of two units": ("Celu", {"alpha": 2.0}, celu(X, 2.0), 3),
}


def of(op: str, attributes: dict[str, float]) -> ModelProto:
    shape = list(FAR.shape)
    return model([node(op, ["x"], "y", **attributes)], [value("x", shape)], [value("y", shape)])


@pytest.mark.parametrize("name", CASES)
def test_far_values_are_finite_and_operators_few(name: str) -> None:
    op, attributes, wanted, count = CASES[name]
    made = of(op, attributes)
    content = checked(Converter.from_onnx(made).convert())
    assert len(operators(content)) == count, operators(content)
    entry = Converter.from_onnx(made).entries[0]
    for [y] in (
        run_graph(entry.module, {"x": FAR}, [entry.outputs["y"]]),
        run_numlite(content, FAR),
        run_litert(content, FAR),
    ):
        np.testing.assert_allclose(y, wanted, rtol=1e-6, atol=2e-7)


def test_units_that_grow_below_zero_are_what_they_are_defined_to_be() -> None:
    x = FAR[np.abs(FAR) < 30]
    made = of("Celu", {"alpha": -1.5})
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_value = len(x)
    [y] = run_numlite(Converter.from_onnx(made).convert(), x)
    np.testing.assert_allclose(y, celu(x.astype(np.float64), -1.5), rtol=1e-5, atol=1e-6)
