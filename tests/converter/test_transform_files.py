"""TensorFlow's own files for its graph transforms; those that do not hold are named, with the reason."""

from __future__ import annotations

import re

import pytest
from numlite.converter.ir import print_module
from numlite.lite.errors import ModelError

from .file_check import CheckError
from .run_lines import check, parts_of, printed, runs_of, transformed
from .shared_files import TFG, needs_tfg, tfg_files

# File: why it does not hold. A file that is not here must hold, and one that is here must not.
NOT_COVERED: dict[str, str] = {}
_EXPECTED = re.compile(r"expected-error@\+(\d+) \{\{(.*?)\}\}")


def check_file(file: str) -> None:
    """CheckError or another error when the file does not hold."""
    text = (TFG / file).read_text(encoding="utf-8")
    for run in runs_of(text):
        assert run.steps
        if run.missing:
            raise CheckError(f"there is no transform {run.missing[0]}")
        if run.expects_errors:
            check(run, "".join(_printed_or_refused(run, part) for part in parts_of(run, text)), text)
        else:
            check(run, printed(run, text), text)


def _printed_or_refused(run, part):  # type: ignore[no-untyped-def]
    """The printed part, "" for one that is refused as it says."""
    expected = _EXPECTED.search(part)
    if expected is None:
        return print_module(transformed(run, part))
    with pytest.raises(ModelError) as caught:
        transformed(run, part)
    assert expected[2] in str(caught.value)
    line = part.count("\n", 0, expected.start()) + 1 + int(expected[1])
    assert f"line {line}:" in str(caught.value)
    return ""


@needs_tfg
@pytest.mark.parametrize("file", tfg_files("transform"))
def test_file(file: str) -> None:
    if file not in NOT_COVERED:
        check_file(file)
        return
    with pytest.raises((CheckError, ModelError)):
        check_file(file)


@needs_tfg
def test_files_that_are_not_covered_are_there() -> None:
    files = tfg_files("transform")
    assert len(files) == 124
    assert NOT_COVERED.keys() <= set(files)
