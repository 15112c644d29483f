"""docs/operators.md says what the registry and the cases say."""

import pytest

from .cases.due import EXACT_OPERATORS
from .operator_table import PATH, loosest, seen, text


def test_the_table_of_operators_is_fresh() -> None:
    assert PATH.read_text() == text(), "stale: run python -m tests.operator_table"


def test_what_computes_nothing_new_is_held_exactly() -> None:
    loose = [case for name in EXACT_OPERATORS for row in seen()[name].values() for case in row.inexact]
    assert not loose


@pytest.mark.parametrize(
    "seen_words, word",
    [
        ({"exact", "close"}, "close"),
        ({"within 2", "within 16", "exact"}, "within 16"),
        ({"exact", "refuses"}, "exact"),
        ({"close", "differs"}, "differs"),
        (set(), "-"),
    ],
)
def test_a_group_is_as_its_loosest(seen_words: set[str], word: str) -> None:
    assert loosest(seen_words) == word
