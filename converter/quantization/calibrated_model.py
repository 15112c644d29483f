"""calibrated_model: a float model that holds the ranges of its tensors, as TensorFlow's calibrator does."""

from __future__ import annotations

from collections.abc import Iterable

from ...lite.model import Model
from ...schema.tflite import QuantizationParametersT
from ..flatbuffer import ModelFile
from ..model_runner import model_interpreter
from .calibrate import Sample, calibrate
from .calibration import Calibration
from .float_graph import FloatGraph, Site
from .model_editor import ModelEditor
from .observers import MinMax
from .recurrent_ranges import add_inner_tensors, inner_watchers


def calibrated_model(model: Model, samples: Iterable[Sample]) -> ModelFile:
    """The float model whose float32 tensors have min and max over all samples, but for constants.

    Nothing else is changed, but that LSTMs get the intermediate tensors that integer ones ask for. Raises
    ModelError as calibrate does.
    """
    editor = ModelEditor(model)
    if add_inner_tensors(editor):
        model = Model(editor.finish().content())
    ranges, editor = _observed(model, samples), ModelEditor(model)
    for site, (low, high) in ranges.items():
        tensor = (editor.subgraphs[site.graph].tensors or [])[site.tensor]
        tensor.quantization = QuantizationParametersT(min=[low], max=[high])
    return editor.finish()


def _observed(model: Model, samples: Iterable[Sample]) -> Calibration:
    graph = FloatGraph(ModelEditor(model))
    inner = dict[Site, MinMax]()
    watchers = inner_watchers(graph, inner)
    sites = {Site(step.graph, t) for step in graph.steps for t in (*step.inputs, *step.outputs) if t >= 0}
    wanted = {site for site in sites if graph.is_float(site) and not graph.is_constant(site)}
    found = calibrate(model_interpreter(model), samples, wanted, "minmax", watchers)
    found.add({site: (graph.name(site), seen) for site, seen in inner.items()})
    return found
