"""Relocations of aarch64. Source: ELF for the Arm 64-bit Architecture (AAELF64)."""

from __future__ import annotations

import struct

from .elf import AARCH64, LinkError, Machine

R_ABS64, R_PREL64, R_PREL32, R_GLOB_DAT, R_RELATIVE = 257, 260, 261, 1025, 1027
R_ADR_PREL_PG_HI21, R_ADD_ABS_LO12_NC, R_LDST8_ABS_LO12_NC, R_JUMP26, R_CALL26 = 275, 277, 278, 282, 283
R_LDST16_ABS_LO12_NC, R_LDST32_ABS_LO12_NC, R_LDST64_ABS_LO12_NC, R_LDST128_ABS_LO12_NC = 284, 285, 286, 299
R_ADR_GOT_PAGE, R_LD64_GOT_LO12_NC = 311, 312

# Loads and stores count in their own size, given as a power of two.
_LOW_12 = {
    R_ADD_ABS_LO12_NC: 0,
    R_LDST8_ABS_LO12_NC: 0,
    R_LDST16_ABS_LO12_NC: 1,
    R_LDST32_ABS_LO12_NC: 2,
    R_LDST64_ABS_LO12_NC: 3,
    R_LD64_GOT_LO12_NC: 3,
    R_LDST128_ABS_LO12_NC: 4,
}
_WORD = struct.Struct("<I")


def _patch(data: bytearray, offset: int, kind: int, target: int, here: int) -> None:
    if kind == R_PREL64:
        struct.pack_into("<q", data, offset, target - here)
    elif kind == R_PREL32:
        struct.pack_into("<i", data, offset, _within(target - here, 31, kind))
    else:
        (instruction,) = _WORD.unpack_from(data, offset)
        _WORD.pack_into(data, offset, instruction | _operand(kind, target, here))


def _operand(kind: int, target: int, here: int) -> int:
    """The bits that an instruction lacks."""
    if kind in (R_JUMP26, R_CALL26):
        return _within(target - here, 27, kind) >> 2 & 0x3FFFFFF
    if kind in (R_ADR_PREL_PG_HI21, R_ADR_GOT_PAGE):
        return _pages(target, here, kind)
    if kind not in _LOW_12:
        raise LinkError(f"object file: relocation {kind} of aarch64 is not known here")
    low, size = target & 0xFFF, _LOW_12[kind]
    if low & (1 << size) - 1:
        raise LinkError(f"object file: relocation {kind} needs a multiple of {1 << size}, got {target:#x}")
    return low >> size << 10


def _pages(target: int, here: int, kind: int) -> int:
    """The distance in pages of 4 KiB, as adrp has it."""
    pages = _within((target >> 12) - (here >> 12), 20, kind)
    return (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5


def _within(distance: int, bits: int, kind: int) -> int:
    if not -1 << bits <= distance < 1 << bits:
        raise LinkError(f"object file: relocation {kind} reaches {1 << bits:#x}, got {distance:#x}")
    return distance


def _jump(slot: int, here: int) -> bytes:
    load = 0xF9400211 | _operand(R_LD64_GOT_LO12_NC, slot, here)
    # adrp x16, slot; ldr x17, [x16, slot]; br x17; nop
    return struct.pack("<4I", 0x90000010 | _pages(slot, here, R_ADR_GOT_PAGE), load, 0xD61F0220, 0xD503201F)


MACHINE = Machine(
    number=AARCH64,
    page_bytes=1 << 16,
    absolute=R_ABS64,
    through_got=frozenset([R_ADR_GOT_PAGE, R_LD64_GOT_LO12_NC]),
    calls=frozenset([R_JUMP26, R_CALL26]),
    glob_dat=R_GLOB_DAT,
    relative=R_RELATIVE,
    jump_bytes=16,
    jump=_jump,
    patch=_patch,
)
