"""Measures the house: python -m tests.house [CHECKOUT] prints sizes, imports, circles, idioms."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

from .import_graph import FLOORS, ROOF, ROOT, circles, import_graph, own_imports, sources

GENERATED = tuple(
    f"schema/{name}.py"
    for name in (
        "example",
        "graph_def",
        "kernel_def",
        "model_metadata",
        "onnx",
        "op_info",
        "rewriter_config",
        "saved_model",
        "tflite",
    )
)
SMALL_FILE_LINES = 30
BANNER = re.compile(r"^[ ]*# ?[-=~*#]{2,}", re.MULTILINE)  # a comment that cuts a file into parts
# Where the converter keeps passes, the calls by which one asks for a map of producers or users, and what
# nodes tell of each other: a pass that goes over these for many nodes, and keeps who told it, builds one.
PASSES = tuple(
    f"converter/{name}/" for name in ("operator_rules", "fusing", "transforms", "optimizers", "lowering")
)
USE_MAPS = ("Fused", "producers", "consumers", "users", "use_counts")
NEIGHBOURS = {
    "operands",
    "results",
    "inputs",
    "outputs",
    "controls",
    "neighbours_before",
    "neighbours_behind",
}


def trees(root: Path) -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in sorted(sources(root))}


def function_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def operator_codes(root: Path) -> dict[str, int]:
    """Of the builtin operators, from the schema's text."""
    for node in ast.walk(ast.parse((root / "schema/tflite.py").read_text())):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ENUMS":
            return dict(ast.literal_eval(node.value)["BuiltinOperator"])
    raise LookupError("schema/tflite.py has no ENUMS")


def typed_codes(tree: ast.Module, codes: dict[str, int]) -> int:
    """Places where an operator's code stands as a number: beside its name, or under it."""
    found = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            texts = {a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)}
            named = {codes.get(text, codes.get(f"STABLEHLO_{text}")) for text in texts}
            numbers = [a.value for a in node.args if isinstance(a, ast.Constant) and type(a.value) is int]
            numbers += [
                keyword.value.value
                for keyword in node.keywords
                if keyword.arg == "builtin_code" and isinstance(keyword.value, ast.Constant)
            ]
            found += any(number in named for number in numbers)
        elif isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = value.elts if isinstance(value, ast.Tuple) else [value]
            found += sum(
                isinstance(name, ast.Name)
                and isinstance(number, ast.Constant)
                and type(number.value) is int
                and codes.get(name.id.lstrip("_")) == number.value
                for name, number in zip(names, values, strict=False)
            )
    return found


def _is_debug(node: ast.Attribute) -> bool:
    """Whether it is a level of lite/debug.py."""
    return isinstance(node.value, ast.Name) and node.value.id == "debug"


def idioms(files: dict[Path, ast.Module]) -> Counter[str]:
    """Names under which the modules of a family register what they have, by how many files use each."""
    registers = [tree for path, tree in files.items() if path.stem in ("register", "families")]
    read = {
        node.attr
        for tree in registers
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr.isupper() and not _is_debug(node)
    }
    found: Counter[str] = Counter()
    for tree in files.values():
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            found.update(t.id for t in targets if isinstance(t, ast.Name) and t.id in read)
    return found


def use_maps(path: Path, tree: ast.Module, root: Path) -> int:
    if not str(path.relative_to(root)).startswith(PASSES):
        return 0
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "") for f in calls]
    return sum(name in USE_MAPS for name in names) + len(built_maps(tree))


def built_maps(tree: ast.Module) -> set[int]:
    """Lines in which something is kept under a neighbour of each node of a loop, the node with it."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.DictComp):
            outer = set[str]()
            for generator in node.generators:
                if _goes_over(generator.iter, outer) and _names(node.key) & _names(generator.target):
                    found.add(node.lineno)
                outer |= _names(generator.target)
        elif isinstance(node, ast.For):
            outer = _names(node.target)
            for inner in ast.walk(node):
                if isinstance(inner, ast.Assign) and _goes_over(inner.value, outer):
                    outer |= {target.id for target in inner.targets if isinstance(target, ast.Name)}
                elif isinstance(inner, ast.For) and inner is not node and _goes_over(inner.iter, outer):
                    keys = _names(inner.target)
                    found.update(step.lineno for step in ast.walk(inner) if _keeps(step, keys, outer))
    return found


def _names(node: ast.AST) -> set[str]:
    return {found.id for found in ast.walk(node) if isinstance(found, ast.Name)}


def _goes_over(iterable: ast.AST, nodes: set[str]) -> bool:
    """Whether it is made of what one of these nodes tells of its neighbours, or is a name for that."""
    if isinstance(iterable, ast.Name):
        return iterable.id in nodes
    parts = list(ast.walk(iterable))
    told = (part.value for part in parts if isinstance(part, ast.Attribute) and part.attr in NEIGHBOURS)
    asked = (part for part in parts if isinstance(part, ast.Call) and "operands" in ast.unparse(part.func))
    return any(_names(part) & nodes for part in (*told, *asked))


def _keeps(step: ast.AST, keys: set[str], nodes: set[str]) -> bool:
    """m[key] = node, m[key].append(node), m.setdefault(key, []).append(node) and their like."""
    if isinstance(step, ast.Assign):
        places: list[ast.AST] = [place.slice for place in step.targets if isinstance(place, ast.Subscript)]
        kept = [step.value]
    elif isinstance(step, ast.Call) and isinstance(step.func, ast.Attribute):
        held, kept = step.func.value, step.args
        if isinstance(held, ast.Subscript):
            places = [held.slice]
        elif step.func.attr == "setdefault":
            places, kept = kept[:1], kept[1:]
        elif isinstance(held, ast.Call) and ast.unparse(held.func).endswith(".setdefault"):
            places = held.args[:1]
        else:
            return False
    else:
        return False
    # m[node] is what is known of a node, not the node.
    told = set().union(*(_names(value) for value in kept if not any(map(_is_looked_up, ast.walk(value)))))
    return any(_names(place) & keys for place in places) and bool(told & nodes)


def _is_looked_up(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript)


def floor_of(parts: tuple[str, ...]) -> str:
    return parts[0] if parts[0] in FLOORS + ROOF else "roof"


def import_counts(root: Path) -> Counter[tuple[str, str]]:
    """Imports from one floor to another."""
    return Counter(
        (floor_of(path.relative_to(root).parts), floor_of(target))
        for path in sources(root)
        for found, target in own_imports(path, root)
        if not found.typing_only
    )


def measures(root: Path) -> list[tuple[str, str]]:
    """Each measure with its value in words."""
    files = trees(root)
    lines = {path: len(path.read_text().splitlines()) for path in files}
    hand = {path: n for path, n in lines.items() if str(path.relative_to(root)) not in GENERATED}
    functions = [n for tree in files.values() for n in function_lines(tree)]
    found = circles(import_graph(root))
    codes = operator_codes(root)
    small = [path for path, n in hand.items() if n < SMALL_FILE_LINES and path.stem != "__init__"]
    rows = [
        ("files", f"{len(files)}"),
        ("lines", f"{sum(lines.values())} ({sum(lines.values()) - sum(hand.values())} generated)"),
        ("longest hand-written file", f"{max(hand.values())} lines"),
        ("functions", f"{len(functions)}"),
        ("lines of a function", f"median {median(functions):.0f}, p90 {quantiles(functions, n=10)[-1]:.0f}"),
        ("circles, imports in functions too", f"{len(found)}, largest {max(map(len, found), default=0)}"),
        (f"files under {SMALL_FILE_LINES} lines", f"{len(small)}"),
        ("hand-typed operator codes", f"{sum(typed_codes(tree, codes) for tree in files.values())}"),
        ("registration idioms", ", ".join(f"{name} {n}" for name, n in idioms(files).most_common())),
        ("section banners", f"{sum(len(BANNER.findall(path.read_text())) for path in files)}"),
        ("use maps built by passes", f"{sum(use_maps(p, tree, root) for p, tree in files.items())}"),
    ]
    for floor in [*FLOORS, *ROOF, "roof"]:
        own = [n for path, n in lines.items() if floor_of(path.relative_to(root).parts) == floor]
        rows.append((f"lines of {floor}", f"{sum(own)} in {len(own)} files"))
    for (source, target), count in sorted(import_counts(root).items()):
        rows.append((f"imports {source} -> {target}", f"{count}"))
    return rows


def main() -> None:
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    rows = measures(root)
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")
    for number, circle in enumerate(circles(import_graph(root)), 1):
        print(f"circle {number}: {' '.join('.'.join(module) for module in circle)}")


if __name__ == "__main__":
    main()
