"""Addresses in what is kept of a prepared model are found, and packed weights are no addresses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numlite import Interpreter
from numlite.lite.prepared_contents import MappedRanges, _relocated, contents
from numlite.lite.prepared_file import NotKept
from numlite.lite.private_file import DIGEST_BYTES

from ..model_builder import ModelBuilder
from ..small_models import Op

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="addresses are told apart by /proc/self/maps")


def test_an_address_of_something_else_is_found() -> None:
    memory, other = np.zeros(64, np.uint8), np.zeros(64, np.uint8)
    address, stray = (array.__array_interface__["data"][0] for array in (memory, other))
    known = [(address, 64, -1, 128)]
    mapped = MappedRanges()
    words = np.array([0, address + 8, -1, 1 << 40, address], np.int64)
    assert _relocated(words, known, mapped) == [(1, -1, 136), (4, -1, 128)]
    with pytest.raises(NotKept, match="of something else"):
        _relocated(np.array([stray + 200], np.int64), known, mapped)
    words = np.array([stray + 200, address], np.int64)
    assert _relocated(words, known, mapped, others=False) == [(1, -1, 128)]


def test_packed_weights_may_look_like_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven weights beside two zeros do, where the system has put much into a process."""
    monkeypatch.setattr(MappedRanges, "__contains__", lambda self, address: True)
    quads = np.array([[127, 127, 127, 127], [127, 127, 0, 0]], np.int8)
    weights = quads[np.random.default_rng(1).integers(0, 2, (64, 16))].reshape(64, 64)
    model = ModelBuilder()
    x, y = (model.tensor(shape, np.int8, scale=0.5) for shape in ([1, 64], [1, 64]))
    model.op(Op.FULLY_CONNECTED, [x, model.constant(weights, scale=0.01), -1], [y], version=4)
    interpreter = Interpreter(model_content=model.build([x], [y]))
    interpreter.allocate_tensors()
    assert contents(interpreter.core.subgraph(), bytes(DIGEST_BYTES))


def test_packed_weights_do_not_stay_in_memory_twice(tmp_path: Path) -> None:
    """The pages of the model's file that were packed are given back."""
    program = """
import sys
from numlite import Interpreter
interpreter = Interpreter(sys.argv[1])
interpreter.allocate_tensors()
lines = open("/proc/self/smaps").read().split(sys.argv[1])[1].splitlines()
print(next(int(line.split()[1]) for line in lines if line.startswith("Rss:")))
"""
    model = ModelBuilder()
    x = y = model.tensor([8, 1024])
    for _ in range(3):
        x_of, y = y, model.tensor([8, 1024])
        model.op(Op.FULLY_CONNECTED, [x_of, model.constant(np.ones((1024, 1024), np.float32)), -1], [y])
    file = tmp_path / "large.tflite"
    file.write_bytes(model.build([x], [y]))
    done = subprocess.run([sys.executable, "-c", program, file], capture_output=True, text=True, check=True)
    # Pages at the edges stay, with those that the system maps together with them.
    assert 1024 * int(done.stdout) < file.stat().st_size / 2
