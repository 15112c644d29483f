"""Lists the cases that LiteRT refuses or computes otherwise: python -m tests.litert_relations.

Each is an assertion of tests/test_cases.py, which fails when LiteRT begins to take it or to agree.
"""

from __future__ import annotations

from collections.abc import Iterator

from .cases.case import Case, Dies, Differs, Refuses, Relation, largest_difference
from .test_cases import CASES, RESOLVERS, litert_outputs, numlite_outputs, relation_of


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


def lines() -> Iterator[str]:
    for case in CASES.values():
        for numerics in RESOLVERS:
            text = described(case, numerics, relation_of(case, numerics))
            if text is not None:
                yield f"{case.id} ({numerics}): {text}"


if __name__ == "__main__":
    for line in lines():
        print(line)
