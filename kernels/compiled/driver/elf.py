"""ELF for x86-64, as far as kernels need it: what LLVM's object files and our shared objects are made of.

Source: System V ABI, AMD64 supplement.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELA = struct.Struct("<QQq")
DYNAMIC = struct.Struct("<QQ")

IDENT = b"\x7fELF\x02\x01\x01"
ET_REL, ET_DYN = 1, 3
X86_64 = 62
SHT_PROGBITS, SHT_SYMTAB, SHT_RELA, SHT_NOBITS = 1, 2, 4, 8
SHF_WRITE, SHF_ALLOC, SHF_EXECUTE = 1, 2, 4
PT_LOAD, PT_DYNAMIC, PT_GNU_STACK = 1, 2, 0x6474E551
PF_EXECUTE, PF_WRITE, PF_READ = 1, 2, 4
R_64, R_PC32, R_PLT32, R_GLOB_DAT, R_RELATIVE, R_GOTPCREL, R_PC64 = 1, 2, 4, 6, 8, 9, 24
R_GOTPCRELX, R_REX_GOTPCRELX = 41, 42
DT_NEEDED, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_RELAENT = 1, 4, 5, 6, 7, 8, 9
DT_STRSZ, DT_SYMENT, DT_BIND_NOW = 10, 11, 24


class LinkError(ValueError):
    """The object file holds something that this linker does not know."""


@dataclass
class Section:
    writable: bool
    executable: bool
    align: int
    data: bytearray
    address: int = 0


class Symbol(NamedTuple):
    name: str
    section: int
    value: int


class Relocation(NamedTuple):
    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


@dataclass
class Object:
    """The parts of a relocatable file that get loaded."""

    sections: dict[int, Section]
    symbols: list[Symbol]
    relocations: list[Relocation]


def text_at(table: bytes, offset: int) -> str:
    """The text from an offset to the next zero byte."""
    return table[offset : table.index(b"\0", offset)].decode()


def read_object(image: bytes) -> Object:
    """What a relocatable file holds; LinkError when it is none."""
    if image[:7] != IDENT or struct.unpack_from("<HH", image, 16) != (ET_REL, X86_64):
        raise LinkError("object file: must be relocatable ELF for x86-64")
    start, (count, names_at) = struct.unpack_from("<Q", image, 40)[0], struct.unpack_from("<HH", image, 60)
    headers = [SECTION.unpack_from(image, start + i * SECTION.size) for i in range(count)]

    def content(i: int) -> bytes:
        return image[headers[i][4] : headers[i][4] + headers[i][5]]

    found = Object({}, [], [])
    names = content(names_at)
    for i, (name, kind, flags, _, _, size, link, _, align, _) in enumerate(headers):
        if kind == SHT_SYMTAB:
            strings = content(link)
            for at, _, _, section, value, _ in SYMBOL.iter_unpack(content(i)):
                found.symbols.append(Symbol(text_at(strings, at), section, value))
        loaded = flags & SHF_ALLOC and kind in (SHT_PROGBITS, SHT_NOBITS)
        if loaded and not text_at(names, name).startswith(".eh_frame"):
            data = bytearray(size) if kind == SHT_NOBITS else bytearray(content(i))
            writable, executable = bool(flags & SHF_WRITE), bool(flags & SHF_EXECUTE)
            found.sections[i] = Section(writable, executable, max(align, 1), data)
    for i, (_, kind, _, _, _, _, _, section, _, _) in enumerate(headers):
        if kind == SHT_RELA and section in found.sections:
            for offset, info, addend in RELA.iter_unpack(content(i)):
                found.relocations.append(Relocation(section, offset, info & 0xFFFFFFFF, info >> 32, addend))
    return found


# --- shared objects of ours, whose file offsets are addresses
def _segments(image: bytes) -> Iterator[tuple[int, ...]]:
    header = HEADER.unpack_from(image)
    start, count = header[5], header[10]
    return (SEGMENT.unpack_from(image, start + i * SEGMENT.size) for i in range(count))


def code(image: bytes) -> tuple[int, int]:
    """Where the machine code begins and ends."""
    for kind, flags, offset, _, _, nbytes, _, _ in _segments(image):
        if kind == PT_LOAD and flags & PF_EXECUTE:
            return offset, offset + nbytes
    return 0, 0


def exports(image: bytes) -> Iterator[tuple[str, int]]:
    """Names and addresses of the functions that are exported."""
    at, nbytes = next((s[2], s[5]) for s in _segments(image) if s[0] == PT_DYNAMIC)
    entries = dict(DYNAMIC.iter_unpack(image[at : at + nbytes]))
    count = struct.unpack_from("<I", image, entries[DT_HASH] + 4)[0]
    for number in range(count):
        place = entries[DT_SYMTAB] + number * SYMBOL.size
        name, _, _, section, address, _ = SYMBOL.unpack_from(image, place)
        if section:
            yield text_at(image, entries[DT_STRTAB] + name), address
