"""Threads change no byte of a result, however many there are and whoever else uses the pool."""

from __future__ import annotations

import threading
from pathlib import Path

import numlite.interpreter
import numpy as np
import pytest

from .model_builder import ModelBuilder
from .small_models import Op
from .test_interpreter_models import outputs


@pytest.mark.parametrize("threads", [2, 8, 64])
def test_real_models_give_the_bytes_of_one_thread(model_path: Path, threads: int) -> None:
    wanted = outputs(numlite.interpreter, model_path, "AUTO", 1)
    found = outputs(numlite.interpreter, model_path, "AUTO", threads)
    assert [y.tobytes() for y in found] == [y.tobytes() for y in wanted]


def wide_layers() -> bytes:
    """Products that are cut into pieces for several threads."""
    random = np.random.default_rng(3)
    model = ModelBuilder()
    x = y = model.tensor([256, 256])
    for _ in range(4):
        weights = model.constant((random.standard_normal((256, 256)) / 16).astype(np.float32))
        given, y = [y, weights, model.constant(np.zeros(256, np.float32))], model.tensor([256, 256])
        model.op(Op.FULLY_CONNECTED, given, [y])
    return model.build([x], [y])


def results(model: bytes, threads: int, runs: int) -> list[bytes]:
    interpreter = numlite.interpreter.Interpreter(model_content=model, num_threads=threads)
    interpreter.allocate_tensors()
    if threads > 1:
        (stage,) = interpreter.core.subgraph().stages
        assert any(call.chunks > 1 for node in stage.plan.nodes for call in node.calls or ())
    values = np.random.default_rng(4).standard_normal((256, 256)).astype(np.float32)
    found = []
    for n in range(runs):
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], values + n)
        interpreter.invoke()
        found.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).tobytes())
    return found


def test_interpreters_in_several_threads_share_the_pool() -> None:
    model, runs = wide_layers(), 20
    wanted = results(model, 1, runs)
    found: dict[int, list[bytes]] = {}

    def run(threads: int) -> None:
        found[threads] = results(model, threads, runs)

    running = [threading.Thread(target=run, args=(threads,)) for threads in (2, 3, 8)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert found == {2: wanted, 3: wanted, 8: wanted}
