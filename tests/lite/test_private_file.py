"""Caches' files are read only where nobody but their user can have written them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from numlite.lite import private_file
from numlite.lite.private_file import open_private, read_private
from numlite.lite.whole_file import publish

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")

OTHER_USER = 12345


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "cache" / "entry.bin"
    publish(path, b"ours")
    assert read_private(path) == b"ours"
    return path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def linked(path: Path) -> None:
    path.rename(path.with_name("elsewhere.bin"))
    path.symlink_to("elsewhere.bin")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir(mode=0o700)


def shared_folder(path: Path) -> None:
    """Others may write the folder, which has more than a cache in it."""
    (path.parent / "thesis.txt").touch()
    path.parent.chmod(0o777)


def sticky_folder(path: Path) -> None:
    path.parent.chmod(0o1777)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path: path.chmod(0o620), "its mode is 620"),
        (lambda path: path.chmod(0o602), "its mode is 602"),
        (linked, ""),
        (pipe, "not a plain file"),
        (folder, "not a plain file"),
        (shared_folder, "its mode is 777"),
        (sticky_folder, "its mode is 1777"),
    ],
    ids=["group writes", "others write", "link", "pipe", "folder", "shared folder", "sticky folder"],
)
def test_what_others_may_have_written_is_not_read(
    change: Callable[[Path], None], said: str, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    change(path)
    before = mode(path.parent)
    assert read_private(path) is None and read_private(path) is None
    assert caplog.text.count("is not used and what it caches is made anew") == bool(said)
    assert said in caplog.text
    assert mode(path.parent) == before


@pytest.fixture
def as_another_user(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(private_file.os, "geteuid", lambda: OTHER_USER)
    yield


@pytest.mark.usefixtures("as_another_user")
def test_what_another_user_owns_is_neither_read_nor_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "entry.bin"
    path.write_bytes(b"theirs")
    path.chmod(0o600)
    assert read_private(path) is None
    assert f"owns it, not user {OTHER_USER}" in caplog.text
    with pytest.raises(OSError, match="must be its user's alone"):
        publish(path, b"ours")
    assert path.read_bytes() == b"theirs"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_in_our_folder(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    os.chown(path, OTHER_USER, -1)
    assert read_private(path) is None
    assert f"user {OTHER_USER} owns it" in caplog.text
    publish(path, b"anew")
    assert read_private(path) == b"anew"


@pytest.mark.parametrize("wide", [0o777, 0o755, 0o770])
def test_a_wider_cache_of_our_own_is_made_private(wide: int, path: Path) -> None:
    path.parent.chmod(wide)
    path.chmod(0o644)
    assert read_private(path) == b"ours"
    assert (mode(path.parent), mode(path)) == (0o700, 0o600)


def test_a_folder_with_other_things_keeps_its_mode(path: Path) -> None:
    (path.parent / "thesis.txt").touch()
    path.parent.chmod(0o755)
    assert read_private(path) == b"ours"  # others read the folder, but cannot write it
    assert mode(path.parent) == 0o755


def test_all_folders_that_are_made_are_private(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        publish(tmp_path / "a" / "b" / "entry.bin", b"x")
    finally:
        os.umask(umask)
    assert [mode(tmp_path / name) for name in ("a", "a/b", "a/b/entry.bin")] == [0o700, 0o700, 0o600]


def test_the_descriptor_outlives_the_name(path: Path) -> None:
    """What was checked is what is read, whatever comes to lie under the name."""
    handle = open_private(path)
    assert handle is not None
    path.unlink()
    path.write_bytes(b"theirs")
    with open(handle, "rb") as file:
        assert file.read() == b"ours"


def test_nothing_there(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert read_private(tmp_path / "none.bin") is None
    assert read_private(tmp_path / "none" / "none.bin") is None
    assert not caplog.records
