"""Lookups of bytes: vector code, and what is left behind whole vectors."""

import numpy as np
import pytest
from numlite.kernels.compiled.driver.library import Library
from numlite.kernels.lookup import LOOKUP
from numlite.lite.native_plan import NativePlan
from numlite.lite.thread_pool import shared_pool


def look_up(x: np.ndarray, y: np.ndarray, table: np.ndarray) -> None:
    library = Library()
    library.load({"lookup": {"lookup_8"}, "executor": {"run_plan", "invoke"}})
    block = np.zeros(1, LOOKUP)
    block["x"], block["y"], block["table"] = x.ctypes.data, y.ctypes.data, table.ctypes.data
    block["size"] = x.size
    row = [library.address("lookup", "lookup_8"), block.ctypes.data, 1, 0]
    NativePlan(np.array([row], np.int64), library, shared_pool(1, library)).invoke()


@pytest.mark.parametrize("size", [1, 7, 31, 127, 128, 129, 255, 256, 4097])
def test_bytes_of_all_sizes(size: int) -> None:
    rng = np.random.default_rng(size)
    memory, table = (rng.integers(0, 256, n).astype(np.uint8) for n in (size + 64, 256))
    x, y = memory[:size], np.zeros(size + 64, np.uint8)
    look_up(x, y, table)
    np.testing.assert_array_equal(y[:size], table[x])
    assert not y[size:].any()


def test_each_index_in_place() -> None:
    x = np.tile(np.arange(256, dtype=np.uint8), 3)
    table = np.random.default_rng(0).permutation(256).astype(np.uint8)
    look_up(x, x, table)
    np.testing.assert_array_equal(x, np.tile(table, 3))
