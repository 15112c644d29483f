"""The rules of the import graph, read from the sources: floors, relative imports, what is shipped."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Ground floor first. The roof (the files of the root, and cli) may import them all.
FLOORS = ["schema", "lite", "kernels", "delegates", "converter"]
ROOF = ["cli"]

# What a kernel may know of the runtime.
CONTRACTS = {
    "available_memory",
    "called_subgraph",
    "context",
    "errors",
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
    "private_file",
    "whole_file",
}


def sources() -> Iterator[Path]:
    yield from ROOT.glob("*.py")
    for folder in FLOORS + ROOF:
        yield from (ROOT / folder).rglob("*.py")


def imports(path: Path) -> Iterator[tuple[int, int, str]]:
    """(line, level, dotted name) of every import of path; `from . import a` counts as `a`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, 0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = [node.module] if node.module else [alias.name for alias in node.names]
            yield from ((node.lineno, node.level, name) for name in names)


def own_imports(path: Path) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(line, parts below the root) of every relative import of path."""
    package = path.relative_to(ROOT).parent.parts
    for line, level, name in imports(path):
        if level:
            yield line, (*package[: len(package) - level + 1], *name.split("."))


def height(name: str) -> int:
    return FLOORS.index(name) if name in FLOORS else len(FLOORS)


def test_imports_run_downwards() -> None:
    upward = [
        f"{path.relative_to(ROOT)}:{line} imports {'.'.join(parts)}"
        for path in sources()
        for line, parts in own_imports(path)
        if height(parts[0]) > height(path.relative_to(ROOT).parts[0])
    ]
    assert not upward


def test_kernels_know_only_the_contracts_of_the_runtime() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {'.'.join(parts)}"
        for path in (ROOT / "kernels").rglob("*.py")
        for line, parts in own_imports(path)
        if parts[0] == "lite" and len(parts) > 1 and parts[1] not in CONTRACTS
    ]
    assert not wrong


def test_only_compiled_kernels_import_numba() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sources()
        for line, level, name in imports(path)
        if not level
        and name.split(".")[0] in ("numba", "llvmlite")
        and path.relative_to(ROOT).parts[:2] != ("kernels", "compiled")
    ]
    assert not wrong


def test_the_package_imports_itself_by_relative_path() -> None:
    own = {"numlite", *FLOORS}
    absolute = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sources()
        for line, level, name in imports(path)
        if not level and name.split(".")[0] in own
    ]
    assert not absolute


def test_modules_import_in_no_circle() -> None:
    """At module level; an import inside a function or under TYPE_CHECKING is a promise kept later."""
    graph: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for path in sources():
        where = path.relative_to(ROOT).with_suffix("").parts
        tree = ast.parse(path.read_text())
        package = where[:-1]
        graph[where] = {
            (*package[: len(package) - node.level + 1], *name.split("."))
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.level
            for name in ([node.module] if node.module else [alias.name for alias in node.names])
        }
    done: set[tuple[str, ...]] = set()

    def visit(module: tuple[str, ...], trail: tuple[tuple[str, ...], ...]) -> None:
        assert module not in trail, " -> ".join(".".join(m) for m in (*trail, module))
        if module not in done:
            for target in graph.get(module, ()):
                visit(target, (*trail, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def test_every_package_is_shipped() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    folders = {path.parent.relative_to(ROOT).parts for path in sources() if path.stem == "__init__"}
    expected = {".".join(("numlite", *parts)) for parts in folders}
    assert set(project["tool"]["setuptools"]["packages"]) == expected
