"""within_limits: results get scales that kernels can divide by.

XNNPACK refuses a whole model with a convolution or FULLY_CONNECTED whose products count 256 steps of the
result or more. That happens where a result is (nearly) always 0, so that its scale is tiny: a larger one
costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .float_graph import FloatGraph, Site
from .parameters import Parameters, magnitude_scales
from .propagate import Sets
from .scheme import WEIGHTS
from .selection import Selection

# Source: XNNPACK src/operators/convolution-nhwc.c, fully-connected-nc.c: the requantization scale.
_MOST_STEPS = 256.0
# Filters whose scales grow for their bias, and rounding, must not come near.
_SAFETY = 2.0


def within_limits(
    graph: FloatGraph, selection: Selection, sets: Sets, parameters: Mapping[Site, Parameters]
) -> dict[Site, Parameters]:
    """The parameters of all tensors, with larger scales for the sets of results that need them."""
    found, members = dict(parameters), sets.members()
    for step in selection.chosen.values():
        rule = step.constraint
        if rule is None or rule.weights is None:
            continue
        x, y = found[step.operand_sites()[0]], found[step.result_sites()[0]]
        values = graph.constant(Site(step.graph, step.inputs[rule.weights.place]))
        (largest,) = magnitude_scales(np.abs(values).max(initial=0.0).reshape(1), WEIGHTS[8])
        least = np.float32(float(x.scale) * float(largest) * _SAFETY / _MOST_STEPS)
        if y.scale < least:
            wider = y._replace(scales=np.array([least], np.float32))
            found.update(dict.fromkeys(members[sets.root(step.result_sites()[0])], wider))
    return found
