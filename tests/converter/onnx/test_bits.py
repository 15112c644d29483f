"""Bits that are moved or combined, against integers of Python and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter
from numlite.lite.errors import UnsupportedError

from ...onnx_builder import model, node, value

RANDOM = np.random.default_rng(23)
TYPES = (np.int8, np.uint8, np.int32, np.int64)


def shifted(x: np.ndarray, by: np.ndarray, direction: str) -> np.ndarray:
    """-1 or 0 where all bits are moved out."""
    bits = 8 * x.itemsize
    found = []
    for number, amount in zip(x.tolist(), by.tolist(), strict=True):
        amount = amount if 0 <= amount < bits else bits
        found.append(number << amount if direction == "LEFT" else number >> amount)
    return np.array([number & ((1 << bits) - 1) for number in found], np.uint64).astype(x.dtype)


@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
@pytest.mark.parametrize("dtype", TYPES)
def test_bits_are_moved(dtype: type, direction: str) -> None:
    limits = np.iinfo(dtype)
    x = RANDOM.integers(limits.min, limits.max, 24, dtype)
    by = np.arange(24).astype(dtype) * 3 - (6 if limits.min else 0)
    made = node("BitShift", ["x", "by"], "y", direction=direction)
    built = model([made], [value(name, [24], dtype) for name in ("x", "by")], [value("y", None, dtype)])
    if (dtype, direction) == (np.int64, "RIGHT"):
        with pytest.raises(UnsupportedError, match="a shift of 64 bits to the right"):
            Converter.from_onnx(built)
        return
    runner = Interpreter(model_content=Converter.from_onnx(built).convert()).get_signature_runner()
    np.testing.assert_array_equal(runner(x=x, by=by)["y"], shifted(x, by, direction))


@pytest.mark.parametrize("op", ["And", "Or", "Xor"])
@pytest.mark.parametrize("dtype", [*TYPES, np.int16])
def test_bits_are_combined(dtype: type, op: str) -> None:
    limits = np.iinfo(dtype)
    ends = np.array([limits.min, limits.max, 0, 1], dtype)
    a, b = (np.concatenate([RANDOM.integers(limits.min, limits.max, 28, dtype), ends]) for _ in range(2))
    a, b = a.reshape(2, 16, 1), RANDOM.permuted(b).reshape(1, 1, 32)
    infos = [value("a", ["n", 16, 1], dtype), value("b", b.shape, dtype)]
    built = model([node(f"Bitwise{op}", ["a", "b"], "y")], infos, [value("y", None, dtype)])
    runner = Interpreter(model_content=Converter.from_onnx(built).convert()).get_signature_runner()
    wanted = getattr(np, f"bitwise_{op.lower()}")(a, b)
    np.testing.assert_array_equal(runner(a=a, b=b)["y"], wanted)
