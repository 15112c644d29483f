"""The library: cold and warm starts, caches that cannot be written, processes that compile at once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numlite.kernels.compiled.driver import build, compiler_process, image, library
from numlite.kernels.compiled.driver.library import Library
from numlite.kernels.compiled.families import FAMILIES, Family

START = """
import os, sys
from numlite.kernels.compiled.driver.library import Library
library = Library()
library.load({family: set() for family in sys.argv[1:]})
print("numba" in sys.modules, "llvmlite" in sys.modules)
"""


def start(cache: Path, *families: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", START, *(families or ["reshape"])],
        env=os.environ | {"NUMLITE_CACHE_DIR": str(cache)} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kept(cache: Path) -> list[Path]:
    """The cache's files of families; it keeps what is known of sources, too."""
    return [path for path in cache.iterdir() if not path.name.startswith(("imports-", "digests-"))]


def test_cold_and_warm_starts(tmp_path: Path) -> None:
    for _ in range(2):
        assert start(tmp_path, "executor", "reshape").communicate(timeout=120) == ("False False\n", "")
    files = {path: path.stat().st_mtime_ns for path in kept(tmp_path)}
    assert sorted(path.name.split("-")[0] for path in files) == ["executor", "reshape"]
    damaged = next(iter(files))
    damaged.write_bytes(damaged.read_bytes()[:-100])
    assert start(tmp_path, "executor", "reshape").communicate(timeout=120) == ("False False\n", "")
    for path, time in files.items():
        assert (path.stat().st_mtime_ns == time) == (path != damaged)


def test_processes_that_compile_at_once(tmp_path: Path) -> None:
    for process in [start(tmp_path) for _ in range(2)]:
        assert process.communicate(timeout=120) == ("False False\n", "")
    assert start(tmp_path).communicate(timeout=120) == ("False False\n", "")
    assert len(kept(tmp_path)) == 1


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    out, err = start(tmp_path / "file").communicate(timeout=120)
    assert out == "False False\n"
    assert err.count("\n") == 1
    assert "compiled kernels are not kept" in err
    assert "NUMLITE_CACHE_DIR" in err


def test_another_processor_has_files_of_its_own(tmp_path: Path) -> None:
    for processor in ("x86-64", "x86-64-v2"):
        assert start(tmp_path, NUMLITE_CPU=processor).communicate(timeout=120) == ("False False\n", "")
    assert len(kept(tmp_path)) == 2


def test_compiling_in_memory(tmp_path: Path) -> None:
    out, err = start(tmp_path / "none", NUMLITE_JIT="memory").communicate(timeout=120)
    assert (out, err) == ("True True\n", "")
    assert not (tmp_path / "none").exists()


def test_without_processes_this_one_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(build, "_start", refuse)
    monkeypatch.setattr(Library, "_families", {})
    monkeypatch.setattr("numlite.kernels.compiled.driver.library.open_image", lambda family, digest: None)
    monkeypatch.setattr("numlite.kernels.compiled.driver.cache.cache_directory", lambda: str(tmp_path))
    assert Library().address("executor", "run_plan") > 0
    assert len(kept(tmp_path)) == 1


def test_without_a_terminal_the_log_has_a_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(build, "build", lambda families, done: None)
    with caplog.at_level("INFO", "numlite"):
        Library()._compile(["reshape", "fill"])
        Library()._compile(["reshape"])
    assert caplog.messages == [
        "Compiling kernels: 2 families, once per machine",
        "Compiling kernels: 1 family, once per machine",
    ]


def test_an_unknown_kernel() -> None:
    with pytest.raises(KeyError, match="no_such_kernel"):
        Library().address("executor", "no_such_kernel")


def test_a_family_that_does_not_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    # A module that has no kernels.
    monkeypatch.setitem(FAMILIES, "memory", Family("language.memory"))
    listed = "import {package}; from numlite.kernels.compiled.families import *"
    listed += "; FAMILIES['memory'] = Family('language.memory'); from {package}.comp"
    monkeypatch.setattr(build, "_MAIN", build._MAIN.replace("from {package}.comp", listed))
    with pytest.raises(build.CompileError, match=r"(?s)memory does not compile.*kernels"):
        build.build(["memory"], lambda family, image: None)


def test_sources_that_changed_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "family_digest", lambda *arguments: "another")
    with pytest.raises(build.CompileError, match="sources have changed"):
        build.build(["executor"], lambda family, image: None)


def test_a_compiler_that_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "_MAIN", "import os; os.kill(os.getpid(), 9) # {path} {package}")
    with pytest.raises(build.CompileError, match="executor: the compiler ended with code -9"):
        build.build(["executor"], lambda family, image: None)


def test_systems_without_shared_objects_load_object_files(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (compiler_process, image):
        monkeypatch.setattr(module, "uses_shared_objects", lambda: False)
    kernels = image.load_image(compiler_process.family_image("executor"))
    assert kernels.address("run_plan") > 0
    with pytest.raises(KeyError):
        kernels.address("no_such_kernel")


def test_a_folder_that_forbids_code_is_loaded_from_memory(tmp_path: Path) -> None:
    # A file that cannot be mapped stands for the mount option noexec.
    kernels = image.load_image(compiler_process.family_image("executor"), str(tmp_path / "missing"))
    assert kernels.address("run_plan") > 0


def test_where_nothing_can_be_loaded_llvm_compiles(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(content: bytes, path: str) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(library, "load_image", refuse)
    monkeypatch.setattr(Library, "_families", {})
    assert Library().address("executor", "run_plan") > 0
    assert Library().address("reshape", "flat_copy") > 0
    assert caplog.text.count("compiled in each process") == 1


def test_images_do_not_depend_on_the_run() -> None:
    assert compiler_process.family_image("reshape") == compiler_process.family_image("reshape")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o660, 0o606])
def test_a_file_that_others_may_write_is_compiled_anew(tmp_path: Path, mode: int) -> None:
    assert start(tmp_path).communicate(timeout=120) == ("False False\n", "")
    (path,) = kept(tmp_path)
    path.chmod(mode)
    before = path.stat().st_ino
    out, err = start(tmp_path).communicate(timeout=120)
    assert out == "False False\n" and err.count("is not used") == bool(mode & 0o022)
    (path,) = kept(tmp_path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert (path.stat().st_ino == before) == (not mode & 0o022)
    assert start(tmp_path).communicate(timeout=120) == ("False False\n", "")


def test_the_checked_descriptor_is_what_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert start(tmp_path).communicate(timeout=120) == ("False False\n", "")
    (path,) = kept(tmp_path)
    opened = library.open_image

    def swapped(family: str, digest: str) -> tuple[bytes, int] | None:
        found = opened(family, digest)
        path.unlink()
        path.write_bytes(b"not a shared object")
        return found

    monkeypatch.setattr(library, "open_image", swapped)
    monkeypatch.setattr(Library, "_families", {})
    monkeypatch.setattr("numlite.kernels.compiled.driver.cache.cache_directory", lambda: str(tmp_path))
    monkeypatch.setattr(image, "_load_from_memory", lambda content: pytest.fail("loaded from memory"))
    assert Library().address("reshape", "flat_copy") > 0
