"""Variables of the environment: those that are read are known, and others are not silent."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numlite
import pytest
from numlite.lite.environment import VARIABLES, for_children

ROOT = Path(numlite.__file__).parent


def said(code: str, **environment: str) -> str:
    """What a process says on stderr that runs the code."""
    everything = os.environ | environment | {"PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", code]
    return subprocess.run(words, env=everything, capture_output=True, text=True, check=True).stderr


@pytest.mark.parametrize("module", ["numlite", "numlite.converter", "numlite.cli.main", "numlite.authoring"])
def test_an_unknown_variable_gives_one_warning(module: str) -> None:
    text = said(f"import {module}, numlite; numlite.Interpreter", NUMLITE_CACHEDIR="x", numlite_debug="1")
    known = "environment: NUMLITE_ variables must be known, got "
    assert text.count("\n") == 1 and text.startswith(known), text
    assert "'NUMLITE_CACHEDIR' (nearest: NUMLITE_CACHE_DIR)" in text
    assert "'numlite_debug' (nearest: NUMLITE_DEBUG)" in text


def test_names_show_escaped() -> None:
    assert r"'NUMLITE_\x1b[31m' (nearest: NUMLITE_" in said("import numlite", **{"NUMLITE_\x1b[31m": "1"})


def test_known_variables_and_others_are_silent() -> None:
    assert said("import numlite.converter", NUMLITE_CPU="", NUMLITE="1", NUMBA_NUM_THREADS="1") == ""


def test_compiling_processes_do_not_warn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMLITE_CPUS", "haswell")
    monkeypatch.setenv("NUMLITE_DEBUG", "1")
    assert for_children() == {name: value for name, value in os.environ.items() if name != "NUMLITE_CPUS"}


def test_all_that_are_read_are_in_the_table_and_explained() -> None:
    folders = ("cli", "converter", "delegates", "kernels", "lite", "packs", "schema", "tests")
    sources = [*ROOT.glob("*.py"), *(path for folder in folders for path in (ROOT / folder).rglob("*.py"))]
    own = {Path(__file__), ROOT / "lite" / "environment.py"}
    text = "\n".join(path.read_text() for path in sources if path not in own)
    assert set(re.findall(r"\bNUMLITE_[A-Z_]+\b", text)) == set(VARIABLES)
    explained = "\n".join((ROOT / name).read_text() for name in ("README.md", "CONTRIBUTING.md"))
    assert [name for name in VARIABLES if name not in explained] == []
