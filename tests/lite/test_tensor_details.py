"""Details of tensors whose scales are given by blocks: what other tensors hold."""

from __future__ import annotations

from typing import Any

import numlite.interpreter
import numpy as np
import pytest
from numlite.schema import tflite

from ..cases.packed_weights import packed
from ..model_builder import ModelBuilder

INT4 = tflite.TensorType.INT4
SCALES = np.arange(1, 7, dtype=np.float16).reshape(3, 2) / 8


def blockwise(zero_points: int) -> bytes:
    """FULLY_CONNECTED of [1, 64] by 4-bit weights [3, 64] in blocks of 32; tensor 1 are the weights."""
    model = ModelBuilder()
    x = model.tensor((1, 64))
    w = model.tensor((3, 64), INT4, packed(np.arange(192).reshape(3, 64) % 16 - 8, INT4))
    y = model.tensor((1, 3))
    scales = model.constant(SCALES)
    blocks = tflite.BlockwiseQuantizationT(scales=scales, zero_points=zero_points, block_size=32)
    model.model.subgraphs[0].tensors[w].quantization = tflite.QuantizationParametersT(
        details=blocks, quantized_dimension=0
    )
    model.constant(np.zeros(6, np.int32))
    model.op(tflite.BuiltinOperator.FULLY_CONNECTED, [x, w, -1], [y], tflite.FullyConnectedOptionsT(), 12)
    return model.build([x], [y])


@pytest.mark.parametrize("zero_points", [-1, 4], ids=["no zero points", "zero points"])
def test_scales_of_blocks_are_litert_s(litert: Any, zero_points: int) -> None:
    found = []
    for api in (numlite.interpreter, litert):
        interpreter = api.Interpreter(model_content=blockwise(zero_points))
        weights = interpreter.get_tensor_details()[1]
        assert weights["quantization"] == (0.0, 0)
        details = weights["quantization_parameters"]
        below = interpreter._interpreter.TensorQuantizationParameters(1, 0)
        found.append((details, below))
    (ours, our_tuple), (theirs, their_tuple) = found
    assert ours["scales"].tolist() == SCALES.ravel().tolist()
    for a, b in ((list(ours.values()), list(theirs.values())), (our_tuple, their_tuple)):
        for mine, original in zip(a, b, strict=True):
            assert np.asarray(mine).dtype == np.asarray(original).dtype
            assert np.array_equal(mine, original)
