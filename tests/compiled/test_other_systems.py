"""Shared objects for Windows and macOS: what their loaders read, written as their formats say.

Nothing here can load them: see docs/machines.md for what has run where.
"""

from __future__ import annotations

import hashlib
import shutil
import struct
import subprocess
from pathlib import Path

import llvmlite.binding as llvm
import pytest
from numlite.kernels.compiled.driver.linker.elf import LinkError
from numlite.kernels.compiled.driver.linker.mach_o import dylib
from numlite.kernels.compiled.driver.linker.portable_executable import dll
from numlite.kernels.compiled.language.targets import SYSTEMS

MODULE = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
@table = private constant [4 x i32] [i32 1, i32 2, i32 3, i32 4]
@counter = global i64 7
@place = global ptr @counter
define i64 @f_copies(ptr %to, ptr %from, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  %at = load ptr, ptr @place
  %old = load i64, ptr %at
  ret i64 %old
}
define i64 @f_fills(i8 %value) {
  %room = alloca [20000 x i8]
  call void @llvm.memset.p0.i64(ptr %room, i8 %value, i64 20000, i1 true)
  %at = getelementptr [20000 x i8], ptr %room, i64 0, i64 9
  %found = load volatile i8, ptr %at
  %wide = zext i8 %found to i64
  ret i64 %wide
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define i32 @f_looks_up(i64 %i) {
  %at = getelementptr [4 x i32], ptr @table, i64 0, i64 %i
  %found = load i32, ptr %at
  ret i32 %found
}
"""
EXPORTS, TEXTS = ["f_copies", "f_fills", "f_looks_up"], {"f_about": b"a text\0"}
NAMES = sorted([*EXPORTS, *TEXTS])


def made(system: str) -> bytes:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple = SYSTEMS[system][1]
    target_machine = llvm.Target.from_triple(triple).create_target_machine(
        opt=3, reloc="pic", codemodel="small"
    )
    module = llvm.parse_assembly(MODULE)
    module.triple, module.data_layout = triple, str(target_machine.target_data)
    return target_machine.emit_object(module)


@pytest.fixture(scope="module")
def windows() -> bytes:
    return dll([made("windows")], EXPORTS, TEXTS)


@pytest.fixture(scope="module")
def macos() -> bytes:
    return dylib([made("macos")], EXPORTS, "small.pack", TEXTS)


class Dll:
    """A DLL by its addresses, from the image's base on."""

    def __init__(self, image: bytes) -> None:
        self.image = image
        (start,) = struct.unpack_from("<I", image, 60)
        assert image[:2] == b"MZ" and image[start : start + 6] == b"PE\0\0\x64\x86"
        count, optional_bytes = (struct.unpack_from("<H", image, start + k)[0] for k in (6, 20))
        optional = start + 24
        self.directories = [struct.unpack_from("<II", image, optional + 112 + 8 * k) for k in range(16)]
        at = optional + optional_bytes
        self.sections = [struct.unpack_from("<8s4I", image, at + 40 * k) for k in range(count)]

    def at(self, address: int, nbytes: int) -> bytes:
        for _, size, start, _, offset in self.sections:
            if start <= address and address + nbytes <= start + size:
                return self.image[offset + address - start :][:nbytes]
        raise AssertionError(f"nothing lies at {address:#x}")

    def words(self, address: int, count: int, kind: str = "I") -> tuple[int, ...]:
        return struct.unpack(f"<{count}{kind}", self.at(address, count * struct.calcsize(kind)))

    def text(self, address: int) -> str:
        found = b""
        while (letter := self.at(address + len(found), 1)) != b"\0":
            found += letter
        return found.decode()


def test_a_dll_exports_by_sorted_names(windows: bytes) -> None:
    read = Dll(windows)
    table = read.words(read.directories[0][0], 10)
    count, functions, names, numbers = table[6], *table[7:]
    assert [read.text(place) for place in read.words(names, count)] == NAMES
    places = dict(zip(NAMES, read.words(numbers, count, "H"), strict=True))
    assert read.text(read.words(functions, count)[places["f_about"]]) == "a text"


def test_a_dll_imports_from_one_library(windows: bytes) -> None:
    read = Dll(windows)
    lookup, _, _, library, words, *end = read.words(read.directories[1][0], 10)
    assert read.text(library) == "msvcrt.dll" and end == [0] * 5
    *places, last = read.words(lookup, 3, "Q")
    assert [read.text(place + 2) for place in places] == ["memcpy", "memset"] and last == 0
    assert read.words(words, 3, "Q") == (*places, 0)
    assert read.directories[12][0] == words


def test_a_dll_may_lie_elsewhere(windows: bytes) -> None:
    """Each word with an address is listed; all addresses lie in the image."""
    read = Dll(windows)
    start, nbytes = read.directories[5]
    places, done = [], 0
    while done < nbytes:
        page, size = read.words(start + done, 2)
        entries = read.words(start + done + 8, (size - 8) // 2, "H")
        places += [page + (entry & 0xFFF) for entry in entries if entry >> 12 == 10]
        done += size
    addresses = [read.words(place, 1, "Q")[0] - 0x180000000 for place in places]
    assert addresses and all(0 < address < 0x10000 for address in addresses)
    assert 7 in [read.words(address, 1, "Q")[0] for address in addresses if address >= read.sections[2][2]]


def commands(image: bytes) -> list[tuple[int, bytes]]:
    magic, _, _, kind, count, nbytes, _, _ = struct.unpack_from("<8I", image)
    assert (magic, kind) == (0xFEEDFACF, 6)
    at, found = 32, []
    for _ in range(count):
        command, size = struct.unpack_from("<II", image, at)
        assert size % 8 == 0
        found.append((command, image[at : at + size]))
        at += size
    assert at == 32 + nbytes
    return found


def test_a_dylib_is_signed_page_by_page(macos: bytes) -> None:
    (command,) = (content for kind, content in commands(macos) if kind == 0x1D)
    at, nbytes = struct.unpack_from("<II", command, 8)
    assert at + nbytes == len(macos) and at % 16 == 0
    assert struct.unpack_from(">5I", macos, at) == (0xFADE0CC0, nbytes, 1, 0, 20)
    directory = at + 20
    first, _, _, slots, limit = struct.unpack_from(">5I", macos, directory + 16)
    assert limit == at and slots == -(-at // 4096)
    for k in range(slots):
        digest = hashlib.sha256(macos[4096 * k : min(4096 * (k + 1), at)]).digest()
        assert macos[directory + first + 32 * k :][:32] == digest


def test_a_dylibs_segments_hold_its_file(macos: bytes) -> None:
    """One behind the other, in pages of 16 KiB, of which none is written to and executed."""
    segments = [
        struct.unpack_from("<16s4Q2I", content, 8) for kind, content in commands(macos) if kind == 0x19
    ]
    assert [name.rstrip(b"\0") for name, *_ in segments] == [b"__TEXT", b"__DATA", b"__LINKEDIT"]
    end = 0
    for _, address, size, offset, file_bytes, _, access in segments:
        assert address == offset == end and address % 0x4000 == 0 and access != 7
        end = address + size
        assert file_bytes <= size
    assert segments[-1][3] + segments[-1][4] == len(macos)


def test_a_dylibs_names_are_found_by_their_letters(macos: bytes) -> None:
    """As dyld walks them."""
    (info,) = (content for kind, content in commands(macos) if kind == 0x80000022)
    start, nbytes = struct.unpack_from("<II", info, 40)
    trie = macos[start : start + nbytes]

    def number(at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            value |= (trie[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if not trie[at - 1] & 0x80:
                return value, at

    def walk(at: int, name: str) -> dict[str, int]:
        size, at = number(at)
        found = {}
        if size:
            flags, place = number(at)
            assert flags == 0
            found[name] = number(place)[0]
        at += size
        count, at = trie[at], at + 1
        for _ in range(count):
            end = trie.index(b"\0", at)
            below, after = number(end + 1)
            found |= walk(below, name + trie[at:end].decode())
            at = after
        return found

    found = walk(0, "")
    assert sorted(found) == [f"_{name}" for name in NAMES]
    assert macos[found["_f_about"] :].startswith(b"a text\0")


@pytest.mark.parametrize("system", SYSTEMS)
def test_two_links_give_the_same_bytes(system: str, windows: bytes, macos: bytes) -> None:
    if system == "windows":
        assert dll([made(system)], EXPORTS, TEXTS) == windows
    else:
        assert dylib([made(system)], EXPORTS, "small.pack", TEXTS) == macos


def test_missing_exports_are_refused() -> None:
    with pytest.raises(LinkError, match="exports are missing: f_none"):
        dll([made("windows")], ["f_none"])
    with pytest.raises(LinkError, match="exports are missing: f_none"):
        dylib([made("macos")], ["f_none"], "small.pack")


@pytest.mark.skipif(not shutil.which("llvm-readobj"), reason="no llvm-readobj here")
@pytest.mark.parametrize(
    ("system", "words"),
    [("windows", "IMAGE_FILE_DLL msvcrt.dll f_looks_up"), ("macos", "DynamicLibrary __const _f_looks_up")],
)
def test_llvm_reads_them(system: str, words: str, windows: bytes, macos: bytes, tmp_path: Path) -> None:
    path = tmp_path / "small.pack"
    path.write_bytes(windows if system == "windows" else macos)
    asked = ["--file-headers", "--sections"]
    asked += ["--coff-imports", "--coff-exports"] if system == "windows" else ["--symbols"]
    done = subprocess.run(["llvm-readobj", *asked, str(path)], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert [word for word in words.split() if word not in done.stdout] == []
