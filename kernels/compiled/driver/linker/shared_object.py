"""Linking: relocatable objects in, one shared object out.

It makes what `dlopen` needs and nothing else. The image has three segments: a read-only one (headers,
dynamic symbols, constants), then code with one jump per imported function, then data (the dynamic table,
the global offset table, variables). Each lies a page further in memory than in the file: pages of any size
that systems have are told apart there, and the file has no gaps.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from . import aarch64, elf, x86_64
from .elf import Machine
from .object_file import Symbol, read_objects, with_texts
from .placing import Placing, aligned

_MACHINES = {machine.number: machine for machine in (x86_64.MACHINE, aarch64.MACHINE)}
_SEGMENTS = 5
_UNDEFINED, _DEFINED = 0, 1  # a section's index, where no sections are told of


def shared_object(
    images: Iterable[bytes],
    exports: Collection[str],
    needed: Collection[str] = (),
    soname: str = "",
    texts: Mapping[str, bytes] | None = None,
) -> bytes:
    """Link relocatable objects into a shared object that exports what is named.

    needed are the libraries that the dynamic linker loads first, soname is the name that others link
    against, and texts are constants that are exported, too. Functions that the objects lack are imported by
    name. Raises LinkError when an export is missing, or for a relocation or a section that LLVM's small
    position-independent code does not use.
    """
    objects = read_objects(images)
    names = with_texts(objects, exports, texts or {})
    machine = _MACHINES[objects.machine]
    return _Linker(Placing(objects, machine), machine, objects.exported(names), needed, soname).link()


@dataclass
class _Layout:
    """The address where each part of the image starts."""

    dynamic_symbols: int = 0
    strings: int = 0
    hash: int = 0
    relocations: int = 0
    constants_end: int = 0
    code: int = 0
    jumps: int = 0
    code_end: int = 0
    data: int = 0
    got: int = 0
    end: int = 0


@dataclass
class _Linker:
    placing: Placing
    machine: Machine
    exports: dict[str, Symbol]
    needed: Collection[str]
    soname: str
    strings: bytearray = field(default_factory=lambda: bytearray(b"\0"))
    at: _Layout = field(default_factory=_Layout)
    image: bytearray = field(default_factory=bytearray)
    dynamic_relocations: list[tuple[int, int, int]] = field(default_factory=list)

    def string(self, text: str) -> int:
        self.strings += text.encode() + b"\0"
        return len(self.strings) - len(text.encode()) - 1

    def link(self) -> bytes:
        names = [(self.string(name), name) for name in (*self.placing.objects.imports, *self.exports)]
        libraries = [(elf.DT_NEEDED, self.string(name)) for name in self.needed]
        if self.soname:
            libraries.append((elf.DT_SONAME, self.string(self.soname)))
        self.place(len(names) + 1, len(libraries))
        self.image = bytearray(self.offset(self.at.end))
        for address, content in self.placing.resolve().items():
            self.write(address, content)
        self.write_symbols(names)
        self.write_headers(libraries)
        return bytes(self.image)

    # --- places
    def place(self, symbols: int, libraries: int) -> None:
        at, page = self.at, self.machine.page_bytes
        at.dynamic_symbols = elf.HEADER.size + _SEGMENTS * elf.SEGMENT.size
        at.strings = at.dynamic_symbols + symbols * elf.SYMBOL.size
        at.hash = aligned(at.strings + len(self.strings), 8)
        relocations = self.placing.objects.relocations
        absolute = sum(relocation.kind == self.machine.absolute for relocation in relocations)
        at.relocations = aligned(at.hash + 4 * (2 + _buckets(symbols) + symbols), 8)
        end = at.relocations + elf.RELA.size * (len(self.placing.got) + absolute)
        at.constants_end = self.placing.place_sections(end, False, False)
        at.code = aligned(at.constants_end, 64) + page
        at.jumps = aligned(self.placing.place_sections(at.code, False, True), 16)
        at.code_end = at.jumps + self.placing.jumps_bytes
        at.data = aligned(at.code_end, 64) + page
        at.got = at.data + elf.DYNAMIC.size * (10 + libraries)
        at.end = self.placing.place_sections(at.got + self.placing.got_bytes, True, False)
        self.placing.got_at, self.placing.jumps_at = at.got, at.jumps

    def offset(self, address: int) -> int:
        """Where in the file lies what is at an address."""
        pages = (address >= self.at.code) + (address >= self.at.data)
        return address - pages * self.machine.page_bytes

    def write(self, address: int, content: bytes) -> None:
        offset = self.offset(address)
        self.image[offset : offset + len(content)] = content

    # --- tables, all of them in the first segment but the dynamic one
    def write_symbols(self, names: list[tuple[int, str]]) -> None:
        at, count = self.at, len(names) + 1
        buckets, chain = [0] * _buckets(count), [0] * count
        for number, (string, name) in enumerate(names, 1):
            place = at.dynamic_symbols + number * elf.SYMBOL.size
            elf.SYMBOL.pack_into(self.image, place, string, *self.symbol_entry(name))
            bucket = elf.name_hash(name) % len(buckets)
            chain[number], buckets[bucket] = buckets[bucket], number
        self.write(at.strings, bytes(self.strings))
        table = (len(buckets), count, *buckets, *chain)
        struct.pack_into(f"<{len(table)}I", self.image, at.hash, *table)
        numbers = {name: number for number, (_, name) in enumerate(names, 1)}
        self.dynamic_relocations += [(at_, self.machine.relative, to) for at_, to in self.placing.pointers]
        for slot, name in self.placing.imported:
            self.dynamic_relocations.append((slot, numbers[name] << 32 | self.machine.glob_dat, 0))
        for number, relocation in enumerate(self.dynamic_relocations):
            elf.RELA.pack_into(self.image, at.relocations + number * elf.RELA.size, *relocation)

    def symbol_entry(self, name: str) -> tuple[int, ...]:
        exported = self.exports.get(name)
        if exported is None:
            return elf.STB_GLOBAL << 4 | elf.STT_NOTYPE, 0, _UNDEFINED, 0, 0
        assert exported.section is not None
        kind = elf.STT_FUNC if exported.section.executable else elf.STT_OBJECT
        return elf.STB_GLOBAL << 4 | kind, 0, _DEFINED, exported.address, 0

    def write_headers(self, libraries: list[tuple[int, int]]) -> None:
        at, page = self.at, self.machine.page_bytes
        entries = [
            *libraries,
            (elf.DT_HASH, at.hash),
            (elf.DT_STRTAB, at.strings),
            (elf.DT_SYMTAB, at.dynamic_symbols),
            (elf.DT_STRSZ, len(self.strings)),
            (elf.DT_SYMENT, elf.SYMBOL.size),
            (elf.DT_RELA, at.relocations),
            (elf.DT_RELASZ, len(self.dynamic_relocations) * elf.RELA.size),
            (elf.DT_RELAENT, elf.RELA.size),
            (elf.DT_BIND_NOW, 0),
            (0, 0),
        ]
        self.write(at.data, b"".join(elf.DYNAMIC.pack(*entry) for entry in entries))
        read, write, execute = elf.PF_READ, elf.PF_WRITE, elf.PF_EXECUTE
        segments = [
            (elf.PT_LOAD, read, 0, at.constants_end, page),
            (elf.PT_LOAD, read | execute, at.code, at.code_end - at.code, page),
            (elf.PT_LOAD, read | write, at.data, at.end - at.data, page),
            (elf.PT_DYNAMIC, read | write, at.data, elf.DYNAMIC.size * len(entries), 8),
            (elf.PT_GNU_STACK, read | write, 0, 0, 16),
        ]
        for number, (kind, flags, start, size, align) in enumerate(segments):
            place = elf.HEADER.size + number * elf.SEGMENT.size
            entry = (kind, flags, self.offset(start), start, start, size, size, align)
            elf.SEGMENT.pack_into(self.image, place, *entry)
        sizes = elf.HEADER.size, elf.SEGMENT.size
        header = (
            elf.IDENT,
            elf.ET_DYN,
            self.machine.number,
            1,
            0,
            sizes[0],
            0,
            0,
            *sizes,
            _SEGMENTS,
            64,
            0,
            0,
        )
        elf.HEADER.pack_into(self.image, 0, *header)


def _buckets(symbols: int) -> int:
    return max(1, symbols // 2)
