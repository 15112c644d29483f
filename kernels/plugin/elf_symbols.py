"""What a plugin's file wants and gives, read from the ELF file before anything of it is opened."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from ...lite.errors import PluginError
from ..compiled.driver.linker.elf import (
    DT_HASH,
    DT_NEEDED,
    DT_STRSZ,
    DT_STRTAB,
    DT_SYMTAB,
    DYNAMIC,
    ET_DYN,
    HEADER,
    IDENT,
    PT_DYNAMIC,
    PT_LOAD,
    SYMBOL,
    X86_64,
    segments,
)
from .functions import ANSWERED

_MACHINES = {3: "x86 (32 bits)", 40: "ARM (32 bits)", 62: "x86-64", 183: "AArch64", 243: "RISC-V"}
_DT_RPATH, _DT_RUNPATH, _DT_GNU_HASH = 15, 29, 0x6FFFFEF5
_MOST_SYMBOLS = 1 << 22
# Names of TensorFlow's C interfaces; C++ names start with _Z.
_C_NAME = re.compile(r"(TF|TFE|TFNPD|SE|SP|TP)_\w+")
_CPP_NAME = re.compile(r"_Z\w*(10tensorflow|4absl|3tsl|6google8protobuf)\w*")
_FRAMEWORK = re.compile(r"lib(tensorflow|xla).*\.so.*|_pywrap_tensorflow_internal\.so")


@dataclass
class ElfSymbols:
    """The dynamic part of a shared library."""

    path: str
    needed: list[str] = field(default_factory=list)
    search: list[str] = field(default_factory=list)
    wanted: list[str] = field(default_factory=list)
    given: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Wants:
    """What a plugin, and what it brings along, want of TensorFlow beyond what is answered here.

    functions are of the C interface; they fail only if they are called. cpp are parts of TensorFlow itself.
    """

    functions: tuple[str, ...]
    cpp: tuple[str, ...]


def read_symbols(path: str) -> ElfSymbols:
    """PluginError where it is no shared library for this processor, or a damaged one."""
    try:
        with open(path, "rb") as file:
            image = file.read()
    except OSError as error:
        raise PluginError(
            f"plugin {path!r}: the file must be readable, got {error.strerror or error}"
        ) from error
    try:
        return _read(path, image)
    except (struct.error, IndexError, ValueError, StopIteration) as error:
        raise PluginError(
            f"plugin {path!r}: must be a whole ELF file, got a damaged one ({error})"
        ) from error


def wants(path: str) -> Wants:
    """What the plugin's file and the libraries that lie beside it want of TensorFlow and do not get here."""
    found = list(_with_companions(path))
    given = {name for library in found for name in library.given}
    names = sorted({name for library in found for name in library.wanted} - given)
    functions = tuple(n for n in names if _C_NAME.fullmatch(n) and n not in ANSWERED)
    return Wants(functions, tuple(n for n in names if _CPP_NAME.fullmatch(n)))


def companions(path: str) -> list[str]:
    """Libraries that the plugin needs and that lie where it looks for them, needed ones first."""
    return [library.path for library in _with_companions(path)][:0:-1]


@lru_cache(64)
def _symbols_of(path: str, mtime_ns: int, nbytes: int) -> ElfSymbols:
    return read_symbols(path)


def _with_companions(path: str) -> Iterator[ElfSymbols]:
    waiting, seen = [path], {os.path.realpath(path)}
    while waiting:
        place = waiting.pop(0)
        try:
            info = os.stat(place)
        except OSError:
            yield read_symbols(place)  # raises, and says why
            return
        library = _symbols_of(place, info.st_mtime_ns, info.st_size)
        yield library
        for name in library.needed:
            beside = _beside(library, name)
            if beside and not _FRAMEWORK.fullmatch(name) and os.path.realpath(beside) not in seen:
                seen.add(os.path.realpath(beside))
                waiting.append(beside)


def _beside(library: ElfSymbols, name: str) -> str | None:
    origin = os.path.dirname(os.path.abspath(library.path))
    for folder in library.search:
        place = os.path.join(folder.replace("${ORIGIN}", origin).replace("$ORIGIN", origin), name)
        if os.path.isfile(place):
            return place
    return None


def _read(path: str, image: bytes) -> ElfSymbols:
    if image[:4] != IDENT[:4]:
        raise PluginError(f"plugin {path!r}: must be a shared library (ELF), got {image[:4]!r} at its start")
    if image[4:6] != IDENT[4:6]:
        raise PluginError(f"plugin {path!r}: must be ELF of 64 bits, little-endian, got another")
    header = HEADER.unpack_from(image)
    if header[2] != X86_64:
        made_for = _MACHINES.get(header[2], f"machine {header[2]}")
        raise PluginError(f"plugin {path!r}: must be for x86-64, got one for {made_for}")
    if header[1] != ET_DYN:
        raise PluginError(f"plugin {path!r}: must be a shared library, got ELF of type {header[1]}")
    parts = segments(image)
    loads = [segment for segment in parts if segment[0] == PT_LOAD]

    def offset(address: int) -> int:
        return next(s[2] + address - s[3] for s in loads if s[3] <= address < s[3] + s[5])

    dynamic = next(segment for segment in parts if segment[0] == PT_DYNAMIC)
    entries = list(_entries(image[dynamic[2] : dynamic[2] + dynamic[5]]))
    by_tag = dict(entries)
    strings = image[offset(by_tag[DT_STRTAB]) :][: by_tag[DT_STRSZ]] if DT_STRTAB in by_tag else b""
    found = ElfSymbols(path)
    found.needed = [_text(strings, value) for tag, value in entries if tag == DT_NEEDED]
    paths = [_text(strings, value) for tag, value in entries if tag in (_DT_RPATH, _DT_RUNPATH)]
    found.search = [folder for text in paths for folder in text.split(":") if folder]
    if DT_SYMTAB not in by_tag:
        return found
    first, count = offset(by_tag[DT_SYMTAB]), _symbol_count(image, by_tag, offset)
    for number in range(1, count):
        name, info, _, section, _, _ = SYMBOL.unpack_from(image, first + number * SYMBOL.size)
        if section:
            found.given.add(_text(strings, name))
        elif info >> 4 == 1:  # global; a weak one may be missing
            found.wanted.append(_text(strings, name))
    return found


def _entries(table: bytes) -> Iterator[tuple[int, int]]:
    for at in range(0, len(table) - DYNAMIC.size + 1, DYNAMIC.size):
        tag, value = DYNAMIC.unpack_from(table, at)
        if not tag:
            return
        yield tag, value


def _symbol_count(image: bytes, entries: dict[int, int], offset: object) -> int:
    """From the end of the strings' neighbour: the format has the number in its hash tables alone."""
    assert callable(offset)
    if DT_HASH in entries:
        count = int(struct.unpack_from("<I", image, offset(entries[DT_HASH]) + 4)[0])
    elif _DT_GNU_HASH in entries:
        count = _gnu_symbols(image, offset(entries[_DT_GNU_HASH]))
        if not count:  # only wanted symbols: they end where the strings begin, in all that linkers write
            count = max(0, offset(entries[DT_STRTAB]) - offset(entries[DT_SYMTAB])) // SYMBOL.size
    else:
        count = max(0, offset(entries[DT_STRTAB]) - offset(entries[DT_SYMTAB])) // SYMBOL.size
    if not 0 <= count <= _MOST_SYMBOLS:
        raise ValueError(f"{count} symbols")
    return count


def _gnu_symbols(image: bytes, at: int) -> int:
    buckets, first, bloom, _ = struct.unpack_from("<4I", image, at)
    if buckets > _MOST_SYMBOLS or bloom > _MOST_SYMBOLS:
        raise ValueError(f"a hash table of {buckets} buckets")
    place = at + 16 + 8 * bloom
    last = max(struct.unpack_from(f"<{buckets}I", image, place), default=0)
    if last < first:
        return 0 if not last else first
    chains = place + 4 * buckets
    while not struct.unpack_from("<I", image, chains + 4 * (last - first))[0] & 1:
        last += 1
    return last + 1


def _text(table: bytes, at: int) -> str:
    return table[at : table.index(b"\0", at)].decode(errors="replace")
