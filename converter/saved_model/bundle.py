"""TensorBundle: checkpoints of the second format, an index beside files of data."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from google.protobuf.message import DecodeError

from ...lite.errors import ModelError, UnsupportedError
from ...schema import graph_def
from ...schema.saved_model import BundleEntryProto, BundleHeaderProto
from ...schema.varint import varint
from ..element_types import type_name
from .crc32c import crc32c, masked
from .stored_tensor import StoredTensor, numpy_type, shape_of, stored
from .table import read_table
from .tensor_slice import Ranges, TensorInfo, check_cover, extents_of, resolved, slice_key

# The version of the format that this reads.
_VERSION = 1
_MOST_SHARDS = 1 << 16


class Bundle:
    """`<prefix>.index`, and the data in `<prefix>.data-00000-of-00001` and so on.

    Nothing but the index is read before a tensor is asked for.
    Source: TensorFlow core/util/tensor_bundle.
    """

    def __init__(self, prefix: Path) -> None:
        self.prefix = prefix
        index = prefix.with_name(prefix.name + ".index")
        self._entries: dict[bytes, bytes] = dict(read_table(index.read_bytes(), str(index)))
        self.shards = self._header(index)
        self._infos: dict[str, TensorInfo] | None = None

    def _header(self, index: Path) -> int:
        """Number of data files, from the first entry."""
        try:
            header = BundleHeaderProto.FromString(self._entries.pop(b"", b""))
        except DecodeError as error:
            raise ModelError(f"{index}: its first entry is no header ({error})") from error
        if not 1 <= header.num_shards <= _MOST_SHARDS:
            raise ModelError(
                f"{index}: number of data files must be 1 to {_MOST_SHARDS}, got {header.num_shards}"
            )
        if header.endianness != BundleHeaderProto.LITTLE:
            raise UnsupportedError(f"{index}: the checkpoint was written by a big-endian machine")
        if header.version.min_consumer > _VERSION or _VERSION in header.version.bad_consumers:
            raise UnsupportedError(f"{index}: the checkpoint needs version {header.version.min_consumer}")
        return header.num_shards

    @property
    def tensors(self) -> dict[str, TensorInfo]:
        """The tensors by name; slices count as part of their whole."""
        if self._infos is None:
            self._infos = {}
            for key in self._entries:
                if not key.startswith(b"\0"):
                    name = key.decode(errors="surrogateescape")
                    entry = self._entry(key, name)
                    shape = shape_of(entry.shape, f"tensor {name!r}")
                    self._infos[name] = TensorInfo(entry.dtype, shape, len(entry.slices) or 1)
        return dict(self._infos)

    def read(self, name: str) -> StoredTensor:
        """The whole tensor, put together from its slices where it has them.

        ModelError when there is none of that name, its bytes are not there, or its checksum is wrong;
        UnsupportedError for resources and variants.
        """
        key = name.encode(errors="surrogateescape")
        if key.startswith(b"\0") or key not in self._entries:
            raise ModelError(f"{self.prefix}: the checkpoint has no tensor {name!r}")
        what = f"tensor {name!r}"
        entry = self._entry(key, name)
        if not entry.slices:
            return self._value(entry, what)
        shape = shape_of(entry.shape, what)
        slices = [extents_of(proto) for proto in entry.slices]
        ranges = [resolved(extents, shape, what) for extents in slices]
        check_cover(ranges, shape, what)
        parts = [
            (part, self._slice(name, slice_key(name, extents), entry.dtype, part))
            for extents, part in zip(slices, ranges, strict=True)
        ]
        return _joined(entry.dtype, shape, parts)

    def _slice(self, name: str, key: bytes, dtype: int, ranges: Ranges) -> StoredTensor:
        what = f"tensor {name!r}, slice {list(ranges)}"
        if key not in self._entries:
            raise ModelError(f"{what}: the checkpoint does not have it")
        entry = self._entry(key, name)
        shape = tuple(length for _, length in ranges)
        if entry.dtype != dtype or shape_of(entry.shape, what) != shape or entry.slices:
            raise ModelError(f"{what}: it must have type {type_name(dtype)} and shape {list(shape)}")
        return self._value(entry, what)

    def _entry(self, key: bytes, name: str) -> BundleEntryProto:
        try:
            entry = BundleEntryProto.FromString(self._entries[key])
        except DecodeError as error:
            raise ModelError(f"tensor {name!r}: its entry is damaged ({error})") from error
        assert isinstance(entry, BundleEntryProto)
        return entry

    def _value(self, entry: BundleEntryProto, what: str) -> StoredTensor:
        if entry.dtype in (graph_def.DT_VARIANT, graph_def.DT_RESOURCE):
            raise UnsupportedError(f"{what}: values of type {type_name(entry.dtype)} cannot be read")
        shape = shape_of(entry.shape, what)
        count = math.prod(shape)
        if entry.dtype == graph_def.DT_STRING:
            content = self._content(entry, what)
            return StoredTensor(entry.dtype, shape, _strings(content, count, entry.crc32c, what))
        needed = count * numpy_type(entry.dtype).itemsize
        if needed != entry.size:
            raise ModelError(
                f"{what}: {list(shape)} of {type_name(entry.dtype)} needs {needed} bytes, got {entry.size}"
            )
        content = self._content(entry, what)
        _check(masked(crc32c(content)), entry.crc32c, what)
        return StoredTensor(entry.dtype, shape, content)

    def _content(self, entry: BundleEntryProto, what: str) -> bytes:
        """The bytes of an entry, which must all be there."""
        if not 0 <= entry.shard_id < self.shards:
            raise ModelError(f"{what}: data file {entry.shard_id} of {self.shards} does not exist")
        path = self.prefix.with_name(f"{self.prefix.name}.data-{entry.shard_id:05}-of-{self.shards:05}")
        if not path.is_file():
            raise ModelError(f"{what}: its data file {path.name} is missing")
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            if entry.offset < 0 or entry.size < 0 or entry.offset + entry.size > size:
                raise ModelError(
                    f"{what}: {entry.size} bytes at {entry.offset} lie outside {path.name}, which has {size}"
                )
            file.seek(entry.offset)
            return file.read(entry.size)


def _check(checksum: int, stored_checksum: int, what: str) -> None:
    if checksum != stored_checksum:
        raise ModelError(f"{what}: checksum is {checksum:#010x}, not {stored_checksum:#010x}: it is damaged")


def _strings(content: bytes, count: int, checksum: int, what: str) -> tuple[bytes, ...]:
    """Strings: their lengths, the checksum of the lengths, and their bytes."""
    if count > len(content):
        raise ModelError(f"{what}: {count} strings do not fit {len(content)} bytes")
    at, lengths = 0, []
    for _ in range(count):
        length, at = varint(content, at, len(content), what)
        lengths.append(length)
    if at + 4 + sum(lengths) != len(content):
        raise ModelError(f"{what}: its strings need {at + 4 + sum(lengths)} bytes, got {len(content)}")
    # Lengths are checked as numbers, of four bytes where these are enough.
    numbers = b"".join(n.to_bytes(4 if n < 1 << 32 else 8, "little") for n in lengths)
    of_lengths = crc32c(numbers)
    _check(masked(of_lengths), int.from_bytes(content[at : at + 4], "little"), f"{what}, its lengths")
    _check(masked(crc32c(content[at:], of_lengths)), checksum, what)
    at += 4
    found = []
    for length in lengths:
        found.append(content[at : at + length])
        at += length
    return tuple(found)


def _joined(dtype: int, shape: tuple[int, ...], parts: list[tuple[Ranges, StoredTensor]]) -> StoredTensor:
    """The whole of slices that cover it."""
    whole = np.empty(shape, object if dtype == graph_def.DT_STRING else numpy_type(dtype))
    for ranges, part in parts:
        whole[tuple(slice(start, start + length) for start, length in ranges)] = part.array()
    return stored(dtype, whole)
