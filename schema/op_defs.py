"""Signatures of TensorFlow's ops, from a packed data file that is read as needed."""

from __future__ import annotations

import struct
import zlib
from functools import lru_cache
from pathlib import Path

from .graph_def import OpDef, OpList

DATA_FILE = Path(__file__).with_name("op_defs.bin")
MAGIC = b"NLOPS1"
_GROUP = 32


class OpDefs:
    """OpDefs by name. Groups of them are unpacked when first asked for."""

    def __init__(self, content: bytes) -> None:
        if content[: len(MAGIC)] != MAGIC:
            raise ValueError("op definitions: not a packed file")
        sizes_at = len(MAGIC) + 8
        names_size, groups = struct.unpack_from("<II", content, len(MAGIC))
        sizes = struct.unpack_from(f"<{groups}I", content, sizes_at)
        names_at = sizes_at + 4 * groups
        names = zlib.decompress(content[names_at : names_at + names_size]).decode().split("\n")
        self._places = {name: i for i, name in enumerate(names)}
        self._packed: list[bytes] = []
        at = names_at + names_size
        for size in sizes:
            self._packed.append(content[at : at + size])
            at += size
        self._groups: dict[int, OpList] = {}

    def find(self, name: str) -> OpDef | None:
        """The op's definition, None when TensorFlow has no such op."""
        place = self._places.get(name)
        if place is None:
            return None
        group, index = divmod(place, _GROUP)
        if group not in self._groups:
            self._groups[group] = OpList.FromString(zlib.decompress(self._packed[group]))
        return self._groups[group].op[index]

    def names(self) -> list[str]:
        return list(self._places)


@lru_cache(1)
def op_defs() -> OpDefs:
    """TensorFlow's ops."""
    return OpDefs(DATA_FILE.read_bytes())


def packed(ops: OpList) -> bytes:
    """The file's content for these ops, which are sorted by name."""
    names = zlib.compress("\n".join(op.name for op in ops.op).encode(), 9)
    starts = range(0, len(ops.op), _GROUP)
    groups = [
        zlib.compress(OpList(op=ops.op[i : i + _GROUP]).SerializeToString(deterministic=True), 9)
        for i in starts
    ]
    sizes = struct.pack(f"<{len(groups)}I", *map(len, groups))
    return b"".join([MAGIC, struct.pack("<II", len(names), len(groups)), sizes, names, *groups])
