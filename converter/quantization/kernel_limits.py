"""within_limits: results get scales that kernels can divide by.

XNNPACK refuses a whole model with a convolution or FULLY_CONNECTED whose products count 256 steps of the
result or more; of an ADD whose operands, widened, count a whole step of its result, LiteRT ends the process,
and SUB gives other values; the ends of a fused activation must be integers of 32 bits. All that happens where
a result is (nearly) always 0, so that its scale is tiny: a larger one costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...kernels.fused_activation import RELU6, RELU_N1_TO_1
from .float_graph import FloatGraph, Site, Step
from .mended_models import RoundedFilters
from .parameters import Parameters, magnitude_scales, most_bias, range_parameters
from .propagate import Sets
from .scheme import INT8, WEIGHTS, Integers
from .selection import Selection

# Source: XNNPACK src/operators/convolution-nhwc.c, fully-connected-nc.c: the requantization scale.
_MOST_STEPS = 256.0
# Filters whose scales grow for their bias, and rounding, must not come near.
_SAFETY = 2.0
# By how many bits sums widen their operands. Source: LiteRT tflite/kernels/add.cc, squared_difference.cc.
_ADDED_BITS = {8: 20, 16: 15}
_SQUARED_BITS = 7
# A product of two int8 has 16 bits, and must not leave 32 when it is counted in steps of the result.
_MOST_PRODUCT_STEPS = 2.0**15
# The largest end of a fused activation.
_ACTIVATION_ENDS = {RELU_N1_TO_1: 1.0, RELU6: 6.0}


def within_limits(
    graph: FloatGraph,
    selection: Selection,
    sets: Sets,
    parameters: Mapping[Site, Parameters],
    known: RoundedFilters | None = None,
) -> dict[Site, Parameters]:
    """The parameters of all tensors, with larger scales for the sets of results that need them.

    known, which takes in what is looked up here, has the largest magnitudes of constants.
    """
    found, members = dict(parameters), sets.members()
    magnitudes = _Magnitudes(graph, {} if known is None else known)
    for step in selection.chosen.values():
        least = _least_scale(graph, step, selection, found, magnitudes)
        y = found[step.result_sites()[0]] if least else None
        if y is not None and y.scale < least:
            wider = y._replace(scales=np.array([least], np.float32))
            found.update(dict.fromkeys(members[sets.root(step.result_sites()[0])], wider))
    return found


class _Magnitudes:
    """The largest magnitudes of constants, each looked up once, however many models have them."""

    def __init__(self, graph: FloatGraph, known: RoundedFilters) -> None:
        self._graph, self._known = graph, known

    def largest(self, site: Site) -> float:
        content, values = self._graph.content(site), self._graph.constant(site)
        key = ("largest", id(content), values.shape)
        if key not in self._known:
            size = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
            self._known[key] = content, np.array(size)
        return float(self._known[key][1])


def _least_scale(
    graph: FloatGraph,
    step: Step,
    selection: Selection,
    known: Mapping[Site, Parameters],
    magnitudes: _Magnitudes,
) -> np.float32:
    """The least scale of an operator's result, 0 where there is none."""
    integers = selection.integers(step)
    least = _SAFETY * _ACTIVATION_ENDS.get(step.activation, 0.0) / 2**31
    rule = step.constraint
    if rule is not None and rule.weights is not None and integers is INT8:
        product = _largest_product(graph, step, selection, known, magnitudes)
        least = max(least, product * _SAFETY / _MOST_STEPS)
    if step.name == "MUL" and integers is INT8:
        first, second = (_scale(graph, site, integers, known) for site in step.operand_sites())
        least = max(least, _SAFETY * first * second / _MOST_PRODUCT_STEPS)
    if step.name in ("ADD", "SUB", "SQUARED_DIFFERENCE"):
        twice = 2 * max(_scale(graph, site, integers, known) for site in step.operand_sites())
        factor = twice / 2 ** _ADDED_BITS[integers.bits]
        if step.name == "SQUARED_DIFFERENCE":
            factor = twice * twice / 2 ** (2 * _SQUARED_BITS)
        least = max(least, _SAFETY * factor)
    return np.float32(least)


def _largest_product(
    graph: FloatGraph,
    step: Step,
    selection: Selection,
    known: Mapping[Site, Parameters],
    magnitudes: _Magnitudes,
) -> float:
    """The largest scale of an operator's products, whose filter holds its bias."""
    weights = step.constraint.weights  # type: ignore[union-attr]
    assert weights is not None
    kind = WEIGHTS[max(selection.scheme(step).weight_bits, weights.least_bits)]
    size = magnitudes.largest(Site(step.graph, step.inputs[weights.place]))
    (largest,) = magnitude_scales(np.array([size]), kind)
    products = float(known[step.operand_sites()[0]].scale) * float(largest)
    t = step.inputs[weights.bias] if weights.bias < len(step.inputs) else -1
    bias = magnitudes.largest(Site(step.graph, t)) if t >= 0 else 0.0
    return max(products, bias / most_bias(kind.bits))


def _scale(graph: FloatGraph, site: Site, integers: Integers, known: Mapping[Site, Parameters]) -> float:
    if not graph.is_constant(site):
        return float(known[site].scale)
    values = graph.constant(site)
    return float(range_parameters(values.min(initial=0.0), values.max(initial=0.0), integers).scale)
