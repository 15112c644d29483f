"""Packs: built twice alike, for other machines too; what runs from them without Numba; what is refused."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numlite.kernels.compiled.driver import cache, library, pack_builder, packed, packs, sources
from numlite.kernels.compiled.driver.build import CompileError
from numlite.kernels.compiled.driver.library import Library
from numlite.kernels.compiled.driver.linker import elf
from numlite.kernels.compiled.driver.pack_builder import build_pack, write_index
from numlite.kernels.compiled.language import target as choice
from numlite.kernels.compiled.language.host import machine
from numlite.kernels.compiled.language.target import target
from numlite.kernels.compiled.language.targets import SYSTEMS, TARGETS, targets_of
from numlite.lite.errors import UnsupportedError
from numlite.packs.__main__ import main
from numlite.schema import tflite

from ..model_builder import ModelBuilder

OWN = target()
LOWEST = targets_of(OWN.arch)[-1]
FAMILIES = ("executor", "reshape")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Packs of two families: for this machine, for the least of its kind, for an ARM board."""
    made = tmp_path_factory.mktemp("packs")
    for each in {OWN, LOWEST, TARGETS["aarch64"]}:
        build_pack(each, str(made), FAMILIES)
    return made


@pytest.fixture(autouse=True)
def afresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget what the process knows of packs, and of its kernels."""
    monkeypatch.setattr(Library, "_families", {})
    monkeypatch.setattr(library, "_warnings", set())
    monkeypatch.delenv("NUMLITE_CPU", raising=False)
    forget()
    yield
    forget()


def forget() -> None:
    target.cache_clear()
    packs.find_pack.cache_clear()


def from_pack(family: str = "reshape") -> bool:
    Library().load({family: set()})
    return isinstance(Library._families[family], type(packs.find_pack(target().name).pack.code))  # type: ignore[union-attr]


RUN = """
import sys
for name in ("numba", "llvmlite", "click", "rich", "google.protobuf"):
    sys.modules[name] = None
import numpy as np
import numlite
interpreter = numlite.Interpreter(sys.argv[1])
interpreter.allocate_tensors()
interpreter.set_tensor(0, np.arange(6, dtype=np.float32).reshape(2, 3))
interpreter.invoke()
print(interpreter.get_tensor(1).tolist(), [m for m in ("numba", "llvmlite") if sys.modules[m]])
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builder = ModelBuilder()
    x = builder.tensor((2, 3), np.float32)
    y = builder.tensor((3, 2), np.float32)
    shape = builder.constant(np.array([3, 2], np.int32))
    builder.op(tflite.BuiltinOperator.RESHAPE, [x, shape], [y])
    path = tmp_path_factory.mktemp("models") / "reshape.tflite"
    path.write_bytes(builder.build([x], [y]))
    return path


def run(model: Path, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = os.environ | {"NUMLITE_CACHE_DIR": str(folder / "cache")} | environment
    command = [sys.executable, "-c", RUN, str(model)]
    return subprocess.run(command, env=settings, capture_output=True, text=True, timeout=120)


def test_a_pack_runs_where_nothing_can_compile(model: Path, folder: Path, tmp_path: Path) -> None:
    done = run(model, tmp_path, NUMLITE_PACK=str(folder / f"{OWN.name}.pack"))
    assert done.stdout == "[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]] []\n", done.stderr
    assert not [path.name for path in (tmp_path / "cache").glob("*") if OWN.name in path.name]


def test_without_pack_and_compiler_the_error_says_what_to_install(model: Path, tmp_path: Path) -> None:
    for settings in {"NUMLITE_PACK": "off"}, {"NUMLITE_JIT": "memory"}:
        done = run(model, tmp_path, **settings)
        said = done.stderr.splitlines()[-1]
        assert f"no compiled kernels for {OWN.name} here: pip install 'numlite[jit]'" in said
        assert said.endswith("compiles them once, or install a wheel from PyPI")


def test_a_processor_below_all_packs_is_told_what_it_lacks(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "can_compile", lambda: False)
    monkeypatch.setattr(packs, "PACKAGE_FOLDER", str(folder))
    monkeypatch.setattr(packed, "machine", lambda: OWN.arch)
    monkeypatch.setattr(packed, "targets_of", lambda arch: [OWN])
    monkeypatch.setattr(packed, "host_words", lambda: frozenset())
    with pytest.raises(
        UnsupportedError, match=r"^fill: this processor lacks .*: pip install 'numlite\[jit\]'"
    ):
        packed.check_compiler("fill")


def test_the_named_pack_comes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMLITE_PACK", str(folder / f"{LOWEST.name}.pack"))
    assert target() is LOWEST and from_pack()
    forget()
    monkeypatch.setenv("NUMLITE_PACK", "off")
    assert target() is OWN and packs.find_pack(OWN.name).pack is None


def test_an_installed_package_takes_the_next_lower_pack(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "in_checkout", lambda: False)
    monkeypatch.setattr(packs, "PACKAGE_FOLDER", str(folder))
    assert target() is OWN and from_pack()
    forget()
    monkeypatch.setattr(choice, "possible_targets", lambda: [TARGETS["znver4"], LOWEST])
    assert target() is LOWEST
    forget()
    monkeypatch.setattr(choice, "in_checkout", lambda: True)
    assert target() is TARGETS["znver4"]


def test_a_checkout_compiles_what_has_changed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(packs, "PACKAGE_FOLDER", str(folder))
    assert from_pack()
    monkeypatch.setattr(library, "source_digest", lambda family: "another")
    Library._families.clear()
    with caplog.at_level(logging.INFO, "numlite"):
        assert library.family_pack("reshape") is None is library.family_pack("executor")
    assert len(caplog.messages) == 1 and "made from other sources" in caplog.text
    monkeypatch.setattr(library, "in_checkout", lambda: False)
    assert library.family_pack("reshape") is not None is not library.family_pack("executor")


def test_a_family_that_the_pack_lacks_is_compiled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "PACKAGE_FOLDER", str(folder))
    assert library.family_pack("fill") is None
    assert Library().address("fill", "fill") > 0


def damaged(folder: Path, tmp_path: Path, old: bytes, new: bytes) -> str:
    # Never over a file that the process may have mapped.
    path = Path(tempfile.mkdtemp(dir=tmp_path)) / f"{OWN.name}.pack"
    path.write_bytes((folder / path.name).read_bytes().replace(old, new))
    return str(path)


def test_packs_that_cannot_be_used_are_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = packs.VERSION.encode()
    for content, says in (
        ((version + b" ", b"9.9.9 "), r"of numlite 9\.9\.9"),
        ((b"pack_id", b"pack_xx"), "no pack of numlite's"),
        ((b"\x7fELF", b"MZ\0\0"), "does not load"),
    ):
        monkeypatch.setenv("NUMLITE_PACK", damaged(folder, tmp_path, *content))
        forget()
        with pytest.raises(UnsupportedError, match=f"NUMLITE_PACK: must be a pack that can be used.*{says}"):
            target()
    for text in ("on", str(tmp_path), str(tmp_path / "missing.pack")):
        monkeypatch.setenv("NUMLITE_PACK", text)
        with pytest.raises(UnsupportedError, match=r"must be 'off' or a file TARGET\.pack, got"):
            target()
    other = "aarch64" if machine() == "x86_64" else "x86-64"
    (tmp_path / f"{other}.pack").touch()
    monkeypatch.setenv("NUMLITE_PACK", str(tmp_path / f"{other}.pack"))
    with pytest.raises(UnsupportedError, match=f"NUMLITE_PACK: this machine cannot run code for {other}"):
        target()


def test_a_pack_of_another_target_than_the_named_one_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMLITE_PACK", str(folder / f"{LOWEST.name}.pack"))
    monkeypatch.setenv("NUMLITE_CPU", OWN.name)
    with pytest.raises(UnsupportedError, match=f"NUMLITE_CPU's {OWN.name}, got one for {LOWEST.name}"):
        target()


def test_two_builds_give_the_same_bytes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "cache_directory", lambda: str(tmp_path / "cache"))
    for name in (OWN.name, "aarch64"):
        path, nbytes = build_pack(TARGETS[name], str(tmp_path), FAMILIES[::-1])
        content = Path(path).read_bytes()
        assert content == (folder / f"{name}.pack").read_bytes() and len(content) == nbytes


def test_kernels_ask_nothing_of_the_c_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But to move memory: powers, angles, logarithms and remainders are numlite's own."""
    families = "binary_math elementwise normalization random softmax_f32 softmax_q8 non_max_suppression"
    path, _ = build_pack(OWN, str(tmp_path), families.split())
    assert elf.DT_NEEDED not in elf.dynamic_entries(Path(path).read_bytes())
    monkeypatch.setattr(pack_builder, "_IMPORTS", {"memmove"})
    with pytest.raises(CompileError, match=r"must call nothing but memmove, got \['mem"):
        build_pack(OWN, str(tmp_path), families.split())


def test_a_build_goes_on_where_it_was(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack_builder, "build", lambda *arguments: pytest.fail("compiled again"))
    build_pack(OWN, str(tmp_path), FAMILIES)
    assert (tmp_path / f"{OWN.name}.pack").read_bytes() == (folder / f"{OWN.name}.pack").read_bytes()


def test_a_pack_for_another_machine_says_what_it_holds(folder: Path) -> None:
    image = (folder / "aarch64.pack").read_bytes()
    assert int.from_bytes(image[18:20], "little") == elf.AARCH64
    assert {"numlite_run_plan", "numlite_flat_copy", "numlite_pack_id"} <= {
        name for name, _ in elf.exports(image)
    }
    first, *lines = pack_builder._text_of(image).splitlines()
    assert first == f"{packs.VERSION} aarch64"
    assert [line.split()[:2] for line in lines] == [[name, sources.source_digest(name)] for name in FAMILIES]


@pytest.mark.parametrize(("system", "name"), [("windows", "x86-64-v2"), ("macos", "aarch64-dotprod")])
def test_a_pack_for_another_system(system: str, name: str, tmp_path: Path) -> None:
    """It says of itself what it holds, its code is for that system, and the index counts it."""
    path, _ = build_pack(TARGETS[name], str(tmp_path), ("reshape",), system)
    image = Path(path).read_bytes()
    assert image.startswith({"windows": b"MZ", "macos": b"\xcf\xfa\xed\xfe"}[system])
    first, line = pack_builder._text_of(image).splitlines()
    assert first == f"{packs.VERSION} {name}"
    assert line.split()[:2] == ["reshape", sources.source_digest("reshape")]
    assert write_index(str(tmp_path)) == []
    assert list(json.loads((tmp_path / packs.INDEX_FILE).read_text())["packs"]) == [name]


def test_the_index_tells_of_one_state_of_the_sources(folder: Path, tmp_path: Path) -> None:
    names = [f"{OWN.name}.pack", "aarch64.pack"]
    for name in names:
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    digest = sources.source_digest("reshape").encode()
    os.replace(damaged(folder, tmp_path, digest, digest[::-1]), tmp_path / names[0])
    (tmp_path / "other.pack").write_bytes(b"nothing")
    removed = write_index(str(tmp_path))
    assert sorted(map(os.path.basename, removed)) == sorted([names[0], "other.pack"])
    index = json.loads((tmp_path / "index.json").read_text())
    assert list(index["packs"]) == ["aarch64"] and index["version"] == packs.VERSION
    assert index["sources"] == {name: sources.source_digest(name) for name in FAMILIES}
    assert set(index["compilers"]) == {"python", "llvmlite", "numba", "numpy"}


def test_the_command_refuses_unknown_targets(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["build", "pentium-iv"])
    assert "must be one of sapphirerapids" in capsys.readouterr().err


def test_wheels_carry_packs_for_what_machines_get_by_themselves() -> None:
    for machine_, names in pack_builder.PACKED.items():
        arch = SYSTEMS[machine_][0] if machine_ in SYSTEMS else machine_
        assert set(names) <= {found.name for found in targets_of(arch)}
