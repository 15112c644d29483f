"""What the linker asks of a machine: its relocations and its jumps to imported functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Machine(NamedTuple):
    """A machine's part of linking.

    patch(data, offset, kind, target, here) writes into an instruction or a word at `here` what it says of the
    address `target`; it raises LinkError for a kind that is not known, or a target out of its reach.
    jump(slot, here) is the code at `here` that goes where the word at `slot` says.
    """

    number: int
    page_bytes: int  # the largest that systems have
    absolute: int  # the relocation that is an address
    through_got: frozenset[int]  # those that mean the slot of an address, not the address
    calls: frozenset[int]  # those that may go by a jump
    glob_dat: int
    relative: int
    jump_bytes: int
    jump: Callable[[int, int], bytes]
    patch: Callable[[bytearray, int, int, int, int], None]
