"""Windows' shared objects (DLLs), from the same objects as Linux's.

LLVM's objects for Windows are asked for as ELF: the calls are Windows', and the relocations those that this
linker knows. Source: Microsoft, "PE Format".
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from . import x86_64
from .object_file import Objects, Section, Symbol, read_objects, with_texts
from .placing import Placing, aligned

# Functions that move memory are of the library that every Windows has.
_LIBRARY = b"msvcrt.dll\0"
_BASE, _PAGE, _FILE_PAGE = 0x1_8000_0000, 0x1000, 0x200
_STACK_AND_HEAP = 1 << 20, 4096, 1 << 20, 4096
_MACHINE, _TRAITS = 0x8664, 0x2022  # AMD64; executable, large addresses, a DLL
_OPTIONAL_BYTES, _DIRECTORIES = 240, 16
_DLL_TRAITS = 0x160  # anywhere in 64 bits, data are not executed
_EXPORTS, _IMPORTS, _BASES, _IMPORT_ADDRESSES = 0, 1, 5, 12
_READ, _WRITE, _EXECUTE, _CODE, _DATA = 0x4000_0000, 0x8000_0000, 0x2000_0000, 0x20, 0x40
_DISCARDED = 0x0200_0000
_SECTIONS = 4
# What functions with more than a page of stack call first: it touches each of the rax bytes' pages below the
# caller's stack pointer, one after the other, as Windows wants it, and leaves all registers as they are.
PROBE = "__chkstk"
_PROBE_CODE = bytes.fromhex(
    "51 50 488d4c2418"  # push rcx; push rax; lea rcx, [rsp + 24]
    "483d00100000 7212"  # next: cmp rax, 4096; jb rest
    "4881e900100000 488509 482d00100000 ebe6"  # sub rcx, 4096; test [rcx], rcx; sub rax, 4096; jmp next
    "4829c1 488509 58 59 c3"  # rest: sub rcx, rax; test [rcx], rcx; pop rax; pop rcx; ret
)
_HEADERS = aligned(64 + 24 + _OPTIONAL_BYTES + 40 * _SECTIONS, _FILE_PAGE)


def dll(images: Iterable[bytes], exports: Collection[str], texts: Mapping[str, bytes] | None = None) -> bytes:
    """Link relocatable objects for x86-64 Windows into a DLL that exports what is named, and texts.

    Raises LinkError as shared_object does.
    """
    objects = read_objects(images)
    _define_probe(objects)
    names = with_texts(objects, exports, texts or {})
    return _Dll(Placing(objects, x86_64.MACHINE), objects.exported(names)).link()


def _define_probe(objects: Objects) -> None:
    """Code for the one function that LLVM asks of a linker here."""
    symbol = objects.imports.pop(PROBE, None)
    if symbol is not None:
        symbol.section = Section(False, True, 16, bytearray(_PROBE_CODE))
        objects.sections.append(symbol.section)


class _Dll:
    """Addresses are those at which the image would like to lie, from _BASE on."""

    def __init__(self, placing: Placing, exports: dict[str, Symbol]) -> None:
        self.placing, self.exports = placing, dict(sorted(exports.items(), key=lambda item: item[0].encode()))
        # Imported words come first: a zero word tells where they end.
        imports = [symbol for symbol in placing.got if symbol.section is None]
        own = [symbol for symbol in placing.got if symbol.section is not None]
        self.imports = [symbol.name for symbol in imports]
        placing.got = {symbol: number for number, symbol in enumerate(imports)}
        placing.got |= {symbol: number for number, symbol in enumerate(own, len(imports) + 1)}

    def link(self) -> bytes:
        placing, code = self.placing, _BASE + aligned(_HEADERS, _PAGE)
        placing.jumps_at = aligned(placing.place_sections(code, False, True), 16)
        code_end = placing.jumps_at + placing.machine.jump_bytes * (len(placing.got) + 1)
        constants = aligned(code_end, _PAGE)
        exports_at = aligned(placing.place_sections(constants, False, False), 16)
        # Sizes do not depend on where functions are, but for code, which is placed.
        imports_at = aligned(exports_at + len(self.export_table(exports_at)), 16)
        constants_end = imports_at + len(self.import_table(imports_at))
        data = aligned(constants_end, _PAGE)
        placing.got_at = data
        data_end = placing.place_sections(data + placing.got_bytes + 8, True, False)
        content = placing.resolve()
        content[exports_at] = self.export_table(exports_at)
        content[imports_at] = self.import_table(imports_at)
        for number, name_at in enumerate(self.import_names(imports_at)):
            content[placing.got_at + 8 * number] = struct.pack("<Q", name_at)
        bases = aligned(max(data_end, data + 16), _PAGE)
        table = self.base_table()
        content[bases] = table
        sections = [
            (b".text", code, code_end, _CODE | _READ | _EXECUTE),
            (b".rdata", constants, constants_end, _DATA | _READ),
            (b".data", data, max(data_end, data + 16), _DATA | _READ | _WRITE),
            (b".reloc", bases, bases + len(table), _DATA | _READ | _DISCARDED),
        ]
        directories = {
            _EXPORTS: (exports_at - _BASE, len(content[exports_at])),
            _IMPORTS: (imports_at - _BASE, 40),
            _BASES: (bases - _BASE, len(table)),
            _IMPORT_ADDRESSES: (placing.got_at - _BASE, 8 * (len(self.imports) + 1)),
        }
        return _written(sections, directories, content)

    def export_table(self, at: int) -> bytes:
        """The directory, functions' addresses, names' addresses, their numbers, then the names themselves."""
        count, own = len(self.exports), at - _BASE
        functions = own + 40
        names, numbers = functions + 4 * count, functions + 8 * count
        texts, places = bytearray(b"numlite\0"), []
        first = numbers + 2 * count
        for name in self.exports:
            places.append(first + len(texts))
            texts += name.encode() + b"\0"
        addresses = [symbol.address - _BASE if symbol.section else 0 for symbol in self.exports.values()]
        directory = struct.pack("<IIHHIIIIIII", 0, 0, 0, 0, first, 1, count, count, functions, names, numbers)
        signed = [address & 0xFFFFFFFF for address in addresses]
        table = struct.pack(f"<{2 * count}I{count}H", *signed, *places, *range(count))
        return directory + table + bytes(texts)

    def import_names(self, at: int) -> list[int]:
        """Where each imported name lies, counted from the image's base."""
        place, found = at - _BASE + 40 + 8 * (len(self.imports) + 1), []
        for name in self.imports:
            found.append(place)
            place += len(_hinted(name))
        return found

    def import_table(self, at: int) -> bytes:
        """One library and the end, where its names are, the names, and its own name."""
        places = self.import_names(at)
        lookup = struct.pack(f"<{len(places) + 1}Q", *places, 0)
        names = b"".join(_hinted(name) for name in self.imports)
        library = at - _BASE + 40 + len(lookup) + len(names)
        words = at - _BASE + 40, 0, 0, library, self.placing.got_at - _BASE & 0xFFFFFFFF
        return struct.pack("<5I", *words) + bytes(20) + lookup + names + _LIBRARY

    def base_table(self) -> bytes:
        """The words that change where the image lies elsewhere, by pages."""
        pages = defaultdict[int, list[int]](list)
        for place, _ in sorted(self.placing.pointers):
            pages[(place - _BASE) // _PAGE].append(10 << 12 | (place - _BASE) % _PAGE)
        found = b""
        for page, entries in pages.items():
            entries += [0] * (len(entries) % 2)
            size = 8 + 2 * len(entries)
            found += struct.pack(f"<II{len(entries)}H", page * _PAGE, size, *entries)
        # A table without entries would mean that the image cannot move.
        return found or struct.pack("<IIHH", 0, 12, 0, 0)


def _hinted(name: str) -> bytes:
    text = b"\0\0" + name.encode() + b"\0"
    return text + b"\0" * (len(text) % 2)


def _written(
    sections: list[tuple[bytes, int, int, int]],
    directories: dict[int, tuple[int, int]],
    content: dict[int, bytes],
) -> bytes:
    headers, image = bytearray(), bytearray(_HEADERS)
    for name, start, end, traits in sections:
        part = bytearray(aligned(end - start, _FILE_PAGE))
        for address, value in content.items():
            if start <= address < end:
                part[address - start : address - start + len(value)] = value
        sizes = end - start, start - _BASE, len(part), len(image)
        headers += struct.pack("<8s6IHHI", name, *sizes, 0, 0, 0, 0, traits)[:40]
        image += part
    code_bytes, data_bytes = (
        sum(aligned(end - start, _FILE_PAGE) for _, start, end, traits in sections if traits & kind)
        for kind in (_CODE, _DATA)
    )
    whole = aligned(sections[-1][2], _PAGE) - _BASE
    optional = struct.pack("<HBBIIIII", 0x20B, 0, 0, code_bytes, data_bytes, 0, 0, sections[0][1] - _BASE)
    optional += struct.pack("<QII6HI", _BASE, _PAGE, _FILE_PAGE, 6, 0, 0, 0, 6, 0, 0)
    optional += struct.pack(
        "<IIIHH4QII", whole, _HEADERS, 0, 2, _DLL_TRAITS, 1 << 20, 4096, 1 << 20, 4096, 0, 16
    )
    for number in range(_DIRECTORIES):
        optional += struct.pack("<II", *directories.get(number, (0, 0)))
    coff = struct.pack("<4sHHIIIHH", b"PE\0\0", _MACHINE, _SECTIONS, 0, 0, 0, _OPTIONAL_BYTES, _TRAITS)
    start_of_all = b"MZ" + bytes(58) + struct.pack("<I", 64) + coff + optional + bytes(headers)
    image[: len(start_of_all)] = start_of_all
    return bytes(image)
