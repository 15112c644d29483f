"""Files that are there whole or not at all, whatever happens on the way."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numlite.lite import whole_file as whole_file_module
from numlite.lite.whole_file import publish, whole_file, write_whole


def test_pieces_become_one_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert write_whole(path, [b"ab", bytearray(b"c"), memoryview(b"de")]) == 5
    assert path.read_bytes() == b"abcde" and os.listdir(tmp_path) == ["file"]
    umask = os.umask(0o027)
    try:
        write_whole(str(path), [])
    finally:
        os.umask(umask)
    assert path.read_bytes() == b"" and path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("sizes", [[5 << 20], [1, 2 << 20, 0, (2 << 20) - 1, 7], [0], []])
def test_large_files_are_written_page_by_page(tmp_path: Path, sizes: list[int]) -> None:
    """What is written at once, from a multiple of a large page on, Linux keeps in one."""
    generator = np.random.default_rng(0)
    pieces = [generator.integers(0, 256, size, np.uint8).data for size in sizes]
    content = b"".join(pieces)
    written = [bytes(part) for part in whole_file_module._in_large_pages(pieces)]
    assert all(len(part) == 2 << 20 for part in written[:-1]) and len(written[-1]) < 2 << 20
    assert b"".join(written) == content
    assert write_whole(tmp_path / "file", pieces) == len(content)
    assert (tmp_path / "file").read_bytes() == content


def test_what_is_no_file_is_written_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert write_whole(pipe, [b"ab", b"c"]) == 3
        assert os.read(reader, 10) == b"abc"
    finally:
        os.close(reader)
    assert pipe.is_fifo() and os.listdir(tmp_path) == ["pipe"]


def test_what_a_link_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    write_whole(tmp_path / "link", [b"new"])
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_bytes() == b"new"


def failing_pieces() -> Iterator[bytes]:
    yield b"new"
    raise RuntimeError("no more")


def test_pieces_that_fail_leave_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError, match="no more"):
        write_whole(path, failing_pieces())
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["file"]


def test_a_disk_that_fills_up(tmp_path: Path) -> None:
    """The kernel's own refusal, half way through the file."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            write_whole(path, [bytes(1 << 15)] * 4)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["file"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "file"
    with pytest.raises(FileNotFoundError) as caught:
        write_whole(path, [b"x"])
    assert caught.value.filename == str(path) and not path.parent.exists()


def test_a_block_writes_where_it_likes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with whole_file(path) as file:
        file.write(b"xbc")
        file.seek(0)
        file.write(b"a")
        assert not path.exists()
    assert path.read_bytes() == b"abc" and os.listdir(tmp_path) == ["file"]


def test_a_cache_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "file"
    publish(path, b"old")
    publish(path, b"new")
    assert path.read_bytes() == b"new" and os.listdir(path.parent) == ["file"]
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700


def test_what_killed_processes_left_of_a_file_goes(tmp_path: Path) -> None:
    ages = {
        ".file-abcdefgh": 7200,
        ".file-ijklmnop": 60,
        ".file-abc": 7200,
        ".other-abcdefgh": 7200,
        "file-abcdefgh": 7200,
    }
    for name, age in ages.items():
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    write_whole(tmp_path / "file", [b"x"])
    assert set(os.listdir(tmp_path)) == {*ages, "file"} - {".file-abcdefgh"}
