"""Damaged checkpoints of both formats: their tables rewritten with right checksums, or bytes changed."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from google.protobuf.message import DecodeError, Message
from numlite.converter.execution.checkpoint_writer import write_checkpoint
from numlite.converter.saved_model import load_checkpoint
from numlite.converter.saved_model.table import read_table
from numlite.converter.saved_model.tensor_slice import slice_key
from numlite.kernels.fallback.file_access import SavedTensor
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema import graph_def
from numlite.schema.graph_def import TensorProto
from numlite.schema.saved_model import (
    BundleEntryProto,
    BundleHeaderProto,
    SavedSlice,
    SavedSliceMeta,
    SavedTensorSliceMeta,
    SavedTensorSlices,
)

from tests.converter.saved_model.checkpoint_files import literals, table
from tests.fuzzing.folders import files_of, in_folder, save
from tests.fuzzing.kind import Kind, Mutant, Seed
from tests.fuzzing.messages import change_field, damaged_bytes, packed
from tests.shared_folder import SHARED

SAVED_MODELS = SHARED / "convert/savedmodels"
MAX_INDEX_BYTES = 3_000
MAX_DATA_BYTES = 100_000
INDEX = ".index"


def seeds(given: Sequence[Path]) -> list[Seed]:
    """Checkpoints: of the named SavedModels or the shared ones, and two that are made here."""
    folders = [path for path in (given or [SAVED_MODELS]) if path.is_dir()]
    indexes = [index for folder in folders for index in sorted(folder.rglob(f"variables{INDEX}"))]
    found = [Seed(index.parts[-4], files_of(index.parent)) for index in indexes]
    small = [seed for seed in found if _is_small(seed.content)]
    return small if given else [*small, *_own_seeds()]


def _is_small(files: dict[str, bytes]) -> bool:
    index = files[f"variables{INDEX}"]
    return len(index) <= MAX_INDEX_BYTES and sum(map(len, files.values())) <= MAX_DATA_BYTES


def _own_seeds() -> Iterator[Seed]:
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    texts = np.array([b"a", b"", b"longer"], object)
    with tempfile.TemporaryDirectory() as folder:
        tensors = [
            SavedTensor("v", graph_def.DT_FLOAT, values),
            SavedTensor("texts", graph_def.DT_STRING, texts),
            SavedTensor("n", graph_def.DT_INT64, np.array(7, np.int64)),
        ]
        write_checkpoint(Path(folder, "variables"), tensors)
        yield Seed("written", files_of(Path(folder)))
    rows = list(_slices("v", values))
    yield Seed("slices", {"variables": table([rows])})
    yield Seed("compressed", {"variables": table([rows], compress=literals)})


def _slices(name: str, values: np.ndarray) -> Iterator[tuple[bytes, bytes]]:
    """The rows of a checkpoint of the first format that has one tensor, in two slices."""
    meta = SavedSliceMeta(name=name, type=graph_def.DT_FLOAT)
    for size in values.shape:
        meta.shape.dim.add(size=size)
    parts = []
    for start in range(len(values)):
        extents = [(start, 1), *((0, size) for size in values.shape[1:])]
        proto = meta.slice.add()
        for begin, length in extents:
            proto.extent.add(start=begin, length=length)
        data = TensorProto(dtype=graph_def.DT_FLOAT, float_val=values[start].ravel().tolist())
        saved = SavedTensorSlices(data=SavedSlice(name=name, slice=proto, data=data))
        parts.append((slice_key(name, extents), saved.SerializeToString()))
    yield b"", SavedTensorSlices(meta=SavedTensorSliceMeta(tensor=[meta])).SerializeToString()
    yield from sorted(parts)


def damage(seed: Seed, draw: random.Random) -> Mutant:
    return Mutant(damaged_files(dict(seed.content), draw), "damaged checkpoint", draw=draw.getrandbits(32))


def damaged_files(files: dict[str, bytes], draw: random.Random) -> dict[str, bytes]:
    """The files of a checkpoint with entries of the index changed, one lost, or bytes changed."""
    tables = [name for name in sorted(files) if name.endswith(INDEX) or "." not in name]
    how = draw.random()
    if how < 0.8 and tables:
        name = draw.choice(tables)
        files[name] = _damaged_table(files[name], draw)
    elif how < 0.85:
        del files[draw.choice(sorted(files))]
    else:
        name = draw.choice(sorted(files))
        files[name] = damaged_bytes(files[name], draw)
    return files


def _damaged_table(content: bytes, draw: random.Random) -> bytes:
    try:
        rows = list(read_table(content, "index"))
    except (ModelError, UnsupportedError):
        return damaged_bytes(content, draw)
    for _ in range(draw.choice((1, 1, 2, 4))):
        if not rows:
            break
        at = draw.randrange(len(rows))
        key, value = rows[at]
        how = draw.randrange(8)
        if how == 0:
            del rows[at]
        elif how == 1:
            rows.insert(draw.randrange(len(rows) + 1), rows[at])
        elif how == 2:
            rows[at] = damaged_bytes(key, draw), value
        elif how == 3:
            rows[at] = key, rows[draw.randrange(len(rows))][1]
        else:
            rows[at] = key, _damaged_entry(key, value, draw)
    if draw.random() < 0.8:
        rows.sort()
    return table([rows or [(b"", b"")]], compress=literals if draw.random() < 0.2 else None)


def _damaged_entry(key: bytes, value: bytes, draw: random.Random) -> bytes:
    kind: type[Message] = BundleEntryProto if key else BundleHeaderProto
    if key.startswith(b"\0") or (not key and len(value) > 16):
        kind = SavedTensorSlices
    try:
        message = kind.FromString(value)
    except DecodeError:
        return damaged_bytes(value, draw)
    if draw.random() < 0.1:
        return damaged_bytes(value, draw)
    change_field(message, draw)
    return packed(message, value)


def read_all(folder: Path, mutant: Mutant) -> str:
    """Every tensor of the checkpoint."""
    checkpoint = load_checkpoint(folder / "variables")
    for name in checkpoint.tensors:
        checkpoint.read(name).array()
    return "read"


CHECKPOINTS = Kind("checkpoints", seeds, damage, in_folder(read_all), frozenset({"read"}), "", save)
