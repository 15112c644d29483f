"""Disks of a test's own, of memory."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(folder: Path, nbytes: int) -> Iterator[Path]:
    """A disk of that many bytes in a new folder of this user's alone. Skips without rights."""
    folder.mkdir(0o700, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={nbytes},mode=700", "tmpfs", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        assert os.geteuid() != 0 or "permission denied" in done.stderr
        pytest.skip("this user may mount no disks")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def make_read_only(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
