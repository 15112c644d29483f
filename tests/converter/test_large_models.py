"""Models of more than 2 GB: written without a copy of their constants, read where they lie."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numlite.converter.flatbuffer import model_file
from numlite.converter.lite_graph import LiteGraph, LiteModel, LiteOperator, LiteSignature, LiteTensor
from numlite.interpreter import Interpreter
from numlite.lite.available_memory import available_bytes
from numlite.lite.tensor import TensorType
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator, GatherOptionsT

ROWS, WIDTH = 600_000, 1024
# Rows that are not zero, at both ends and beyond 2 GB: only their pages take memory.
SET_ROWS = (0, 1, 2**31 // (4 * WIDTH), ROWS - 1)
# What may be allocated beside the constants.
ROOM = 600 << 20


def large_model() -> LiteModel:
    """Rows of a table of 2.4 GB by their numbers."""
    graph = LiteGraph()
    ids = LiteTensor("ids", TensorType.INT32, (-1,))
    graph.inputs = [ids]
    table = np.zeros((ROWS, WIDTH), np.float32)
    for row in SET_ROWS:
        table[row] = row + 1
    rows = LiteTensor("rows", TensorType.FLOAT32, (-1, WIDTH))
    given = LiteTensor("table", TensorType.FLOAT32, table.shape, table)
    graph.append(LiteOperator(BuiltinOperator.GATHER, [given, ids], [rows], GatherOptionsT(), ("g",)))
    graph.outputs = [rows]
    return LiteModel([LiteSignature("serving_default", graph, ["ids"], ["rows"])])


@contextmanager
def address_space(more: int) -> Iterator[None]:
    """Allocations beyond so many bytes fail."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_a_model_of_more_than_two_gigabytes(tmp_path: Path) -> None:
    nbytes = ROWS * WIDTH * 4
    if shutil.disk_usage(tmp_path).free < 2 * nbytes:
        pytest.skip(f"needs {2 * nbytes:,} bytes of disk")
    if available_bytes() < nbytes:
        pytest.skip(f"needs {nbytes:,} bytes of memory")
    path = tmp_path / "large.tflite"
    model = large_model()
    try:
        with address_space(ROOM):
            size = model_file(model).write(path)
        assert size == os.path.getsize(path) > nbytes > 2**31
        with open(path, "rb") as file:
            start = file.read(1 << 16)
        [buffer] = [b for b in tflite.read(start).buffers if b.size > 2**31]
        assert buffer.offset % 16 == 0 and buffer.offset + buffer.size <= size
        del model
        # The file is mapped: that is its own size, and nothing besides may be as large.
        with address_space(size + ROOM):
            run = Interpreter(str(path)).get_signature_runner("serving_default")
            rows = run(ids=np.array([*SET_ROWS, 5], np.int32))["rows"]
    finally:
        path.unlink(missing_ok=True)
    assert rows.tolist() == [[row + 1.0] * WIDTH for row in SET_ROWS] + [[0.0] * WIDTH]
