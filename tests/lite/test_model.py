"""Opening models: mapped files, constants near the file's end, appended buffers, metadata."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.available_memory import OVERREAD_BYTES
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.lite.model import Model
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from ..small_models import Op, chain


def model_with(values: np.ndarray, padding: int = 0) -> bytes:
    model = ModelBuilder()
    x, y = model.tensor(values.shape, name="x"), model.tensor(values.shape, name="y")
    c = model.constant(values)
    model.op(Op.ADD, [x, c], [y])
    return model.build([x], [y]) + bytes(padding)


def test_constants_are_views_of_the_mapped_file(tmp_path: pathlib.Path) -> None:
    values = np.arange(100, dtype=np.float32)
    path = tmp_path / "model.tflite"
    path.write_bytes(model_with(values, padding=OVERREAD_BYTES))
    model = Model.from_path(path)
    data = model.buffer(1)
    assert data is not None
    start = data.ctypes.data - model.address
    assert 0 < start < model.nbytes
    assert np.array_equal(data.view(np.float32), values)
    assert not data.flags.writeable


def test_constants_near_the_end_are_copied() -> None:
    values = np.arange(4, dtype=np.float32)
    content = model_with(values)
    model = Model(content)
    data = model.buffer(1)
    assert data is not None
    assert np.array_equal(data.view(np.float32), values)
    end = data.ctypes.data + data.nbytes - model.address
    assert not 0 <= end <= model.nbytes or end + OVERREAD_BYTES <= model.nbytes
    assert model.buffer(1) is data or np.shares_memory(model.buffer(1), data)


def test_buffer_zero_is_empty() -> None:
    assert Model(chain()).buffer(0) is None


def test_appended_buffers() -> None:
    values = np.arange(6, dtype=np.float32)
    model = ModelBuilder()
    c, y = model.constant(values), model.tensor([6])
    model.op(Op.NEG, [c], [y])
    model.model.buffers[1] = tflite.BufferT(offset=4096, size=values.nbytes)
    content = model.build([], [y])
    content += bytes(4096 - len(content)) + values.tobytes()
    data = Model(content).buffer(1)
    assert data is not None
    assert np.array_equal(data.view(np.float32), values)
    with pytest.raises(ModelError):
        Model(content[:-1]).buffer(1)


def test_appended_custom_options() -> None:
    model = ModelBuilder()
    x, y = model.tensor([1]), model.tensor([1])
    model.op(Op.CUSTOM, [x], [y], custom_code="Op")
    operator = model.subgraph.operators[0]
    operator.large_custom_options_offset = 4096
    operator.large_custom_options_size = 7
    content = model.build([x], [y])
    opened = Model(content + bytes(4096 - len(content)) + b"options")
    assert opened.custom_options(opened.root.subgraphs[0].operators[0]) == b"options"


def test_external_buffers_are_refused_in_words() -> None:
    model = ModelBuilder()
    x = model.tensor([1], name="x")
    model.subgraph.tensors[x].external_buffer = 3
    with pytest.raises(UnsupportedError, match="tensor 0 'x' float32 1: its values are in another file"):
        Interpreter(model_content=model.build([x], [x]))


def test_metadata_by_name() -> None:
    model = ModelBuilder()
    x = model.tensor([1])
    model.model.buffers.append(tflite.BufferT(data=b"1.2.3"))
    model.model.metadata = [tflite.MetadataT(name="min_runtime_version", buffer=1)]
    assert Model(model.build([x], [x])).metadata() == {"min_runtime_version": b"1.2.3"}


@pytest.mark.parametrize("content", [b"", b"TFL3", bytes(64)], ids=len)
def test_no_model(content: bytes) -> None:
    with pytest.raises(ModelError):
        Model(content)


def test_empty_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "empty.tflite"
    path.touch()
    with pytest.raises(ModelError, match="the file is empty"):
        Model.from_path(path)
