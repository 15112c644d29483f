"""Files of ../shared/hostile, which broke something once; a checkout without them skips their tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from .shared_folder import SHARED

HOSTILE = SHARED / "hostile"


def hostile_file(name: str) -> Path:
    """The path of a file ("other/g7841.pb"); skips where the folder is not there."""
    if not HOSTILE.is_dir():
        pytest.skip("no ../shared/hostile beside the repository")
    return HOSTILE / name
