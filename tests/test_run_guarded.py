"""The shared models touch no memory but their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .shared_folder import SHARED

SCRIPT = Path(__file__).with_name("run_guarded.py")
MODELS = SHARED / "models"


@pytest.mark.skipif(not MODELS.is_dir(), reason="the shared models are not beside this checkout")
@pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made with mprotect")
def test_shared_models() -> None:
    result = subprocess.run([sys.executable, SCRIPT, MODELS], capture_output=True, text=True)
    assert result.returncode == 0, (result.stdout + result.stderr)[-2000:]
