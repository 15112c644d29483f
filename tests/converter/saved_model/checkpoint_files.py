"""Checkpoints and tables written for the tests, from the formats' own rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numlite.schema import graph_def
from numlite.schema.saved_model import BundleEntryProto, BundleHeaderProto

MAGIC = 0xDB4775248B80FB57
FLOAT = graph_def.DT_FLOAT


def slow_crc32c(content: bytes) -> int:
    """By the definition, bit by bit."""
    state = 0xFFFFFFFF
    for byte in content:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


def slow_masked(content: bytes) -> int:
    checksum = slow_crc32c(content)
    return ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF


def number(value: int) -> bytes:
    """A varint."""
    parts = []
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def block(entries: Sequence[tuple[bytes, bytes]], share: bool = True) -> bytes:
    """A block with one restart point; keys share what they have in common with the one before."""
    out, before = bytearray(), b""
    for key, value in entries:
        shared = 0
        while share and shared < min(len(key), len(before)) and key[shared] == before[shared]:
            shared += 1
        out += number(shared) + number(len(key) - shared) + number(len(value)) + key[shared:] + value
        before = key
    return bytes(out) + (0).to_bytes(4, "little") + (1).to_bytes(4, "little")


def sealed(content: bytes, compression: int = 0) -> bytes:
    """A block with its trailer."""
    typed = content + bytes([compression])
    return typed + slow_masked(typed).to_bytes(4, "little")


def table(blocks: Sequence[Sequence[tuple[bytes, bytes]]], compress: object = None) -> bytes:
    """A table; `compress` is called with each block of data where it is given, for Snappy."""
    out, index = bytearray(), []
    for entries in blocks:
        content, compression = block(entries), 0
        if callable(compress):
            content, compression = compress(content), 1
        index.append((entries[-1][0], number(len(out)) + number(len(content))))
        out += sealed(content, compression)
    handles = bytearray()
    for content in (block([]), block(index)):
        handles += number(len(out)) + number(len(content))
        out += sealed(content)
    return bytes(out + handles.ljust(40, b"\0") + MAGIC.to_bytes(8, "little"))


def literals(content: bytes) -> bytes:
    """Snappy without any copies."""
    out = bytearray(number(len(content)))
    for start in range(0, len(content), 60):
        part = content[start : start + 60]
        out += bytes([(len(part) - 1) << 2]) + part
    return bytes(out)


def entry(
    dtype: int, shape: Sequence[int], content: bytes, offset: int = 0, shard: int = 0
) -> BundleEntryProto:
    """What the index says of a tensor of numbers."""
    proto = BundleEntryProto(dtype=dtype, shard_id=shard, offset=offset, size=len(content))
    proto.crc32c = slow_masked(content)
    proto.shape.SetInParent()
    for size in shape:
        proto.shape.dim.add(size=size)
    return proto


def write_bundle(
    prefix: Path, entries: Mapping[bytes, BundleEntryProto], data: Sequence[bytes], **header: object
) -> None:
    """The index and the data files."""
    first = BundleHeaderProto(**{"num_shards": len(data), **header})
    rows = [(b"", first.SerializeToString())]
    rows += [(key, entries[key].SerializeToString()) for key in sorted(entries)]
    prefix.with_name(prefix.name + ".index").write_bytes(table([rows]))
    for i, content in enumerate(data):
        prefix.with_name(f"{prefix.name}.data-{i:05}-of-{len(data):05}").write_bytes(content)


def write_floats(prefix: Path, tensors: Mapping[str, np.ndarray]) -> None:
    """A checkpoint of float32 tensors."""
    entries, data = _floats(tensors)
    write_bundle(prefix, entries, [data])


def write_objects(prefix: Path, tensors: Mapping[str, np.ndarray], objects: bytes) -> None:
    """A checkpoint of float32 tensors and of the description of the objects that had them."""
    entries, data = _floats(tensors)
    size = len(objects).to_bytes(4, "little")
    checksum = slow_masked(size).to_bytes(4, "little")
    content = number(len(objects)) + checksum + objects
    made = entry(graph_def.DT_STRING, [], content, len(data))
    made.crc32c = slow_masked(size + checksum + objects)
    prefix.parent.mkdir(parents=True, exist_ok=True)
    write_bundle(prefix, {**entries, b"_CHECKPOINTABLE_OBJECT_GRAPH": made}, [data + content])


def _floats(tensors: Mapping[str, np.ndarray]) -> tuple[dict[bytes, BundleEntryProto], bytes]:
    """What the index says of float32 tensors, and their bytes."""
    entries, data = {}, bytearray()
    for name, value in tensors.items():
        content = value.astype("<f4").tobytes()
        entries[name.encode()] = entry(FLOAT, value.shape, content, len(data))
        data += content
    return entries, bytes(data)
