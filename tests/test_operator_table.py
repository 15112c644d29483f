"""docs/operators.md says what the registry and the cases say."""

from .operator_table import PATH, text


def test_the_table_of_operators_is_fresh() -> None:
    assert PATH.read_text() == text(), "stale: run python -m tests.operator_table"
