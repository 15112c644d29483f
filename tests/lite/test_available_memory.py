"""What does not fit is refused before it is allocated: the error names node, tensor, shape and bytes."""

from __future__ import annotations

import errno
import mmap
from pathlib import Path

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite import available_memory
from numlite.lite.available_memory import available_bytes
from numlite.lite.errors import InvokeError, PrepareError
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder

AVAILABLE = 100_000_000
BYTES = r"400,000,\d\d\d bytes are needed, 100,000,000 are available"


@pytest.fixture(autouse=True)
def small_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(available_memory, "available_bytes", lambda: AVAILABLE)


def test_an_output_that_is_known_before_running() -> None:
    model = ModelBuilder()
    x, y = model.tensor((10,)), model.tensor((1,))
    edges = tflite.StablehloPadOptionsT(
        edge_padding_low=[0], edge_padding_high=[100_000_000 - 10], interior_padding=[0]
    )
    model.op(BuiltinOperator.STABLEHLO_PAD, [x, model.constant(np.zeros((), np.float32))], [y], edges)
    interpreter = Interpreter(model_content=model.build([x], [y]))
    place = r"node 0 \(STABLEHLO_PAD\), output 't1': tensor 1 't1' float32 1: shape \(100000000,\): memory: "
    with pytest.raises(PrepareError, match=place + BYTES):
        interpreter.allocate_tensors()


def test_an_output_that_only_running_tells() -> None:
    model = ModelBuilder()
    x, times, y = model.tensor((10,)), model.tensor((1,), np.int32), model.tensor((1,))
    model.op(BuiltinOperator.TILE, [x, times], [y])
    interpreter = Interpreter(model_content=model.build([x, times], [y]))
    interpreter.allocate_tensors()
    interpreter.set_tensor(times, np.array([10_000_000], np.int32))
    with pytest.raises(InvokeError, match=r"node 0 \(TILE\).*shape \(100000000,\): memory: " + BYTES):
        interpreter.invoke()
    interpreter.set_tensor(times, np.array([2], np.int32))
    interpreter.invoke()
    assert interpreter.get_tensor(y).shape == (20,)


def test_an_input() -> None:
    model = ModelBuilder()
    x, y = model.tensor((10,)), model.tensor((10,))
    model.op(BuiltinOperator.NEG, [x], [y])
    interpreter = Interpreter(model_content=model.build([x], [y]))
    interpreter.resize_tensor_input(x, [100_000_000])
    with pytest.raises(PrepareError, match=r"tensor 0 't0' float32 100000000.*memory: " + BYTES):
        interpreter.allocate_tensors()


def test_tensors_that_fit_one_by_one_only() -> None:
    """The error names the one that needs most."""
    model = ModelBuilder()
    tensors = [model.tensor((20_000_000,)) for _ in range(2)]
    small = model.tensor((4_000_000,))
    model.op(BuiltinOperator.NEG, tensors[:1], tensors[1:])
    begin, size = model.constant([0]), model.constant([4_000_000])
    model.op(BuiltinOperator.SLICE, [tensors[1], begin, size], [small])
    interpreter = Interpreter(model_content=model.build(tensors[:1], [tensors[1], small]))
    text = r"tensor 0 't0' float32 20000000 needs 80,000,000 bytes; memory: 1\d\d,\d+,\d+ bytes are needed"
    with pytest.raises(PrepareError, match=text):
        interpreter.allocate_tensors()


def test_strings_take_room_too() -> None:
    model = ModelBuilder()
    dims = model.constant([100_000_000])
    value = model.tensor((), tflite.TensorType.STRING)
    y = model.tensor((1,), tflite.TensorType.STRING)
    model.op(BuiltinOperator.FILL, [dims, value], [y], tflite.FillOptionsT())
    interpreter = Interpreter(model_content=model.build([value], [y]))
    with pytest.raises((PrepareError, InvokeError), match=r"node 0 \(FILL\).*memory: 10,000,000,000 bytes"):
        interpreter.allocate_tensors()
        interpreter.set_tensor(value, np.array(b"a", object))
        interpreter.invoke()


def test_a_control_group_has_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [tmp_path / name for name in ("max", "current", "stat")]
    texts = ("1000000\n", "600000\n", "anon 1\ninactive_file 50000\n")
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    monkeypatch.setattr(available_memory, "_CGROUP_FILES", (tuple(map(str, files)),))
    assert available_bytes() == 450_000
    files[0].write_text("max\n")
    assert available_bytes() > 450_000


def test_memory_is_as_good_where_the_system_has_no_large_pages() -> None:
    class Refusing:
        asked = 0

        def madvise(self, option: int) -> None:
            self.asked += 1
            raise OSError(errno.EINVAL, "no such advice")

    memory = Refusing()
    available_memory.ask_for_large_pages(memory)  # type: ignore[arg-type]
    assert memory.asked == hasattr(mmap, "MADV_HUGEPAGE")
