"""docs/optimizers.md: its table is that of the registers, its example runs."""

import re
from pathlib import Path

from numlite.converter.optimizers.rule_table import table

PAGE = Path(__file__).resolve().parents[2] / "docs/optimizers.md"


def test_the_table_is_not_stale() -> None:
    assert table().strip() in PAGE.read_text(), (
        "docs/optimizers.md is stale: put in what python -m numlite.converter.optimizers.rule_table prints"
    )


def test_the_first_example_runs() -> None:
    example = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert example
    exec(example[1], {})
