"""Outputs that kernels size while they run: other sizes at each run, failures, and nodes behind them."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder


def ready(model: bytes) -> Interpreter:
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    return interpreter


def run(interpreter: Interpreter, *values: np.ndarray) -> list[np.ndarray]:
    for detail, value in zip(interpreter.get_input_details(), values, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def where_model(shape: tuple[int, ...], dtype: type, doubled: bool = False) -> bytes:
    """WHERE, and with doubled a sum behind it whose shape follows."""
    b = ModelBuilder()
    x, y = b.tensor(shape, dtype), b.tensor((), np.int64)
    b.op(BuiltinOperator.WHERE, [x], [y])
    if doubled:
        twice = b.tensor((), np.int64)
        b.op(BuiltinOperator.ADD, [y, y], [twice], tflite.AddOptionsT())
        y = twice
    return b.build([x], [y])


def set_elements(shape: tuple[int, ...], dtype: type, density: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = np.where(rng.random(shape) < density, rng.integers(1, 9, shape), 0).astype(dtype)
    if x.dtype.kind in "fc" and x.size:
        x.reshape(-1)[: x.size // 5] *= dtype(-1)  # zeros of either sign are not set
    return x


@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize("shape", [(37,), (1, 100), (3, 1, 19), (2, 3, 4, 5), (2, 1, 2, 1, 2, 3)])
def test_where_at_other_sizes(shape: tuple[int, ...], doubled: bool) -> None:
    interpreter = ready(where_model(shape, np.bool_, doubled))
    for seed, density in enumerate((0.5, 0, 1, 0.1, 0.1, 0.9, 0.02)):
        x = set_elements(shape, np.bool_, density, seed)
        for _ in range(2):
            (found,) = run(interpreter, x)
            np.testing.assert_array_equal(found, np.argwhere(x) * (1 + doubled))


@pytest.mark.parametrize(
    "dtype",
    [np.int8, np.uint8, np.int16, np.float16, np.float32, np.int64, np.float64, np.complex64, np.complex128],
)
def test_where_of_numbers(dtype: type) -> None:
    interpreter = ready(where_model((5, 13), dtype))
    for seed in range(3):
        x = set_elements((5, 13), dtype, 0.3, seed)
        if x.dtype.kind in "fc":
            x[4, 12] = np.nan
        np.testing.assert_array_equal(run(interpreter, x)[0], np.argwhere(x))


def unique_model(size: int, dtype: type, wide: bool) -> bytes:
    b = ModelBuilder()
    places_type = np.int64 if wide else np.int32
    x, values, places = b.tensor((size,), dtype), b.tensor((), dtype), b.tensor((size,), places_type)
    b.op(BuiltinOperator.UNIQUE, [x], [values, places], tflite.UniqueOptionsT(idx_out_type=4 if wide else 2))
    return b.build([x], [values, places])


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(
    "dtype", [np.bool_, np.int8, np.uint16, np.int32, np.uint64, np.float16, np.float32, np.float64]
)
def test_unique_at_other_sizes(dtype: type, wide: bool) -> None:
    interpreter = ready(unique_model(50, dtype, wide))
    for seed, most in enumerate((3, 1, 100, 100, 2)):
        x = np.random.default_rng(seed).integers(0, most, 50).astype(dtype)
        if x.dtype.kind == "f":
            x[::7], x[::11] = -0.0, np.nan
        expected: list = []
        numbers = []
        for value in x:
            if value not in expected:  # by ==: a NaN is never there yet, and -0 is 0
                expected.append(value)
                numbers.append(len(expected) - 1)
            else:
                numbers.append(expected.index(value))
        values, places = run(interpreter, x)
        np.testing.assert_array_equal(values, np.array(expected, dtype))
        np.testing.assert_array_equal(places, numbers)


def range_model(dtype: type) -> bytes:
    b = ModelBuilder()
    operands = [b.tensor((), dtype) for _ in range(3)]
    y = b.tensor((), dtype)
    b.op(BuiltinOperator.RANGE, operands, [y])
    return b.build(operands, [y])


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32])
def test_range_goes_on_after_failures(dtype: type) -> None:
    interpreter = ready(range_model(dtype))
    good = [np.array(value, dtype) for value in (2, 11, 3)]
    for bad in ((2, 11, 0), (2, 11, -3)):
        np.testing.assert_array_equal(run(interpreter, *good)[0], [2, 5, 8])
        with pytest.raises(RuntimeError, match=r"node 0 \(RANGE.*delta must lead"):
            run(interpreter, *[np.array(value, dtype) for value in bad])
    np.testing.assert_array_equal(run(interpreter, *good)[0], [2, 5, 8])


def test_an_output_without_room_leaves_the_next_run_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    interpreter = ready(where_model((300,), np.bool_))
    few, many = np.arange(300) < 3, np.ones(300, np.bool_)
    run(interpreter, few)
    with monkeypatch.context() as patch:
        patch.setattr("numlite.lite.available_memory.SMALL_BYTES", 1000)
        patch.setattr("numlite.lite.available_memory.available_bytes", lambda: 1000)
        with pytest.raises(RuntimeError, match=r"WHERE.*2,400 bytes are needed"):
            run(interpreter, many)
    for x in (few, many):
        np.testing.assert_array_equal(run(interpreter, x)[0], np.argwhere(x))


def test_segments_at_other_numbers() -> None:
    b = ModelBuilder()
    data, ids, y = b.tensor((4, 2)), b.tensor((4,), np.int32), b.tensor(())
    b.op(BuiltinOperator.SEGMENT_SUM, [data, ids], [y], tflite.SegmentSumOptionsT())
    interpreter = ready(b.build([data, ids], [y]))
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    for places in ([0, 0, 1, 2], [0, 0, 0, 0], [0, 1, 2, 3], [0, 0, 3, 3], [2, 2, 2, 7], [1, 1, 1, 1]):
        expected = np.zeros((places[-1] + 1, 2), np.float32)
        np.add.at(expected, places, x)
        np.testing.assert_array_equal(run(interpreter, x, np.array(places, np.int32))[0], expected)
        for wrong in ([0, 1, 0, 1], [1, 1, 1, 0], [-1, 0, 1, 2]):
            with pytest.raises(RuntimeError, match="ids must be 0 or more and never fall"):
                run(interpreter, x, np.array(wrong, np.int32))


def test_unsorted_segments_at_other_numbers() -> None:
    b = ModelBuilder()
    data, ids, number, y = b.tensor((3, 2)), b.tensor((3,), np.int32), b.tensor((), np.int32), b.tensor(())
    options = tflite.UnsortedSegmentSumOptionsT()
    b.op(BuiltinOperator.UNSORTED_SEGMENT_SUM, [data, ids, number], [y], options)
    interpreter = ready(b.build([data, ids, number], [y]))
    x, places = np.ones((3, 2), np.float32), np.array([2, -1, 2], np.int32)
    for count in (3, 9, 4):
        (found,) = run(interpreter, x, places, np.array(count, np.int32))
        assert found.shape == (count, 2)
        assert found[2].tolist() == [2, 2]
        assert found.sum() == 4
    for count, message in ((2, "must be under"), (-1, "sizes must be in")):
        with pytest.raises(RuntimeError, match=message):
            run(interpreter, x, places, np.array(count, np.int32))


def test_a_called_subgraph_sizes_its_outputs() -> None:
    b = ModelBuilder()
    condition, x, y = b.tensor((1,), np.bool_), b.tensor((6,), np.bool_), b.tensor((), np.int64)
    branches = []
    for name in ("then", "else"):
        branch = b.add_subgraph(name)
        inner, found = branch.tensor((6,), np.bool_), branch.tensor((), np.int64)
        branch.op(BuiltinOperator.WHERE, [inner], [found])
        branch.finish([inner], [found])
        branches.append(branch.index)
    options = tflite.IfOptionsT(then_subgraph_index=branches[0], else_subgraph_index=branches[1])
    b.op(BuiltinOperator.IF, [condition, x], [y], options)
    interpreter = ready(b.build([condition, x], [y]))
    for seed in range(4):
        value = set_elements((6,), np.bool_, 0.5, seed)
        (found,) = run(interpreter, np.array([seed % 2 == 0]), value)
        np.testing.assert_array_equal(found, np.argwhere(value))
