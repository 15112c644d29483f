"""The package's own imports, read from its sources: which module imports which, where, and when."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent

# Ground floor first. The roof (the files of the root, and cli) may import them all.
FLOORS = ["schema", "lite", "kernels", "delegates", "converter"]
ROOF = ["batch", "cli", "packs"]

Module = tuple[str, ...]


class Import(NamedTuple):
    """One import: its line, its level (0 if absolute), its dotted name, when it is made, and what of it."""

    line: int
    level: int
    name: str
    typing_only: bool
    inside_function: bool
    parts: tuple[str, ...] = ()


def sources(root: Path = ROOT) -> Iterator[Path]:
    """The files of the package."""
    yield from root.glob("*.py")
    for folder in FLOORS + ROOF:
        yield from (root / folder).rglob("*.py")


@cache
def imports(path: Path) -> tuple[Import, ...]:
    """Every import of a file; `from . import a` counts as `a`."""
    return tuple(_imports(ast.parse(path.read_text()), False, False))


def _imports(node: ast.AST, typing_only: bool, inside: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(child.lineno, 0, alias.name, typing_only, inside)
        elif isinstance(child, ast.ImportFrom):
            aliases = tuple(alias.name for alias in child.names)
            if child.module:
                yield Import(child.lineno, child.level, child.module, typing_only, inside, aliases)
            else:
                yield from (Import(child.lineno, child.level, name, typing_only, inside) for name in aliases)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from _imports(child, True, inside)
        else:
            function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            yield from _imports(child, typing_only, inside or function)


def own_imports(path: Path, root: Path = ROOT) -> Iterator[tuple[Import, Module]]:
    """Every relative import of a file with the parts of what it names, below the root."""
    package = path.relative_to(root).parent.parts
    for found in imports(path):
        if found.level:
            yield found, (*package[: len(package) - found.level + 1], *found.name.split("."))


def import_graph(root: Path = ROOT) -> dict[Module, set[Module]]:
    """What each module imports when it is loaded or run; what only type checkers see is left out."""
    paths = {path.relative_to(root).with_suffix("").parts: path for path in sources(root)}
    return {
        module: {
            target
            for found, name in own_imports(path, root)
            for target in (name, *((*name, part) for part in found.parts))
            if target in paths and not found.typing_only
        }
        for module, path in paths.items()
    }


def circles(graph: dict[Module, set[Module]]) -> list[list[Module]]:
    """Modules that import each other, directly or by others: strongly connected sets, largest first."""
    order: list[Module] = []
    seen: set[Module] = set()
    for module in graph:
        _visit(module, graph, seen, order)
    backwards: dict[Module, set[Module]] = {module: set() for module in graph}
    for module, targets in graph.items():
        for target in targets:
            backwards[target].add(module)
    seen, found = set(), []
    for module in reversed(order):
        if module not in seen:
            together: list[Module] = []
            _visit(module, backwards, seen, together)
            found.append(sorted(together))
    return sorted((each for each in found if len(each) > 1), key=len, reverse=True)


def _visit(module: Module, graph: dict[Module, set[Module]], seen: set[Module], order: list[Module]) -> None:
    """Add all that can be reached from module and has not been seen, each behind what it reaches."""
    if module in seen:
        return
    seen.add(module)
    stack = [(module, iter(sorted(graph[module])))]
    while stack:
        at, targets = stack[-1]
        following = next((target for target in targets if target not in seen), None)
        if following is None:
            order.append(at)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(sorted(graph[following]))))
