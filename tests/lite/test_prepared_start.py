"""A model that starts from what is kept of it is what it is without, whatever is asked of it first."""

from __future__ import annotations

import copy
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite import Interpreter
from numlite.lite.errors import CancelledError, StateError
from numlite.lite.prepared_start import PreparedStart

from ..running import once_running
from ..small_models import Op
from .prepared_files import WIDTH, kept, layers_of, result

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="addresses are told apart by /proc/self/maps")

INDEX = np.array([1], np.int32)


@pytest.fixture
def started(folder: Path, tmp_path: Path) -> Callable[[], Interpreter]:
    """Makes interpreters of a model of which a start is kept: layers, and one of their rows quantized."""
    model, x, y = layers_of(1.0)
    index = model.tensor([1], np.int32, name="index")
    row = model.tensor([1, WIDTH], name="row")
    made = model.tensor([1, WIDTH], np.int8, name="made", scale=[0.125], zero_point=[3])
    model.op(Op.GATHER, [y, index], [row])
    model.op(Op.QUANTIZE, [row], [made])
    names = {"serve": ({"x": x, "index": index}, {"y": y, "made": made})}
    path = tmp_path / "started.tflite"
    path.write_bytes(model.build([x, index], [y, made], names))

    def make() -> Interpreter:
        return Interpreter(str(path))

    for _ in range(3):
        make().allocate_tensors()
    assert len(starts(folder)) == 1
    return make


_MOST_MODULES = 32  # of numlite, that a start imports until its first results
_STARTED = """
import sys
import numpy as np
from numlite.kernels.compiled.driver.library import Library
from numlite.lite.private_file import CodePlace
Library.place = staticmethod(lambda: CodePlace(sys.argv[2], "state"))
from numlite import Interpreter
interpreter = Interpreter(sys.argv[1])
interpreter.allocate_tensors()
for x in interpreter.get_input_details():
    interpreter.set_tensor(x["index"], np.zeros(x["shape"], x["dtype"]))
interpreter.invoke()
for y in interpreter.get_output_details():
    interpreter.get_tensor(y["index"])
print(type(interpreter._core).__name__, *(name for name in sys.modules if name.split(".")[0] == "numlite"))
"""


def test_a_start_imports_few_modules(
    started: Callable[[], Interpreter], folder: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", _STARTED, str(tmp_path / "started.tflite"), str(folder)]
    subprocess.run(command, capture_output=True, check=True)  # keeps what it finds out about the sources
    kind, *modules = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert kind == "PreparedStart"
    assert len(modules) <= _MOST_MODULES, f"{len(modules)}: {' '.join(sorted(modules))}"


def starts(folder: Path) -> list[Path]:
    return sorted(folder.glob("start-*.bin"))


def is_started(interpreter: Interpreter) -> bool:
    return isinstance(interpreter._core, PreparedStart)


def fill(interpreter: Interpreter, index: np.ndarray = INDEX) -> None:
    x, position = interpreter.get_input_details()
    values = np.random.default_rng(3).standard_normal(x["shape"]).astype(np.float32)
    interpreter.set_tensor(x["index"], values)
    interpreter.set_tensor(position["index"], index)


def outputs(interpreter: Interpreter) -> list[bytes]:
    return [interpreter.get_tensor(y["index"]).tobytes() for y in interpreter.get_output_details()]


def filled_run(interpreter: Interpreter, index: np.ndarray = INDEX, **limits: Any) -> list[bytes]:
    fill(interpreter, index)
    interpreter.invoke(**limits)
    return outputs(interpreter)


def with_a_view(interpreter: Interpreter) -> None:
    view = interpreter.tensor(0)()
    view[...] = 1
    interpreter.invoke()


def resized(interpreter: Interpreter) -> list[bytes]:
    interpreter.resize_tensor_input(0, [3, WIDTH])
    interpreter.allocate_tensors()
    return filled_run(interpreter)


def back_and_forth(interpreter: Interpreter) -> list[bytes]:
    found = resized(interpreter)
    interpreter.resize_tensor_input(0, [2, WIDTH])
    interpreter.allocate_tensors()
    return found + filled_run(interpreter)


def released(interpreter: Interpreter) -> list[bytes]:
    interpreter.release_nonpersistent_memory()
    with pytest.raises(StateError):
        interpreter.invoke()
    interpreter.allocate_tensors()
    return filled_run(interpreter)


def by_signature(interpreter: Interpreter) -> list[bytes]:
    made = interpreter.get_signature_runner()(x=np.ones((2, WIDTH), np.float32), index=INDEX)
    return [made[name].tobytes() for name in sorted(made)]


X = np.ones((2, WIDTH), np.float32)
ASKED: dict[str, Callable[[Interpreter], object]] = {
    "nothing": lambda i: None,
    "inputs": lambda i: i.get_input_details(),
    "outputs": lambda i: i.get_output_details(),
    "tensors": lambda i: i.get_tensor_details(),
    "operators": lambda i: i._get_ops_details(),
    "signatures": lambda i: i.get_signature_list(),
    "values": outputs,
    "an input's value": lambda i: i.get_tensor(0).tobytes(),
    "a constant": lambda i: i.get_tensor(1).tobytes(),
    "an intermediate": lambda i: i.get_tensor(3).tobytes(),
    "no tensor": lambda i: i.get_tensor(999),
    "a name": lambda i: i.get_tensor("x"),  # type: ignore[arg-type]
    "another subgraph": lambda i: i.get_tensor(0, 1),
    "a NumPy index": lambda i: i.get_tensor(np.int64(0)).tobytes(),  # type: ignore[arg-type]
    "a value": lambda i: i.set_tensor(0, X),
    "a list": lambda i: i.set_tensor(0, X.tolist()),
    "another type": lambda i: i.set_tensor(0, X.astype(np.float64)),
    "another shape": lambda i: i.set_tensor(0, X[:1]),
    "big-endian": lambda i: i.set_tensor(0, X.astype(">f4")),
    "a constant's value": lambda i: i.set_tensor(1, X),
    "a run": lambda i: i.invoke(),
    "a filled run": filled_run,
    "two runs": lambda i: filled_run(i) + filled_run(i),
    "a failing run": lambda i: filled_run(i, np.array([7], np.int32)),
    "a run without time": lambda i: filled_run(i, timeout_s=1e-9),
    "a run with time": lambda i: filled_run(i, timeout_s=1000),
    "allocation": lambda i: i.allocate_tensors(),
    "a view": with_a_view,
    "a wrapper": lambda i: i._interpreter.NumTensors() > 0,
    "another size": resized,
    "sizes in turns": back_and_forth,
    "no such size": lambda i: i.resize_tensor_input(0, [3, WIDTH + 1], strict=True),
    "memory given back": released,
    "variables": lambda i: i.reset_all_variables(),
    "a signature": by_signature,
    "times": lambda i: [entry.op for entry in i.profile(1)],
    "memory": lambda i: i.memory_report().arena_bytes,
    "a copy": copy.copy,
    "a stop": lambda i: i.cancel(),
}


def answer(act: Callable[[Interpreter], object], interpreter: Interpreter) -> str:
    try:
        return repr(act(interpreter))
    except Exception as error:
        return f"{type(error).__name__}: {error} {getattr(error, '__notes__', '')}"


def story(interpreter: Interpreter, asked: str, at: str) -> list[str]:
    """What an interpreter answers before it is allocated, allocated, or after a run, and then to the end."""
    if at != "new":
        interpreter.allocate_tensors()
    if at == "run":
        filled_run(interpreter)
    told = [answer(ASKED[asked], interpreter)]
    told += [answer(ASKED[name], interpreter) for name in ("values", "inputs", "outputs")]
    interpreter.allocate_tensors()
    told += [
        answer(ASKED[name], interpreter) for name in ("values", "a filled run", "tensors", "a filled run")
    ]
    return told


@pytest.mark.parametrize("at", ["new", "allocated", "run"])
@pytest.mark.parametrize("asked", ASKED)
def test_whatever_is_asked_is_answered_as_without_a_start(
    started: Callable[[], Interpreter], monkeypatch: pytest.MonkeyPatch, asked: str, at: str
) -> None:
    interpreter = started()
    assert is_started(interpreter)
    told = story(interpreter, asked, at)
    monkeypatch.setenv("NUMLITE_PREPARED", "off")
    plain = started()
    assert not is_started(plain)
    assert told == story(plain, asked, at)


def test_a_usual_run_reads_nothing_else(started: Callable[[], Interpreter], restored: list[int]) -> None:
    interpreter = started()
    interpreter.allocate_tensors()
    filled_run(interpreter)
    assert is_started(interpreter) and restored == [0]
    assert interpreter.core.whole() is interpreter.core and not is_started(interpreter)


def test_values_stay_where_they_are(started: Callable[[], Interpreter]) -> None:
    interpreter = started()
    interpreter.allocate_tensors()
    fill(interpreter)
    interpreter.get_tensor_details()
    interpreter.invoke()
    wanted = outputs(interpreter)
    other = started()
    other.allocate_tensors()
    assert filled_run(other) == wanted
    assert other.core and outputs(other) == wanted


@pytest.mark.parametrize("part", range(12))
def test_a_flipped_bit_costs_a_start(folder: Path, started: Callable[[], Interpreter], part: int) -> None:
    (file,) = starts(folder)
    content = bytearray(file.read_bytes())
    content[part * (len(content) - 1) // 11] ^= 1 << part % 8
    file.write_bytes(content)
    interpreter = started()
    assert not is_started(interpreter)
    interpreter.allocate_tensors()
    again = started()
    assert is_started(again)
    again.allocate_tensors()
    assert filled_run(again) == filled_run(interpreter)


@pytest.mark.parametrize("nbytes", [0, 7, 8, 100, -1])
def test_a_start_cut_short_is_none(folder: Path, started: Callable[[], Interpreter], nbytes: int) -> None:
    (file,) = starts(folder)
    file.write_bytes(file.read_bytes()[:nbytes])
    assert not is_started(started())


def test_a_start_under_another_ones_name_is_none(
    folder: Path, path: str, started: Callable[[], Interpreter]
) -> None:
    for _ in range(3):
        result(path)
    one, other = starts(folder)
    one.write_bytes(other.read_bytes())
    other.write_bytes(one.read_bytes())
    interpreters = started(), Interpreter(path)
    assert sum(map(is_started, interpreters)) == 1


def test_a_start_that_others_can_write_is_none(folder: Path, started: Callable[[], Interpreter]) -> None:
    starts(folder)[0].chmod(0o666)
    assert not is_started(started())


@pytest.mark.parametrize("damage", ["none", "cut", "flipped"])
def test_without_its_prepared_file_a_model_is_prepared(
    folder: Path, started: Callable[[], Interpreter], damage: str
) -> None:
    interpreter, other = started(), started()
    other.allocate_tensors()
    (file,) = kept(folder)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.unlink()
    if damage != "none":
        file.write_bytes(content[:500] if damage == "cut" else content)
        file.chmod(0o600)
    interpreter.allocate_tensors()
    assert filled_run(interpreter) == filled_run(other)


def test_another_model_of_that_name_is_another(started: Callable[[], Interpreter], tmp_path: Path) -> None:
    before = started()
    (tmp_path / "started.tflite").write_bytes((tmp_path / "started.tflite").read_bytes() + bytes(8))
    assert is_started(before) and not is_started(started())


def test_threads_meet_it_as_without_a_start(started: Callable[[], Interpreter]) -> None:
    """Whoever looks at it while it runs makes the rest of it, and no second run begins."""
    interpreter = started()
    interpreter.allocate_tensors()
    wanted = filled_run(interpreter)
    assert is_started(interpreter)
    turn = interpreter._core.turn
    turn.busy = True  # another thread is in invoke()
    looks = [threading.Thread(target=interpreter.get_tensor_details) for _ in range(3)]
    for look in looks:
        look.start()
    for look in looks:
        look.join()
    assert not is_started(interpreter) and interpreter.core.is_running
    with pytest.raises(StateError, match="in use by another thread"):
        interpreter.invoke()
    interpreter.cancel()
    turn.busy = False
    turn.forget_cancel()
    assert outputs(interpreter) == wanted and filled_run(interpreter) == wanted


def test_a_run_of_a_start_can_be_stopped(started: Callable[[], Interpreter]) -> None:
    interpreter = started()
    interpreter.allocate_tensors()

    def runs() -> None:
        with interpreter._core.limited(None):
            while True:
                interpreter.invoke()

    with once_running(interpreter, interpreter.cancel), pytest.raises(CancelledError):
        runs()
    assert filled_run(interpreter)
