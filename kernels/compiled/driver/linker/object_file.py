"""What relocatable object files hold that gets loaded: sections, symbols, relocations."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from . import elf
from .elf import LinkError

_MACHINES = {elf.X86_64: "x86-64", elf.AARCH64: "aarch64"}


@dataclass(eq=False)
class Section:
    writable: bool
    executable: bool
    align: int
    data: bytearray
    address: int = 0


@dataclass(eq=False)
class Symbol:
    """A place in a section, or what has to be imported; its name counts for others where it is visible."""

    name: str
    section: Section | None = None
    value: int = 0
    visible: bool = True

    @property
    def address(self) -> int:
        assert self.section is not None, self.name
        return self.section.address + self.value


class Relocation(NamedTuple):
    section: Section
    offset: int
    kind: int
    symbol: Symbol
    addend: int


@dataclass
class Objects:
    """The loaded parts of object files for one machine; symbols to import are one for each name."""

    machine: int
    sections: list[Section] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)
    relocations: list[Relocation] = field(default_factory=list)
    imports: dict[str, Symbol] = field(default_factory=dict)

    def exported(self, names: Iterable[str]) -> dict[str, Symbol]:
        """The symbols of these names. LinkError when one is missing, or is there twice."""
        found: dict[str, list[Symbol]] = {name: [] for name in names}
        for symbol in self.symbols:
            if symbol.section is not None and symbol.name in found:
                found[symbol.name].append(symbol)
        missing = sorted(name for name, symbols in found.items() if not symbols)
        if missing:
            raise LinkError(f"object file: exports are missing: {', '.join(missing)}")
        twice = sorted(name for name, symbols in found.items() if len(symbols) > 1)
        if twice:
            raise LinkError(f"object files: exports must be defined once, got more of {', '.join(twice)}")
        return {name: symbols[0] for name, symbols in found.items()}


def with_texts(objects: Objects, exports: Iterable[str], texts: Mapping[str, bytes]) -> list[str]:
    """Names of all that is exported: those given, and constant texts, which become symbols of the objects."""
    for name, text in texts.items():
        section = Section(False, False, 8, bytearray(text))
        objects.sections.append(section)
        objects.symbols.append(Symbol(name, section))
    return [*exports, *texts]


def read_objects(images: Iterable[bytes]) -> Objects:
    """What relocatable files hold together; LinkError when one is none, or for another machine."""
    found: Objects | None = None
    for image in images:
        kind, machine = struct.unpack_from("<HH", image, 16) if image[:7] == elf.IDENT else (0, 0)
        if kind != elf.ET_REL or machine not in _MACHINES:
            raise LinkError("object file: must be relocatable ELF for x86-64 or aarch64")
        found = found or Objects(machine)
        if machine != found.machine:
            one, other = _MACHINES[found.machine], _MACHINES[machine]
            raise LinkError(f"object files: must all be for one machine, got {one} and {other}")
        _add(found, image)
    if found is None:
        raise LinkError("object files: there must be at least one, got none")
    return found


def _add(objects: Objects, image: bytes) -> None:
    start, (count, names_at) = struct.unpack_from("<Q", image, 40)[0], struct.unpack_from("<HH", image, 60)
    headers = [elf.SECTION.unpack_from(image, start + i * elf.SECTION.size) for i in range(count)]

    def content(i: int) -> bytes:
        return image[headers[i][4] : headers[i][4] + headers[i][5]]

    names = content(names_at)
    sections: dict[int, Section] = {}
    symbols: list[Symbol | None] = []
    for i, (name, kind, flags, _, _, size, _, _, align, _) in enumerate(headers):
        loaded = flags & elf.SHF_ALLOC and kind in (elf.SHT_PROGBITS, elf.SHT_NOBITS)
        if loaded and not elf.text_at(names, name).startswith(".eh_frame"):
            data = bytearray(size) if kind == elf.SHT_NOBITS else bytearray(content(i))
            writable, executable = bool(flags & elf.SHF_WRITE), bool(flags & elf.SHF_EXECUTE)
            sections[i] = Section(writable, executable, max(align, 1), data)
    for i, (_, kind, _, _, _, _, link, _, _, _) in enumerate(headers):
        if kind == elf.SHT_SYMTAB:
            strings = content(link)
            for at, info, _, section, value, _ in elf.SYMBOL.iter_unpack(content(i)):
                name = elf.text_at(strings, at)
                if section in sections:
                    visible = info >> 4 == elf.STB_GLOBAL
                    symbols.append(Symbol(name, sections[section], value, visible))
                elif section == 0:
                    symbols.append(objects.imports.get(name) or Symbol(name))
                else:
                    symbols.append(None)
    objects.sections += sections.values()
    objects.symbols += (symbol for symbol in symbols if symbol is not None)
    for i, (_, kind, _, _, _, _, _, section, _, _) in enumerate(headers):
        if kind == elf.SHT_RELA and section in sections:
            for offset, info, addend in elf.RELA.iter_unpack(content(i)):
                symbol = symbols[info >> 32]
                if symbol is None:
                    raise LinkError("object file: a symbol that is used lies outside of loaded sections")
                if symbol.section is None:
                    objects.imports.setdefault(symbol.name, symbol)
                objects.relocations.append(
                    Relocation(sections[section], offset, info & 0xFFFFFFFF, symbol, addend)
                )
