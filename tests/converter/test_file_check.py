"""The small FileCheck that the graph IR's tests use."""

from __future__ import annotations

import pytest

from .file_check import CheckError, directives_of, file_check

OUTPUT = "head\n  %a = Add(%x,  %y)\n  %b = Mul(%a, %x)\n\n[%c1] tail one\ntail two\nc1 three\nd4 d4\n"

MET = [
    "CHECK: Add\nCHECK-NEXT: Mul",
    "CHECK: %[[A:.*]] = Add\nCHECK: Mul(%[[A]], {{.}}x)",
    "CHECK: Add\nCHECK-SAME: (%x, %y)",
    "CHECK-DAG: Mul\nCHECK-DAG: Add\nCHECK: tail",
    "CHECK: Add\nCHECK-NOT: Sub\nCHECK: tail",
    "CHECK: Mul\nCHECK-EMPTY:\nCHECK-NEXT: tail one",
    "CHECK-COUNT-2: tail",
    "CHECK-LABEL: tail one\nCHECK-LABEL: tail two",
    "CHECK: [[W:tail]] one\nCHECK-NEXT: [[W]] two",
    "CHECK: Add\nCHECK: [%[[C:.*]]] tail one\nCHECK-NEXT: tail two\nCHECK-NEXT: [[C]] three",
    "CHECK: [[D:[a-z]+[0-9]]] [[D]]",
]
NOT_MET = [
    "CHECK: Sub",
    "CHECK: head\nCHECK-NEXT: Mul",
    "CHECK: Mul\nCHECK: Add",
    "CHECK: %[[A:.]] = Mul\nCHECK: Add(%[[A]]",
    "CHECK: Add\nCHECK-SAME: Mul",
    "CHECK: head\nCHECK-NOT: Add\nCHECK: Mul",
    "CHECK: tail\nCHECK-NOT: two",
    "CHECK: head\nCHECK-EMPTY:",
    "CHECK-COUNT-3: tail",
    "CHECK: Add\nCHECK-LABEL: tail one\nCHECK: Mul",
]


@pytest.mark.parametrize("test", MET)
def test_met(test: str) -> None:
    file_check(OUTPUT, test)


@pytest.mark.parametrize("test", NOT_MET)
def test_not_met(test: str) -> None:
    with pytest.raises(CheckError):
        file_check(OUTPUT, test)


def test_prefixes_are_told_apart() -> None:
    assert [d.pattern for d in directives_of("# DISABLED-CHECK: a\n# CHECK: b\n# CAPTURE: c")] == ["b"]
    assert [d.pattern for d in directives_of("# CHECK: b\n# CAPTURE: c", "CAPTURE")] == ["c"]
