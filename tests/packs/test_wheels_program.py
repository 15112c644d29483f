"""What .ci/wheels.py says of wheels that are not what they should be."""

from __future__ import annotations

import base64
import hashlib
import json
import runpy
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from numlite.kernels.compiled.driver.linker import elf
from numlite.kernels.compiled.driver.linker.shared_object import shared_object
from numlite.kernels.compiled.driver.pack_builder import PACKED

PROGRAM = Path(__file__).resolve().parents[2] / ".ci" / "wheels.py"
PLATFORMS = "manylinux2014_aarch64.musllinux_1_2_aarch64"
ABOUT = "numlite-1.dist-info"
Files = dict[str, bytes]


@pytest.fixture(scope="module")
def program() -> dict[str, Any]:
    return runpy.run_path(str(PROGRAM))


@pytest.fixture
def look(program: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Files], None]:
    """Makes a wheel of files, with a RECORD of those listed or of all, and looks at all but its packs."""
    monkeypatch.setitem(program["look_at"].__globals__, "look_at_pack", lambda *facts: None)

    def looked(files: Files, listed: Files | None = None) -> None:
        rows = [f"{name},{hashed(content)},{len(content)}" for name, content in (listed or files).items()]
        record = "\n".join([*rows, f"{ABOUT}/RECORD,,"]).encode()
        with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
            for name, content in {**files, f"{ABOUT}/RECORD": record}.items():
                archive.writestr(name, content)
        program["look_at"](tmp_path / "a.whl", PLATFORMS, "aarch64")

    return looked


def hashed(content: bytes) -> str:
    return f"sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()}"


def files_of(*tags: str, pure: str = "false") -> Files:
    wheel = [f"Root-Is-Purelib: {pure}", *(f"Tag: py3-none-{tag}" for tag in tags)]
    packs = {f"numlite/packs/{name}.pack": name.encode() for name in PACKED["aarch64"]}
    index = json.dumps({"packs": dict.fromkeys(PACKED["aarch64"])}).encode()
    return {f"{ABOUT}/WHEEL": "\n".join(wheel).encode(), "numlite/packs/index.json": index, **packs}


def test_a_wheel_is_what_its_name_says(look: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    files = files_of(*PLATFORMS.split("."))
    look(files)
    assert "aarch64-i8mm.pack: 12 bytes" in capsys.readouterr().out
    for wrong in files_of("manylinux2014_aarch64"), files_of(*PLATFORMS.split("."), pure="true"):
        with pytest.raises(AssertionError):
            look(wrong)


def test_a_wheel_lists_all_that_it_holds(look: Callable[..., None]) -> None:
    files = files_of(*PLATFORMS.split("."))
    for others in files | {"numlite/more.py": b"1"}, files | {"numlite/packs/aarch64.pack": b"other!!"}:
        with pytest.raises(AssertionError):
            look(others, listed=files)


def test_a_wheel_has_the_packs_of_its_machine_and_no_other_code(look: Callable[..., None]) -> None:
    files = files_of(*PLATFORMS.split("."))
    fewer = {name: content for name, content in files.items() if name != "numlite/packs/aarch64.pack"}
    for others in fewer, files | {"numlite/kernels.so": b""}, files | {"numlite/packs/icelake.pack": b""}:
        with pytest.raises(AssertionError):
            look(others)


def test_packs_of_other_machines_and_with_libraries_are_refused(program: dict[str, Any]) -> None:
    look_at_pack, wide = program["look_at_pack"], image("aarch64")
    look_at_pack("a", wide, "aarch64")
    assert set(program["imported"](wide)) == {"memcpy"}
    for content, arch in (wide, "x86_64"), (wide, "macos"), (image("x86_64"), "windows"):
        with pytest.raises(AssertionError):
            look_at_pack("a", content, arch)
    for content in image("aarch64", needed=["libm.so.6"]), image("aarch64", calls="powf"):
        with pytest.raises(AssertionError):
            look_at_pack("a", content, "aarch64")
    assert elf.DT_NEEDED in elf.dynamic_entries(image("aarch64", needed=["libm.so.6"]))


def image(arch: str, needed: Any = (), calls: str = "memcpy") -> bytes:
    """A shared object of a function that calls another."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple = f"{arch}-unknown-linux-gnu"
    machine = llvm.Target.from_triple(triple).create_target_machine(reloc="pic", codemodel="small")
    module = llvm.parse_assembly(
        f"declare void @{calls}()\ndefine void @f() {{ call void @{calls}() ret void }}"
    )
    module.triple, module.data_layout = triple, str(machine.target_data)
    return shared_object([machine.emit_object(module)], ["f"], needed)
