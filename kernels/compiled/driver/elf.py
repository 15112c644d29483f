"""A linker for one object file: x86-64 ELF relocatable in, shared object out.

It makes what `dlopen` needs and nothing else, so that no compiler or linker has to be installed.
The image's file offsets are its addresses: a read-only part (headers, dynamic symbols,
constants), then code with one jump per imported function, then data (the dynamic table, the
global offset table, variables). Source: System V ABI, AMD64 supplement.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

PAGE_BYTES = 4096

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QQq")
_DYNAMIC = struct.Struct("<QQ")

_IDENT = b"\x7fELF\x02\x01\x01"
_ET_DYN = 3
_X86_64 = 62
_SHT_PROGBITS, _SHT_SYMTAB, _SHT_RELA, _SHT_NOBITS = 1, 2, 4, 8
_SHF_WRITE, _SHF_ALLOC, _SHF_EXECUTE = 1, 2, 4
_PT_LOAD, _PT_DYNAMIC, _PT_GNU_STACK = 1, 2, 0x6474E551
_R_64, _R_PC32, _R_PLT32, _R_GLOB_DAT, _R_RELATIVE, _R_GOTPCREL, _R_PC64 = 1, 2, 4, 6, 8, 9, 24
_R_GOTPCRELX, _R_REX_GOTPCRELX = 41, 42
_GOT_RELATIVE = (_R_GOTPCREL, _R_GOTPCRELX, _R_REX_GOTPCRELX)
_DT_NEEDED, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_RELA, _DT_RELASZ, _DT_RELAENT = 1, 4, 5, 6, 7, 8, 9
_DT_STRSZ, _DT_SYMENT, _DT_BIND_NOW = 10, 11, 24
_JUMP = b"\xff\x25"  # jmp *offset(%rip)
_JUMP_BYTES = 8


class LinkError(ValueError):
    """The object file holds something that this linker does not know."""


@dataclass
class _Section:
    writable: bool
    executable: bool
    align: int
    data: bytearray
    address: int = 0


class _Symbol(NamedTuple):
    name: str
    section: int
    value: int


class _Relocation(NamedTuple):
    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


@dataclass
class _Object:
    """The parts of a relocatable file that get loaded."""

    sections: dict[int, _Section]
    symbols: list[_Symbol]
    relocations: list[_Relocation]


def _string(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode()


def _read(image: bytes) -> _Object:
    if image[:7] != _IDENT or struct.unpack_from("<HH", image, 16) != (1, _X86_64):
        raise LinkError("object file: must be relocatable ELF for x86-64")
    start, (count, names_at) = struct.unpack_from("<Q", image, 40)[0], struct.unpack_from("<HH", image, 60)
    headers = [_SECTION.unpack_from(image, start + i * _SECTION.size) for i in range(count)]

    def content(i: int) -> bytes:
        return image[headers[i][4] : headers[i][4] + headers[i][5]]

    found = _Object({}, [], [])
    names = content(names_at)
    for i, (name, kind, flags, _, _, size, link, _, align, _) in enumerate(headers):
        if kind == _SHT_SYMTAB:
            strings = content(link)
            for at, _, _, section, value, _ in _SYMBOL.iter_unpack(content(i)):
                found.symbols.append(_Symbol(_string(strings, at), section, value))
        loaded = flags & _SHF_ALLOC and kind in (_SHT_PROGBITS, _SHT_NOBITS)
        if loaded and not _string(names, name).startswith(".eh_frame"):
            data = bytearray(size) if kind == _SHT_NOBITS else bytearray(content(i))
            writable, executable = bool(flags & _SHF_WRITE), bool(flags & _SHF_EXECUTE)
            found.sections[i] = _Section(writable, executable, max(align, 1), data)
    for i, (_, kind, _, _, _, _, _, section, _, _) in enumerate(headers):
        if kind == _SHT_RELA and section in found.sections:
            for offset, info, addend in _RELA.iter_unpack(content(i)):
                found.relocations.append(_Relocation(section, offset, info & 0xFFFFFFFF, info >> 32, addend))
    return found


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
    object: _Object
    exports: dict[str, _Symbol]
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
        at.dynamic_symbols = _HEADER.size + 5 * _SEGMENT.size
        at.strings = at.dynamic_symbols + symbols * _SYMBOL.size
        at.hash = _aligned(at.strings + len(self.strings), 8)
        absolute = sum(relocation.kind == _R_64 for relocation in self.object.relocations)
        at.relocations = _aligned(at.hash + 4 * (3 + symbols), 8)
        end = at.relocations + _RELA.size * (len(self.got) + absolute)
        at.constants_end = self.place_sections(end, False, False)
        at.code = _aligned(at.constants_end, PAGE_BYTES)
        at.jumps = _aligned(self.place_sections(at.code, False, True), 16)
        at.code_end = at.jumps + _JUMP_BYTES * len(self.got)
        at.data = _aligned(at.code_end, PAGE_BYTES)
        at.got = at.data + _DYNAMIC.size * (10 + needed)
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
            if kind == _R_64 and self.defined(symbol) and section.writable:
                target = self.address(symbol) + addend
                struct.pack_into("<Q", section.data, offset, target)
                self.dynamic_relocations.append((here, _R_RELATIVE, target))
            elif kind in _GOT_RELATIVE:
                slot = self.at.got + 8 * self.got[symbol]
                struct.pack_into("<i", section.data, offset, slot + addend - here)
            elif kind == _R_PC64 and self.defined(symbol):
                struct.pack_into("<q", section.data, offset, self.address(symbol) + addend - here)
            elif kind == _R_PLT32 or (kind == _R_PC32 and self.defined(symbol)):
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
                self.dynamic_relocations.append((slot, _R_RELATIVE, self.address(symbol)))
            else:
                dynamic = 1 + self.imports.index(self.object.symbols[symbol].name)
                self.dynamic_relocations.append((slot, dynamic << 32 | _R_GLOB_DAT, 0))

    # --- tables
    def write_symbols(self, names: list[tuple[int, str]]) -> None:
        at = self.at
        for number, (string, name) in enumerate(names, 1):
            where = at.dynamic_symbols + number * _SYMBOL.size
            if name in self.exports:
                symbol = self.exports[name]
                value = self.object.sections[symbol.section].address + symbol.value
                _SYMBOL.pack_into(self.image, where, string, 0x12, 0, 1, value, 0)  # global function
            else:
                _SYMBOL.pack_into(self.image, where, string, 0x10, 0, 0, 0, 0)  # global, undefined
        self.image[at.strings : at.strings + len(self.strings)] = self.strings
        # A hash table of one bucket: a chain through all symbols, 1 to n.
        count = len(names) + 1
        chain = [n + 1 if 0 < n < count - 1 else 0 for n in range(count)]
        struct.pack_into(f"<3I{count}I", self.image, at.hash, 1, count, min(1, count - 1), *chain)
        for number, relocation in enumerate(self.dynamic_relocations):
            _RELA.pack_into(self.image, at.relocations + number * _RELA.size, *relocation)

    def write_headers(self, needed: list[int]) -> None:
        at = self.at
        relocations_bytes = len(self.dynamic_relocations) * _RELA.size
        entries = [
            *((_DT_NEEDED, string) for string in needed),
            (_DT_HASH, at.hash),
            (_DT_STRTAB, at.strings),
            (_DT_SYMTAB, at.dynamic_symbols),
            (_DT_STRSZ, len(self.strings)),
            (_DT_SYMENT, _SYMBOL.size),
            (_DT_RELA, at.relocations),
            (_DT_RELASZ, relocations_bytes),
            (_DT_RELAENT, _RELA.size),
            (_DT_BIND_NOW, 0),
            (0, 0),
        ]
        for number, entry in enumerate(entries):
            _DYNAMIC.pack_into(self.image, at.data + number * _DYNAMIC.size, *entry)
        read, write, execute = 4, 2, 1
        segments = [
            (_PT_LOAD, read, 0, at.constants_end, PAGE_BYTES),
            (_PT_LOAD, read | execute, at.code, at.code_end - at.code, PAGE_BYTES),
            (_PT_LOAD, read | write, at.data, at.end - at.data, PAGE_BYTES),
            (_PT_DYNAMIC, read | write, at.data, _DYNAMIC.size * len(entries), 8),
            (_PT_GNU_STACK, read | write, 0, 0, 16),
        ]
        for number, (kind, flags, start, size, align) in enumerate(segments):
            where = _HEADER.size + number * _SEGMENT.size
            _SEGMENT.pack_into(self.image, where, kind, flags, start, start, start, size, size, align)
        header = (
            _IDENT,
            _ET_DYN,
            _X86_64,
            1,
            0,
            _HEADER.size,
            0,
            0,
            _HEADER.size,
            _SEGMENT.size,
            5,
            64,
            0,
            0,
        )
        _HEADER.pack_into(self.image, 0, *header)


def _aligned(value: int, to: int) -> int:
    return -(-value // to) * to


def _undefined(found: _Object) -> Iterator[str]:
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
    found = _read(image)
    by_name = {symbol.name: symbol for symbol in found.symbols if symbol.section in found.sections}
    missing = set(exports) - set(by_name)
    if missing:
        raise LinkError(f"object file: exports are missing: {', '.join(sorted(missing))}")
    imports = list(dict.fromkeys(_undefined(found)))
    return _Linker(found, {name: by_name[name] for name in exports}, imports, needed).link()
