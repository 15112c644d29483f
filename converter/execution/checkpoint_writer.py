"""Checkpoints of the second format: an index of tensors beside one file of data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...kernels.fallback.file_access import SavedTensor
from ...schema.graph_def import VersionDef
from ...schema.saved_model import BundleEntryProto, BundleHeaderProto
from ...schema.varint import as_varint
from ..saved_model.crc32c import crc32c, masked

_MAGIC = 0xDB4775248B80FB57
# Of the two handles at the end of a table: zeros make up what they leave.
_HANDLES_BYTES = 40


def write_checkpoint(prefix: Path, tensors: Sequence[SavedTensor]) -> None:
    """Write `<prefix>.index` and `<prefix>.data-00000-of-00001`.

    Source: TensorFlow tensorflow/core/util/tensor_bundle, tensorflow/core/lib/io/table_format.txt.
    """
    data = bytearray()
    rows = [(b"", BundleHeaderProto(num_shards=1, version=VersionDef(producer=1)).SerializeToString())]
    for tensor in sorted(tensors, key=lambda tensor: _key(tensor.name)):
        content, checksum = _content(tensor.value)
        entry = BundleEntryProto(dtype=tensor.data_type, offset=len(data), size=len(content))
        entry.crc32c = masked(checksum)
        entry.shape.SetInParent()
        for size in tensor.value.shape:
            entry.shape.dim.add(size=size)
        rows.append((_key(tensor.name), entry.SerializeToString()))
        data += content
    prefix.with_name(prefix.name + ".data-00000-of-00001").write_bytes(data)
    prefix.with_name(prefix.name + ".index").write_bytes(_table(rows))


def _key(name: str) -> bytes:
    return name.encode(errors="surrogateescape")


def _content(value: np.ndarray) -> tuple[bytes, int]:
    """A tensor's bytes and their checksum.

    Of strings the lengths come first, then their checksum; what is summed up has the lengths as words.
    """
    if value.dtype.kind != "O":
        content = np.ascontiguousarray(value).tobytes()
        return content, crc32c(content)
    strings: list[bytes] = value.reshape(-1).tolist()
    lengths = np.array([len(text) for text in strings], "<u4").tobytes()
    checksum = masked(crc32c(lengths)).to_bytes(4, "little")
    joined = b"".join(strings)
    varints = b"".join(as_varint(len(text)) for text in strings)
    return varints + checksum + joined, crc32c(lengths + checksum + joined)


def _table(rows: Sequence[tuple[bytes, bytes]]) -> bytes:
    """A sorted table of one block."""
    written = bytearray()
    handles: list[bytes] = []
    for entries in (rows, [], None):
        # The index names the block of the rows by their last key.
        block = _block([(rows[-1][0], handles[0])] if entries is None else entries)
        handles.append(as_varint(len(written)) + as_varint(len(block)))
        sealed = block + b"\0"
        written += sealed + masked(crc32c(sealed)).to_bytes(4, "little")
    return bytes(
        written + (handles[1] + handles[2]).ljust(_HANDLES_BYTES, b"\0") + _MAGIC.to_bytes(8, "little")
    )


def _block(entries: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Entries with whole keys, and one place to begin reading at."""
    rows = (b"\0" + as_varint(len(key)) + as_varint(len(value)) + key + value for key, value in entries)
    return b"".join(rows) + (0).to_bytes(4, "little") + (1).to_bytes(4, "little")
