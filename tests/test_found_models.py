"""What the fuzzer has found stays mended; `python tests/fuzz_models.py` looks for more."""

from __future__ import annotations

import pytest

from tests.fuzz_models import KINDS
from tests.fuzzing import driver
from tests.fuzzing.found import FOUND
from tests.fuzzing.kind import Mutant
from tests.fuzzing.models import MODELS
from tests.fuzzing.verdict import GOOD


@pytest.mark.parametrize("draw", range(4))
@pytest.mark.parametrize("name", FOUND)
def test_found(name: str, draw: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each in four of the ways that a trial may take: numerics, threads, delegates."""
    kind, make, expected = FOUND[name]
    for module in ("lite.available_memory", "kernels.fallback.kernel"):
        monkeypatch.setattr(f"numlite.{module}.available_bytes", lambda: driver.AVAILABLE_BYTES)
    ending = driver.ending(KINDS[kind], Mutant(make(), "found", draw=draw))
    without_delegate = kind == "compiled" and ending.startswith("UnsupportedError: ")
    assert expected in ending or without_delegate, ending
    assert ending.split(":")[0] in GOOD | MODELS.endings
