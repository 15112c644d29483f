"""Checkpoints: the tensors of both formats, and what a damaged one says."""

from __future__ import annotations

import json
import tracemalloc
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest
from numlite.converter.saved_model.checkpoint import load_checkpoint
from numlite.converter.saved_model.crc32c import crc32c, masked
from numlite.converter.saved_model.snappy import decompressed
from numlite.converter.saved_model.table import read_table
from numlite.converter.saved_model.tensor_slice import slice_key
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema import graph_def
from numlite.schema.graph_def import TensorProto
from numlite.schema.saved_model import SavedTensorSlices, TensorSliceProto

from ..shared_files import SHARED
from .checkpoint_files import (
    FLOAT,
    entry,
    literals,
    number,
    sealed,
    slow_crc32c,
    slow_masked,
    table,
    write_bundle,
    write_floats,
)

HUGE = 1 << 40


@pytest.mark.parametrize("size", [0, 1, 9, 4095, 4096, 4099, 66_000])
def test_checksum(size: int) -> None:
    content = np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()
    assert crc32c(content) == slow_crc32c(content)
    assert crc32c(content[size // 3 :], crc32c(content[: size // 3])) == crc32c(content)


def test_checksum_of_several_blocks_is_that_of_its_parts() -> None:
    content = np.random.default_rng(1).integers(0, 256, (9 << 20) + 5, np.uint8).tobytes()
    checksum = 0
    for start in range(0, len(content), 1 << 20):
        checksum = crc32c(content[start : start + (1 << 20)], checksum)
    assert crc32c(content) == checksum


def test_checksum_of_the_standard() -> None:
    # RFC 3720, appendix B.4.
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert masked(crc32c(b"123456789")) == slow_masked(b"123456789")


ROWS = [(f"key/{i:04}".encode(), bytes([i % 256]) * (i % 7)) for i in range(200)]


@pytest.mark.parametrize("compress", [None, literals], ids=["plain", "snappy"])
def test_table(compress: object) -> None:
    assert list(read_table(table([ROWS[:90], ROWS[90:]], compress), "t")) == ROWS


def test_snappy_copies() -> None:
    # "ab", a copy that runs into itself, one of two bytes of distance, one of four.
    body = bytes([1 << 2]) + b"ab" + bytes([1 | (6 - 4) << 2, 2]) + bytes([2 | 3 << 2, 8, 0])
    body += bytes([3 | 1 << 2, 1, 0, 0, 0])
    assert decompressed(number(14) + body) == b"abababab" + b"abab" + b"bb"


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff" * 12, number(1 << 40), number(9) + b"\x00a", number(4) + b"\x01\x09", number(3) + b"\xf0"],
)
def test_damaged_snappy(content: bytes) -> None:
    with pytest.raises(ModelError, match="snappy"):
        decompressed(content)


def test_a_block_of_another_compression() -> None:
    content = table([[(b"a", b"b")]])
    size = len(content)
    typed = bytearray(content)
    # The first block: one entry of five bytes, and eight bytes of restart points.
    typed[: 13 + 5] = sealed(content[:13], 7)
    with pytest.raises(UnsupportedError, match="compression 7"):
        list(read_table(bytes(typed), "t"))
    assert len(typed) == size


def test_keys_of_slices() -> None:
    assert slice_key("a\0\xff", [(0, -1), (64, 3)]).hex() == "006100ffc3bf00010102807fc04083"


def test_tensors_of_a_bundle(tmp_path: Path) -> None:
    prefix = tmp_path / "variables"
    floats = np.arange(6, dtype=np.float32).reshape(2, 3)
    halves = np.float16([1, 2])
    content = floats.tobytes()
    strings = [b"", b"abc", b"\xff" * 300]
    lengths = b"".join(number(len(s)) for s in strings)
    sizes = b"".join(len(s).to_bytes(4, "little") for s in strings)
    sum_of_sizes = slow_masked(sizes).to_bytes(4, "little")
    text = lengths + sum_of_sizes + b"".join(strings)
    of_text = entry(graph_def.DT_STRING, [3], text, len(content))
    of_text.crc32c = slow_masked(sizes + sum_of_sizes + b"".join(strings))
    entries = {
        b"f": entry(FLOAT, [2, 3], content),
        b"s": of_text,
        b"h": entry(graph_def.DT_HALF, [2], halves.tobytes(), 0, 1),
        b"b": entry(graph_def.DT_BFLOAT16, [2], b"\x80\x3f\x00\x40", 4, 1),
        b"none": entry(FLOAT, [0, 4], b"", 0, 1),
    }
    write_bundle(prefix, entries, [content + text, halves.tobytes() + b"\x80\x3f\x00\x40"])
    checkpoint = load_checkpoint(prefix)
    assert list(checkpoint.tensors) == ["b", "f", "h", "none", "s"]
    np.testing.assert_array_equal(checkpoint.read("f").array(), floats)
    np.testing.assert_array_equal(checkpoint.read("h").array(), halves)
    assert checkpoint.read("b").array().tolist() == [0x3F80, 0x4000]
    assert checkpoint.read("s").array().tolist() == strings
    assert checkpoint.read("none").array().shape == (0, 4)


def sliced(tmp_path: Path, ranges: list[list[tuple[int, int]]]) -> Path:
    """A variable `v` of [4, 6] whose element (i, j) is 6 i + j, in those slices."""
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)
    entries, data = {b"v": entry(FLOAT, [4, 6], b"")}, bytearray()
    for extents in ranges:
        proto = entries[b"v"].slices.add()
        index = []
        for start, length in extents:
            extent = proto.extent.add(start=start)
            if length >= 0:
                extent.length = length
            index.append(slice(start, start + length if length >= 0 else None))
        part = whole[tuple(index)]
        entries[slice_key("v", extents)] = entry(FLOAT, part.shape, part.tobytes(), len(data))
        data += part.tobytes()
    write_bundle(tmp_path / "v", entries, [bytes(data)])
    return tmp_path / "v"


@pytest.mark.parametrize(
    "ranges",
    [
        [[(0, 4), (0, 6)]],
        [[(0, 2), (0, -1)], [(2, 2), (0, -1)]],
        [[(0, -1), (0, 5)], [(0, -1), (5, 1)]],
        [[(0, 1), (0, 6)], [(1, 3), (0, 2)], [(1, 3), (2, 4)]],
    ],
)
def test_slices_make_a_whole(tmp_path: Path, ranges: list[list[tuple[int, int]]]) -> None:
    value = load_checkpoint(sliced(tmp_path, ranges)).read("v").array()
    np.testing.assert_array_equal(value, np.arange(24).reshape(4, 6))


@pytest.mark.parametrize(
    "ranges",
    [
        [[(0, 3), (0, 6)]],
        [[(0, 2), (0, 6)], [(1, 2), (0, 6)]],
        [[(0, 2), (0, 6)], [(0, 2), (0, 6)]],
        [[(0, 2), (0, 6)], [(2, 3), (0, 6)]],
        [[(0, 4)]],
    ],
    ids=["gap", "overlap", "twice", "beyond", "rank"],
)
def test_slices_that_make_no_whole(tmp_path: Path, ranges: list[list[tuple[int, int]]]) -> None:
    path = tmp_path / "v"
    entries = {b"v": entry(FLOAT, [4, 6], b"")}
    for extents in ranges:
        proto = entries[b"v"].slices.add()
        for start, length in extents:
            proto.extent.add(start=start, length=length)
    write_bundle(path, entries, [b""])
    with pytest.raises(ModelError, match="slice"):
        load_checkpoint(path).read("v")


def first_format(tensors: dict[str, TensorProto]) -> bytes:
    """A checkpoint of the first format, each tensor in one slice."""
    meta, rows = SavedTensorSlices(), []
    for name, tensor in tensors.items():
        described = meta.meta.tensor.add(name=name, type=tensor.dtype, shape=tensor.tensor_shape)
        whole = TensorSliceProto()
        for _ in tensor.tensor_shape.dim:
            whole.extent.add()
        described.slice.add().CopyFrom(whole)
        row = SavedTensorSlices()
        row.data.name = name
        row.data.data.CopyFrom(tensor)
        key = slice_key(name, [(0, -1)] * len(tensor.tensor_shape.dim))
        rows.append((key, row.SerializeToString()))
    return table([[(b"", meta.SerializeToString())], sorted(rows)])


def test_the_first_format(tmp_path: Path) -> None:
    tensors = {}
    for name, dtype, fields in (
        ("f", FLOAT, {"float_val": [1, 2]}),
        ("i", graph_def.DT_INT8, {"int_val": [-1, 3]}),
        ("h", graph_def.DT_HALF, {"half_val": [0x3C00, 0x4000]}),
        ("c", graph_def.DT_COMPLEX64, {"scomplex_val": [1, 2, 3, 4]}),
        ("s", graph_def.DT_STRING, {"string_val": [b"a", b"bc"]}),
    ):
        tensors[name] = TensorProto(dtype=dtype, **fields)
        tensors[name].tensor_shape.dim.add(size=2)
    (tmp_path / "old").write_bytes(first_format(tensors))
    checkpoint = load_checkpoint(tmp_path / "old")
    values = {name: checkpoint.read(name).array().tolist() for name in checkpoint.tensors}
    assert values == {"f": [1, 2], "i": [-1, 3], "h": [1, 2], "c": [1 + 2j, 3 + 4j], "s": [b"a", b"bc"]}
    (tmp_path / "many-00000-of-00001").write_bytes(first_format({"f": tensors["f"]}))
    assert list(load_checkpoint(tmp_path / "many").tensors) == ["f"]


def change(tmp_path: Path, **fields: object) -> Path:
    """A checkpoint of one tensor `x`, whose entry says something else than what is there."""
    content = np.float32([1, 2, 3, 4]).tobytes()
    proto = entry(FLOAT, [4], content)
    for name, value in fields.items():
        if name == "sizes":
            del proto.shape.dim[:]
            for size in value:
                proto.shape.dim.add(size=size)
        else:
            setattr(proto, name, value)
    write_bundle(tmp_path / "c", {b"x": proto}, [content])
    return tmp_path / "c"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"crc32c": 5}, "checksum"),
        ({"offset": 1}, "lie outside c.data-00000-of-00001, which has 16"),
        ({"offset": HUGE}, "lie outside"),
        ({"offset": -4}, "lie outside"),
        ({"size": 12}, "needs 16 bytes, got 12"),
        ({"shard_id": 7}, "data file 7 of 1 does not exist"),
        ({"shard_id": -1}, "data file -1"),
        ({"sizes": [HUGE], "size": 4 * HUGE}, "lie outside"),
        ({"sizes": [HUGE, HUGE]}, "too many elements"),
        ({"sizes": [HUGE, HUGE, 0]}, "too many elements"),
        ({"sizes": [-1]}, "shape must be known"),
        ({"sizes": [1] * 65}, "too many elements or dimensions"),
        ({"dtype": graph_def.DT_STRING, "sizes": [HUGE]}, "strings do not fit"),
        ({"dtype": graph_def.DT_STRING}, "its strings need|a number does not end"),
    ],
)
def test_what_the_index_says_must_be_there(tmp_path: Path, fields: dict[str, object], message: str) -> None:
    path = change(tmp_path, **fields)
    tracemalloc.start()
    with pytest.raises(ModelError, match=message):
        load_checkpoint(path).read("x")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 22


@pytest.mark.parametrize("name", ["VARIANT", "RESOURCE"])
def test_types_without_a_form(tmp_path: Path, name: str) -> None:
    path = change(tmp_path, dtype=getattr(graph_def, f"DT_{name}"))
    with pytest.raises(UnsupportedError, match=name.lower()):
        load_checkpoint(path).read("x")


def test_headers(tmp_path: Path) -> None:
    for header, error in (
        ({"num_shards": 0}, ModelError),
        ({"num_shards": 1 << 30}, ModelError),
        ({"endianness": 1}, UnsupportedError),
        ({"version": graph_def.VersionDef(min_consumer=9)}, UnsupportedError),
    ):
        write_bundle(tmp_path / "c", {}, [b""], **header)
        with pytest.raises(error):
            load_checkpoint(tmp_path / "c")


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no checkpoint"):
        load_checkpoint(tmp_path / "none")
    write_floats(tmp_path / "c", {"x": np.float32([1])})
    with pytest.raises(ModelError, match="no tensor 'y'"):
        load_checkpoint(tmp_path / "c").read("y")


def test_a_data_file_that_is_missing(tmp_path: Path) -> None:
    write_floats(tmp_path / "c", {"x": np.float32([1])})
    (tmp_path / "c.data-00000-of-00001").unlink()
    with pytest.raises(ModelError, match=r"c\.data-00000-of-00001 is missing"):
        load_checkpoint(tmp_path / "c").read("x")


def test_mutated_and_truncated_checkpoints(tmp_path: Path) -> None:
    random = Random(3)
    write_floats(tmp_path / "c", {f"v{i}": np.full(i, i, np.float32) for i in range(20)})
    index, data = tmp_path / "c.index", tmp_path / "c.data-00000-of-00001"
    good = {index: index.read_bytes(), data: data.read_bytes()}
    for _ in range(300):
        path = random.choice([index, data])
        content = bytearray(good[path])
        if random.random() < 0.3:
            content = content[: random.randrange(len(content))]
        else:
            content[random.randrange(len(content))] ^= random.randrange(1, 256)
        path.write_bytes(bytes(content))
        # Every byte is under a checksum or without meaning: what is read is right.
        try:
            checkpoint = load_checkpoint(tmp_path / "c")
            for name in checkpoint.tensors:
                assert set(checkpoint.read(name).array()) <= {int(name[1:])}
        except (ModelError, UnsupportedError):
            pass
        path.write_bytes(good[path])


SAVED_MODELS = sorted((SHARED / "convert" / "savedmodels").glob("*/index.json"))


@pytest.mark.skipif(not SAVED_MODELS, reason="needs ../shared/convert/savedmodels")
@pytest.mark.parametrize("index", SAVED_MODELS, ids=lambda path: path.parent.name)
def test_every_tensor_of_real_checkpoints(index: Path) -> None:
    described = json.loads(index.read_text(encoding="utf-8"))["checkpoint_tensors"]
    expected = np.load(index.parent / "checkpoint.npz")
    checkpoint = load_checkpoint(index.parent / "model" / "variables" / "variables")
    assert {*checkpoint.tensors, "_CHECKPOINTABLE_OBJECT_GRAPH"} == {
        *described,
        "_CHECKPOINTABLE_OBJECT_GRAPH",
    }
    for name, tensor in described.items():
        value = checkpoint.read(name).array()
        if tensor.get("enc") == "str":
            content, offsets = expected[tensor["key"]].tobytes(), expected[tensor["key"] + "_off"]
            strings = [content[a:b] for a, b in pairwise(offsets)]
            assert value.ravel().tolist() == strings
        elif "key" in tensor:
            assert value.dtype == expected[tensor["key"]].dtype
            assert value.tobytes() == expected[tensor["key"]].tobytes(), name
