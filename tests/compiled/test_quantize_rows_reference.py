"""Rows quantized as tensor_utils do it: the vector code against the definition in NumPy; rows in parts."""

import numpy as np
import pytest
from numlite.kernels.compiled.driver.library import Library
from numlite.kernels.contraction.blocks import QUANTIZE_ROWS, ROW_QUANTIZATION
from numlite.lite.native_plan import NativePlan
from numlite.lite.thread_pool import shared_pool


def quantized(
    x: np.ndarray, symmetric: bool, kernel: str = "quantize_rows_reference", parts: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """The kernel's bytes [rows, depth] and quantizations [rows] of float32 [rows, depth]."""
    library = Library()
    families = {kernel: {kernel}, "executor": {"run_plan", "invoke"}}
    families["quantize_rows"] = families.get("quantize_rows", set()) | {"row_ranges"}
    library.load(families)
    q, how = np.zeros(x.shape, np.uint8), np.zeros(len(x), ROW_QUANTIZATION)
    ranges = np.zeros((len(x), parts, 2), np.float32)
    block = np.zeros(1, QUANTIZE_ROWS)
    block["x"], block["q"], block["quantization"] = x.ctypes.data, q.ctypes.data, how.ctypes.data
    block["rows"], (block["depth"],) = len(x), x.shape[1:]
    block["ranges"], block["parts"] = ranges.ctypes.data, parts
    block["stride"], block["symmetric"] = x.shape[1], symmetric
    calls = [("quantize_rows", "row_ranges"), (kernel, kernel)][parts == 1 :]
    rows = [[library.address(*call), block.ctypes.data, parts, 0] for call in calls]
    NativePlan(np.array(rows, np.int64), library, shared_pool(1, library)).invoke()
    return q, how


def expected(row: np.ndarray, symmetric: bool) -> np.ndarray:
    """Bytes of a row of numbers: products in float32, rounded away from zero in float64."""
    low, high = np.float32(min(0, row.min())), np.float32(max(0, row.max()))
    zero_point, lowest, factor = 0.0, -128, np.float32(0)
    if symmetric:
        lowest, greatest = -127, max(-low, high)
        factor = np.float32(127) / greatest if greatest > 0 else factor
    elif low != high:
        step = float(np.float32(high - low)) / 255
        from_low, from_high = -128 - float(low) / step, 127 - float(high) / step
        nearer = 128 + abs(float(low) / step) < 127 + abs(float(high) / step)
        zero_point = away(np.clip(from_low if nearer else from_high, -128, 127))
        factor = np.float32(1) / np.float32(step)
    return np.clip(away((row * factor).astype(np.float64)) + zero_point, lowest, 127) + 128


def away(x: np.ndarray) -> np.ndarray:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("depth", [1, 15, 16, 17, 200])
def test_bytes_are_those_of_the_definition(depth: int, symmetric: bool) -> None:
    rng = np.random.default_rng(depth)
    x = rng.normal(size=(12, depth)).astype(np.float32)
    x[1] = 0
    x[2] = np.abs(x[2])
    x[3] = -np.abs(x[3])
    x[4] *= np.float32(1e-30)
    x[5] *= np.float32(1e30)
    # Products that are halves, of both signs.
    x[6] = rng.integers(-255, 256, depth) / np.float32(2)
    x[6, 0], x[7] = 127 if symmetric else 127.5, -x[6]
    q, how = quantized(x, symmetric)
    for row, found in zip(x, q, strict=True):
        np.testing.assert_array_equal(found, expected(row, symmetric))
    assert np.all(how["scale"] > 0)


def test_a_nan_changes_no_other_byte() -> None:
    x = np.random.default_rng(0).normal(size=(2, 40)).astype(np.float32)
    plain, _ = quantized(x, False)
    x[0, 7] = np.nan
    q, _ = quantized(x, False)
    others = np.delete(np.arange(40), 7)
    np.testing.assert_array_equal(q[1], plain[1])
    np.testing.assert_array_equal(q[0, others], expected(x[0, others], False))


@pytest.mark.parametrize("kernel", ["quantize_rows", "quantize_rows_reference"])
@pytest.mark.parametrize(("depth", "parts"), [(1, 2), (17, 3), (100, 2), (1000, 7)])
def test_rows_in_parts_have_the_bytes_of_whole_ones(kernel: str, depth: int, parts: int) -> None:
    x = np.random.default_rng(depth).normal(size=(5, depth)).astype(np.float32)
    x[1], x[2], x[3, -1] = -np.abs(x[1]), 0, np.nan
    x[4, depth // 2] = 1e9
    for whole, cut in zip(quantized(x, False, kernel), quantized(x, False, kernel, parts), strict=True):
        np.testing.assert_array_equal(cut, whole)
