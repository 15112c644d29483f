"""Every case of tests/cases, replayed by numlite in both numerics: against its oracle, and against LiteRT."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .cases.case import EXACT, RESOLVERS, Case, Close, Dies, Differs, Exact, Quanta, Refuses, check_outputs

STEMS = sorted(path.stem for path in (Path(__file__).parent / "cases").glob("*.py"))


def cases_of(stem: str) -> list[Case]:
    """CASES of one module of tests/cases."""
    return list(getattr(import_module(f".cases.{stem}", __package__), "CASES", ()))


def collect() -> dict[str, Case]:
    """All cases by id. A module that cannot be imported fails a test of its own, not all others."""
    cases: dict[str, Case] = {}
    for stem in STEMS:
        with suppress(Exception):
            cases |= {case.id: case for case in cases_of(stem)}
    return cases


CASES = collect()
REPLAYS = [(case.id, numerics) for case in CASES.values() for numerics in case.numerics]
WITH_ORACLE = [(case_id, numerics) for case_id, numerics in REPLAYS if CASES[case_id].oracle is not None]
# Of floats that depart from their definition: closer ones agree.
_AGREE = Close(rtol=1e-4, atol=1e-4)


def run(api: Any, case: Case, numerics: str) -> list[np.ndarray]:
    """Outputs of the case, from an `interpreter` module (numlite's or LiteRT's)."""
    interpreter = api.Interpreter(
        model_content=case.make(),
        experimental_op_resolver_type=api.OpResolverType[RESOLVERS[numerics]],
        num_threads=case.num_threads,
    )
    details = interpreter.get_input_details()
    for detail, value in zip(details, case.inputs, strict=True):
        if tuple(detail["shape"]) != value.shape:
            interpreter.resize_tensor_input(detail["index"], value.shape)
    interpreter.allocate_tensors()
    for detail, value in zip(details, case.inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


# Outputs are kept: a case is run once for the oracle and for LiteRT.
@cache
def numlite_outputs(case_id: str, numerics: str) -> list[np.ndarray]:
    return run(import_module("numlite.interpreter"), CASES[case_id], numerics)


@pytest.mark.parametrize("stem", STEMS)
def test_cases_can_be_read(stem: str) -> None:
    for case in cases_of(stem):
        assert CASES[case.id] is case, f"two cases have the id {case.id}"


def test_every_replay_is_compared() -> None:
    """What runs here and has no oracle, LiteRT tells."""
    alone = [
        (case_id, numerics)
        for case_id, numerics in REPLAYS
        if CASES[case_id].oracle is None
        and CASES[case_id].runs(numerics)
        and not isinstance(CASES[case_id].relation(numerics), Exact | Quanta | Close | None)
    ]
    assert not alone


@pytest.mark.parametrize("case_id, numerics", WITH_ORACLE, ids=map("-".join, WITH_ORACLE))
def test_equals_oracle(case_id: str, numerics: str) -> None:
    case = CASES[case_id]
    if not case.runs(numerics):
        with pytest.raises(RuntimeError, match="node 0"):
            numlite_outputs(case_id, numerics)
        return
    outputs, expected = numlite_outputs(case_id, numerics), case.expected()
    if isinstance(case.closeness, Differs):
        case.closeness.check(outputs, expected, None, _AGREE)
    else:
        check_outputs(outputs, expected, case.closeness, EXACT)


def litert_outputs(case: Case, numerics: str) -> list[np.ndarray]:
    return run(import_module("ai_edge_litert.interpreter"), case, numerics)


def litert_kills(case: Case, numerics: str) -> bool:
    """Whether a process that runs the case by LiteRT is ended by a signal."""
    child = os.fork()
    if not child:
        with suppress(Exception):
            litert_outputs(case, numerics)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def check_if_it_runs(case: Case, numerics: str, relation: Refuses) -> None:
    """LiteRT refuses as is known, or gives numlite's outputs; of those without elements any sizes."""
    try:
        expected = litert_outputs(case, numerics)
    except (RuntimeError, ValueError) as error:
        assert re.search(relation.match, str(error)), error
    else:
        outputs = numlite_outputs(case.id, numerics)
        if any(x.size for x in (*outputs, *expected)):
            check_outputs(outputs, expected, EXACT, EXACT)


@pytest.mark.skipif(find_spec("ai_edge_litert") is None, reason="ai-edge-litert is not installed")
@pytest.mark.parametrize("case_id, numerics", REPLAYS, ids=map("-".join, REPLAYS))
def test_stands_to_litert_as_is_known(case_id: str, numerics: str) -> None:
    case = CASES[case_id]
    relation = case.relation(numerics)
    if isinstance(relation, Dies):
        assert litert_kills(case, numerics), f"LiteRT lives now, though {relation.reason}"
        return
    if isinstance(relation, Refuses) and relation.sometimes:
        check_if_it_runs(case, numerics, relation)
        return
    if isinstance(relation, Refuses):
        with pytest.raises((RuntimeError, ValueError), match=relation.match):
            litert_outputs(case, numerics)
        return
    outputs, expected = numlite_outputs(case_id, numerics), litert_outputs(case, numerics)
    of_floats = EXACT if isinstance(case.closeness, Differs) else case.closeness
    if isinstance(relation, Differs):
        relation.check(outputs, expected, None, of_floats)
    else:
        check_outputs(outputs, expected, relation, of_floats)
