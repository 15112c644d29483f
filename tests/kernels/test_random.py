"""The random operators: the generator's published values, and how its state goes on."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.kernels.philox import PhiloxStream, philox_4x32
from numlite.schema.tflite import BuiltinOperator

from ..cases.random import NORMAL, UNIFORM, drawn, filled

_ALL = (1 << 64) - 1


def block(key: int, low: int, high: int) -> np.ndarray:
    return philox_4x32(key, np.array([low], np.uint64), np.array([high], np.uint64))[0]


@pytest.mark.parametrize(
    ("key", "low", "high", "words"),
    [
        (0, 0, 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        (_ALL, _ALL, _ALL, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            0x299F31D0A4093822,
            0x85A308D3243F6A88,
            0x0370734413198A2E,
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_philox_gives_the_published_words(key: int, low: int, high: int, words: str) -> None:
    """Known answers of the authors' library, Random123 (kat_vectors)."""
    assert [f"{word:08x}" for word in block(key, low, high)] == words.split()


def test_the_counter_carries() -> None:
    streams = [PhiloxStream(5, 3) for _ in range(2)]
    for stream in streams:
        stream.skip(_ALL)
    np.testing.assert_array_equal(streams[0].blocks(2)[1], block(5, 0, 4))
    streams[1].blocks(1)
    np.testing.assert_array_equal(streams[1].blocks(1)[0], block(5, 0, 4))


def ready(model: bytes) -> Interpreter:
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    return interpreter


def result(interpreter: Interpreter) -> np.ndarray:
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


@pytest.mark.parametrize("code", [UNIFORM, NORMAL])
def test_the_state_goes_on_and_a_new_interpreter_starts_anew(code: BuiltinOperator) -> None:
    model = filled(code, (7,), 3, 4)
    interpreter = ready(model)
    first, second = result(interpreter), result(interpreter)
    assert not np.intersect1d(first, second).size
    np.testing.assert_array_equal(result(ready(model)), first)
    once = result(ready(filled(code, (15,), 3, 4)))
    np.testing.assert_array_equal(once[:7], first)
    np.testing.assert_array_equal(once[8:], second)


def test_without_seeds_every_interpreter_differs() -> None:
    model = filled(UNIFORM, (4,), 0, 0)
    assert not np.intersect1d(result(ready(model)), result(ready(model))).size


@pytest.mark.parametrize("late", [False, True])
def test_the_numbers_are_distributed_as_their_names_say(late: bool) -> None:
    for code, mean, deviation in ((UNIFORM, 0.5, 12**-0.5), (NORMAL, 0.0, 1.0)):
        interpreter = ready(filled(code, (100_000,), 1, 2, late))
        if late:
            interpreter.set_tensor(0, np.array([100_000], np.int32))
        values = result(interpreter)
        assert values.mean() == pytest.approx(mean, abs=0.01)
        assert values.std() == pytest.approx(deviation, abs=0.01)


def test_classes_are_drawn_by_their_weights() -> None:
    interpreter = ready(drawn((2, 3), 50_000, np.int32))
    weights = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0]], np.float32)
    with np.errstate(divide="ignore"):
        interpreter.set_tensor(0, np.log(weights))
    shares = [np.bincount(row, minlength=3) / 50_000 for row in result(interpreter)]
    np.testing.assert_allclose(shares, weights, atol=0.01)


def test_a_negative_size_is_refused() -> None:
    interpreter = ready(filled(UNIFORM, (1,), 1, 2, late=True))
    interpreter.set_tensor(0, np.array([-3], np.int32))
    with pytest.raises(RuntimeError, match=r"RANDOM_UNIFORM: output sizes must be in"):
        interpreter.invoke()
