"""ELF, as far as kernels need it: what LLVM's object files and our shared objects are made of, and
what the linker asks of a machine.

Source: System V ABI and its supplements for AMD64 and AArch64.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELA = struct.Struct("<QQq")
DYNAMIC = struct.Struct("<QQ")

IDENT = b"\x7fELF\x02\x01\x01"
ET_REL, ET_DYN = 1, 3
X86_64, AARCH64 = 62, 183
SHT_PROGBITS, SHT_SYMTAB, SHT_RELA, SHT_NOBITS = 1, 2, 4, 8
SHF_WRITE, SHF_ALLOC, SHF_EXECUTE = 1, 2, 4
STB_GLOBAL, STT_NOTYPE, STT_OBJECT, STT_FUNC = 1, 0, 1, 2
PT_LOAD, PT_DYNAMIC, PT_GNU_STACK = 1, 2, 0x6474E551
PF_EXECUTE, PF_WRITE, PF_READ = 1, 2, 4
DT_NEEDED, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_RELAENT = 1, 4, 5, 6, 7, 8, 9
DT_STRSZ, DT_SYMENT, DT_SONAME, DT_BIND_NOW = 10, 11, 14, 24


class Machine(NamedTuple):
    """A machine's part of linking.

    patch(data, offset, kind, target, here) writes into an instruction or a word at `here` what it says of the
    address `target`; it raises LinkError for a kind that is not known, or a target out of its reach.
    jump(slot, here) is the code at `here` that goes where the word at `slot` says.
    """

    number: int
    page_bytes: int  # the largest that systems have
    absolute: int  # the relocation that is an address
    through_got: frozenset[int]  # those that mean the slot of an address, not the address
    calls: frozenset[int]  # those that may go by a jump
    glob_dat: int
    relative: int
    jump_bytes: int
    jump: Callable[[int, int], bytes]
    patch: Callable[[bytearray, int, int, int, int], None]


class LinkError(ValueError):
    """An object file holds something that this linker does not know."""


def text_at(table: bytes, offset: int) -> str:
    """The text from an offset to the next zero byte."""
    return table[offset : table.index(b"\0", offset)].decode()


def name_hash(name: str) -> int:
    """What the dynamic linker's hash table sorts names by."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high
    return value


# --- shared objects of ours
def segments(image: bytes) -> list[tuple[int, ...]]:
    """Kind, flags, file offset, address, address, bytes in the file, bytes in memory, alignment of each."""
    header = HEADER.unpack_from(image)
    start, count = header[5], header[10]
    return [SEGMENT.unpack_from(image, start + i * SEGMENT.size) for i in range(count)]


def code(image: bytes) -> tuple[int, int]:
    """The addresses where the machine code begins and ends."""
    for kind, flags, _, address, _, nbytes, _, _ in segments(image):
        if kind == PT_LOAD and flags & PF_EXECUTE:
            return address, address + nbytes
    return 0, 0


def dynamic_entries(image: bytes) -> dict[int, int]:
    """The dynamic table by tag."""
    at, nbytes = next((s[2], s[5]) for s in segments(image) if s[0] == PT_DYNAMIC)
    return dict(DYNAMIC.iter_unpack(image[at : at + nbytes]))


def exports(image: bytes) -> Iterator[tuple[str, int]]:
    """Names and addresses of what is exported."""
    # The tables that are read lie in the first segment, where addresses are file offsets.
    entries = dynamic_entries(image)
    count = struct.unpack_from("<I", image, entries[DT_HASH] + 4)[0]
    for number in range(count):
        place = entries[DT_SYMTAB] + number * SYMBOL.size
        name, _, _, section, address, _ = SYMBOL.unpack_from(image, place)
        if section:
            yield text_at(image, entries[DT_STRTAB] + name), address
