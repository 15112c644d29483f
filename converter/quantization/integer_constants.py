"""IntegerConstants: weights, biases and other constants of integer operators, each made once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...lite.tensor import NUMPY_DTYPES, TensorType
from ..same_content import SameContent
from .bias_correction import correction
from .constraints import Weights
from .float_graph import FloatGraph, Site, Step
from .grid_weights import grid_scales
from .hybrid_weights import filter_scales
from .mended_models import RoundedFilters
from .mending import NOTHING_KNOWN, Knowledge, nearest
from .parameters import (
    MOST_BIAS,
    Parameters,
    bias_scales,
    magnitude_scales,
    one_scale,
    range_parameters,
    scales_that_hold,
)
from .scale_search import least_output_error
from .scheme import BIASES, WEIGHTS, Integers, Scheme
from .selection import Selection

_DEPTHWISE = "DEPTHWISE_CONV_2D"


class Weighed(NamedTuple):
    """The tensors of an operator's filter and bias (-1: none), and the bias's type."""

    filter: int
    bias: int
    bias_type: TensorType


class IntegerConstants:
    """Makes constants of floats; the same one for the same use of the same constant.

    Each chosen operator has those of its own scheme; filters have its bits where kernels take so few, else 8.
    rounded are integers of filters that are known, and takes what is rounded here; on_grid tells that filters
    may lie on a grid, which is kept then. widened names the operators whose weights have a larger scale for
    their bias.
    """

    def __init__(
        self,
        graph: FloatGraph,
        selection: Selection,
        knowledge: Knowledge = NOTHING_KNOWN,
        rounded: RoundedFilters | None = None,
        on_grid: bool = False,
    ) -> None:
        self._graph, self._selection, self._on_grid = graph, selection, on_grid
        self._made: dict[tuple[object, ...], int] = {}
        self._contents = SameContent()
        self._knowledge = knowledge
        self._rounded = {} if rounded is None else rounded
        self._filters: dict[Site, tuple[np.ndarray, np.ndarray, Parameters, int]] = {}
        self.widened: list[str] = []

    def operand(
        self, step: Step, place: int, wanted: Parameters | None, others: Callable[[Site], Parameters]
    ) -> int:
        """The integers of a constant operand: with the parameters that are wanted, or else its own."""
        site = Site(step.graph, step.inputs[place])
        if wanted is None:
            wanted = self._parameters(step, site, others)
        return self.value(site, wanted)

    def _parameters(self, step: Step, site: Site, others: Callable[[Site], Parameters]) -> Parameters:
        values = self._graph.constant(site)
        if not values.any() and not step.result_sites():
            # What is compared with 0 has a scale of its own, in which 0 is exact.
            beside = [other for other in step.operand_sites() if not self._graph.is_constant(other)]
            if beside:
                return others(beside[0])
        return _range(values, self._selection.integers(step))

    def embedding(self, site: Site, activations: Integers) -> Parameters:
        """Parameters of a constant whose elements become an operator's results: symmetric, as weights are."""
        values = self._graph.constant(site)
        if activations.symmetric:
            return _range(values, activations)
        weights = WEIGHTS[8]
        (scale,) = magnitude_scales(np.abs(values).max(initial=0.0, keepdims=True).reshape(1), weights)
        return one_scale(float(scale), 0, activations)

    def value(self, site: Site, parameters: Parameters) -> int:
        """A constant as integers; what they cannot reach is clipped."""
        integers = parameters.quantized(self._graph.constant(site))
        return self._keep(site, parameters, integers.astype(_stored(parameters.integers)))

    def _keep(self, site: Site, parameters: Parameters, stored: np.ndarray) -> int:
        """The tensor of a constant's integers, the same for the same ones."""
        places = parameters.scales.tobytes(), parameters.zero_points.tobytes()
        key = (site, parameters.integers, *places, self._contents.number(stored))
        if key not in self._made:
            self._made[key] = self._add(site, parameters, stored)
        return self._made[key]

    def weights(self, step: Step, weights: Weights, operand: Parameters) -> Weighed:
        """Filter and bias of an operator, for an operand's scale."""
        site = Site(step.graph, step.inputs[weights.place])
        values = self._graph.constant(site)
        bias_at = step.inputs[weights.bias] if weights.bias < len(step.inputs) else -1
        bias = self._graph.constant(Site(step.graph, bias_at)).reshape(-1) if bias_at >= 0 else None
        channels = values.shape[weights.dimension]
        scheme = self._selection.scheme(step)
        kind = WEIGHTS[max(scheme.weight_bits, weights.least_bits)]
        scales = self._known_scales(site, values, weights.dimension, kind, scheme.per_channel)
        if scales is None:
            scales = self._filter_scales(site, values, weights.dimension, kind, scheme.per_channel)
        if bias is not None:
            held = scales_that_hold(bias, float(operand.scale), scales, kind.bits)
            if not np.array_equal(held, scales):
                self.widened.append(self._graph.where(step))
                scales = held
        zeros = np.zeros(len(scales), np.int64)
        parameters = Parameters(kind, scales, zeros, weights.dimension if len(scales) > 1 else 0)
        integers = _biases(step, scheme)
        rounded = self._integers(site, values, parameters)
        kept = self._keep(site, parameters, rounded)
        self._filters[Site(step.graph, step.outputs[0])] = values, rounded, parameters, weights.dimension
        if bias is None and not weights.needs_bias:
            return Weighed(kept, -1, integers.type)
        means = self._knowledge.means.get(Site(step.graph, step.outputs[0]))
        if means is not None and bias is not None and bias.any():  # files keep those of zeros once
            added = correction(step, means, values - parameters.real(rounded))
            bias = bias + added
        scales = bias_scales(float(operand.scale), scales)
        return Weighed(kept, self._bias(step, bias_at, bias, channels, scales, integers), integers.type)

    def weights_db(self) -> dict[str, np.ndarray]:
        """The SQNR of each channel of the filters, by the names of the operators' results."""
        return {
            self._graph.name(site): _channels_db(values, values - parameters.real(rounded), dimension)
            for site, (values, rounded, parameters, dimension) in self._filters.items()
        }

    def _integers(self, site: Site, values: np.ndarray, parameters: Parameters) -> np.ndarray:
        """A filter's integers, as they are stored."""
        filter, content = (site.graph, self._graph.name(site)), self._graph.content(site)
        stored = _stored(parameters.integers)
        if self._knowledge.knows(filter):
            return self._knowledge.rounding(filter, values, parameters).astype(stored, copy=False)
        facts = parameters.integers, parameters.scales.tobytes(), parameters.dimension
        key = (id(content), values.shape, *facts)
        if key not in self._rounded:
            self._rounded[key] = content, nearest(values, parameters).astype(stored)
        return self._rounded[key][1]

    def _known_scales(
        self, site: Site, values: np.ndarray, dimension: int, kind: Integers, per_channel: bool
    ) -> np.ndarray | None:
        """Those that a filter was quantized with before, None where that is not to be again."""
        known = (
            filter_scales(self._graph.tensor(site), values, dimension)
            if kind.bits == WEIGHTS[8].bits
            else None
        )
        return known if known is None or per_channel or len(known) == 1 else None

    def _filter_scales(
        self, site: Site, values: np.ndarray, dimension: int, kind: Integers, per_channel: bool
    ) -> np.ndarray:
        content = self._graph.content(site)
        key = (id(content), values.shape, dimension, kind, per_channel)
        if key not in self._rounded:
            self._rounded[key] = content, self._found_scales(values, dimension, kind, per_channel)
        return self._rounded[key][1]

    def _found_scales(
        self, values: np.ndarray, dimension: int, kind: Integers, per_channel: bool
    ) -> np.ndarray:
        rows = np.moveaxis(values, dimension, 0) if per_channel else values[np.newaxis]
        rows = rows.reshape(len(rows), -1)
        trained = grid_scales(rows, not per_channel) if self._on_grid else None
        if trained is not None:
            return trained
        if kind.bits < 8:
            return least_output_error(rows, kind)
        axes = tuple(a for a in range(values.ndim) if a != dimension % values.ndim) if per_channel else None
        return magnitude_scales(np.abs(values).max(axis=axes, initial=0.0).reshape(-1), WEIGHTS[8])

    def _bias(
        self,
        step: Step,
        bias_at: int,
        bias: np.ndarray | None,
        channels: int,
        scales: np.ndarray,
        integers: Integers,
    ) -> int:
        parameters = Parameters(integers, scales, np.zeros(len(scales), np.int64), 0)
        like = Site(step.graph, bias_at if bias_at >= 0 else step.outputs[0])
        values = np.zeros(channels) if bias is None else bias.astype(np.float64)
        key = (like, integers, scales.tobytes(), values.tobytes())
        if key not in self._made:
            suffix = "" if bias_at >= 0 else "_bias"
            rounded = np.clip(parameters.quantized(values), -MOST_BIAS, MOST_BIAS)
            self._made[key] = self._add(like, parameters, rounded, suffix)
        return self._made[key]

    def _add(self, like: Site, parameters: Parameters, integers: np.ndarray, suffix: str = "") -> int:
        type_ = parameters.integers.type
        stored = integers.astype(_stored(parameters.integers))
        name = self._graph.name(like) + suffix
        subgraph = self._graph.subgraphs[like.graph]
        return self._graph.editor.add_constant(subgraph, name, type_, stored, parameters.table())


def _biases(step: Step, scheme: Scheme) -> Integers:
    """What biases become; those of DEPTHWISE_CONV_2D with 16-bit activations have 64 bits in all kernels."""
    return BIASES[64] if step.name == _DEPTHWISE and scheme.activation_bits == 16 else scheme.biases


def _range(values: np.ndarray, integers: Integers) -> Parameters:
    """Parameters that hold all values."""
    if not values.size:
        return range_parameters(0.0, 0.0, integers)
    return range_parameters(float(values.min()), float(values.max()), integers)


def _stored(integers: Integers) -> np.dtype:
    """NumPy's type of integers, int8 for those of fewer bits."""
    return NUMPY_DTYPES.get(integers.type, np.dtype(np.int8))


def _channels_db(values: np.ndarray, error: np.ndarray, dimension: int) -> np.ndarray:
    """The SQNR of each channel that has values, in dB; at most 300."""
    axes = tuple(axis for axis in range(values.ndim) if axis != dimension)
    signal, noise = (np.square(each.astype(np.float64)).sum(axis=axes) for each in (values, error))
    signal, noise = signal[signal > 0], noise[signal > 0]
    return np.asarray(10 * np.log10(signal / np.maximum(noise, signal * 1e-30)))
