"""The table of all messages: what a mistake is told, and by which type of error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from . import command_rows, converter_rows, delegate_rows, interpreter_rows, kernel_rows, quantization_rows
from .rows import Row

TABLES = (interpreter_rows, kernel_rows, delegate_rows, converter_rows, quantization_rows, command_rows)
ROWS: dict[str, Row] = {
    f"{t.__name__.rpartition('.')[2]}: {what}": row for t in TABLES for what, row in t.ROWS.items()
}
# A message is read by people: one that is longer hides what it says.
LONGEST = 700


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_message(row: Row, tmp_path: Path) -> None:
    with pytest.raises(row.kind) as caught:
        row.cause(tmp_path)
    error = caught.value
    assert type(error) is row.kind
    message = "\n".join([str(error), *getattr(error, "__notes__", ())])
    pattern = ".*".join(map(re.escape, row.text.split("...")))
    assert re.fullmatch(pattern, message, re.DOTALL), message
    assert len(message) <= LONGEST
