"""Relocations of x86-64. Source: System V ABI, AMD64 supplement."""

from __future__ import annotations

import struct

from .elf import X86_64, LinkError, Machine

R_64, R_PC32, R_PLT32, R_GLOB_DAT, R_RELATIVE, R_GOTPCREL, R_PC64 = 1, 2, 4, 6, 8, 9, 24
R_GOTPCRELX, R_REX_GOTPCRELX = 41, 42

_GOT = frozenset([R_GOTPCREL, R_GOTPCRELX, R_REX_GOTPCRELX])
_DISTANCES = {R_PC64: struct.Struct("<q")} | dict.fromkeys([R_PC32, R_PLT32, *_GOT], struct.Struct("<i"))


def _patch(data: bytearray, offset: int, kind: int, target: int, here: int) -> None:
    if kind not in _DISTANCES:
        raise LinkError(f"object file: relocation {kind} of x86-64 is not known here")
    try:
        _DISTANCES[kind].pack_into(data, offset, target - here)
    except struct.error as error:
        raise LinkError(f"object file: relocation {kind} reaches 2 GiB, got {target - here} bytes") from error


def _jump(slot: int, here: int) -> bytes:
    return b"\xff\x25" + struct.pack("<i", slot - here - 6) + b"\xcc\xcc"  # jmp *offset(%rip)


MACHINE = Machine(
    number=X86_64,
    page_bytes=4096,
    absolute=R_64,
    through_got=_GOT,
    calls=frozenset([R_PLT32]),
    glob_dat=R_GLOB_DAT,
    relative=R_RELATIVE,
    jump_bytes=8,
    jump=_jump,
    patch=_patch,
)
