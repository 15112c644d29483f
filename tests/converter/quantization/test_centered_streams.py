"""Streams that only normalizations read are centered where they are made."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numlite.converter.quantization import recipes
from numlite.converter.quantization.centered_streams import center_streams
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.converter.quantization.quantizer import Quantizer
from numlite.lite.model import Model
from numlite.model_comparison import sqnr_db
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import operators, outputs, weights
from .normalized_models import DEPTH, ROWS, SHAPE, normalized

Op = tflite.BuiltinOperator
WIDTH = 6
DATA = [[np.random.default_rng(k).normal(size=(1, ROWS, WIDTH)).astype(np.float32)] for k in range(12)]
Reader = Callable[[ModelBuilder, int], list[int]]


def dense(model: ModelBuilder, x: int, shape: tuple[int, ...], inputs: int, seed: int) -> int:
    """A FULLY_CONNECTED whose outputs lie far from zero."""
    y = model.tensor(shape)
    w, b = (
        model.constant(weights((shape[-1], inputs), seed)),
        model.constant(3 + weights(shape[-1:], seed + 1)),
    )
    model.op(Op.FULLY_CONNECTED, [x, w, b], [y], tflite.FullyConnectedOptionsT(keep_num_dims=True))
    return y


def stream(form: str, others: Reader = lambda model, x: []) -> bytes:
    """Two normalizations of a stream of residual additions; others read it, too, and give outputs."""
    model = ModelBuilder()
    x = model.tensor((1, ROWS, WIDTH), name="x")
    first, second = model.tensor(SHAPE), model.tensor(SHAPE)
    places = model.constant(weights((1, ROWS, DEPTH), 9))
    model.op(Op.ADD, [dense(model, x, SHAPE, WIDTH, 1), places], [first], tflite.AddOptionsT())
    inner = dense(model, normalized(model, first, form), SHAPE, DEPTH, 11)
    model.op(Op.ADD, [first, inner], [second], tflite.AddOptionsT())
    y = dense(model, normalized(model, second, form), (1, ROWS, 3), DEPTH, 21)
    return model.build([x], [y, *others(model, second)])


def centered(content: bytes) -> tuple[bytes, bool]:
    editor = ModelEditor(Model(content))
    changed = center_streams(editor)
    return editor.finish().content(), changed


@pytest.mark.parametrize("form", ["minus", "negative", "centered"])
def test_neither_mean_nor_difference_is_left(form: str) -> None:
    content = stream(form)
    made, changed = centered(content)
    assert changed
    found = operators(made)
    assert found.count("MEAN") == 2  # of squares
    assert not {"SUB", "SQUARED_DIFFERENCE", "NEG"}.intersection(found)
    for sample in DATA:
        np.testing.assert_allclose(
            outputs(made, sample)[0], outputs(content, sample)[0], rtol=1e-4, atol=1e-4
        )


def _activation(model: ModelBuilder, x: int) -> list[int]:
    y = model.tensor(SHAPE)
    model.op(Op.RELU, [x], [y])
    return [y]


def _itself(model: ModelBuilder, x: int) -> list[int]:
    return [x]


def _filter(model: ModelBuilder, x: int) -> list[int]:
    return [dense(model, x, (1, ROWS, 2), DEPTH, 31)]


def _mean(model: ModelBuilder, x: int) -> list[int]:
    y = model.tensor((1, ROWS, 1))
    options = tflite.ReducerOptionsT(keep_dims=True)
    model.op(Op.MEAN, [x, model.constant(np.array([-1], np.int32))], [y], options)
    return [y]


@pytest.mark.parametrize("others", [_activation, _itself, _filter, _mean])
def test_what_others_read_keeps_its_mean(others: Reader) -> None:
    content = stream("minus", others)
    made, changed = centered(content)
    assert not changed
    assert operators(made) == operators(content)


def test_a_fused_activation_keeps_the_mean() -> None:
    content = stream("minus")
    editor = ModelEditor(Model(content))
    [graph] = editor.subgraphs
    for operator, name in editor.operators(graph):
        if name == "FULLY_CONNECTED":
            options: Any = operator.builtin_options
            options.fused_activation_function = tflite.ActivationFunctionType.RELU
    assert not center_streams(editor)


def test_integers_err_no_more() -> None:
    content = stream("minus")
    quantizer = Quantizer(content, recipes.static_int8())
    made = quantizer.quantize(quantizer.calibrate(DATA), improve="none").quantized_model
    real, integer = (np.array([outputs(m, sample)[0] for sample in DATA]) for m in (content, made))
    assert "SUB" not in operators(made)
    assert sqnr_db(real, integer) > 25
