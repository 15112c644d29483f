"""What the fuzzer has found stays mended; `python tests/fuzz_models.py` looks for more."""

from __future__ import annotations

import numlite
import numpy as np
import pytest

from tests import guarded_memory
from tests.fuzz_models import KINDS
from tests.fuzzing import driver
from tests.fuzzing.found import FOUND, constant_state
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


def test_a_constant_state_stays() -> None:
    """Its bytes lie in the file, where nobody may write."""
    interpreter = numlite.Interpreter(model_content=guarded_memory.guarded_copy(constant_state()))
    interpreter.allocate_tensors()
    for index, columns in ((0, 11), (2, 19)):
        interpreter.set_tensor(index, np.ones((3, columns), np.float32))
    for _ in range(2):
        interpreter.invoke()
        assert interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).any()
        np.testing.assert_array_equal(interpreter.get_tensor(1), 0)
