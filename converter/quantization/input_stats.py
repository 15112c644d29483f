"""Means and deviations of inputs, by which TensorFlow 1 says what their integers stand for."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ...lite.model import Model
from ...lite.tensor import TensorType
from ...schema.tflite import FakeQuantOptionsT
from .float_graph import FloatGraph, Site
from .model_editor import ModelEditor

_LOWEST = {"uint8": 0, "int8": -128}
_MOST = 255


def with_input_ranges(model: Model, stats: Mapping[str, tuple[float, float]], type: str) -> Model:
    """The float model with a FAKE_QUANT behind each input, of the range that its integers stand for.

    real = (q - mean) / deviation, where q are integers of the inputs' type (int8 of float ones); stats have
    mean and deviation by the name of a tensor or of a signature's input. A mean that is none of the integers
    counts as the next one that is. Raises ValueError where those of a float input are missing, a name is no
    input's, or numbers are none.

    Given:  y = CONV_2D(x)
    Result: y = CONV_2D(FAKE_QUANT(x))
    Source: TensorFlow compiler/mlir/lite/common/tfl_pass_config, measured with TensorFlow 2.21.
    """
    editor = ModelEditor(model)
    graph = FloatGraph(editor)
    inputs = sorted(site for site in graph.inputs if site.graph in graph.entries and graph.is_float(site))
    names = {site: _names(graph, site) for site in inputs}
    missing = [graph.name(site) for site in inputs if not names[site] & set(stats)]
    unknown = set(stats).difference(*names.values())
    if missing or unknown:
        raise ValueError(
            "quantized_input_stats: must have a mean and a deviation for each float input beside "
            f"inference_type int8, got none for {missing}, and {sorted(unknown)} that are no inputs"
        )
    for site in inputs:
        (name,) = sorted(names[site] & set(stats))[:1]
        low, high = _range(name, stats[name], _LOWEST.get(type, _LOWEST["int8"]))
        _insert(graph, site, low, high)
    return Model(editor.finish().content())


def _names(graph: FloatGraph, site: Site) -> set[str]:
    """What an input may be called: as in the graph, and as signatures call it."""
    found = {graph.name(site), graph.name(site).removesuffix(":0")}
    for signature in graph.editor.root.signature_defs or []:
        if signature.subgraph_index == site.graph:
            own = [each for each in signature.inputs or [] if each.tensor_index == site.tensor]
            found |= {each.name or "" for each in own}
    return found


def _range(name: str, given: tuple[float, float], lowest: int) -> tuple[float, float]:
    try:
        mean, deviation = (float(number) for number in given)
    except (TypeError, ValueError):
        raise ValueError(f"quantized_input_stats[{name!r}]: must be two numbers, got {given!r}") from None
    if not (math.isfinite(mean) and math.isfinite(deviation) and deviation > 0):
        raise ValueError(
            f"quantized_input_stats[{name!r}]: must be a finite mean and a deviation above 0, got {given!r}"
        )
    zero_point = np.clip(math.floor(mean + 0.5), lowest, lowest + _MOST)
    return (lowest - zero_point) / deviation, (lowest + _MOST - zero_point) / deviation


def _insert(graph: FloatGraph, site: Site, low: float, high: float) -> None:
    editor, subgraph = graph.editor, graph.subgraphs[site.graph]
    x = graph.tensor(site)
    held = editor.add_tensor(subgraph, f"{graph.name(site)}/range", TensorType.FLOAT32, x)
    for step in graph.users.get(site, ()):
        step.operator.inputs = [held if t == site.tensor else t for t in step.inputs]
    options = FakeQuantOptionsT(min=low, max=high, num_bits=8)
    editor.insert(subgraph, 0, "FAKE_QUANT", [site.tensor], [held], options)
