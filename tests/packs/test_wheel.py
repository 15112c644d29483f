"""Which packs a wheel carries, and what its platforms may be."""

import json
from hashlib import blake2b
from pathlib import Path

import pytest
from numlite.kernels.compiled.driver.pack_builder import PACKED
from numlite.packs.wheel import architecture, put_packs, wheel_files

LINUX = ("x86_64", "aarch64")
PLATFORMS = {arch: f"manylinux2014_{arch}" for arch in LINUX}
PLATFORMS |= {"macos": "macosx_11_0_arm64", "windows": "win_amd64"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of all packs, as far as a wheel looks at them; other systems' lie in folders of their own."""
    for system in ("", "macos", "windows"):
        packs, place = {}, tmp_path / system
        place.mkdir(exist_ok=True)
        for name in (name for arch in ([system] if system else LINUX) for name in PACKED[arch]):
            content = f"code for {name} {system}".encode()
            (place / f"{name}.pack").write_bytes(content)
            packs[name] = {"bytes": len(content), "blake2b": blake2b(content, digest_size=32).hexdigest()}
        write_index(place, packs)
    return tmp_path


def write_index(folder: Path, packs: dict) -> None:
    index = {"version": "1", "compilers": {}, "wheels": PACKED, "packs": packs, "sources": {"fill": "0"}}
    (folder / "index.json").write_text(json.dumps(index))


@pytest.mark.parametrize("arch", PACKED)
def test_a_wheel_has_the_packs_of_its_machine(folder: Path, arch: str) -> None:
    files = wheel_files(PLATFORMS[arch], folder)
    folder = folder if arch in LINUX else folder / arch
    index = json.loads(files.pop("index.json"))
    assert set(files) == {f"{name}.pack" for name in PACKED[arch]}
    assert set(index["packs"]) == set(PACKED[arch]) and index["sources"] == {"fill": "0"}
    assert all(files[name] == (folder / name).read_bytes() for name in files)


def test_a_wheel_has_no_packs_of_one_that_was_built_before(folder: Path, tmp_path: Path) -> None:
    built = tmp_path / "built"
    built.mkdir()
    for arch in PACKED:
        put_packs(PLATFORMS[arch], folder, built)
        assert {path.name for path in built.iterdir()} == {
            "index.json",
            *(f"{name}.pack" for name in PACKED[arch]),
        }
    put_packs("", folder, built)
    assert list(built.iterdir()) == []


def test_platforms() -> None:
    assert architecture("manylinux2014_x86_64.musllinux_1_2_x86_64") == "x86_64"
    assert architecture("manylinux_2_17_aarch64") == "aarch64"
    assert architecture("win_amd64") == "windows"
    assert architecture("macosx_11_0_arm64") == "macos"


@pytest.mark.parametrize(
    "platforms",
    ["manylinux2014_x86_64.musllinux_1_2_aarch64", "win_arm64", "macosx_11_0_x86_64", "linux_x86_64"],
)
def test_other_platforms_are_refused(platforms: str) -> None:
    with pytest.raises(ValueError, match=f"platforms of Linux on one machine.*got '{platforms}'"):
        architecture(platforms)


def test_missing_packs_are_named(folder: Path, tmp_path: Path) -> None:
    index = json.loads((folder / "index.json").read_text())
    write_index(folder, {"aarch64": index["packs"]["aarch64"]})
    with pytest.raises(
        ValueError, match=r"got aarch64: python -m numlite\.packs build aarch64-dotprod aarch64-i8mm"
    ):
        wheel_files("manylinux2014_aarch64", folder)
    (folder / "macos" / "index.json").unlink()
    with pytest.raises(ValueError, match=r"got none: python -m numlite\.packs build --system macos$"):
        wheel_files("macosx_11_0_arm64", folder)
    (folder / "index.json").unlink()
    with pytest.raises(ValueError, match=r"got none: python -m numlite\.packs build$"):
        wheel_files("manylinux2014_aarch64", folder)


def test_a_pack_that_the_index_does_not_mean_is_refused(folder: Path) -> None:
    (folder / "aarch64.pack").write_bytes(b"another")
    with pytest.raises(ValueError, match=r"aarch64\.pack must be the one"):
        wheel_files("manylinux2014_aarch64", folder)
