"""Prepared models in a cache that is full or can only be read: results as ever, and nothing half written."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .disks import make_read_only, mounted
from .prepared_files import kept, layers, loaded_twice, prepare, result

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the system has no tmpfs")

DISK_BYTES = 4 << 20
LOADS = 5


@pytest.fixture
def disk(folder: Path) -> Iterator[Path]:
    """The cache's folder, on a disk of its own."""
    with mounted(folder, DISK_BYTES):
        yield folder


@pytest.fixture
def other(tmp_path: Path) -> str:
    """A model that was never loaded."""
    file = tmp_path / "other.tflite"
    file.write_bytes(layers(2.0))
    return str(file)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("loads", [2, 4], ids=["prepared", "prepared, with a start"])
def test_a_read_only_cache_is_used_and_stays_as_it_is(
    disk: Path, path: str, restored: list[int], loads: int
) -> None:
    (wanted,) = {result(path) for _ in range(loads)}
    assert len(kept(disk)) == 1
    make_read_only(disk)
    before = contents(disk)
    restored.clear()
    assert [result(path) for _ in range(LOADS)] == [wanted] * LOADS
    assert len(restored) == LOADS and contents(disk) == before


def test_what_a_read_only_cache_lacks_is_prepared_each_time(
    disk: Path, path: str, other: str, restored: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    """Another model, other shapes and another setting; nothing is said of it."""
    loaded_twice(path)
    make_read_only(disk)
    before = contents(disk)
    for model, arguments in ((other, {}), (path, {"rows": 3}), (path, {"num_threads": 2})):
        assert len({result(model, **arguments) for _ in range(LOADS)}) == 1
    assert not restored and contents(disk) == before and not caplog.records


def test_a_damaged_file_in_a_read_only_cache_costs_a_preparation_each_time(
    disk: Path, path: str, restored: list[int]
) -> None:
    wanted = loaded_twice(path)
    (file,) = kept(disk)
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    make_read_only(disk)
    assert [result(path) for _ in range(LOADS)] == [wanted] * LOADS and not restored


def test_a_command_says_that_the_cache_can_only_be_read(
    disk: Path, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make_read_only(disk)
    assert prepare(path) == 1
    error = capsys.readouterr().err
    assert "Read-only file system" in error and str(disk) in error and "Traceback" not in error


@pytest.mark.parametrize("room", [0, 4096, 16 << 10], ids=["no byte", "a mark", "a part of the file"])
def test_a_full_disk_keeps_nothing_until_there_is_room(
    disk: Path, path: str, restored: list[int], room: int
) -> None:
    filler = disk / "filler"
    filler.write_bytes(bytes(DISK_BYTES - room))
    (wanted,) = {result(path) for _ in range(LOADS)}
    assert not restored and not kept(disk)
    assert not [name for name in contents(disk) if name.startswith(".")]
    filler.unlink()
    assert [result(path) for _ in range(3)] == [wanted] * 3
    assert len(kept(disk)) == 1 and restored
