"""What all formats share: sections of objects, words with addresses, jumps to imports, references to them."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from .elf import LinkError, Machine
from .object_file import Objects, Relocation, Section, Symbol


@dataclass
class Placing:
    """Gives sections addresses, and writes into them where others are.

    place_sections gives addresses; got_at and jumps_at are where the words with addresses begin, 8 bytes
    each, and the jumps to imported functions; then resolve. Files are the formats' own business.
    """

    objects: Objects
    machine: Machine
    got: dict[Symbol, int] = field(default_factory=dict)  # symbol -> its word's number
    got_at: int = 0
    jumps_at: int = 0
    # Places of words with addresses within the image: (place, address); and those of imports: (place, name).
    pointers: list[tuple[int, int]] = field(default_factory=list)
    imported: list[tuple[int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for relocation in self.objects.relocations:
            if relocation.kind in self.machine.through_got or relocation.symbol.section is None:
                self.got.setdefault(relocation.symbol, len(self.got))

    @property
    def got_bytes(self) -> int:
        return 8 * len(self.got)

    @property
    def jumps_bytes(self) -> int:
        return self.machine.jump_bytes * len(self.got)

    def place_sections(self, start: int, writable: bool, executable: bool) -> int:
        """Give addresses to the sections of a kind, from start on; where they end."""
        for section in self.sections(writable, executable):
            section.address = start = aligned(start, section.align)
            start += len(section.data)
        return start

    def sections(self, writable: bool, executable: bool) -> list[Section]:
        kind = writable, executable
        return [s for s in self.objects.sections if (s.writable, s.executable) == kind]

    def resolve(self) -> dict[int, bytes]:
        """All content of the image by its address: sections, jumps, words with addresses."""
        for relocation in self.objects.relocations:
            self._relocate(relocation)
        found = {}
        for symbol, number in self.got.items():
            slot, jump = self.got_at + 8 * number, self.jumps_at + self.machine.jump_bytes * number
            found[jump] = self.machine.jump(slot, jump)
            if symbol.section is not None:
                self.pointers.append((slot, symbol.address))
                found[slot] = struct.pack("<Q", symbol.address)
            else:
                self.imported.append((slot, symbol.name))
        return found | {s.address: bytes(s.data) for s in self.objects.sections if s.data}

    def _relocate(self, relocation: Relocation) -> None:
        section, offset, kind, symbol, addend = relocation
        here = section.address + offset
        if kind == self.machine.absolute and symbol.section is not None and section.writable:
            address = symbol.address + addend
            struct.pack_into("<Q", section.data, offset, address)
            self.pointers.append((here, address))
            return
        if kind in self.machine.through_got:
            address = self.got_at + 8 * self.got[symbol]
        elif symbol.section is not None:
            address = symbol.address
        elif kind in self.machine.calls:
            address = self.jumps_at + self.machine.jump_bytes * self.got[symbol]
        else:
            raise LinkError(f"object file: relocation {kind} of {symbol.name} is not known here")
        self.machine.patch(section.data, offset, kind, address + addend, here)


def aligned(value: int, to: int) -> int:
    return -(-value // to) * to
