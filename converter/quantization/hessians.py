"""Hessians: the sums of products of inputs that meet in one output, of operators with weights."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...kernels.contraction.geometry import conv_geometry, window_table
from .float_graph import FloatGraph, Site, Step

# By subgraph and the weights' name: float64 (or float32) [n + 1, n + 1], of the n inputs of an output and a 1
# behind them, so that their sums and their count are there, too. What all operators of shared weights see is
# added up.
Hessians = dict[tuple[int, str], np.ndarray]
# Takes the values of a tensor, once for each run of what makes it.
Watcher = Callable[[np.ndarray], None]

# More inputs to an output would need hundreds of megabytes, and minutes.
MOST_INPUTS = 4608
# Of a convolution's windows in a run, all of which say much the same.
_MOST_ROWS = 4096
# That are added up at once.
_LEAST_ROWS = 1024
_PLACES = {"FULLY_CONNECTED": (0, 1), "CONV_2D": (0, 1)}


class HessianSums:
    """Has tensors seen by watchers, of which the Hessians of all operators that have one are made.

    These are FULLY_CONNECTED and CONV_2D without groups, of float32 constants and not too many inputs. sums
    are kept as dtype.
    """

    def __init__(
        self, graph: FloatGraph, most_inputs: int = MOST_INPUTS, dtype: type[np.floating] = np.float64
    ) -> None:
        self.watchers: dict[Site, list[Watcher]] = {}
        self._sums: dict[tuple[int, str], _Sum] = {}
        for step in graph.steps:
            if step.name not in _PLACES:
                continue
            x, w = (Site(step.graph, step.inputs[place]) for place in _PLACES[step.name])
            if not (graph.is_constant(w) and graph.is_float(w)):
                continue
            shape = graph.constant(w).shape
            count = int(np.prod(shape[1:]))
            if count > most_inputs:
                continue
            rows = _dense_rows if step.name == "FULLY_CONNECTED" else partial(_windows, step, shape)
            total = self._sums.setdefault((step.graph, graph.name(w)), _Sum(count, dtype))
            self.watchers.setdefault(x, []).append(partial(total.see, rows))

    def found(self) -> Hessians:
        """The Hessians of all that was seen."""
        return {key: each.total() for key, each in self._sums.items()}


class _Sum:
    """The Hessian of some inputs. Rows wait until they are as many as those: a sum over few costs as much as
    one over many."""

    def __init__(self, count: int, dtype: type[np.floating]) -> None:
        self._count, self._dtype = count, dtype
        self._waiting: list[np.ndarray] = []
        self._rows = 0
        self._total: np.ndarray | None = None

    def see(self, rows: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> None:
        found = rows(values)
        if found.shape[1] != self._count:
            return  # groups, whose channels meet other inputs
        self._waiting.append(np.array(found))
        self._rows += len(found)
        if self._rows >= max(self._count, _LEAST_ROWS):
            self._take_in()

    def total(self) -> np.ndarray:
        if self._rows or self._total is None:
            self._take_in()
        assert self._total is not None
        return self._total

    def _take_in(self) -> None:
        if self._total is None:
            self._total = np.zeros((self._count + 1, self._count + 1), self._dtype)
        if self._waiting:
            found = np.concatenate(self._waiting)
            sums = found.sum(axis=0, dtype=np.float64)
            self._total[:-1, :-1] += found.T @ found
            self._total[-1, :-1] += sums
            self._total[:-1, -1] += sums
            self._total[-1, -1] += len(found)
        self._waiting, self._rows = [], 0


def mean_of(hessian: np.ndarray) -> np.ndarray:
    """The inputs' mean [n]."""
    return np.asarray(hessian[-1, :-1] / max(hessian[-1, -1], 1.0))


def _dense_rows(values: np.ndarray) -> np.ndarray:
    return _some(values.reshape(-1, values.shape[-1]))


def _some(rows: np.ndarray) -> np.ndarray:
    """Not more than _MOST_ROWS, evenly."""
    return rows[:: -(-len(rows) // _MOST_ROWS)] if len(rows) > _MOST_ROWS else rows


def _windows(step: Step, filter_shape: tuple[int, ...], values: np.ndarray) -> np.ndarray:
    """Inputs of some output pixels, zeros outside of the image: [pixels, filter height * width * depth]."""
    options: Any = step.operator.builtin_options
    if filter_shape[1:3] == (1, 1) and options.stride_w == options.stride_h == 1:
        return _dense_rows(values)
    geometry = conv_geometry(options, values.shape, filter_shape)
    pixels = _some(window_table(geometry) // geometry.in_depth)
    images = values.reshape(geometry.batch, -1, geometry.in_depth)
    padded = np.pad(images, ((0, 0), (0, 1), (0, 0)))  # -1 finds the zeros
    return _some(padded[:, pixels].reshape(-1, pixels.shape[1] * geometry.in_depth))
