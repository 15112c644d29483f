"""The resolver imports an operator's module when something of it is first prepared."""

from __future__ import annotations

import subprocess
import sys

import pytest
from numlite.kernels.operators import OPERATORS
from numlite.kernels.register import BuiltinOpResolver, registrations
from numlite.lite.registration import Registration
from numlite.schema.operator_code import CODES

_IMPORTS = """
import sys
from numlite.kernels.register import BuiltinOpResolver
from numlite.schema.operator_code import CODES
known = BuiltinOpResolver().find_builtin(CODES["CONCATENATION"], 1, "CONCATENATION")
print(known.name, known.max_version, known.is_own, known.side_effects, known.fuse is not None)
print("numlite.kernels.concatenation" in sys.modules)
known.prepare
print("numlite.kernels.concatenation" in sys.modules)
"""


def test_an_operators_module_is_imported_for_its_hooks_only() -> None:
    command = [sys.executable, "-c", _IMPORTS]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    assert lines[:3] == ["CONCATENATION 7 True False True", "False", "True"]


@pytest.mark.parametrize("family", sorted({facts.family for facts in OPERATORS.values()}))
def test_what_is_announced_is_what_the_module_registers(family: str) -> None:
    for known in registrations(family):
        found = BuiltinOpResolver().find_builtin(CODES[known.name], 1, known.name)
        for attribute in Registration.__slots__:
            if attribute != "fuse":
                assert getattr(found, attribute) == getattr(known, attribute), attribute
        assert (found.fuse is None) == (known.fuse is None)


def test_an_unknown_attribute_is_none_of_an_operator() -> None:
    with pytest.raises(AttributeError, match="hooks"):
        BuiltinOpResolver().find_builtin(CODES["ADD"], 1, "ADD").hooks  # type: ignore[attr-defined] # noqa: B018
