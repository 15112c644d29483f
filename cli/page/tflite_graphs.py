"""The graphs of a .tflite file as pages show them, read from its tables: also of models that cannot run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import IntEnum
from typing import Any

import numpy as np

from ...lite.model import Model
from ...lite.tensor import TensorType
from ...schema import tflite
from ...schema.shown import shown
from ..model_file import operator_name, shape_of, type_name
from .document import Graph, Node, Scales, Tensor
from .drawing import draw
from .tensor_values import few_values, histogram, real_range, reals

# The value of a constant tensor by the numbers of subgraph and tensor, None where it has none to show.
ValueOf = Callable[[int, int], "np.ndarray | None"]
_ENUMS: dict[str, type[IntEnum]] = {
    "padding": tflite.Padding,
    "fused_activation_function": tflite.ActivationFunctionType,
    **dict.fromkeys(("in_data_type", "out_data_type", "type", "output_type", "idx_out_type"), TensorType),
}
_LONGEST = 120  # letters of an option


def graphs_of(model: Model, value_of: ValueOf) -> list[Graph]:
    """All subgraphs, drawn."""
    found = []
    for index, subgraph in enumerate(model.root.subgraphs):
        name = shown(subgraph.name) if subgraph.name else ("main" if index == 0 else f"subgraph {index}")
        tensors = [_tensor(model, index, t, tensor, value_of) for t, tensor in enumerate(subgraph.tensors)]
        count, graphs = len(tensors), len(model.root.subgraphs)
        nodes = [_node(model, operator, tensors, graphs) for operator in subgraph.operators]
        graph = Graph(name, nodes, tensors, _known(subgraph.inputs, count), _known(subgraph.outputs, count))
        draw(graph)
        found.append(graph)
    return found


def _known(tensors: Any, count: int) -> list[int]:
    """Indices of tensors that there are; files may name others."""
    return [int(t) for t in tensors if 0 <= t < count]


def _node(model: Model, operator: Any, tensors: Sequence[Tensor], graphs: int) -> Node:
    name, version = operator_name(model, operator)
    count = len(tensors)
    inputs, outputs = (
        [int(t) if t < count else -1 for t in ends] for ends in (operator.inputs, operator.outputs)
    )
    details, calls = [("version", str(version))], []
    options = operator.builtin_options or operator.builtin_options_2
    for entry in () if options is None else type(options).fields:
        value = getattr(options, entry.name)
        if entry.name.endswith("subgraph_index") or entry.name == "subgraph":
            if isinstance(value, int) and 0 <= value < graphs:
                role = entry.name.removesuffix("subgraph_index").strip("_") or "graph"
                calls.append((role, value))
        else:
            details.append((entry.name, _option(entry.name, value)))
    if len(operator.custom_options):
        details.append(("custom options", f"{len(operator.custom_options)} bytes"))
    first = next((t for t in outputs if t >= 0), None)
    return Node(
        shown(name),
        tensors[first].name if first is not None else "",
        inputs,
        outputs,
        details,
        calls,
    )


def _option(name: str, value: Any) -> str:
    if name in _ENUMS:
        with suppress(ValueError):
            return _ENUMS[name](value).name
    text = shown(value.tolist() if isinstance(value, np.ndarray) else value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _tensor(model: Model, graph: int, index: int, tensor: Any, value_of: ValueOf) -> Tensor:
    data = model.buffer(tensor.buffer)
    sizes = shape_of(tensor)
    found = Tensor(
        shown(tensor.name or f"tensor {index}"),
        type_name(tensor.type),
        "x".join("?" if n < 0 else str(n) for n in sizes),
        None if data is None else int(data.size),
        data is not None,
        scales=_scales(tensor),
    )
    value = None if data is None else value_of(graph, index)
    if value is not None:
        numbers = reals(value, *_parameters(tensor))
        found.histogram, found.value = histogram(numbers), few_values(numbers)
    return found


def _parameters(tensor: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """Scales, zero points and axis, none of them where the tensor is not quantized."""
    quantization = tensor.quantization
    if quantization is None:
        return np.zeros(0), np.zeros(0), 0
    scales, points = (
        np.asarray(quantization.scale, np.float64),
        np.asarray(quantization.zero_point, np.float64),
    )
    return scales, points, int(quantization.quantized_dimension)


def _scales(tensor: Any) -> Scales | None:
    scales, points, axis = _parameters(tensor)
    limits = real_range(type_name(tensor.type), scales, points)
    if not len(scales) or limits is None:
        return None
    points = points if len(points) else np.zeros(1)
    return Scales(
        len(scales),
        axis,
        [float(scales.min()), float(scales.max())],
        [int(points.min()), int(points.max())],
        list(limits),
    )
