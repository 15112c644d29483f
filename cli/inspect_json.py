"""`numlite inspect --json`: what a model file holds, as docs/json.md describes it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from .model_file import operator_name, shape_of, type_name

if TYPE_CHECKING:
    from ..lite.model import Model

_MOST_SCALES = 4096  # of one tensor


def file_fields(path: str, model: Model, trust_compiled_code: bool) -> dict[str, Any]:
    """All of the file but the values of its constants, and the memory plan."""
    root = model.root
    return {
        "model": path,
        "bytes": model.nbytes,
        "schema_version": root.version,
        "description": model.description,
        "metadata": {name: len(data) for name, data in model.metadata().items()},
        "signatures": [
            {
                "key": key,
                "subgraph": signature.subgraph_index,
                "inputs": signature.inputs,
                "outputs": signature.outputs,
            }
            for key, signature in model.signatures().items()
        ],
        "subgraphs": [_subgraph(model, index, graph) for index, graph in enumerate(root.subgraphs)],
        "memory": _memory(path, trust_compiled_code),
    }


def _subgraph(model: Model, index: int, graph: Any) -> dict[str, Any]:
    return {
        "index": index,
        "name": graph.name or "",
        "inputs": _integers(graph.inputs),
        "outputs": _integers(graph.outputs),
        "operators": [_operator(model, operator) for operator in graph.operators],
        "tensors": [_tensor(model, tensor) for tensor in graph.tensors],
    }


def _operator(model: Model, operator: Any) -> dict[str, Any]:
    name, version = operator_name(model, operator)
    return {
        "name": name,
        "version": version,
        "inputs": _integers(operator.inputs),
        "outputs": _integers(operator.outputs),
    }


def _tensor(model: Model, tensor: Any) -> dict[str, Any]:
    data = model.buffer(tensor.buffer)
    found: dict[str, Any] = {
        "name": tensor.name or "",
        "type": type_name(tensor.type),
        "shape": shape_of(tensor),
        "constant_bytes": None if data is None else data.size,
    }
    quantization = tensor.quantization
    if quantization is not None and len(quantization.scale):
        found["quantization"] = {
            "scales": len(quantization.scale),
            "axis": quantization.quantized_dimension,
            "scale": np.asarray(quantization.scale)[:_MOST_SCALES].tolist(),
            "zero_point": np.asarray(quantization.zero_point)[:_MOST_SCALES].tolist(),
        }
    return found


def _memory(path: str, trust_compiled_code: bool) -> dict[str, Any]:
    """The memory plan with each tensor's place, or why there is none."""
    from ..interpreter import Interpreter

    try:
        interpreter = Interpreter(path, trust_compiled_code=trust_compiled_code)
        interpreter.allocate_tensors()
        return asdict(interpreter.memory_report())
    except (ValueError, RuntimeError) as error:
        return {"not_planned": " ".join(str(error).split())}


def delegation_fields(model: str, delegate: str, reports: list[Any]) -> dict[str, Any]:
    """What the delegate takes of each subgraph, a DelegationReport."""
    return {
        "model": model,
        "delegate": delegate,
        "subgraphs": [
            asdict(report) | {"delegated_nodes": report.delegated_nodes, "copied_bytes": report.copied_bytes}
            for report in reports
        ],
    }


def _integers(numbers: Any) -> list[int]:
    return [int(number) for number in numbers]
