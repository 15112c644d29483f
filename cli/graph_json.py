"""`numlite graph --json`: what a TensorFlow graph holds, as docs/json.md describes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..converter.element_types import type_name
from ..converter.ir.module import Function, Graph
from .graph_source import load, named_function
from .graph_summary import inputs_of, op_counts, outputs_of

if TYPE_CHECKING:
    from ..converter.saved_model.loader import SavedModel


def summary_fields(
    path: Path, tags: list[str] | None, signature: str | None, function: str | None
) -> dict[str, Any]:
    """Of a graph or one function: inputs, outputs and counts of ops; of a SavedModel its signatures, too."""
    from ..converter.saved_model.loader import load_saved_model
    from ..converter.source_file import FileKind, file_kind

    kind = file_kind(path)
    module = load(path, tags, signature)
    body = module.graph if function is None else named_function(module, function)
    fields: dict[str, Any] = {"graph": str(path), "kind": kind.value, "signature": signature}
    if kind == FileKind.SAVED_MODEL and signature is None and function is None:
        folder = path if path.is_dir() else path.parent
        fields |= _saved_model(load_saved_model(folder, tags))
    if body is not None:
        fields["body"] = _body(body)
    if function is None:
        functions = [op for op in module.ops if isinstance(op, Function)]
        fields["functions"] = [
            {
                "name": found.name,
                "arguments": len(found.arguments),
                "results": len(found.result_types),
                "nodes": len(found.body),
            }
            for found in functions
        ]
    return fields


def _saved_model(model: SavedModel) -> dict[str, Any]:
    return {
        "tags": list(model.tags),
        "signatures": [
            {
                "key": key,
                "inputs": {name: str(tensor) for name, tensor in signature.inputs.items()},
                "outputs": {name: str(tensor) for name, tensor in signature.outputs.items()},
            }
            for key, signature in model.signatures.items()
        ],
        "variables": [
            {
                "name": name,
                "type": type_name(info.dtype),
                "shape": None if info.shape is None else [-1 if n is None else n for n in info.shape],
            }
            for name, info in model.variables.items()
        ],
    }


def _body(body: Graph | Function) -> dict[str, Any]:
    nodes = list(body.body.walk())
    counts = op_counts(nodes)
    return {
        "name": body.name if isinstance(body, Function) else None,
        "nodes": len(nodes),
        "inputs": list(_named(inputs_of(body, nodes))),
        "outputs": list(_named(outputs_of(body, nodes))),
        "ops": dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
    }


def _named(values: Iterable[tuple[str, str]]) -> Iterator[dict[str, str]]:
    for name, told in values:
        yield {"name": name, "type": told}
