"""macOS' shared objects (dylibs) for Apple silicon, from the same objects as Linux's.

LLVM's objects for macOS are asked for as ELF: registers and calls are Apple's, and the relocations those that
this linker knows. Apple silicon loads nothing that is not signed, if by nobody: a digest of each page stands
at the file's end. Source: Apple, mach-o/loader.h, mach-o/nlist.h, kern/cs_blobs.h.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Collection, Iterable, Mapping

from .....schema.varint import as_varint
from . import aarch64
from .object_file import Symbol, read_objects, with_texts
from .placing import Placing, aligned

_PAGE, _SIGNED_PAGE = 0x4000, 0x1000
_MAGIC, _ARM64, _DYLIB = 0xFEEDFACF, 0x0100000C, 6
# Nothing is undefined but by library; for dyld; two levels of names; exports are its own.
_FLAGS = 0x1 | 0x4 | 0x80 | 0x100000
_LC_SYMTAB, _LC_DYSYMTAB, _LC_LOAD_DYLIB, _LC_ID_DYLIB, _LC_SEGMENT, _LC_UUID = 0x2, 0xB, 0xC, 0xD, 0x19, 0x1B
_LC_CODE_SIGNATURE, _LC_DYLD_INFO, _LC_BUILD_VERSION = 0x1D, 0x80000022, 0x32
_READ, _WRITE, _EXECUTE = 1, 2, 4
_INSTRUCTIONS = 0x80000400
_SYSTEM = b"/usr/lib/libSystem.B.dylib"
_MACOS, _VERSION_11 = 1, 11 << 16
_REBASE_POINTER, _BIND_POINTER, _BIND_FIRST_LIBRARY = 0x11, 0x51, 0x11
_DATA_SEGMENT = 1
_HEADER_BYTES = 32
_SEGMENT_BYTES, _SECTION_BYTES = 72, 80


def dylib(
    images: Iterable[bytes],
    exports: Collection[str],
    name: str,
    texts: Mapping[str, bytes] | None = None,
) -> bytes:
    """Link relocatable objects for Apple silicon into a dylib that exports what is named, and texts.

    Raises LinkError as shared_object does.
    """
    objects = read_objects(images)
    names = with_texts(objects, exports, texts or {})
    return _Dylib(Placing(objects, aarch64.MACHINE), objects.exported(names), name).link()


class _Dylib:
    def __init__(self, placing: Placing, exports: dict[str, Symbol], name: str) -> None:
        self.placing, self.exports, self.name = placing, exports, name.encode()

    def link(self) -> bytes:
        placing = self.placing
        start = aligned(_HEADER_BYTES + self.commands_bytes(), 64)
        constants_end = placing.place_sections(start, False, False)
        code = aligned(constants_end, 64)
        placing.jumps_at = aligned(placing.place_sections(code, False, True), 16)
        code_end = placing.jumps_at + placing.jumps_bytes
        data = aligned(code_end, _PAGE)
        placing.got_at = data
        data_end = max(placing.place_sections(data + placing.got_bytes, True, False), data + 8)
        edit = aligned(data_end, _PAGE)
        content = placing.resolve()
        parts = self.link_edit(data)
        image = bytearray(edit)
        for address, value in content.items():
            image[address : address + len(value)] = value
        places = {}
        for part, value in parts.items():
            places[part] = len(image), len(value)
            image += value + bytes(-len(value) % 16)
        signature_at = len(image)
        slots = -(-signature_at // _SIGNED_PAGE)
        places["signature"] = signature_at, len(_signature(b"", slots, self.name, code_end))
        end = signature_at + places["signature"][1]
        segments = (
            _segment(b"__TEXT", 0, data, 0, data, _READ | _EXECUTE, [
                (b"__const", b"__TEXT", start, constants_end - start, 6, 0),
                (b"__text", b"__TEXT", code, code_end - code, 6, _INSTRUCTIONS),
            ])
            + _segment(b"__DATA", data, edit - data, data, edit - data, _READ | _WRITE, [
                (b"__data", b"__DATA", data, data_end - data, 6, 0),
            ])
            + _segment(b"__LINKEDIT", edit, aligned(end - edit, _PAGE), edit, end - edit, _READ, [])
        )  # fmt: skip
        commands = segments + self.other_commands(places, bytes(image))
        count = 3 + 8
        header = struct.pack("<8I", _MAGIC, _ARM64, 0, _DYLIB, count, len(commands), _FLAGS, 0)
        image[: len(header) + len(commands)] = header + commands
        return bytes(image) + _signature(bytes(image), slots, self.name, code_end)

    def commands_bytes(self) -> int:
        segments = 3 * _SEGMENT_BYTES + 3 * _SECTION_BYTES
        return segments + len(self.other_commands(dict.fromkeys(_PARTS, (0, 0)), b""))

    def other_commands(self, places: Mapping[str, tuple[int, int]], image: bytes) -> bytes:
        """All but segments; the image so far makes the file's identity."""
        names, imports = len(self.exports), len(self.imports())
        linked = [places[part] for part in ("rebases", "binds")] + [(0, 0)] * 2 + [places["exports"]]
        symbols, strings = places["symbols"], places["strings"]
        identity = hashlib.sha256(image).digest()[:16]
        return b"".join(
            (
                _library(_LC_ID_DYLIB, b"@rpath/" + self.name),
                struct.pack("<12I", _LC_DYLD_INFO, 48, *(word for place in linked for word in place)),
                struct.pack("<6I", _LC_SYMTAB, 24, symbols[0], names + imports, *strings),
                struct.pack("<20I", _LC_DYSYMTAB, 80, 0, 0, 0, names, names, imports, *[0] * 12),
                struct.pack("<II16s", _LC_UUID, 24, identity),
                struct.pack("<6I", _LC_BUILD_VERSION, 24, _MACOS, _VERSION_11, _VERSION_11, 0),
                _library(_LC_LOAD_DYLIB, _SYSTEM),
                struct.pack("<4I", _LC_CODE_SIGNATURE, 16, *places["signature"]),
            )
        )

    def imports(self) -> list[str]:
        return [symbol.name for symbol in self.placing.got if symbol.section is None]

    def link_edit(self, data: int) -> dict[str, bytes]:
        rebases = bytearray([_REBASE_POINTER])
        for place, _ in sorted(self.placing.pointers):
            rebases += bytes([0x20 | _DATA_SEGMENT]) + as_varint(place - data) + b"\x51"
        binds = bytearray([_BIND_FIRST_LIBRARY, _BIND_POINTER])
        for place, name in sorted(self.placing.imported):
            binds += (
                b"\x40_"
                + name.encode()
                + b"\0"
                + bytes([0x70 | _DATA_SEGMENT])
                + as_varint(place - data)
                + b"\x90"
            )
        strings, entries = bytearray(b"\0"), bytearray()
        for name, symbol in sorted(self.exports.items()):
            section = 2 if symbol.section is not None and symbol.section.executable else 1
            entries += struct.pack("<IBBHQ", len(strings), 0x0F, section, 0, symbol.address)
            strings += b"_" + name.encode() + b"\0"
        for name in self.imports():
            entries += struct.pack("<IBBHQ", len(strings), 0x01, 0, 1 << 8, 0)
            strings += b"_" + name.encode() + b"\0"
        found = {f"_{name}": symbol.address for name, symbol in self.exports.items()}
        trie = _export_trie(found)
        values = (bytes(rebases) + b"\0", bytes(binds) + b"\0", trie, bytes(entries), bytes(strings))
        return dict(zip(_PARTS, values, strict=False))


_PARTS = ("rebases", "binds", "exports", "symbols", "strings", "signature")


def _segment(
    name: bytes, address: int, size: int, offset: int, file_size: int, access: int,
    sections: list[tuple[bytes, bytes, int, int, int, int]],
) -> bytes:  # fmt: skip
    nbytes = _SEGMENT_BYTES + _SECTION_BYTES * len(sections)
    place = address, size, offset, file_size
    rights = access, access, len(sections), 0
    found = struct.pack("<II16s4Q4I", _LC_SEGMENT, nbytes, name, *place, *rights)
    for section, segment, start, length, align, flags in sections:
        rest = start, align, 0, 0, flags, 0, 0, 0
        found += struct.pack("<16s16sQQ8I", section, segment, start, length, *rest)
    return found


def _library(command: int, path: bytes) -> bytes:
    text = path + b"\0" * (8 - len(path) % 8)
    return struct.pack("<6I", command, 24 + len(text), 24, 2, 1 << 16, 1 << 16) + text


def _fixed_uleb(value: int) -> bytes:
    """In four bytes, whatever the value, so that places are known beforehand."""
    parts = [value >> shift & 0x7F for shift in (0, 7, 14, 21)]
    return bytes([part | 0x80 for part in parts[:3]] + parts[3:])


def _export_trie(addresses: Mapping[str, int]) -> bytes:
    """Names by their common beginnings. A node: what ends there, if anything, then each edge and its node."""
    found = bytearray()

    def write(names: list[str], done: int) -> int:
        """The node of names that have `done` letters in common; where it lies."""
        start = len(found)
        ended = as_varint(0) + as_varint(addresses[names[0]]) if len(names[0]) == done else b""
        edges = _edges(names[1:] if ended else names, done)
        found.extend(as_varint(len(ended)) + ended + bytes([len(edges)]))
        holes = []
        for text, _ in edges:
            found.extend(text.encode() + b"\0")
            holes.append(len(found))
            found.extend(bytes(4))
        for hole, (text, below) in zip(holes, edges, strict=True):
            found[hole : hole + 4] = _fixed_uleb(write(below, done + len(text)))
        return start

    write(sorted(addresses), 0)
    return bytes(found)


def _edges(names: list[str], done: int) -> list[tuple[str, list[str]]]:
    """Sorted names by what they go on with, as far as those with the same next letter have it in common."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name[done], []).append(name)
    return [(_common_beginning(group)[done:], group) for group in groups.values()]


def _common_beginning(names: list[str]) -> str:
    """Of sorted names."""
    first, last = names[0], names[-1]
    count = 0
    while count < len(first) and first[count] == last[count]:
        count += 1
    return first[:count]


def _signature(image: bytes, slots: int, name: bytes, code_bytes: int) -> bytes:
    """Nobody's signature: digests of the image's pages, of which there are `slots`; big-endian throughout."""
    text, digest_bytes = name + b"\0", 32
    head = 88
    first = head + len(text)
    length = first + slots * digest_bytes
    ad_hoc_by_linker, version, sha256, page_bits = 0x20002, 0x20400, 2, 12
    directory = struct.pack(
        ">9I4BI3I4Q", 0xFADE0C02, length, version, ad_hoc_by_linker, first, head, 0, slots, len(image),
        digest_bytes, sha256, 0, page_bits, 0, 0, 0, 0, 0, 0, code_bytes, 0,
    )  # fmt: skip
    pages = [image[at : at + _SIGNED_PAGE] for at in range(0, len(image), _SIGNED_PAGE)]
    digests = b"".join(hashlib.sha256(page).digest() for page in pages) or bytes(slots * digest_bytes)
    whole = 20 + length
    return struct.pack(">5I", 0xFADE0CC0, whole, 1, 0, 20) + directory + text + digests
