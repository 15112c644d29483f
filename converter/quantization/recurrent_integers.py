"""Recurrent operators of integers: UNIDIRECTIONAL_SEQUENCE_LSTM and SVDF with int8 operands.

Filters are int8 with one scale; what a cell, or a memory of time steps, has to do with is int16. An LSTM's
cell has a power of two as its scale, its output state the result's parameters.
Source: TensorFlow's int8 models, and LiteRT tflite/kernels/unidirectional_sequence_lstm.cc, svdf.cc.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, log2

import numpy as np

from ...kernels.fused_activation import RELU, TANH
from .float_graph import FloatGraph, Site, Step
from .integer_constants import IntegerConstants
from .parameters import Parameters, magnitude_scales, one_scale, range_parameters
from .propagate import Range
from .recurrent_ranges import (
    BIAS,
    CELL_STATE,
    FEATURES,
    GATES,
    HIDDEN,
    LSTM,
    NORM,
    OUTPUT_STATE,
    PEEPHOLE,
    PROJECTION,
    PROJECTION_BIAS,
    RECURRENT,
    SVDF,
    SVDF_STATE,
    given,
    inner_sites,
)
from .recurrent_ranges import WEIGHTS as FILTERS
from .scheme import BIASES, INT8, INT16, WEIGHTS
from .selection import Refusal
from .set_states import may_be_integers, set_integers

_TIME_WEIGHTS, _SVDF_BIAS = 2, 3
# What a normalized sum is multiplied with before it is rounded, so that the bias has the same steps.
_NORMALIZED = 2.0**-10
# The scales that a cell may have, as exponents of 2.
_FINEST, _COARSEST = -15, -9


def refusing_recurrent(graph: FloatGraph, ranges: Mapping[Site, Range], refuse: Refusal) -> Refusal:
    """As refuse, and also the recurrent operators that have no integer kernel, or were not observed."""

    def refuse_recurrent(step: Step) -> str | None:
        return refuse(step) or (_obstacle(graph, ranges, step) if step.name in (LSTM, SVDF) else None)

    return refuse_recurrent


def _obstacle(graph: FloatGraph, ranges: Mapping[Site, Range], step: Step) -> str | None:
    activation = {LSTM: TANH, SVDF: RELU}[step.name]
    if step.activation != activation:
        return f"int8 has only {'TANH' if step.name == LSTM else 'RELU'} as its activation"
    states = (OUTPUT_STATE, CELL_STATE) if step.name == LSTM else (SVDF_STATE,)
    for place, t in enumerate(step.inputs):
        site = Site(step.graph, t)
        if place in states:
            if t < 0 or not graph.tensor(site).is_variable or len(graph.users[site]) > 1:
                return "its state is no variable of its own"
            if not may_be_integers(graph, site):
                return "its state begins with what a run computes"
        elif place and t >= 0 and not (graph.is_constant(site) and graph.is_float(site)):
            return "its weights are no float32 constants"
    if step.name == LSTM and graph.constant(Site(step.graph, step.inputs[RECURRENT + 1])).ndim != 2:
        return "its recurrent weights are a diagonal"
    if not all(site in ranges for site in inner_sites(step)):
        return "nothing was observed inside of it"
    return None


class RecurrentIntegers:
    """Makes recurrent operators integer ones."""

    def __init__(self, graph: FloatGraph, constants: IntegerConstants, ranges: Mapping[Site, Range]) -> None:
        self._graph, self._constants, self._ranges = graph, constants, ranges

    def operands(self, step: Step, x: Parameters, y: Parameters) -> list[int]:
        """The operands but for the first, with the parameters of the first and the result; states and
        intermediate tensors become integers."""
        return self._lstm(step, x, y) if step.name == LSTM else self._svdf(step, x)

    def _lstm(self, step: Step, x: Parameters, y: Parameters) -> list[int]:
        operands = list(step.inputs)
        cell = _power_of_two(self._ranges[Site(step.graph, operands[CELL_STATE])])
        self._begin(step, operands[OUTPUT_STATE], y)
        self._begin(step, operands[CELL_STATE], cell)
        hidden = self._intermediates(step, y)
        for gate in range(len(GATES)):
            filters = self._weights(step, operands, FILTERS + gate)
            if filters is None:
                continue
            self._weights(step, operands, RECURRENT + gate)
            norm = self._weights(step, operands, NORM + gate, fine=True)
            scale = x.scale * filters if norm is None else norm * _NORMALIZED
            self._bias(step, operands, BIAS + gate, float(scale))
        for place in range(PEEPHOLE, BIAS):
            self._weights(step, operands, place, fine=True)
        projection = self._weights(step, operands, PROJECTION)
        if projection is not None:
            self._bias(step, operands, PROJECTION_BIAS, float(hidden.scale * projection))
        return operands

    def _intermediates(self, step: Step, y: Parameters) -> Parameters:
        """Give intermediate tensors parameters; those of what goes into a projection, or is the result."""
        inner = step.operator.intermediates
        hidden = y
        if given(step.inputs, PROJECTION) >= 0:
            hidden = range_parameters(*self._ranges[Site(step.graph, given(inner, HIDDEN))], INT8)
        if given(step.inputs, NORM + 1) >= 0:
            for site in (Site(step.graph, given(inner, gate)) for gate in range(HIDDEN)):
                if site in self._ranges:
                    self._retype(step, site.tensor, range_parameters(*self._ranges[site], INT16))
        self._retype(step, given(inner, HIDDEN), hidden)
        return hidden

    def _svdf(self, step: Step, x: Parameters) -> list[int]:
        operands = list(step.inputs)
        state = range_parameters(*self._ranges[Site(step.graph, operands[SVDF_STATE])], INT16)
        self._begin(step, operands[SVDF_STATE], state)
        self._weights(step, operands, FEATURES)
        time = self._weights(step, operands, _TIME_WEIGHTS, fine=True)
        assert time is not None
        self._bias(step, operands, _SVDF_BIAS, float(state.scale * time))
        return operands

    def _weights(self, step: Step, operands: list[int], place: int, fine: bool = False) -> np.float32 | None:
        """Make a constant int8 (fine: int16) in place, with one scale; that, None where there is none."""
        t = given(operands, place)
        if t < 0:
            return None
        site, integers = Site(step.graph, t), INT16 if fine else WEIGHTS[8]
        most = np.abs(self._graph.constant(site)).max(initial=0.0, keepdims=True).reshape(-1)
        (scale,) = magnitude_scales(most, integers)
        operands[place] = self._constants.value(site, one_scale(float(scale), 0, integers))
        return np.float32(scale)

    def _bias(self, step: Step, operands: list[int], place: int, scale: float) -> None:
        if given(operands, place) >= 0:
            site = Site(step.graph, operands[place])
            operands[place] = self._constants.value(site, one_scale(scale, 0, BIASES[32]))

    def _begin(self, step: Step, t: int, parameters: Parameters) -> None:
        """A state becomes integers, and what sets it in each run sets these."""
        set_integers(self._graph, Site(step.graph, t), parameters)
        self._retype(step, t, parameters)

    def _retype(self, step: Step, t: int, parameters: Parameters) -> None:
        tensor = self._graph.tensor(Site(step.graph, t))
        tensor.type, tensor.quantization = parameters.integers.type, parameters.table()


def _power_of_two(range_: Range) -> Parameters:
    """int16 for a cell, with the least power of two that holds all values."""
    most = max(-range_[0], range_[1], 2.0**_FINEST)
    exponent = min(max(ceil(log2(most)) - 15, _FINEST), _COARSEST)
    return one_scale(2.0**exponent, 0, INT16)
