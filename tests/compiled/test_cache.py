"""The cache's files are trusted only when whole, and a digest covers all that code depends on."""

import os
from pathlib import Path

import pytest
from numlite.kernels.compiled.driver import cache

DIGEST = "0123456789abcdef" * 2


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cache, "cache_directory", lambda: str(tmp_path))
    return tmp_path


def test_what_is_written_is_read(directory: Path) -> None:
    assert cache.read("conv", DIGEST) is None
    cache.write("conv", DIGEST, b"image")
    assert cache.read("conv", DIGEST) == b"image"
    assert cache.read("conv", DIGEST.replace("0", "1")) is None
    assert [path.name for path in directory.iterdir()] == [f"conv-{DIGEST}.bin"]


@pytest.mark.parametrize("damage", ["empty", "short", "long", "flipped", "foreign"])
def test_a_damaged_file_is_not_read(directory: Path, damage: str) -> None:
    cache.write("conv", DIGEST, bytes(1000))
    path = directory / f"conv-{DIGEST}.bin"
    content = bytearray(path.read_bytes())
    if damage == "foreign":
        other = DIGEST[::-1]
        cache.write("conv", other, bytes(1000))
        content = bytearray((directory / f"conv-{other}.bin").read_bytes())
    content[500] ^= damage == "flipped"
    whole = bytes(content)
    path.write_bytes({"empty": b"", "short": whole[:-1], "long": whole + b"x"}.get(damage, whole))
    assert cache.read("conv", DIGEST) is None


def test_a_write_that_fails_leaves_nothing(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(*arguments: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", no_space)
    with pytest.raises(OSError, match="No space"):
        cache.write("conv", DIGEST, b"image")
    assert not list(directory.iterdir())


def test_old_files_of_a_family_go(directory: Path) -> None:
    for number in range(30):
        cache.write("conv", f"{number:032x}", b"image")
        os.utime(directory / f"conv-{number:032x}.bin", (number, number))
    cache.write("conv_f32", DIGEST, b"image")
    cache.write("conv", DIGEST, b"image")
    assert (directory / f"conv_f32-{DIGEST}.bin").exists()
    assert len(list(directory.glob("conv-*.bin"))) == 16
    assert cache.read("conv", f"{29:032x}") == b"image"


def test_what_a_killed_process_left_goes(directory: Path) -> None:
    for age, name in (0, ".conv-0.bin-abcdefgh"), (7200, ".conv-1.bin-abcdefgh"), (7200, ".of-others"):
        left = directory / name
        left.touch()
        os.utime(left, (left.stat().st_mtime - age,) * 2)
    cache.write("pool", DIGEST, b"image")
    left_names = sorted(path.name for path in directory.iterdir())
    assert left_names == [".conv-0.bin-abcdefgh", ".of-others", f"pool-{DIGEST}.bin"]
