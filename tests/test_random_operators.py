"""Some random operators, by LiteRT and numlite, more where tests may be long; see random_operators.py."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from numlite import interpreter as numlite_api
from numlite.kernels.operators import OPERATORS
from numlite.schema import tflite

from .cases.single_op import Kind, single_op
from .random_operators import ENTRIES, attempt, trial_of
from .random_ops.entry import difference
from .random_ops.known import KNOWN
from .random_ops.litert_process import LiteRT, Outcome, run
from .random_ops.one_op import Trial
from .random_ops.unclamped import agrees_unclamped

SCRIPT = Path(__file__).with_name("random_operators.py")
needs_litert = pytest.mark.skipif(
    find_spec("ai_edge_litert") is None, reason="ai-edge-litert is not installed"
)


def outcome(*arrays: np.ndarray) -> Outcome:
    return Outcome([list(arrays)])


def test_a_number_is_always_the_same_case() -> None:
    first, second = trial_of(7, "ADD"), trial_of(7, "ADD")
    assert first.content == second.content and first.told == second.told
    assert first.content != trial_of(8, "ADD").content


def test_differences_are_told() -> None:
    entry, one = ENTRIES["ADD"], np.array([1, 2], np.int8)
    assert difference(entry, outcome(one), outcome(one)) == ""
    assert "[1]" in difference(entry, outcome(one), outcome(np.array([1, 3], np.int8)))
    assert "LiteRT int16[2]" in difference(entry, outcome(one), outcome(one.astype(np.int16)))
    assert "refused: why" in difference(entry, Outcome(refusal="why"), outcome(one))
    floats = np.array([1, np.nan], np.float32)
    assert difference(entry, outcome(floats), outcome(floats * np.float32(1 + 1e-7))) == ""
    assert difference(entry, outcome(floats), outcome(np.array([1, 2], np.float32))) != ""


class Shifted:
    """What gives numlite's results, and something on top."""

    def __init__(self, by: float) -> None:
        self.by = by

    def run(self, trial: Trial, resolver: str) -> Outcome:
        found = run(numlite_api, trial, resolver)
        return Outcome([[y + y.dtype.type(self.by) for y in outputs] for outputs in found.outputs])


@pytest.mark.parametrize(
    ("activation", "by", "agrees"), [("RELU", 1e-4, True), ("RELU", 1.0, False), ("NONE", 1e-4, False)]
)
def test_what_an_activation_hides_is_looked_at_without_it(activation: str, by: float, agrees: bool) -> None:
    options = tflite.AddOptionsT(fused_activation_function=tflite.ActivationFunctionType[activation])
    content = single_op(tflite.BuiltinOperator.ADD, [Kind((3,))] * 2, Kind((3,)), options)
    x = np.array([-1000, 0, 1], np.float32)
    trial = Trial(content, ((x, x),), "const int32[1]=[3] float32[3] -> float32")
    litert = cast("LiteRT", Shifted(by))
    assert agrees_unclamped(litert, trial, "AUTO", ENTRIES["ADD"]) == agrees


def test_what_litert_refuses_is_no_difference() -> None:
    assert difference(ENTRIES["ADD"], outcome(np.zeros(1)), Outcome(refusal="no kernel")) == ""


def test_entries_are_operators_and_reasons_are_of_entries() -> None:
    named = [name for name in ENTRIES if name.isupper()]
    assert len(named) > 140 and set(named) <= set(OPERATORS)
    assert all(known.why and known.operators for known in KNOWN)


@needs_litert
def test_some_cases_of_each_family() -> None:
    litert = LiteRT()
    endings = [
        attempt(litert, number, name)
        for name in ("ADD", "STRIDED_SLICE", "MEAN", "FULLY_CONNECTED", "GATHER", "SELECT", "UNPACK", "LESS")
        for number in range(4)
    ]
    litert.stop()
    assert not [ending for ending in endings if ending.startswith(("differs", "no case"))]
    assert sum(ending == "same" for ending in endings) > 15


@needs_litert
@pytest.mark.long
def test_hundreds_of_random_operators() -> None:
    """Always the same: what others find (`--seconds 300 --first N`, by hand) becomes a case of its own."""
    command = [sys.executable, str(SCRIPT), "--count", "500", "--first", "1000"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert " same" in result.stdout
