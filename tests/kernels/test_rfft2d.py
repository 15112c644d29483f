"""RFFT2D: its kernel gives NumPy's bits; arrays that NumPy's path keeps from run to run show nothing old."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder

RANDOM = np.random.default_rng(4)


def model() -> bytes:
    model = ModelBuilder()
    x, lengths = model.tensor((3, 4)), model.tensor((2,), np.int32)
    y = model.tensor((3, 3), np.complex64)
    model.op(BuiltinOperator.RFFT2D, [x, lengths], [y], tflite.Rfft2dOptionsT())
    return model.build([x, lengths], [y])


def transformed(interpreter: Interpreter, x: np.ndarray, lengths: tuple[int, int]) -> np.ndarray:
    indices = [detail["index"] for detail in interpreter.get_input_details()]
    interpreter.resize_tensor_input(indices[0], x.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(indices[0], x)
    interpreter.set_tensor(indices[1], np.array(lengths, np.int32))
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def test_shapes_and_lengths_in_turns() -> None:
    content = model()
    interpreter = Interpreter(model_content=content)
    for shape, lengths in (
        ((5, 9), (8, 16)),
        ((2, 3), (8, 16)),
        ((2, 3), (4, 16)),
        ((2, 3), (4, 16)),
        ((4, 2, 3), (4, 16)),
        ((0, 3), (4, 16)),
        ((4, 0), (1, 16)),
        ((9, 9), (1, 6)),
    ):
        x = RANDOM.standard_normal(shape).astype(np.float32)
        found = transformed(interpreter, x, lengths)
        fresh = transformed(Interpreter(model_content=content), x, lengths)
        assert found.tobytes() == fresh.tobytes()
        height, width = lengths
        padded = np.zeros((*shape[:-2], height, width))
        padded[..., : shape[-2], : shape[-1]] = x[..., :height, :width]
        np.testing.assert_allclose(found, np.fft.rfft2(padded), rtol=1e-5, atol=1e-5)


def constant_model(shape: tuple[int, ...], lengths: tuple[int, int]) -> bytes:
    model = ModelBuilder()
    x, stored = model.tensor(shape), model.constant(np.array(lengths, np.int32))
    y = model.tensor((*shape[:-2], lengths[0], lengths[1] // 2 + 1), np.complex64)
    model.op(BuiltinOperator.RFFT2D, [x, stored], [y], tflite.Rfft2dOptionsT())
    return model.build([x], [y])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("shape", "lengths"),
    [
        *(((3, 1, width), (1, width)) for width in (2, 4, 8, 32, 512)),
        *(((height, 5), (height, 8)) for height in (2, 4, 8, 16, 32, 128)),
        ((1, 8192), (1, 8192)),
        ((2, 19, 40), (32, 32)),
        ((9, 70), (8, 64)),
        ((43, 300), (64, 2048)),
        ((5, 3), (1, 16)),
        ((0, 4, 4), (4, 4)),
        ((2, 0, 4), (4, 4)),
        ((2, 4, 0), (4, 4)),
    ],
    ids=str,
)
def test_powers_of_two_are_bit_for_bit_as_by_numpy(
    shape: tuple[int, ...], lengths: tuple[int, int], threads: int
) -> None:
    """Given lengths are NumPy's business, constant ones the kernel's."""
    x = RANDOM.standard_normal(shape).astype(np.float32)
    x[..., ::3] = -0.0
    interpreter = Interpreter(model_content=constant_model(shape, lengths), num_threads=threads)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    found = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    assert found.tobytes() == transformed(Interpreter(model_content=model()), x, lengths).tobytes()
