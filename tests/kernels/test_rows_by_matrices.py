"""A few rows by matrices that are given while running: what rows of larger operands give, bit for bit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op

GUARDED = Path(__file__).parents[1] / "run_guarded.py"


def model_of(x: tuple[int, ...], w: tuple[int, ...], adj_y: bool) -> bytes:
    y = Kind((*x[:-1], w[-2 if adj_y else -1]))
    options = tflite.BatchMatMulOptionsT(adj_y=adj_y)
    return single_op(BuiltinOperator.BATCH_MATMUL, [Kind(x), Kind(w)], y, options, 1)


def product(x: np.ndarray, w: np.ndarray, adj_y: bool) -> np.ndarray:
    interpreter = Interpreter(model_content=model_of(x.shape, w.shape, adj_y))
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


@pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made with mprotect")
def test_nothing_is_read_far_behind_the_last_matrix(tmp_path: Path) -> None:
    for columns in (1, 32, 33, 64, 65, 97, 129):
        (tmp_path / f"rows{columns}.tflite").write_bytes(model_of((2, 1, 40), (2, 40, columns), False))
        (tmp_path / f"turned{columns}.tflite").write_bytes(model_of((2, 1, 40), (2, columns, 40), True))
    done = subprocess.run([sys.executable, GUARDED, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
