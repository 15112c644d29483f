"""Lists the cases that LiteRT refuses or computes otherwise, and those where both depart from the operator's
definition: python -m tests.litert_relations.

Each is an assertion of tests/test_cases.py, which fails when LiteRT begins to take it, or these to agree.
"""

from __future__ import annotations

from collections.abc import Iterator

from .cases.case import Case, Dies, Differs, Refuses, Relation, largest_difference
from .test_cases import CASES, REPLAYS, litert_outputs, numlite_outputs


def described(case: Case, numerics: str, relation: Relation | None) -> str | None:
    """The relation in words, None where the outputs agree."""
    if isinstance(relation, Refuses):
        return f"refused ({relation.match})" + (", by numlite, too" if relation.numlite_too else "")
    if isinstance(relation, Dies):
        return f"the process ends: {relation.reason}"
    if isinstance(relation, Differs):
        apart = largest_difference(numlite_outputs(case.id, numerics), litert_outputs(case, numerics))
        return f"differs by up to {apart:.4g}: {relation.reason}"
    return None


def departure(case: Case, numerics: str) -> str | None:
    """How far LiteRT and numlite are from the definition, in words, None where they follow it or refuse."""
    relation = case.relation(numerics)
    is_refused = isinstance(relation, Refuses) and relation.numlite_too
    if is_refused or not isinstance(case.closeness, Differs):
        return None
    apart = largest_difference(numlite_outputs(case.id, numerics), case.expected())
    return f"departs from the definition by up to {apart:.4g}: {case.closeness.reason}"


def lines() -> Iterator[str]:
    for case_id, numerics in REPLAYS:
        case = CASES[case_id]
        for text in (described(case, numerics, case.relation(numerics)), departure(case, numerics)):
            if text is not None:
                yield f"{case_id} ({numerics}): {text}"


if __name__ == "__main__":
    for line in lines():
        print(line)
