"""What `numlite graph` says of a graph in a few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..converter.ir.attributes import ShapeAttr
from ..converter.ir.module import Function, Graph
from ..converter.ir.node import RETURN, Node
from ..converter.ir.types import TensorType, Type
from ..schema.shown import shown
from .console import counted
from .graph_source import load, named_function

if TYPE_CHECKING:
    from ..converter.ir.module import Module
    from ..converter.saved_model.loader import SavedModel

_INPUTS = frozenset(("Placeholder", "PlaceholderV2", "PlaceholderWithDefault"))
# Nodes that give nothing to fetch, or that nobody would.
_NO_OUTPUTS = frozenset((RETURN, "Const", "NoOp", "Assert"))
# How many lines a list has before the rest is only counted.
_MOST_LINES = 40


def summary(path: Path, tags: list[str] | None, signature: str | None, function: str | None) -> str:
    """Kind and size, signatures, inputs and outputs, counts of ops, functions and variables."""
    from ..converter.source_file import FileKind, file_kind

    kind = file_kind(path)
    module = load(path, tags, signature)
    lines = [f"{path}: {kind.value}"]
    if kind == FileKind.SAVED_MODEL and signature is None and function is None:
        lines += _saved_model(path, tags)
    body = module.graph if function is None else named_function(module, function)
    if body is None:
        lines.append("no graph")
    else:
        lines += _body(body)
    if function is None:
        lines += _functions(module)
    return "\n".join(map(shown, lines))


def _saved_model(path: Path, tags: list[str] | None) -> Iterator[str]:
    from ..converter.saved_model.loader import load_saved_model, read_saved_model

    folder = path if path.is_dir() else path.parent
    model = load_saved_model(folder, tags)
    for graph in read_saved_model(folder).meta_graphs:
        version = graph.meta_info_def.tensorflow_version
        mark = " (shown)" if tuple(graph.meta_info_def.tags) == model.tags else ""
        written = f", written by TensorFlow {version}" if version else ""
        yield f"tags {{{', '.join(graph.meta_info_def.tags)}}}{mark}{written}"
    for name, signature in model.signatures.items():
        yield f"signature {name!r}"
        for kind, tensors in (("input", signature.inputs), ("output", signature.outputs)):
            for key, tensor in tensors.items():
                yield f"  {kind:<6} {key}: {tensor}  ({tensor.tensor})"
    yield from _variables(model)
    for asset, file in model.assets.items():
        yield f"asset {file.name} ({asset})"


def _variables(model: SavedModel) -> Iterator[str]:
    from ..converter.element_types import type_name

    variables = model.variables
    yield counted(len(variables), "variable")
    lines = []
    for name, info in variables.items():
        pieces = f", {info.pieces} slices" if info.pieces > 1 else ""
        lines.append(f"  {name}: {type_name(info.dtype)} {_sizes(info.shape)}{pieces}")
    yield from _shortened(lines)


def _body(body: Graph | Function) -> Iterator[str]:
    nodes = list(body.body.walk())
    if isinstance(body, Graph):
        version = body.version
        made = f"producer {version.producer}, min consumer {version.min_consumer}"
        yield f"graph: {counted(len(nodes), 'node')}, {made}"
    else:
        yield f"function {body.name!r}: {counted(len(nodes), 'node')}{', generic' if body.generic else ''}"
    yield from _shortened([f"  input  {name}: {told}" for name, told in inputs_of(body, nodes)])
    yield from _shortened([f"  output {name}: {told}" for name, told in outputs_of(body, nodes)])
    counts = op_counts(nodes)
    width = max(map(len, counts), default=0)
    for op, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"  {op:<{width}} {count:>6}"


def op_counts(nodes: Iterable[Node]) -> Counter[str]:
    return Counter(node.op for node in nodes if node.op != RETURN)


def inputs_of(body: Graph | Function, nodes: Iterable[Node]) -> Iterator[tuple[str, str]]:
    """Each one's name, and its type in words."""
    if isinstance(body, Function):
        for value in body.arguments:
            yield str(body.argument_name(value)), str(value.type)
        return
    for node in nodes:
        if node.op in _INPUTS and node.results:
            shape = node.attributes.get("shape")
            sizes = _sizes(shape.sizes) if isinstance(shape, ShapeAttr) else "?"
            yield node.name, f"{element(node.results[0].type)} {sizes}"


def outputs_of(body: Graph | Function, nodes: Iterable[Node]) -> Iterator[tuple[str, str]]:
    """Each one's name, and its type in words; of a graph the results that no node takes."""
    if isinstance(body, Function):
        for i, type in enumerate(body.result_types):
            yield str(body.result_name(i)), str(type)
        return
    for node in nodes:
        if node.op not in _NO_OUTPUTS and node.op not in _INPUTS and not any(r.users for r in node.results):
            for value in node.results:
                yield f"{node.name}:{value.index}", f"{element(value.type)} ({node.op})"


def _functions(module: Module) -> Iterator[str]:
    functions = [op for op in module.ops if isinstance(op, Function)]
    if functions:
        yield counted(len(functions), "function")
    yield from _shortened(
        [
            f"  {f.name}: {counted(len(f.arguments), 'argument')}, {counted(len(f.result_types), 'result')}, "
            f"{counted(len(f.body), 'node')}"
            for f in functions
        ]
    )


def element(type: Type) -> str:
    """The type of a value's elements."""
    return str(type.element if isinstance(type, TensorType) else type).removeprefix("!tf_type.")


def _sizes(sizes: Iterable[int | None] | None) -> str:
    if sizes is None:
        return "of unknown rank"
    return "x".join("?" if n is None or n < 0 else str(n) for n in sizes) or "scalar"


def _shortened(lines: list[str]) -> list[str]:
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[:_MOST_LINES], f"  and {len(lines) - _MOST_LINES} more"]
