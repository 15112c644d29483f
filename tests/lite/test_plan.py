"""Plan: argument blocks gathered in one array, native segments, failures mapped to nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numlite.lite.cancellation import Cancellation
from numlite.lite.errors import PrepareError
from numlite.lite.kernel_call import KernelCall
from numlite.lite.plan import ArgumentBlocks
from numlite.lite.tensor import Tensor, TensorType

BLOCK = np.dtype([("x", np.int64), ("y", np.int64), ("size", np.int32), ("scale", np.float32)], align=True)
ODD = np.dtype([("y", np.int64), ("flag", np.int8)], align=False)


def tensor(index: int, nbytes: int = 4) -> Tensor:
    result = Tensor(index, f"t{index}", TensorType.UINT8, (nbytes,))
    result.bind(np.zeros(nbytes, np.uint8))
    return result


def call(x: Tensor, y: Tensor, size: int) -> KernelCall:
    block = np.zeros(1, BLOCK)
    block["size"] = size
    block["scale"] = 0.5
    return KernelCall("family", "kernel", block, {"x": x, "y": y})


def test_blocks_lie_in_one_array_and_follow_the_tensors() -> None:
    a, b, c = (tensor(i) for i in range(3))
    odd = KernelCall("family", "odd", np.zeros(1, ODD), {"y": c})
    calls = [call(a, b, 7), odd, call(b, c, 9)]
    blocks = ArgumentBlocks(calls, Cancellation())
    blocks.bind()
    assert [int(k.args["size"][0]) for k in (calls[0], calls[2])] == [7, 9]
    assert calls[0].args["scale"][0] == np.float32(0.5)
    assert blocks.addresses == [k.args.ctypes.data for k in calls]
    assert all(address % 8 == 0 for address in blocks.addresses)
    assert int(calls[2].args["x"][0]) == b.address
    b.bind(np.zeros(4, np.uint8))
    blocks.bind()
    assert int(calls[0].args["y"][0]) == int(calls[2].args["x"][0]) == b.address
    assert int(odd.args["y"][0]) == c.address


def test_a_tensor_without_memory_is_refused() -> None:
    a, b = tensor(0), tensor(1)
    b.bind(None)
    with pytest.raises(PrepareError, match="'t1' uint8 4: it is read, but nothing gives it a value"):
        ArgumentBlocks([call(a, b, 1)], Cancellation()).bind()


def test_a_tensor_without_elements_needs_no_memory() -> None:
    a, empty = tensor(0), tensor(1, 0)
    empty.bind(None)
    ArgumentBlocks([call(a, empty, 0)], Cancellation()).bind()


def test_no_calls() -> None:
    ArgumentBlocks([], Cancellation()).bind()


def test_a_field_that_is_no_address_is_refused() -> None:
    bad: Any = KernelCall("family", "kernel", np.zeros(1, BLOCK), {"size": tensor(0)})
    with pytest.raises(PrepareError, match=r"family\.kernel: field 'size' must be an int64 address"):
        ArgumentBlocks([bad], Cancellation())
    missing: Any = KernelCall("family", "kernel", np.zeros(1, BLOCK), {"z": tensor(0)})
    with pytest.raises(PrepareError, match=r"family\.kernel: field 'z' must be an int64 address"):
        ArgumentBlocks([missing], Cancellation())
