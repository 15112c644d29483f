"""split_bidirectional: LSTMs of two directions as what they are made of, which has integer kernels.

Given    y = BIDIRECTIONAL_SEQUENCE_LSTM(x)
Result   y = CONCATENATION(LSTM(x), REVERSE_V2(LSTM(REVERSE_V2(x))))     LSTM: UNIDIRECTIONAL_SEQUENCE_LSTM

The same values; without merge_outputs there is no CONCATENATION. The whole has no integer kernel anywhere.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from ...kernels.fused_activation import TANH
from ...lite.tensor import TensorType
from ...schema import tflite
from ...schema.objects import TableT
from .float_graph import FloatGraph, Site, Step
from .model_editor import ModelEditor
from .recipe import Recipe
from .recurrent_ranges import LSTM, given
from .weight_rewrite import scope_of

BIDIRECTIONAL = "BIDIRECTIONAL_SEQUENCE_LSTM"
# A cell's weights, from the input ones of the first gate to the bias of the projection, and its states.
Cell = tuple[range, tuple[int, int]]
_FORWARD: Cell = range(1, 18), (35, 36)
_BACKWARD: Cell = range(18, 35), (37, 38)
_AUX, _AUX_WEIGHTS = 39, range(40, 48)
_DEPTH = 2  # the last axis of inputs and results


def split_bidirectional(editor: ModelEditor, recipe: Recipe) -> int:
    """Rewrite those that int8 kernels of LSTM could compute, in place; how many there were.

    Whole stay those for which the recipe has a rule of that operation without integer activations. New
    tensors are named after the result.
    """
    graph = FloatGraph(editor)
    found = [step for step in graph.steps if _can_be_split(graph, step) and _is_wanted(graph, step, recipe)]
    for step in found:
        _Split(graph, step).rewrite()
    return len(found)


def _is_wanted(graph: FloatGraph, step: Step, recipe: Recipe) -> bool:
    rule = next(recipe.of(BIDIRECTIONAL, scope_of(graph.subgraphs[step.graph], step.operator)), None)
    if rule is not None and rule.operation == BIDIRECTIONAL:
        return rule.scheme is not None and rule.scheme.activation_bits == 8
    # A rule for all speaks of the parts, too, by their names.
    return any(rule.scheme is not None and rule.scheme.activation_bits == 8 for rule in recipe.rules)


def _can_be_split(graph: FloatGraph, step: Step) -> bool:
    options = step.operator.builtin_options
    if step.name != BIDIRECTIONAL or getattr(options, "fused_activation_function", 0) != TANH:
        return False
    weights = [
        Site(step.graph, t) for place in (*_FORWARD[0], *_BACKWARD[0]) if (t := step.inputs[place]) >= 0
    ]
    return all(given(step.inputs, place) < 0 for place in _AUX_WEIGHTS) and all(
        graph.is_constant(site) and graph.is_float(site) for site in weights
    )


class _Split:
    """One operator that becomes several."""

    def __init__(self, graph: FloatGraph, step: Step) -> None:
        self._editor, self._step, self._graph = graph.editor, step, graph
        self._subgraph, self._options = graph.subgraphs[step.graph], step.operator.builtin_options
        operators = self._subgraph.operators
        assert operators is not None
        self._place = next(i for i, each in enumerate(operators) if each is step.operator)
        del operators[self._place]
        self._name = graph.name(Site(step.graph, step.outputs[0]))

    def rewrite(self) -> None:
        step, x = self._step, self._step.inputs[0]
        back_x = x if given(step.inputs, _AUX) < 0 else step.inputs[_AUX]
        merges = bool(getattr(self._options, "merge_outputs", False))
        forward, backward = (
            (self._part("forward", _FORWARD), self._part("backward", _BACKWARD)) if merges else step.outputs
        )
        self._lstm(x, forward, _FORWARD)
        before, behind = self._like(back_x, "reversed_input"), self._like(backward, "reversed_backward")
        self._insert("REVERSE_V2", [back_x, self._time_axis()], before, tflite.ReverseV2OptionsT())
        self._lstm(before, behind, _BACKWARD)
        self._insert("REVERSE_V2", [behind, self._time_axis()], backward, tflite.ReverseV2OptionsT())
        if merges:
            options = tflite.ConcatenationOptionsT(axis=_DEPTH)
            self._insert("CONCATENATION", [forward, backward], step.outputs[0], options)

    def _lstm(self, x: int, y: int, cell: Cell) -> None:
        weights, states = cell
        names = ("fused_activation_function", "cell_clip", "proj_clip", "time_major")
        options = tflite.UnidirectionalSequenceLSTMOptionsT(
            **{name: getattr(self._options, name) for name in names}
        )
        inputs = self._step.inputs
        self._insert(LSTM, [x, *(inputs[place] for place in (*weights, *states))], y, options)

    def _part(self, name: str, cell: Cell) -> int:
        """A result that is as deep as the cell's output state."""
        state = self._tensor(self._step.inputs[cell[1][0]])
        assert state.shape is not None
        depth = int(state.shape[-1])
        like = copy(self._tensor(self._step.outputs[0]))
        like.shape, like.shape_signature = (
            None if sizes is None else [*sizes[:_DEPTH], depth]
            for sizes in (like.shape, like.shape_signature)
        )
        return self._editor.add_tensor(self._subgraph, f"{self._name}/{name}", TensorType.FLOAT32, like)

    def _like(self, t: int, name: str) -> int:
        return self._editor.add_tensor(
            self._subgraph, f"{self._name}/{name}", TensorType.FLOAT32, self._tensor(t)
        )

    def _time_axis(self) -> int:
        axis = np.array([0 if getattr(self._options, "time_major", True) else 1], np.int32)
        return self._editor.add_constant(self._subgraph, f"{self._name}/time", TensorType.INT32, axis)

    def _tensor(self, t: int) -> tflite.TensorT:
        return self._graph.tensor(Site(self._step.graph, t))

    def _insert(self, name: str, inputs: list[int], output: int, options: TableT) -> None:
        self._editor.insert(self._subgraph, self._place, name, inputs, [output], options)
        self._place += 1
