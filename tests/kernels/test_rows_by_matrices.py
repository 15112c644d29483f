"""A few rows by matrices that are given while running: what rows of larger operands give, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op


def product(x: np.ndarray, w: np.ndarray, adj_y: bool) -> np.ndarray:
    columns = w.shape[-2 if adj_y else -1]
    y = Kind((*x.shape[:-1], columns))
    options = tflite.BatchMatMulOptionsT(adj_y=adj_y)
    content = single_op(BuiltinOperator.BATCH_MATMUL, [Kind(x.shape), Kind(w.shape)], y, options, 1)
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    for i, value in enumerate((x, w)):
        interpreter.set_tensor(i, value)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


@pytest.mark.parametrize("adj_y", [False, True])
@pytest.mark.parametrize(
    ("depth", "columns"), [(1, 1), (16, 16), (17, 65), (64, 1000), (1001, 64), (40, 130)]
)
@pytest.mark.parametrize("rows", [1, 3])
def test_rows_alone_are_those_of_many(rows: int, depth: int, columns: int, adj_y: bool) -> None:
    random = np.random.default_rng(depth)
    x = random.standard_normal((2, 40, depth)).astype(np.float32)
    w = random.standard_normal((2, columns, depth) if adj_y else (2, depth, columns)).astype(np.float32)
    many, few = product(x, w, adj_y), product(np.ascontiguousarray(x[:, :rows]), w, adj_y)
    np.testing.assert_array_equal(few.view(np.int32), many[:, :rows].view(np.int32))
