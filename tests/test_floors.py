"""The rules of the import graph, read from the sources: floors, relative imports, what is shipped."""

import tomllib
from pathlib import Path

import pytest

from .import_graph import FLOORS, ROOT, circles, import_graph, imports, own_imports, sources

# What a kernel may know of the runtime.
CONTRACTS = {
    "available_memory",
    "called_subgraph",
    "context",
    "errors",
    "families",
    "fusion",
    "kernel_call",
    "native_blocks",
    "node",
    "op_resolver",
    "quantization",
    "registration",
    "resources",
    "string_tensor",
    "tensor",
    "debug",
    "environment",
    "private_file",
    "whole_file",
}


def height(name: str) -> int:
    return FLOORS.index(name) if name in FLOORS else len(FLOORS)


def test_imports_run_downwards() -> None:
    upward = [
        f"{path.relative_to(ROOT)}:{found.line} imports {'.'.join(parts)}"
        for path in sources()
        for found, parts in own_imports(path)
        if height(parts[0]) > height(path.relative_to(ROOT).parts[0])
    ]
    assert not upward


def test_kernels_know_only_the_contracts_of_the_runtime() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{found.line} imports {'.'.join(parts)}"
        for path in (ROOT / "kernels").rglob("*.py")
        for found, parts in own_imports(path)
        if parts[0] == "lite" and len(parts) > 1 and parts[1] not in CONTRACTS
    ]
    assert not wrong


def test_front_ends_do_not_lean_on_each_other() -> None:
    """What several of them need stands in converter/building, which knows none of them."""
    front_ends = {"keras", "onnx", "stablehlo"}
    wrong = [
        f"{path.relative_to(ROOT)}:{found.line} imports {'.'.join(parts)}"
        for folder in sorted((*front_ends, "building"))
        for path in (ROOT / "converter" / folder).rglob("*.py")
        for found, parts in own_imports(path)
        if parts[0] == "converter" and parts[1] in front_ends - {folder}
    ]
    assert not wrong


def test_only_compiled_kernels_import_numba() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{found.line} imports {found.name}"
        for path in sources()
        for found in imports(path)
        if not found.level
        and found.name.split(".")[0] in ("numba", "llvmlite")
        and path.relative_to(ROOT).parts[:2] != ("kernels", "compiled")
    ]
    assert not wrong


def test_the_package_imports_itself_by_relative_path() -> None:
    own = {"numlite", *FLOORS}
    absolute = [
        f"{path.relative_to(ROOT)}:{found.line} imports {found.name}"
        for path in sources()
        for found in imports(path)
        if not found.level and found.name.split(".")[0] in own
    ]
    assert not absolute


def test_modules_import_in_no_circle() -> None:
    """Imports inside functions count, too; what only type checkers see does not."""
    assert circles(import_graph()) == []


@pytest.mark.parametrize(
    "late",
    ["def f():\n    from . import a", "def f():\n    from .a import x", "def f():\n    from ..lite import a"],
)
def test_an_import_inside_a_function_closes_a_circle(tmp_path: Path, late: str) -> None:
    (tmp_path / "lite").mkdir()
    (tmp_path / "lite" / "a.py").write_text("from .b import f\n")
    (tmp_path / "lite" / "b.py").write_text(late)
    assert circles(import_graph(tmp_path)) == [[("lite", "a"), ("lite", "b")]]


def test_every_package_is_shipped() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    folders = {path.parent.relative_to(ROOT).parts for path in sources() if path.stem == "__init__"}
    expected = {".".join(("numlite", *parts)) for parts in folders}
    assert set(project["tool"]["setuptools"]["packages"]) == expected
