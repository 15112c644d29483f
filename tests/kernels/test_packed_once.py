"""Weights are packed once for all nodes that share them, and anew where a shape asks for another packing."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.kernels.contraction.cutting import address, aligned
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op
from ..model_builder import ModelBuilder


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_another_number_of_groups_packs_the_weights_anew(dtype: type) -> None:
    """The filter has 2 channels: an image of 6 makes three groups, one of 2 a single one."""
    random = np.random.default_rng(4)
    scale = None if dtype is np.float32 else 0.05
    filters = random.integers(0, 20, (12, 2, 2, 2)).astype(dtype)
    kinds = [Kind((1, 4, 4, 6), dtype, scale), Kind(filters.shape, dtype, scale)]
    options = tflite.Conv2DOptionsT(
        padding=tflite.Padding.SAME, stride_w=1, stride_h=1, dilation_w_factor=2, dilation_h_factor=2
    )
    result = Kind((1, 4, 4, 12), dtype, None if scale is None else 0.9)
    content = single_op(BuiltinOperator.CONV_2D, kinds, result, options, constants={1: filters})
    x = random.integers(0, 20, (1, 4, 4, 2)).astype(dtype)

    def output(*shapes: tuple[int, ...]) -> np.ndarray:
        interpreter = Interpreter(model_content=content)
        for shape in shapes:
            interpreter.resize_tensor_input(0, shape)
            interpreter.allocate_tensors()
        interpreter.set_tensor(0, x)
        interpreter.invoke()
        return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])

    np.testing.assert_array_equal(output((1, 4, 4, 6), x.shape), output(x.shape))


WIDTH = 40


def unrolled(dtype: type, biases: list[int], seed: int = 3) -> bytes:
    """FULLY_CONNECTED after FULLY_CONNECTED with the same weights, and a bias of those told for each."""
    random = np.random.default_rng(seed)
    model = ModelBuilder()
    x = y = model.tensor([1, WIDTH])
    values = random.integers(-9, 9, (WIDTH, WIDTH))
    scale = 0.01 if dtype is np.int8 else None
    weights = model.tensor(
        [WIDTH, WIDTH], dtype, (values * (1 if scale else 0.01)).astype(dtype), scale=scale
    )
    known = [model.constant(random.standard_normal(WIDTH).astype(np.float32)) for _ in range(3)]
    for i, bias in enumerate(biases):
        options = tflite.FullyConnectedOptionsT(fused_activation_function=i % 2)
        y, given = model.tensor([1, WIDTH]), [y, weights, known[bias]]
        model.op(BuiltinOperator.FULLY_CONNECTED, given, [y], options)
    return model.build([x], [y])


def run(content: bytes) -> tuple[np.ndarray, int]:
    """The output, and the bytes of packed weights."""
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.random.default_rng(1).standard_normal((1, WIDTH)).astype(np.float32))
    interpreter.invoke()
    y = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    return y, interpreter.memory_report().packed_bytes


@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_nodes_with_the_same_weights_and_bias_share_what_is_packed(dtype: type) -> None:
    """What a node has besides (a block with its activation) is small."""
    alone, most = run(unrolled(dtype, [0]))[1], run(unrolled(dtype, [0] * 9))[1]
    assert most - alone < 9 * 1024 < WIDTH * WIDTH * 8


@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_nodes_with_other_biases_have_panels_of_their_own(dtype: type) -> None:
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    content = unrolled(dtype, [0, 1, 0, 2, 1, 0])
    peer = litert.Interpreter(model_content=content)
    peer.allocate_tensors()
    peer.set_tensor(0, np.random.default_rng(1).standard_normal((1, WIDTH)).astype(np.float32))
    peer.invoke()
    wanted = peer.get_tensor(peer.get_output_details()[0]["index"])
    y, nbytes = run(content)
    np.testing.assert_allclose(y, wanted, rtol=2e-5, atol=2e-6)  # sums in another order
    assert nbytes > 3 * (run(unrolled(dtype, [0]))[1] - 1024)


def test_large_arrays_lie_apart_and_are_zeros() -> None:
    sizes = [1, (256 << 10) - 1, *[256 << 10, (300 << 10) + 7, 5 << 20] * 5, 20 << 20]
    with ThreadPoolExecutor(4) as threads:
        arrays = list(threads.map(aligned, sizes))
    assert not any(array.any() for array in arrays)
    spans = sorted((address(array), address(array) + len(array)) for array in arrays)
    assert all(start % 64 == 0 for start, _ in spans)
    assert all(end + 128 <= start for (_, end), (start, _) in pairwise(spans))
    assert [len(array) for array in arrays] == sizes


def test_memory_of_large_arrays_is_given_back_with_the_last_of_them() -> None:
    first, second = aligned(17 << 20), aligned(17 << 20)
    held = [weakref.ref(array.base) for array in (first, second)]
    del first
    gc.collect()
    assert held[0]() is None
    assert held[1]() is not None
    del second
    gc.collect()
    assert held[1]() is None
