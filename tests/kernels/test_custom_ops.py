"""Custom operators with damaged options and hostile values: an error that names the operator."""

from __future__ import annotations

from typing import Any

import numlite.interpreter
import numpy as np
import pytest
from flatbuffers import flexbuffers
from numlite.interpreter import Interpreter, OpResolverType
from numlite.lite.errors import InvokeError, PrepareError
from numlite.schema.tflite import BuiltinOperator

from ..cases.custom_case import custom_model, structure
from ..model_builder import ModelBuilder

_X = np.zeros((1, 2, 2, 1), np.float32)
_SPECTROGRAM = {"window_size": 8, "stride": 4, "magnitude_squared": True}


def spectrogram(options: bytes) -> Interpreter:
    samples = np.zeros((20, 1), np.float32)
    return Interpreter(
        model_content=custom_model("AudioSpectrogram", [samples], [((1, 4, 5), np.float32)], options)
    )


@pytest.mark.parametrize(
    "options",
    [
        b"",
        b"\x00",
        b"not a flexbuffer at all",
        bytes(flexbuffers.Dumps([1, 2, 3])),
        bytes(flexbuffers.Dumps({"window_size": "long", "stride": 4})),
        bytes(flexbuffers.Dumps({**_SPECTROGRAM, "stride": 0})),
        bytes(flexbuffers.Dumps({**_SPECTROGRAM, "window_size": 1 << 40})),
        bytes(flexbuffers.Dumps({**_SPECTROGRAM, "window_size": float("nan")})),
    ],
    ids=range(8),
)
def test_damaged_flexbuffers(options: bytes) -> None:
    with pytest.raises(PrepareError, match="AudioSpectrogram"):
        spectrogram(options).allocate_tensors()


def test_flexbuffers_with_flipped_bytes() -> None:
    whole = bytes(flexbuffers.Dumps(_SPECTROGRAM))
    for place in range(len(whole)):
        for value in (0, 1, 0x7F, 0xFF, whole[place] ^ 0x24):
            interpreter = spectrogram(whole[:place] + bytes([value]) + whole[place + 1 :])
            try:
                interpreter.allocate_tensors()
            except PrepareError as error:
                assert "AudioSpectrogram" in str(error)


@pytest.mark.parametrize(
    "options",
    [b"", structure(2, 2, 2, 2), structure(0, 2, 2, 2, 2, 0), structure(2, 0, 2, 2, 2, 0)],
    ids=["empty", "short", "padding", "stride"],
)
def test_damaged_structures(options: bytes) -> None:
    outputs = [((1, 1, 1, 1), np.float32)] * 2
    interpreter = Interpreter(model_content=custom_model("MaxPoolingWithArgmax2D", [_X], outputs, options))
    with pytest.raises(PrepareError, match="MaxPoolingWithArgmax2D"):
        interpreter.allocate_tensors()


@pytest.mark.parametrize("index", [-1, 16])
def test_unpooling_out_of_range(index: int) -> None:
    indices = np.full(_X.shape, index, np.int32)
    options = structure(1, 2, 2, 2, 2, 0)
    interpreter = Interpreter(
        model_content=custom_model("MaxUnpooling2D", [_X, indices], [((1, 4, 4, 1), np.float32)], options)
    )
    interpreter.allocate_tensors()
    interpreter.set_tensor(1, indices)
    with pytest.raises(InvokeError, match="indices must be in"):
        interpreter.invoke()


def test_unpooling_skips_places_outside() -> None:
    indices = np.array([0.1, 1e9, -5, np.nan], np.float32).reshape(_X.shape)
    options = structure(1, 2, 2, 2, 2, 0)
    interpreter = Interpreter(
        model_content=custom_model("MaxUnpooling2D", [_X, indices], [((1, 4, 4, 1), np.float32)], options)
    )
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, _X + 1)
    interpreter.set_tensor(1, indices)
    interpreter.invoke()
    y = interpreter.get_tensor(2)
    assert y[0, 0, 0, 0] == 1 and np.count_nonzero(y) == 1


def test_numeric_verify_beyond_tolerance() -> None:
    x, reference = np.zeros(3, np.int8), np.ones(3, np.float32)
    model = custom_model(
        "NumericVerify",
        [x, reference],
        [((3,), np.float32)],
        {"tolerance": 1.0, "log_if_failed": True},
        quantization=[{"scale": 0.5}],
    )
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    interpreter.set_tensor(1, reference)
    with pytest.raises(InvokeError, match="NumericVerify"):
        interpreter.invoke()


@pytest.mark.parametrize("resolver", [OpResolverType.AUTO, OpResolverType.BUILTIN_REF])
def test_numeric_verify_as_the_debugger_writes_it(resolver: OpResolverType) -> None:
    """Its result is declared to be int8, is no output of the graph, and is read when all has run."""
    model = ModelBuilder()
    x, y = model.tensor([4]), model.tensor([4])
    at, results = x, []
    for _ in range(3):
        q = model.tensor([4], np.int8, scale=0.5, zero_point=3)
        result = model.tensor([4], np.int8, scale=0.5, zero_point=3)
        real = model.tensor([4])
        model.op(BuiltinOperator.QUANTIZE, [at], [q])
        options = flexbuffers.Dumps({"tolerance": 5.0, "log_if_failed": False})
        custom = {"custom_code": "NumericVerify", "custom_options": bytes(options)}
        model.op(BuiltinOperator.CUSTOM, [q, at], [result], **custom)
        model.op(BuiltinOperator.NEG, [at], [real])
        at = real
        results.append(result)
    model.op(BuiltinOperator.ABS, [at], [y])
    interpreter = Interpreter(model_content=model.build([x], [y]), experimental_op_resolver_type=resolver)
    for size in (4, 6):
        interpreter.resize_tensor_input(x, [size])
        interpreter.allocate_tensors()
        value = np.linspace(0.1, 3.3, size, dtype=np.float32)
        for run in (value, -value):
            interpreter.set_tensor(x, run)
            interpreter.invoke()
            assert np.array_equal(interpreter.get_tensor(y), value)
            for sign, t in zip((1, -1, 1), results, strict=True):
                expected = np.rint(run * sign * 2) / 2 - run * sign
                assert np.allclose(interpreter.get_tensor(t), expected, atol=1e-6)
                assert interpreter.get_tensor(t).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_boxes_turned_inside_out(dtype: type) -> None:
    encodings, scores = np.zeros((1, 2, 4), dtype), np.ones((1, 2, 3), dtype)
    anchors = np.array([[1, 1, 1, 1], [1, 1, 0, 1]], dtype)
    options = {
        "max_detections": 2,
        "max_classes_per_detection": 1,
        "nms_iou_threshold": 0.5,
        "num_classes": 3,
        "y_scale": 1.0,
        "x_scale": 1.0,
        "h_scale": 1.0,
        "w_scale": 1.0,
    }
    outputs = [((1, 2, 4), np.float32), ((1, 2), np.float32), ((1, 2), np.float32), ((1,), np.float32)]
    # The second anchor's height is -1.
    quantization = [
        {"scale": 1.0},
        {"scale": 1.0},
        {"scale": 1.0, "zero_point": 1 if dtype is np.uint8 else 0},
    ]
    if dtype is np.float32:
        anchors[1, 2] = -1
        quantization = []
    model = custom_model(
        "TFLite_Detection_PostProcess",
        [encodings, scores, anchors],
        outputs,
        options,
        quantization=quantization,
    )
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    for i, value in enumerate((encodings, scores, anchors)):
        interpreter.set_tensor(i, value)
    with pytest.raises(InvokeError, match="boxes must not end before they begin"):
        interpreter.invoke()


@pytest.mark.parametrize("declared", [np.float32, np.int8, np.uint8, np.int64])
def test_numeric_verify_gives_float32_whatever_is_declared(litert: Any, declared: type) -> None:
    x, reference = np.array([1, -5, 100], np.int8), np.array([0.5, 1, 2], np.float32)
    model = custom_model(
        "NumericVerify",
        [x, reference],
        [((3,), declared)],
        {"tolerance": 5.0, "log_if_failed": False},
        quantization=[{"scale": 0.5}],
    )
    results = []
    for api in (numlite.interpreter, litert):
        interpreter = api.Interpreter(model_content=model)
        interpreter.allocate_tensors()
        for t, value in enumerate((x, reference)):
            interpreter.set_tensor(t, value)
        interpreter.invoke()
        assert interpreter.get_output_details()[0]["dtype"] is np.float32
        results.append(interpreter.get_tensor(2))
    assert np.array_equal(results[0], np.array([0, -3.5, 48], np.float32))
    assert np.array_equal(results[0], results[1])
