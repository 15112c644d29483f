"""A linker for one object file: x86-64 ELF relocatable in, shared object out.

It makes what `dlopen` needs and nothing else, so that no compiler or linker has to be installed.
The image's file offsets are its addresses: a read-only part (headers, dynamic symbols,
constants), then code with one jump per imported function, then data (the dynamic table, the
global offset table, variables).
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from . import elf
from .elf import LinkError, Object, Symbol

PAGE_BYTES = 4096
_GOT_RELATIVE = (elf.R_GOTPCREL, elf.R_GOTPCRELX, elf.R_REX_GOTPCRELX)
_JUMP = b"\xff\x25"  # jmp *offset(%rip)
_JUMP_BYTES = 8


@dataclass
class _Layout:
    """Where each part of the image starts."""

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
    object: Object
    exports: dict[str, Symbol]
    imports: list[str]
    needed: Collection[str]
    got: dict[int, int] = field(default_factory=dict)  # symbol -> slot
    strings: bytearray = field(default_factory=lambda: bytearray(b"\0"))
    at: _Layout = field(default_factory=_Layout)
    image: bytearray = field(default_factory=bytearray)
    dynamic_relocations: list[tuple[int, int, int]] = field(default_factory=list)

    def string(self, text: str) -> int:
        self.strings += text.encode() + b"\0"
        return len(self.strings) - len(text.encode()) - 1

    def defined(self, symbol: int) -> bool:
        return self.object.symbols[symbol].section in self.object.sections

    def address(self, symbol: int) -> int:
        found = self.object.symbols[symbol]
        return self.object.sections[found.section].address + found.value

    def link(self) -> bytes:
        names = [(self.string(name), name) for name in (*self.imports, *self.exports)]
        needed = [self.string(name) for name in self.needed]
        for relocation in self.object.relocations:
            through_got = relocation.kind in _GOT_RELATIVE
            if through_got or not self.defined(relocation.symbol):
                self.got.setdefault(relocation.symbol, len(self.got))
        self.place(len(names) + 1, len(needed))
        self.image = bytearray(self.at.end)
        self.relocate()
        self.fill_got()
        for section in self.object.sections.values():
            self.image[section.address : section.address + len(section.data)] = section.data
        self.write_symbols(names)
        self.write_headers(needed)
        return bytes(self.image)

    # --- places
    def place(self, symbols: int, needed: int) -> None:
        at = self.at
        at.dynamic_symbols = elf.HEADER.size + 5 * elf.SEGMENT.size
        at.strings = at.dynamic_symbols + symbols * elf.SYMBOL.size
        at.hash = _aligned(at.strings + len(self.strings), 8)
        absolute = sum(relocation.kind == elf.R_64 for relocation in self.object.relocations)
        at.relocations = _aligned(at.hash + 4 * (3 + symbols), 8)
        end = at.relocations + elf.RELA.size * (len(self.got) + absolute)
        at.constants_end = self.place_sections(end, False, False)
        at.code = _aligned(at.constants_end, PAGE_BYTES)
        at.jumps = _aligned(self.place_sections(at.code, False, True), 16)
        at.code_end = at.jumps + _JUMP_BYTES * len(self.got)
        at.data = _aligned(at.code_end, PAGE_BYTES)
        at.got = at.data + elf.DYNAMIC.size * (10 + needed)
        at.end = self.place_sections(at.got + 8 * len(self.got), True, False)

    def place_sections(self, start: int, writable: bool, executable: bool) -> int:
        for section in self.object.sections.values():
            if (section.writable, section.executable) == (writable, executable):
                section.address = start = _aligned(start, section.align)
                start += len(section.data)
        return start

    # --- references
    def relocate(self) -> None:
        for section_index, offset, kind, symbol, addend in self.object.relocations:
            section = self.object.sections[section_index]
            here = section.address + offset
            if kind == elf.R_64 and self.defined(symbol) and section.writable:
                target = self.address(symbol) + addend
                struct.pack_into("<Q", section.data, offset, target)
                self.dynamic_relocations.append((here, elf.R_RELATIVE, target))
            elif kind in _GOT_RELATIVE:
                slot = self.at.got + 8 * self.got[symbol]
                struct.pack_into("<i", section.data, offset, slot + addend - here)
            elif kind == elf.R_PC64 and self.defined(symbol):
                struct.pack_into("<q", section.data, offset, self.address(symbol) + addend - here)
            elif kind == elf.R_PLT32 or (kind == elf.R_PC32 and self.defined(symbol)):
                known = self.defined(symbol)
                target = self.address(symbol) if known else self.at.jumps + _JUMP_BYTES * self.got[symbol]
                struct.pack_into("<i", section.data, offset, target + addend - here)
            else:
                name = self.object.symbols[symbol].name
                raise LinkError(f"object file: relocation {kind} of {name} is not known here")

    def fill_got(self) -> None:
        for symbol, number in self.got.items():
            slot, jump = self.at.got + 8 * number, self.at.jumps + _JUMP_BYTES * number
            self.image[jump : jump + 6] = _JUMP + struct.pack("<i", slot - jump - 6)
            if self.defined(symbol):
                self.dynamic_relocations.append((slot, elf.R_RELATIVE, self.address(symbol)))
            else:
                dynamic = 1 + self.imports.index(self.object.symbols[symbol].name)
                self.dynamic_relocations.append((slot, dynamic << 32 | elf.R_GLOB_DAT, 0))

    # --- tables
    def write_symbols(self, names: list[tuple[int, str]]) -> None:
        at = self.at
        for number, (string, name) in enumerate(names, 1):
            where = at.dynamic_symbols + number * elf.SYMBOL.size
            if name in self.exports:
                symbol = self.exports[name]
                value = self.object.sections[symbol.section].address + symbol.value
                elf.SYMBOL.pack_into(self.image, where, string, 0x12, 0, 1, value, 0)  # global function
            else:
                elf.SYMBOL.pack_into(self.image, where, string, 0x10, 0, 0, 0, 0)  # global, undefined
        self.image[at.strings : at.strings + len(self.strings)] = self.strings
        # A hash table of one bucket: a chain through all symbols, 1 to n.
        count = len(names) + 1
        chain = [n + 1 if 0 < n < count - 1 else 0 for n in range(count)]
        struct.pack_into(f"<3I{count}I", self.image, at.hash, 1, count, min(1, count - 1), *chain)
        for number, relocation in enumerate(self.dynamic_relocations):
            elf.RELA.pack_into(self.image, at.relocations + number * elf.RELA.size, *relocation)

    def write_headers(self, needed: list[int]) -> None:
        at = self.at
        relocations_bytes = len(self.dynamic_relocations) * elf.RELA.size
        entries = [
            *((elf.DT_NEEDED, string) for string in needed),
            (elf.DT_HASH, at.hash),
            (elf.DT_STRTAB, at.strings),
            (elf.DT_SYMTAB, at.dynamic_symbols),
            (elf.DT_STRSZ, len(self.strings)),
            (elf.DT_SYMENT, elf.SYMBOL.size),
            (elf.DT_RELA, at.relocations),
            (elf.DT_RELASZ, relocations_bytes),
            (elf.DT_RELAENT, elf.RELA.size),
            (elf.DT_BIND_NOW, 0),
            (0, 0),
        ]
        for number, entry in enumerate(entries):
            elf.DYNAMIC.pack_into(self.image, at.data + number * elf.DYNAMIC.size, *entry)
        read, write, execute = elf.PF_READ, elf.PF_WRITE, elf.PF_EXECUTE
        segments = [
            (elf.PT_LOAD, read, 0, at.constants_end, PAGE_BYTES),
            (elf.PT_LOAD, read | execute, at.code, at.code_end - at.code, PAGE_BYTES),
            (elf.PT_LOAD, read | write, at.data, at.end - at.data, PAGE_BYTES),
            (elf.PT_DYNAMIC, read | write, at.data, elf.DYNAMIC.size * len(entries), 8),
            (elf.PT_GNU_STACK, read | write, 0, 0, 16),
        ]
        for number, (kind, flags, start, size, align) in enumerate(segments):
            where = elf.HEADER.size + number * elf.SEGMENT.size
            elf.SEGMENT.pack_into(self.image, where, kind, flags, start, start, start, size, size, align)
        sizes = elf.HEADER.size, elf.SEGMENT.size
        header = (elf.IDENT, elf.ET_DYN, elf.X86_64, 1, 0, sizes[0], 0, 0, *sizes, len(segments), 64, 0, 0)
        elf.HEADER.pack_into(self.image, 0, *header)


def _aligned(value: int, to: int) -> int:
    return -(-value // to) * to


def _undefined(found: Object) -> Iterator[str]:
    for relocation in found.relocations:
        symbol = found.symbols[relocation.symbol]
        if symbol.section not in found.sections:
            if symbol.section != 0:
                raise LinkError(f"object file: {symbol.name or 'a symbol'} lies outside of loaded sections")
            yield symbol.name


def shared_object(image: bytes, exports: Collection[str], needed: Collection[str] = ()) -> bytes:
    """Link a relocatable object into a shared object that exports the functions named.

    needed are the libraries that the dynamic linker loads first. Functions that the object
    lacks are imported by name. Raises LinkError when an export is missing, or for a relocation
    or a section that LLVM's small position-independent code does not use.
    """
    found = elf.read_object(image)
    by_name = {symbol.name: symbol for symbol in found.symbols if symbol.section in found.sections}
    missing = set(exports) - set(by_name)
    if missing:
        raise LinkError(f"object file: exports are missing: {', '.join(sorted(missing))}")
    imports = list(dict.fromkeys(_undefined(found)))
    return _Linker(found, {name: by_name[name] for name in exports}, imports, needed).link()
