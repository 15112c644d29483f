"""debug_model: a quantized model in which float operators stand beside the integer ones, and differences.

Given    x i8 -> CONV_2D -> y i8
Result   x i8 -> CONV_2D -> y i8     x i8 -> DEQUANTIZE -> CONV_2D f32 -> z f32
         y, z -> NumericVerify -> y - z

Each operator is so compared by itself: on what the integers before it stand for, with float weights.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

from ...lite.model import Model
from ...lite.tensor import TensorType
from ...schema import tflite
from .float_graph import FloatGraph, Site, Step
from .model_editor import ModelEditor
from .rewrite import QUANTIZED

NUMERIC_VERIFY = "NumericVerify"
_INTEGERS = (TensorType.INT8, TensorType.UINT8, TensorType.INT16)
# As TensorFlow writes it; log_if_failed false makes it measure, and never fail.
_OPTIONS = {"log_if_failed": False, "tolerance": 5.0}


class Verified(NamedTuple):
    """A difference: its tensor, the integers and the floats that it is of, the integer operator's name."""

    difference: int
    quantized: int
    real: int
    operation: str


def debug_model(float_model: Model, quantized: Model) -> bytes:
    """The quantized model with differences for all integer operators that the float model has, too."""
    editor = ModelEditor(quantized)
    graph, source = FloatGraph(editor), FloatGraph(ModelEditor(float_model))
    steps = {(step.graph, _result(source, step)): step for step in source.steps if step.outputs}
    writer = _Writer(editor, graph, source)
    for step in graph.steps:
        found = (
            steps.get((step.graph, _result(graph, step).removesuffix(QUANTIZED))) if step.outputs else None
        )
        if found is not None and found.name == step.name and step.constraint is not None:
            writer.verify(step, found)
    return editor.finish().content()


def verified(model: Model) -> list[Verified]:
    """The differences of the first subgraph of a debug model, TensorFlow's or debug_model's, in order."""
    editor = ModelEditor(model)
    graph = FloatGraph(editor)
    codes = editor.root.operator_codes or []
    found = []
    for step in graph.steps:
        if step.graph or codes[step.operator.opcode_index].custom_code != NUMERIC_VERIFY:
            continue
        quantized, real = step.inputs
        maker = graph.producers.get(Site(0, quantized))
        found.append(Verified(step.outputs[0], quantized, real, "" if maker is None else maker.name))
    return found


def _result(graph: FloatGraph, step: Step) -> str:
    return graph.name(Site(step.graph, step.outputs[0]))


class _Writer:
    """Adds float operators and differences to the quantized model."""

    def __init__(self, editor: ModelEditor, graph: FloatGraph, source: FloatGraph) -> None:
        self._editor, self._graph, self._source = editor, graph, source
        # What integers stand for, as floats, and the operators that make them, till they are inserted.
        self._real: dict[Site, int] = {}
        self._pending: list[tflite.OperatorT] = []

    def verify(self, step: Step, like: Step) -> None:
        """like is the operator of the float model."""
        results = [Site(step.graph, t) for t in step.outputs]
        if not all(self._is_quantized(site) for site in results) or len(step.inputs) < len(like.inputs):
            return
        subgraph = self._graph.subgraphs[step.graph]
        operands = [self._operand(step, like, place) for place in range(len(like.inputs))]
        made = [
            self._editor.add_tensor(
                subgraph, f"{self._graph.name(s)}_float", TensorType.FLOAT32, self._graph.tensor(s)
            )
            for s in results
        ]
        real = copy(like.operator)
        real.inputs, real.outputs = operands, made
        self._editor.set_operator(subgraph, real, like.name)
        assert subgraph.operators is not None
        place = subgraph.operators.index(step.operator) + 1
        subgraph.operators[place:place] = [
            *self._pending,
            real,
            *(self._difference(site, float_) for site, float_ in zip(results, made, strict=True)),
        ]
        self._pending.clear()

    def _is_quantized(self, site: Site) -> bool:
        tensor = self._graph.tensor(site)
        return tensor.type in _INTEGERS and tensor.quantization is not None

    def _operand(self, step: Step, like: Step, place: int) -> int:
        """What the float operator reads: a constant of the float model, or what the integers stand for."""
        subgraph, t = self._graph.subgraphs[step.graph], like.inputs[place]
        site, own = Site(like.graph, t), Site(step.graph, step.inputs[place])
        if t < 0:
            return t
        if self._source.is_constant(site):
            tensor = self._source.tensor(site)
            return self._editor.add_constant(
                subgraph, self._source.name(site), TensorType(tensor.type), self._source.constant(site)
            )
        if not self._is_quantized(own):
            return own.tensor
        if own not in self._real:
            tensor = self._graph.tensor(own)
            name = f"{self._graph.name(own)}_real"
            self._real[own] = self._editor.add_tensor(subgraph, name, TensorType.FLOAT32, tensor)
            operator = tflite.OperatorT(inputs=[own.tensor], outputs=[self._real[own]])
            self._editor.set_operator(subgraph, operator, "DEQUANTIZE")
            self._pending.append(operator)
        return self._real[own]

    def _difference(self, quantized: Site, real: int) -> tflite.OperatorT:
        subgraph, tensor = self._graph.subgraphs[quantized.graph], self._graph.tensor(quantized)
        name = f"{NUMERIC_VERIFY}/{self._graph.name(quantized)}:{quantized.tensor}"
        y = self._editor.add_tensor(subgraph, name, TensorType.FLOAT32, tensor)
        return self._editor.custom_operator(NUMERIC_VERIFY, [quantized.tensor, real], [y], _OPTIONS)
