"""The text form: TensorFlow's own files are parsed, verified, printed, exported or refused."""

from __future__ import annotations

import re

import pytest
from google.protobuf import text_format
from numlite.converter.ir import export_graph_def, parse_module, print_module, verify
from numlite.lite.errors import ModelError, UnsupportedError

from .file_check import directives_of, file_check
from .shared_files import TFG, needs_tfg, tfg_files

_EXPECTED = re.compile(r"expected-(error|note)\s*@([+-]\d+) \{\{(.*?)\}\}")


def parts_of(file: str) -> list[str]:
    """The inputs that a file holds."""
    return (TFG / file).read_text(encoding="utf-8").split("// -----")


def printed_twice(text: str) -> str:
    for _ in range(2):
        module = parse_module(text)
        verify(module)
        text = print_module(module)
    return text


@needs_tfg
@pytest.mark.parametrize("file", tfg_files("parse"))
def test_parse(file: str) -> None:
    text = (TFG / file).read_text(encoding="utf-8")
    file_check(printed_twice(text), text)


@needs_tfg
@pytest.mark.parametrize("file", tfg_files("parse"))
def test_generic_form_says_the_same(file: str) -> None:
    module = parse_module((TFG / file).read_text(encoding="utf-8"))
    again = parse_module(print_module(module, generic=True))
    verify(again)
    assert print_module(again) == print_module(module)


@needs_tfg
@pytest.mark.parametrize("file", tfg_files("export"))
def test_export(file: str) -> None:
    graphs = [export_graph_def(parse_module(part)) for part in parts_of(file)]
    text = (TFG / file).read_text(encoding="utf-8")
    if directives_of(text):
        file_check("\n".join(map(text_format.MessageToString, graphs)), text)


@needs_tfg
@pytest.mark.parametrize("file", tfg_files("invalid", "ir/"))
def test_invalid(file: str) -> None:
    printed = []
    for part in parts_of(file):
        expected = expected_errors(part)
        if not expected:
            printed.append(printed_twice(part))
            continue
        with pytest.raises((ModelError, UnsupportedError)) as caught:
            verify(parse_module(part))
        for kind, line, message in expected:
            assert message in str(caught.value)
            assert f"line {line}" in str(caught.value), kind
    text = (TFG / file).read_text(encoding="utf-8")
    if directives_of(text):
        file_check("\n".join(printed), text)


def expected_errors(part: str) -> list[tuple[str, int, str]]:
    """Kind, line and message of what the part must be refused with."""
    found = []
    for number, line in enumerate(part.split("\n"), 1):
        found += [(m[1], number + int(m[2]), m[3]) for m in _EXPECTED.finditer(line)]
    return found
