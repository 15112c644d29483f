"""Hessians: the sums of products of inputs that meet in one output, of operators with weights."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ...kernels.contraction.geometry import conv_geometry, window_table
from .float_graph import FloatGraph, Site, Step

# By subgraph and the weights' name: float64 [n + 1, n + 1], of the n inputs of an output and a 1 behind them,
# so that their sums and their count are there, too. What all operators of shared weights see is added up.
Hessians = dict[tuple[int, str], np.ndarray]
# Takes the values of a tensor, once for each run of what makes it.
Watcher = Callable[[np.ndarray], None]

# More inputs to an output would need hundreds of megabytes, and minutes.
MOST_INPUTS = 4608
# Of a convolution's windows in a run, all of which say much the same.
_MOST_ROWS = 4096
_PLACES = {"FULLY_CONNECTED": (0, 1), "CONV_2D": (0, 1)}


def hessian_watchers(
    graph: FloatGraph, sums: Hessians, most_inputs: int = MOST_INPUTS
) -> dict[Site, list[Watcher]]:
    """Who has to see which tensors, so that sums become the Hessians of all operators that have one.

    These are FULLY_CONNECTED and CONV_2D without groups, of float32 constants and not too many inputs.
    """
    found: dict[Site, list[Watcher]] = {}
    for step in graph.steps:
        if step.name not in _PLACES:
            continue
        x, w = (Site(step.graph, step.inputs[place]) for place in _PLACES[step.name])
        if not (graph.is_constant(w) and graph.is_float(w)):
            continue
        weights = graph.constant(w)
        count = weights[0].size
        if count > most_inputs:
            continue
        key = step.graph, graph.name(w)
        rows = _dense_rows if step.name == "FULLY_CONNECTED" else partial(_windows, step, weights.shape)
        sums.setdefault(key, np.zeros((count + 1, count + 1)))
        found.setdefault(x, []).append(partial(_add, sums[key], rows))
    return found


def _add(total: np.ndarray, rows: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> None:
    found = rows(values)
    if found.shape[1] + 1 != len(total):
        return  # groups, whose channels meet other inputs
    if len(found) > _MOST_ROWS:
        found = found[:: -(-len(found) // _MOST_ROWS)]
    sums = found.sum(axis=0, dtype=np.float64)
    total[:-1, :-1] += found.T @ found
    total[-1, :-1] += sums
    total[:-1, -1] += sums
    total[-1, -1] += len(found)


def mean_of(hessian: np.ndarray) -> np.ndarray:
    """The inputs' mean [n]."""
    return np.asarray(hessian[-1, :-1] / max(hessian[-1, -1], 1.0))


def _dense_rows(values: np.ndarray) -> np.ndarray:
    return values.reshape(-1, values.shape[-1])


def _windows(step: Step, filter_shape: tuple[int, ...], values: np.ndarray) -> np.ndarray:
    """Inputs of each output pixel, zeros outside of the image: [pixels, filter height * width * depth]."""
    geometry = conv_geometry(step.operator.builtin_options, values.shape, filter_shape)  # type: ignore[arg-type]
    pixels = window_table(geometry) // geometry.in_depth
    images = values.reshape(geometry.batch, -1, geometry.in_depth)
    padded = np.pad(images, ((0, 0), (0, 1), (0, 0)))  # -1 finds the zeros
    return padded[:, pixels].reshape(-1, pixels.shape[1] * geometry.in_depth)
