"""Kernels compiled side by side, in other processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest
from numlite.delegates.cuda import compile_pool
from numlite.delegates.cuda.compile import CubinStore, compile_kernel
from numlite.delegates.cuda.launch import Kernel
from numlite.lite.errors import UnsupportedError

from .simulation import needs_triton

pytestmark = needs_triton
SIZES = (128, 256, 512, 1024)

_SIGNATURE = (("x_ptr", "*i8"), ("y_ptr", "*i8"), ("table_ptr", "*i8"), ("first", "i32"), ("size", "i32"))


def lookup(block: int, mask: int = 255) -> Kernel:
    return Kernel("elementwise", "lookup", _SIGNATURE, (("MASK", mask), ("BLOCK", block)))


# What a program does that has no guard for its main module, and comes in by a pipe.
_SCRIPT = """
import sys
from numlite.delegates.cuda.compile import CubinStore
from numlite.delegates.cuda.launch import Kernel
signature = (("x_ptr", "*i8"), ("y_ptr", "*i8"), ("table_ptr", "*i8"), ("first", "i32"), ("size", "i32"))
constants = [(("MASK", 255), ("BLOCK", 64 << n)) for n in range(COUNT)]
kernels = [Kernel("elementwise", "lookup", signature, values) for values in constants]
print("started", flush=True)
try:
    CubinStore(90, sys.argv[1]).have(kernels)
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    print("triton" in sys.modules)
"""


def start(script: str, folder: Path) -> subprocess.Popen[str]:
    """Its stderr is its processes', too: communicate() waits for all of them."""
    environment = os.environ | {"TMPDIR": str(folder / "tmp"), "PYTHONPATH": os.pathsep.join(sys.path)}
    (folder / "tmp").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-", str(folder / "cubins")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdin is not None
    process.stdin.write(script)
    process.stdin.close()
    process.stdin = None  # communicate must not close it again
    return process


def test_other_processes_make_the_same_code(tmp_path: Path) -> None:
    kernels, store = [*map(lookup, SIZES), lookup(256)], CubinStore(90, tmp_path)
    store.have(kernels)
    assert len(list(tmp_path.iterdir())) == len(SIZES)
    again = CubinStore(90, tmp_path)
    for kernel in kernels:
        assert store.cubin(kernel) == again.cubin(kernel) == compile_kernel(kernel, 90)


def test_what_is_not_urgent_comes_later(tmp_path: Path) -> None:
    """The same key is compiled once, whoever asks for it next waits for it."""
    store = CubinStore(90, tmp_path)
    store.have([lookup(64)], urgent=False)
    assert compile_pool.compile_pool().waiting(store.key(lookup(64)))
    assert store.cubin(lookup(64)) == compile_kernel(lookup(64), 90)
    assert not compile_pool.compile_pool().waiting(store.key(lookup(64)))


def test_failures_are_errors_as_here(tmp_path: Path) -> None:
    wrong = Kernel("elementwise", "lookup", _SIGNATURE, (("MASK", 255), ("BLOCK", 100)))
    with pytest.raises(UnsupportedError) as here:
        compile_kernel(wrong, 90)
    with pytest.raises(UnsupportedError) as there:
        CubinStore(90, tmp_path).have([*map(lookup, SIZES), wrong])
    assert str(there.value) == str(here.value)
    assert "Triton must compile it" in str(here.value)


def test_a_process_that_dies_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"import os, sys; os.write(1, {compile_pool.READY!r}); sys.stdin.read(1); os._exit(3)"
    monkeypatch.setattr(compile_pool, "_MAIN", code)
    monkeypatch.setattr(compile_pool, "compile_pool", cache(compile_pool.CompilePool))
    with pytest.raises(UnsupportedError, match="must not end before, got exit code 3"):
        CubinStore(90, tmp_path).have(map(lookup, SIZES))


def test_a_process_that_is_not_ready_yet_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = tmp_path / "started"
    monkeypatch.setattr(compile_pool, "_MAIN", f"open({str(started)!r}, 'w'); import sys; sys.stdin.read()")
    pool = compile_pool.CompilePool()
    result = pool.compile(lookup(64), 90, "key", lambda _: None)
    while not started.exists():
        assert not result.done()
    pool.stop()
    with pytest.raises(UnsupportedError, match="compiling was interrupted"):
        result.result(timeout=60)
    monkeypatch.undo()
    key = CubinStore(90, tmp_path).key(lookup(64))
    assert pool.compile(lookup(64), 90, key, lambda _: None).result().code


@pytest.mark.parametrize("executable", ("missing", "", "/bin/true"))
def test_without_processes_it_compiles_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executable: str
) -> None:
    """Also where the program that Python is in is not Python."""
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setattr(compile_pool, "compile_pool", cache(compile_pool.CompilePool))
    store = CubinStore(90, tmp_path)
    store.have(map(lookup, SIZES))
    assert not list(tmp_path.iterdir())
    assert store.cubin(lookup(256)).code


def test_a_main_script_without_a_guard(tmp_path: Path) -> None:
    process = start(_SCRIPT.replace("COUNT", "4"), tmp_path)
    output, _ = process.communicate()
    assert output.split() == ["started", "False"]
    assert len(list((tmp_path / "cubins").iterdir())) == 4
    assert not list((tmp_path / "tmp").iterdir())


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    process = start(_SCRIPT.replace("COUNT", "12"), tmp_path)
    assert process.stdout is not None and process.stdout.readline() == "started\n"
    while not _started_from(tmp_path):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate()
    assert output == "interrupted\n"
    assert not list((tmp_path / "tmp").iterdir())
    assert not _started_from(tmp_path)


def test_who_is_told_to_end_leaves_nothing_behind(tmp_path: Path) -> None:
    """No code of the program's own runs then: the processes see that it has gone."""
    process = start(_SCRIPT.replace("COUNT", "12"), tmp_path)
    assert process.stdout is not None and process.stdout.readline() == "started\n"
    while not _started_from(tmp_path):
        assert process.poll() is None
    process.terminate()
    process.communicate()
    assert not list((tmp_path / "tmp").iterdir())
    assert not _started_from(tmp_path)


def test_a_process_makes_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was never started has none: who is killed before it leaves nothing behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def refuse(*_: object, **__: object) -> None:
        assert not list(tmp_path.iterdir())
        raise OSError("none can be started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.raises(OSError, match="none can be started"):
        compile_pool._Process()


def _started_from(folder: Path) -> list[str]:
    """The processes whose temporary files are in a folder of that one's."""
    wanted, found = f"TMPDIR={folder}/tmp/numlite-compile-".encode(), []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (process / "environ").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found
