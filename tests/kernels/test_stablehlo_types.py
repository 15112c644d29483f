"""StableHLO's operators on float16, float64 and the bits of integers, against NumPy on any bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder

_COUNT = 4099
_EDGES = [0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFC01]


def result(name: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    builder = ModelBuilder()
    inputs = [builder.tensor(a.shape, a.dtype) for _ in range(2)]
    out = builder.tensor(a.shape, a.dtype)
    options = tflite.StablehloShiftLeftOptionsT() if name == "SHIFT_LEFT" else None
    builder.op(BuiltinOperator[f"STABLEHLO_{name}"], inputs, [out], options)
    interpreter = Interpreter(model_content=builder.build(inputs, [out]))
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), (a, b), strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def bits(dtype: type, seed: int) -> np.ndarray:
    """Any bits, but the first are pairs of edges."""
    rng = np.random.default_rng(seed)
    size = np.dtype(dtype).itemsize
    values = np.frombuffer(rng.bytes(_COUNT * size), dtype).copy()
    if dtype is np.float16:
        edges = np.array(_EDGES, np.uint16).view(np.float16)
        pairs = np.repeat(edges, len(edges)) if seed else np.tile(edges, len(edges))
        values[: pairs.size] = pairs
    return values


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("ADD", np.add),
        ("SUBTRACT", np.subtract),
        ("MULTIPLY", np.multiply),
        ("DIVIDE", np.divide),
        ("MAXIMUM", lambda a, b: np.where(a < b, b, a)),
        ("MINIMUM", lambda a, b: np.where(b < a, b, a)),
    ],
)
def test_floats(name: str, function: Callable, dtype: type) -> None:
    a, b = bits(dtype, 0), bits(dtype, 1)
    with np.errstate(all="ignore"):
        expected = function(a, b)
    found = result(name, a, b)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(found), ~numbers)
    stored = f"u{np.dtype(dtype).itemsize}"
    np.testing.assert_array_equal(found.view(stored)[numbers], expected.view(stored)[numbers])


_INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)


@pytest.mark.parametrize("dtype", _INTEGERS)
def test_bits(dtype: type) -> None:
    a, b = bits(dtype, 0), bits(dtype, 1)
    np.testing.assert_array_equal(result("AND", a, b), a & b)
    np.testing.assert_array_equal(result("OR", a, b), a | b)


@pytest.mark.parametrize("dtype", _INTEGERS)
def test_shifts(dtype: type) -> None:
    a = bits(dtype, 0)
    width = 8 * np.dtype(dtype).itemsize
    limits = np.iinfo(dtype)
    counts = [-1, limits.min, limits.max, width, width + 1, *range(width)]
    b = np.resize(np.array([count for count in counts if count >= limits.min], dtype), a.shape)
    mask = (1 << width) - 1
    expected = [int(x) << int(n) & mask if 0 <= n < width else 0 for x, n in zip(a, b, strict=True)]
    unsigned = f"u{np.dtype(dtype).itemsize}"
    np.testing.assert_array_equal(result("SHIFT_LEFT", a, b).view(unsigned), np.array(expected, unsigned))
