"""Calibrator, by the names of tf.lite's."""

from typing import Any

import numpy as np
import pytest
from numlite.converter.quantization import Calibrator, Quantizer, add_intermediate_tensors, recipes
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.lite.model import Model
from numlite.schema import tflite

from .float_models import operators, samples
from .recurrent_models import lstm
from .weighted_models import conv

FLOAT32, INT8 = np.float32, np.int8


def tensors(content: bytes) -> dict[str, tflite.TensorT]:
    return {t.name: t for t in tflite.unpack(Model(content).root).subgraphs[0].tensors}


def test_calibrate_gives_the_float_model_with_ranges() -> None:
    content = conv()
    data = samples(content)
    found = tensors(Calibrator(content).calibrate(lambda: data))
    seen = np.stack([x for [x] in data])
    assert list(found["x"].quantization.min) == [seen.min()]
    assert list(found["x"].quantization.max) == [seen.max()]
    assert found["w"].quantization is None


def test_calibrate_and_quantize_is_the_quantizer_without_improvements() -> None:
    content = conv()
    data = samples(content)
    made = Calibrator(content).calibrate_and_quantize(lambda: data, INT8, INT8, False)
    quantizer = Quantizer(content, recipes.static_int8())
    ends = {"input_type": "int8", "output_type": "int8"}
    plain = quantizer.quantize(quantizer.calibrate(data), improve="none", **ends)
    assert made == plain.quantized_model


@pytest.mark.parametrize(("bias", "stored"), [(np.int32, "INT32"), (np.int64, "INT64")])
def test_int16_takes_the_bias_that_is_asked(bias: Any, stored: str) -> None:
    content = conv()
    data = samples(content)
    options = {"activations_type": np.int16, "bias_type": bias, "disable_per_channel": True}
    made = Calibrator(content).calibrate_and_quantize(lambda: data, FLOAT32, FLOAT32, True, **options)
    found = tensors(made)
    assert tflite.TensorType(found["b"].type).name == stored
    assert len(found["w"].quantization.scale) == 1


def test_a_single_operator() -> None:
    content = conv()
    data = samples(content)
    calibrator = Calibrator(content)
    made = calibrator.calibrate_and_quantize_single(lambda: data, FLOAT32, FLOAT32, True, "y")
    assert operators(made) == ["QUANTIZE", "CONV_2D", "DEQUANTIZE"]
    with pytest.raises(ModelError, match="must be found in the name of an operator's result"):
        calibrator.calibrate_and_quantize_single(lambda: data, FLOAT32, FLOAT32, True, "z")


def test_intermediate_tensors_are_added_once() -> None:
    content = lstm()
    made = add_intermediate_tensors(content)
    assert len(tensors(made)) > len(tensors(content))
    assert add_intermediate_tensors(made) == made
    assert add_intermediate_tensors(conv()) == conv()


def test_an_lstm_s_inner_ranges_are_told() -> None:
    content = lstm()
    data = samples(content, low=-1.0, high=1.0)
    found = tensors(Calibrator(content).calibrate(lambda: data))
    inner = found["effective_hidden_scale_intermediate"].quantization
    assert inner.min[0] < 0 < inner.max[0]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Calibrator(b""), ValueError, "model_content: must be a .tflite file"),
        (lambda: Calibrator(b"TFL3 is not enough"), ValueError, "model"),
        (lambda: Calibrator(conv(), ["Register"]), UnsupportedError, "custom operators"),
        (lambda: Calibrator(conv()).calibrate(list), ModelError, "there must be samples"),
        (
            lambda: Calibrator(conv()).calibrate_and_quantize(list, FLOAT32, FLOAT32, True, np.float32),
            ValueError,
            "activations: must be int8 or int16",
        ),
        (
            lambda: Calibrator(conv()).calibrate_and_quantize(list, INT8, INT8, True, resize_input=False),
            UnsupportedError,
            "resize_input: False is not built",
        ),
    ],
)
def test_what_cannot_be_is_said(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()
