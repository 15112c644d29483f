"""Disks that are full or only read: outputs say which file, caches do without, nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pytest
from numlite.cli.main import cli, run_command
from numlite.cli.output_file import write_npz
from numlite.delegates.serialization import SerializationEntry
from numlite.lite.errors import StateError
from numlite.lite.whole_file import write_whole

from ..small_models import chain
from .disks import make_read_only, mounted

KINDS = {"full": "No space left on device", "readonly": "Read-only file system"}
OLD_BYTES = 60 << 10
LIMIT_S = 300

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the system has no tmpfs")

START = """
from numlite.kernels.compiled.driver.library import Library
assert Library().address("reshape", "flat_copy") > 0
print("runs")
"""


@pytest.fixture(params=KINDS)
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A disk that has 4 KiB left, or one that can only be read; and what it says. Skips without rights."""
    with mounted(tmp_path / "disk", 64 << 10) as folder:
        (folder / "old.tflite").write_bytes(bytes(OLD_BYTES))
        if request.param == "readonly":
            make_read_only(folder)
        yield folder, KINDS[request.param]


def check_unchanged(folder: Path, kept: str = "old.tflite") -> None:
    """Nothing is there but the old file, or what matches kept."""
    others = [name for name in os.listdir(folder) if not fnmatch(name, kept)]
    assert others in ([], ["old.tflite"]) and (folder / "old.tflite").read_bytes() == bytes(OLD_BYTES)


def test_files_say_which_cannot_be_written(disk: tuple[Path, str]) -> None:
    folder, text = disk
    for name in ("old.tflite", "new.tflite"):
        with pytest.raises(OSError, match=text) as caught:
            write_whole(folder / name, [bytes(8 << 10)] * 8)
        assert caught.value.filename == str(folder / name)
        check_unchanged(folder)


def test_arrays_say_which_file_cannot_be_written(disk: tuple[Path, str]) -> None:
    folder, text = disk
    with pytest.raises(Exception, match=f"out.npz: {text}"):
        write_npz(folder / "out.npz", {"x": np.zeros(1 << 14, np.float32)})
    check_unchanged(folder)


def test_commands_say_which_file_cannot_be_written(
    disk: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, text = disk
    model = tmp_path / "model.tflite"
    model.write_bytes(chain(shape=(1, 1 << 14)))
    for name in ("old.tflite", "out.npz"):
        assert run_command(cli, ["run", str(model), "-o", str(folder / name)]) != 0
        error = capsys.readouterr().err
        assert str(folder / name) in error and text in error and "Traceback" not in error
        check_unchanged(folder)


def test_a_serialization_says_which_folder(disk: tuple[Path, str]) -> None:
    folder, text = disk
    entry = SerializationEntry(folder / "entry.bin", 12)
    with pytest.raises(StateError, match=f"must be writable, got {folder} .{text}"):
        entry.set_data(bytes(64 << 10))
    assert entry.data_or(lambda: bytes(64 << 10)) == bytes(64 << 10)
    check_unchanged(folder)


@pytest.mark.long
def test_kernels_run_that_cannot_be_kept(disk: tuple[Path, str]) -> None:
    folder, text = disk
    done = subprocess.run(
        [sys.executable, "-c", START],
        env=os.environ | {"NUMLITE_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert (done.returncode, done.stdout) == (0, "runs\n")
    # One line, which says why, and what would help.
    assert done.stderr.count("\n") == 1 and f"cannot write {folder} ({text})" in done.stderr
    check_unchanged(folder, "*s-*.bin")  # imports and digests are small enough for what is left
