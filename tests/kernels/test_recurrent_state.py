"""States of recurrent operators: they go on from one invoke to the next, and can be reset."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from ..test_cases import CASES

IDS = [
    "LSTM-float32-peephole-normalized",
    "LSTM-basic-uint8",
    "UNIDIRECTIONAL_SEQUENCE_LSTM-int8-plain",
    "BIDIRECTIONAL_SEQUENCE_LSTM-float32-time_major-crossed",
    "RNN-float32-activation4",
    "BIDIRECTIONAL_SEQUENCE_RNN-float32-activation4",
    "SVDF-float32-rank2",
    "SVDF-hybrid-asymmetric-rank2",
    "SVDF-int8-rank2",
]
STEPS = 4


def steps(api: Any, case_id: str) -> list[list[np.ndarray]]:
    """Outputs of STEPS invokes, the inputs set before the first one, and of one after a reset."""
    interpreter = api.Interpreter(
        model_content=CASES[case_id].make(), experimental_op_resolver_type=api.OpResolverType.BUILTIN_REF
    )
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), CASES[case_id].inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    found = []
    for step in range(STEPS + 1):
        if step == STEPS:
            interpreter.reset_all_variables()
        interpreter.invoke()
        found.append([interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()])
    return found


@pytest.mark.skipif(find_spec("ai_edge_litert") is None, reason="LiteRT is not installed")
@pytest.mark.parametrize("case_id", IDS)
def test_steps_equal_litert(case_id: str) -> None:
    pairs = zip(
        steps(import_module("numlite.interpreter"), case_id),
        steps(import_module("ai_edge_litert.interpreter"), case_id),
        strict=True,
    )
    for actual, expected in pairs:
        for a, e in zip(actual, expected, strict=True):
            np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-5 if a.dtype == np.float32 else 0)


@pytest.mark.parametrize("case_id", [i for i in IDS if "basic" not in i])
def test_reset_starts_anew(case_id: str) -> None:
    found = steps(import_module("numlite.interpreter"), case_id)
    for first, later, again in zip(found[0], found[STEPS - 1], found[STEPS], strict=True):
        assert not np.array_equal(first, later)
        np.testing.assert_array_equal(first, again)
