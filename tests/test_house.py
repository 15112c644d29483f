"""What the measures of tests/house.py must be, and that they find what they look for."""

from __future__ import annotations

import ast

import pytest

from .house import BANNER, GENERATED, built_maps, idioms, operator_codes, trees, typed_codes, use_maps
from .import_graph import ROOT

FILES = trees(ROOT)
_MOST_LINES = 400
_SMALL, _MOST_SMALL = 30, 15


def _lines(path: object) -> int:
    return len((ROOT / str(path)).read_text().splitlines())


def test_files_have_a_screenful_to_tell() -> None:
    sizes = {
        path.relative_to(ROOT): _lines(path)
        for path in FILES
        if str(path.relative_to(ROOT)) not in GENERATED and path.stem != "__init__"
    }
    assert [path for path, n in sizes.items() if n > _MOST_LINES] == []
    assert len([path for path, n in sizes.items() if n < _SMALL]) < _MOST_SMALL


def test_nothing_is_registered_or_numbered_a_second_way() -> None:
    codes = operator_codes(ROOT)
    assert list(idioms(FILES)) == ["REGISTRATIONS"]
    assert [path for path, tree in FILES.items() if typed_codes(tree, codes)] == []


def test_passes_ask_the_graph_for_users() -> None:
    assert [path for path, tree in FILES.items() if use_maps(path, tree, ROOT)] == []


@pytest.mark.parametrize(
    "text",
    [
        "for n in nodes:\n for v in n.operands:\n  users[v].append(n)",
        "for n in nodes:\n for v in (*n.operands, *n.controls):\n  users.setdefault(v.owner, []).append(n)",
        "for n in nodes:\n s = {v.owner for v in n.operands}\n for o in s:\n  m.setdefault(o, []).append(n)",
        "for n in nodes:\n for v in n.results:\n  makers[v] = n",
        "makers = {v: n for n in nodes for v in n.outputs}",
    ],
)
def test_a_use_map_is_found_by_its_shape(text: str) -> None:
    assert built_maps(ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "for n in nodes:\n for v in n.operands:\n  effect[v.owner] = max(effect[v.owner], effect[n])",
        "for n in nodes:\n for v in n.operands:\n  found.append(n)",
        "for a in arguments:\n for l in a.labels:\n  sizes[l] = a",
        "places = {n: i for i, n in enumerate(nodes)}",
    ],
)
def test_what_is_known_of_nodes_is_no_use_map(text: str) -> None:
    assert not built_maps(ast.parse(text))


def test_files_are_not_cut_by_banners() -> None:
    kept = ROOT / "kernels" / "compiled"  # a changed comment there has everything compiled anew
    files = [path for path in FILES if kept not in path.parents]
    folders = [*files, *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    assert [path for path in folders if BANNER.search(path.read_text())] == []
    assert BANNER.search("x = 1\n\n# --- parts") and BANNER.search("    # ======")
    assert not BANNER.search("# a - b\n#: of x\n#!/bin/bash")
