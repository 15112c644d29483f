"""Files that ended the process or took gigabytes, kept beside the repository: each ends in an error now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .hostile_files import HOSTILE

FILES = sorted([*(HOSTILE / "crash").glob("*.tflite"), *(HOSTILE / "other").glob("string_*.tflite")])
SCRIPT = Path(__file__).with_name("fuzz_models.py")


@pytest.mark.skipif(not FILES, reason="no ../shared/hostile beside the repository")
def test_files_that_ended_the_process() -> None:
    """In a process of their own, with little memory whose edges cannot be touched."""
    command = [sys.executable, str(SCRIPT), "--plain", *map(str, FILES)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = result.stdout.splitlines()
    assert result.returncode == 0 and len(lines) == 2 * len(FILES), lines[-1]
    endings = dict(zip(map(Path, lines[::2]), lines[1::2], strict=True))
    for path, ending in endings.items():
        if path.name == "string_fill.tflite":
            assert ending.startswith("  InvokeError: node 0 (FILL), output 'y': FILL: tensor 2 'y' string")
            assert "bytes are needed" in ending
        else:
            assert ending.startswith("  ModelError: tensor ") and "strings, got a header that says" in ending
