"""Rules alone: what is given, and what each makes of it; what is alike and must stay is given back."""

from __future__ import annotations

import pytest
from numlite.converter.operator_rules.equal_operators import drop_unused
from numlite.converter.operator_rules.register import LAST_RULES, RULES

from ..written_operators import parsed, rewritten, written
from .moving_pairs import MOVING_GIVEN, MOVING_PAIRS
from .pairs import GIVEN, PAIRS

_PAIRS = [*PAIRS, *MOVING_PAIRS]
_GIVEN = GIVEN | MOVING_GIVEN


def test_every_rule_has_a_pair() -> None:
    shown = {rule for rule, _, result in _PAIRS if result}
    assert [rule.name for rule in (*RULES, *LAST_RULES) if rule not in shown] == []


@pytest.mark.parametrize(
    ("rule", "given", "result"), _PAIRS, ids=[f"{p[0].name}-{i}" for i, p in enumerate(_PAIRS)]
)
def test_pair(rule, given: str, result: str) -> None:  # type: ignore[no-untyped-def]
    shared = _GIVEN.get(rule, "")
    made, trace = rewritten(
        f"{given}" if given.startswith("graph") else f"{shared}\n{given}", rule, drop_unused
    )
    assert made == written(parsed(f"{shared}\n{result or given}"))
    assert trace.count == sum(fired.count for fired in trace.fired.values())
    assert (trace.count > 0) is bool(result)
