"""The list of what LiteRT refuses or computes otherwise: which lines a case has."""

from __future__ import annotations

from dataclasses import replace

from .cases.case import Differs, Refuses
from .litert_relations import departure, described
from .test_cases import CASES, REPLAYS


def test_what_numlite_refuses_too_is_not_run() -> None:
    """Outputs that are known to differ are asked for only where there are some."""
    found = 0
    for name, numerics in REPLAYS:
        case, relation = CASES[name], CASES[name].relation(numerics)
        if isinstance(relation, Refuses) and relation.numlite_too:
            found += 1
            assert "by numlite, too" in str(described(case, numerics, relation))
            assert departure(replace(case, closeness=Differs("any")), numerics) is None
    assert found
