"""A sample of hostile data for every operator; `python tests/hostile_data.py` tries all of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "hostile_data.py"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made with mprotect")


@pytest.mark.parametrize("every", [401, pytest.param(7, marks=pytest.mark.long)])
def test_every_operator_ends_in_an_answer_or_an_error(every: int) -> None:
    """Every registered operator has a case, and nothing done to one of them is a fault."""
    command = [sys.executable, str(SCRIPT), "--every", str(every), "--children", "2"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, (result.stdout + result.stderr)[-4000:]
