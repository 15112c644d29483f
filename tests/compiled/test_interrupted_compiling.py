"""Processes that compile at once, and signals meanwhile: the cache stays whole, no compiler stays behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numlite.schema import tflite

from ..model_builder import ModelBuilder

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="the system has no pidfd_open")

LIMIT_S = 300  # a child that has not ended by then is killed

START = """
import os, signal, sys, numpy as np
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
from numlite.kernels.compiled.driver import build
ask, first = build._ask, []
def telling(process, *asked):
    first.append(process.pid)
    if len(first) == 2:
        os.write(1, f"{first[0]} {first[1]}\\n".encode())
    return ask(process, *asked)
if "tell" in sys.argv:
    build._ask = telling
from numlite.interpreter import Interpreter
interpreter = Interpreter(sys.argv[1])
interpreter.allocate_tensors()
interpreter.set_tensor(0, np.arange(4, dtype=np.float32))
interpreter.invoke()
if "tell" in sys.argv:
    signal.pause()  # a machine may have compiled before the signal comes
print(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).tolist())
"""
RESULT = "[[0.0, 1.0], [2.0, 3.0]]\n"
FAMILIES = ["executor", "reshape"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that needs two families, executor and reshape."""
    builder = ModelBuilder()
    x, y = builder.tensor((4,)), builder.tensor((2, 2))
    shape = builder.constant(np.array([2, 2], np.int32))
    builder.op(tflite.BuiltinOperator.RESHAPE, [x, shape], [y], tflite.ReshapeOptionsT(new_shape=[2, 2]))
    path = tmp_path_factory.mktemp("model") / "reshape.tflite"
    path.write_bytes(builder.build([x], [y]))
    return path


def start(model: Path, cache: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", START, str(model), *arguments],
        env=os.environ | {"NUMLITE_CACHE_DIR": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def kept(cache: Path) -> list[str]:
    """The families of the cache's files, without those of sources, and names of what is no whole file."""
    names = sorted(os.listdir(cache)) if cache.exists() else []
    names = [name for name in names if not name.startswith(("imports-", "digests-"))]
    return [name.partition("-")[0] if name.endswith(".bin") else name for name in names]


@pytest.mark.long
def test_eight_processes_with_an_empty_cache(model: Path, tmp_path: Path) -> None:
    processes = [start(model, tmp_path / "cache") for _ in range(8)]
    assert [process.communicate(timeout=LIMIT_S) for process in processes] == [(RESULT, "")] * 8
    assert kept(tmp_path / "cache") == FAMILIES
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").iterdir()}
    assert start(model, tmp_path / "cache").communicate(timeout=LIMIT_S) == (RESULT, "")
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").iterdir()} == written


def interrupted(model: Path, cache: Path, send: signal.Signals, after_s: float) -> tuple[int, str]:
    """How a start ends that gets a signal while it compiles, and what it and its compilers said.

    Returns once none of them is left: they share the pipe of stderr.
    """
    process = start(model, cache, "tell")
    assert process.stdout is not None
    compilers = [os.pidfd_open(int(pid)) for pid in process.stdout.readline().split()]
    try:
        assert len(compilers) == 2
        select.select([process.stdout], [], [], after_s)
        os.killpg(process.pid, send) if send == signal.SIGINT else process.send_signal(send)
        _, error = process.communicate(timeout=LIMIT_S)
        for compiler in compilers:
            assert select.select([compiler], [], [], LIMIT_S)[0]
    finally:
        for compiler in compilers:
            os.close(compiler)
    return process.returncode, error


@pytest.mark.long
@pytest.mark.parametrize("send", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda s: s.name)
@pytest.mark.parametrize("after_s", [0, 0.3, 1.2])
def test_a_signal_while_kernels_compile(
    model: Path, tmp_path: Path, send: signal.Signals, after_s: float
) -> None:
    """As a terminal sends Ctrl-C, to all of the group; as `kill` does, to the one."""
    cache = tmp_path / "cache"
    code, error = interrupted(model, cache, send, after_s)
    assert code == -send
    if send == signal.SIGINT:
        assert error.count("Traceback") == 1 and error.endswith("KeyboardInterrupt\n")
    else:
        assert error == ""
    assert set(kept(cache)) <= set(FAMILIES)
    assert start(model, cache).communicate(timeout=LIMIT_S) == (RESULT, "")
    assert kept(cache) == FAMILIES
