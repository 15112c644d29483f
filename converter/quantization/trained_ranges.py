"""take_trained_ranges: what training for integers has written into a model, and the model without it.

Given    a -> FAKE_QUANT(-1, 1) -> b          a -> QUANTIZE -> q i8 -> DEQUANTIZE -> b
Result   a takes the place of b, and its range is (-1, 1), or what q can stand for
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...lite.errors import ModelError
from ...lite.model import Model
from ...lite.tensor import NUMPY_DTYPES, TensorType
from ...schema import tflite
from .float_graph import FloatGraph, Site, Step
from .grid_weights import fold_grids
from .model_editor import ModelEditor
from .propagate import Range

_INTEGERS = (TensorType.UINT8, TensorType.INT8, TensorType.INT16)
_BITS = 8
# Of FAKE_QUANT, as its kernel has it.
_MOST_BITS = 16


class TrainedModel(NamedTuple):
    """A model as it would be without fake quantization, and the ranges of its tensors that had some."""

    model: Model
    ranges: Mapping[Site, Range]


def trained_model(model: Model) -> TrainedModel:
    """What training for integers has made of a model; itself, without ranges, where it has none."""
    editor = ModelEditor(model)
    ranges = take_trained_ranges(editor)
    if not ranges:
        return TrainedModel(model, {})
    tensors = {site: (editor.subgraphs[site.graph].tensors or [])[site.tensor] for site in ranges}
    content = editor.finish().content()
    places = {
        id(tensor): Site(number, place)
        for number, subgraph in enumerate(editor.subgraphs)
        for place, tensor in enumerate(subgraph.tensors or [])
    }
    return TrainedModel(Model(content), {places[id(tensors[site])]: seen for site, seen in ranges.items()})


def take_trained_ranges(editor: ModelEditor) -> dict[Site, Range]:
    """Take those operators out, in place; the ranges of their operands.

    An operand with several has what all of them let through. What stands between a model's input and its
    output stays. Constants become what they are behind such operators.
    """
    fold_grids(editor)
    graph = FloatGraph(editor)
    found: dict[Site, Range] = {}
    for step in graph.steps:
        range_ = _range_of(graph, step)
        if range_ is None:
            continue
        joined = _joined(graph, step)
        if joined is not None:
            low, high = found.get(joined, range_)
            found[joined] = max(low, range_[0]), min(high, range_[1])
    return found


def _range_of(graph: FloatGraph, step: Step) -> Range | None:
    """What an operator lets through, None where it is no fake quantization of a whole tensor.

    ModelError for one that no kernel would run, or that tells no range.
    """
    if step.name == "FAKE_QUANT":
        return _option_range(step.operator.builtin_options)
    if step.name != "QUANTIZE" or _dequantize(graph, step) is None:
        return None
    tensor = graph.tensor(Site(step.graph, step.outputs[0]))
    type_, table = TensorType(tensor.type), tensor.quantization
    if type_ not in _INTEGERS or table is None or table.scale is None or len(table.scale) != 1:
        return None
    limits = np.iinfo(NUMPY_DTYPES[type_])
    scale = float(table.scale[0])
    if not 0 < scale < np.inf:
        raise ModelError(f"{graph.where(step)}: its scale must be above 0 and finite, got {scale}")
    zero_point = int(table.zero_point[0]) if table.zero_point is not None else 0
    return (int(limits.min) - zero_point) * scale, (int(limits.max) - zero_point) * scale


def _option_range(options: Any) -> Range:
    """That of FAKE_QUANT. A narrow one has no lowest integer: the range of all of them is a step wider.

    ModelError for one that no kernel would run.
    """
    is_range = options is not None and -np.inf < options.min < options.max < np.inf
    if not is_range or not 1 <= options.num_bits <= _MOST_BITS:
        given = options and (options.min, options.max, options.num_bits)
        raise ModelError(
            f"FAKE_QUANT: min must be under max, both finite, and num_bits in [1, {_MOST_BITS}], got {given}"
        )
    low, high = min(float(options.min), 0.0), max(float(options.max), 0.0)
    if options.narrow_range and options.num_bits == _BITS:
        low -= (high - low) / ((1 << _BITS) - 2)
    return low, high


def _dequantize(graph: FloatGraph, step: Step) -> Step | None:
    """The DEQUANTIZE that alone reads a QUANTIZE's result, where both ends are float32."""
    site = Site(step.graph, step.outputs[0])
    users = graph.users.get(site, [])
    if len(users) != 1 or users[0].name != "DEQUANTIZE" or site in graph.outputs:
        return None
    ends = Site(step.graph, step.inputs[0]), Site(step.graph, users[0].outputs[0])
    return users[0] if all(map(graph.is_float, ends)) else None


def _joined(graph: FloatGraph, step: Step) -> Site | None:
    """Take the operator (and the DEQUANTIZE behind it) out; the tensor that is left of both ends.

    None where both ends are seen from outside, so that nothing is done.
    """
    last = step if step.name == "FAKE_QUANT" else _dequantize(graph, step)
    assert last is not None
    subgraph = graph.subgraphs[step.graph]
    # As they are by now.
    (x,), (y,) = (list(ends or ()) for ends in (step.operator.inputs, last.operator.outputs))
    inside = Site(step.graph, x) in graph.producers and Site(step.graph, x) not in graph.outputs
    is_output = Site(step.graph, y) in graph.outputs
    if is_output and not inside:
        return None
    kept, gone = (y, x) if is_output else (x, y)
    taken = (step.operator, last.operator)
    subgraph.operators = [o for o in subgraph.operators or [] if not any(o is each for each in taken)]
    for operator in subgraph.operators:
        operator.inputs = _renamed(operator, "inputs", gone, kept)
        operator.outputs = _renamed(operator, "outputs", gone, kept)
    return Site(step.graph, kept)


def _renamed(operator: tflite.OperatorT, ends: str, gone: int, kept: int) -> list[int]:
    return [kept if t == gone else t for t in getattr(operator, ends) or ()]
