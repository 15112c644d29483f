"""EMBEDDING_LOOKUP of tables whose blocks do not fit: an error that says what must hold."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.errors import PrepareError, UnsupportedError
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator, TensorType

from ..model_builder import ModelBuilder


def blockwise_model(block_size: int, scales: np.ndarray) -> bytes:
    model = ModelBuilder()
    positions, y = model.tensor((2,), np.int32), model.tensor((2, 64))
    table = model.tensor((6, 64), TensorType.INT4, bytes(6 * 32))
    blocks = tflite.BlockwiseQuantizationT(
        scales=model.constant(scales), zero_points=-1, block_size=block_size
    )
    model.model.subgraphs[0].tensors[table].quantization = tflite.QuantizationParametersT(details=blocks)
    model.op(BuiltinOperator.EMBEDDING_LOOKUP, [positions, table], [y], version=4)
    return model.build([positions], [y])


@pytest.mark.parametrize(
    ("block_size", "scales"),
    [
        (0, np.ones((6, 4), np.float16)),
        (-4, np.ones((6, 4), np.float16)),
        (5, np.ones((6, 4), np.float16)),
        (1, np.ones((6, 64), np.float16)),
        (2**31 - 1, np.ones((6, 4), np.float16)),
        (16, np.ones((6, 3), np.float16)),
        (16, np.ones((6, 4), np.int32)),
    ],
    ids=range(7),
)
def test_blocks_that_do_not_fit(block_size: int, scales: np.ndarray) -> None:
    with pytest.raises((PrepareError, UnsupportedError), match="EMBEDDING_LOOKUP: "):
        Interpreter(model_content=blockwise_model(block_size, scales)).allocate_tensors()
