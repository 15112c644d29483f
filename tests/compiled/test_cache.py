"""The cache's files are trusted only when whole, and a digest covers all that code depends on."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numlite.kernels.compiled import cache

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


# --- digests
@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of kernels/compiled that a test may edit; digests are computed anew."""
    copy = tmp_path / "compiled"
    shutil.copytree(Path(cache.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cache, "_HERE", str(copy))
    forget()
    yield copy
    forget()


def forget() -> None:
    cache.family_digest.cache_clear()
    cache._source.cache_clear()
    cache._environment.cache_clear()


def digest() -> str:
    forget()
    return cache.family_digest("executor")


def test_a_digest_is_stable(sources: Path) -> None:
    assert digest() == digest()


@pytest.mark.parametrize("module", ["executor", "primitives", "memory", "compile", "elf"])
def test_a_digest_covers_sources(sources: Path, module: str) -> None:
    before = digest()
    with (sources / f"{module}.py").open("a") as file:
        file.write("\n# changed\n")
    assert digest() != before


def test_a_digest_leaves_out_other_families(sources: Path) -> None:
    before = digest()
    (sources / "elementwise.py").write_text("changed")
    assert digest() == before


def test_a_digest_covers_imported_values(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from numlite.lite import native_blocks

    before = digest()
    monkeypatch.setattr(native_blocks, "ROW", np.dtype([("kernel", np.int32)]))
    assert digest() != before


def test_a_digest_leaves_out_errors(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest()
    monkeypatch.setattr(cache.sys.modules["numlite.lite.errors"], "__file__", "/nowhere")
    assert digest() == before


def test_a_digest_covers_versions_and_processor(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest()
    monkeypatch.setattr(cache, "_distribution", lambda package: b"another version")
    other_version = digest()
    monkeypatch.setattr(cache, "host_description", lambda: "another processor")
    assert len({before, other_version, digest()}) == 3


def test_versions_are_those_of_the_packages() -> None:
    import llvmlite
    import numba

    for package in (numba, llvmlite):
        assert package.__version__.encode() in cache._distribution(package.__name__)
    assert cache._distribution("no_such_package") == b"missing"


RECORD = np.dtype([("a", np.int32), ("b", np.int64)])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (RECORD, np.dtype([("a", np.int32), ("b", np.int64)], align=True)),
        (RECORD, np.dtype([("a", np.int32), ("c", np.int64)])),
        (RECORD, np.dtype([("a", np.int32), ("b", np.float64)])),
        (np.dtype([("a", RECORD)]), np.dtype([("a", RECORD, 2)])),
        ((1, 2), (2, 1)),
        (1, 1.0),
        ({"a": 1}, {"a": 2}),
        (np.arange(3), np.arange(3.0)),
    ],
    ids=str,
)
def test_different_values_have_different_texts(one: object, other: object) -> None:
    assert cache._text(one) == cache._text(one)
    assert cache._text(one) != cache._text(other)


def test_other_values_are_refused() -> None:
    with pytest.raises(TypeError, match="plain constants"):
        cache._text(object())
