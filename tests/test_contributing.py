"""CONTRIBUTING.md says where things are: its picture has every folder, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import numlite

from .import_graph import FLOORS, ROOF

ROOT = Path(numlite.__file__).parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
# Beside the folders of the package, which have an __init__.py.
_OTHERS = {"tests", "benchmarks", "docs", "examples"}
_NAME = re.compile(r"`((?:[\w.]+/)*[\w*]+(?:\.(?:py|md|txt|fbs)|/))`")


def _drawn() -> set[str]:
    """The folders of the picture, each under the one that it is indented beneath."""
    picture = TEXT.split("## Where things are")[1].split("\n\nWhat a file names")[0]
    found: set[str] = set()
    above: list[str] = []
    for line in picture.splitlines():
        names = re.match(r"( {4,})((?:\w+/(?:, )?)+)", line)
        if names is None:
            continue
        depth = (len(names[1]) - 4) // 2
        for name in names[2].split(", "):
            above[depth:] = [name.rstrip("/")]
            found.add("/".join(above))
    return found


def test_the_picture_has_the_folders_that_there_are() -> None:
    packages = {
        str(path.parent.relative_to(ROOT))
        for floor in FLOORS + ROOF
        for path in (ROOT / floor).rglob("__init__.py")
    }
    assert _drawn() == packages | _OTHERS


def test_files_that_are_named_are_there() -> None:
    names = _NAME.findall(TEXT)
    assert len(names) > 60
    missing = [name for name in names if not any(ROOT.glob(name.rstrip("/")))]
    assert not missing


def test_tests_find_shared_models_by_one_rule() -> None:
    """NUMLITE_SHARED counts wherever tests look for models: a path of their own would not know it."""
    own = re.compile(r"parents\[\d\].*shared")
    rule, for_checkouts = "shared_folder.py", "corpus_digests.py"  # the latter is told by --corpus
    files = [path for path in (ROOT / "tests").rglob("*.py") if path.name not in (rule, for_checkouts)]
    assert [path.name for path in files if own.search(path.read_text())] == []
