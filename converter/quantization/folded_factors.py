"""fold_factors: constants that scale and shift what filters read go into the filters.

Given    y = FULLY_CONNECTED(ADD(MUL(n, gamma), beta), w, b)
Result   y = FULLY_CONNECTED(n, w gamma, b + w beta)

The same values but for the last bits, and one rounding less each. A factor for each channel goes where a
normalization has made n: its channels are of about one size, which integers suit, and the filter's take what
they differ in. Elsewhere that could make filters coarse, so only one factor for all goes. What float32, or a
filter's integers, would not hold stays outside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...schema.tflite import Padding
from .float_graph import FloatGraph, Site, Step, remove, replace_operand
from .model_editor import ModelEditor
from .parameters import LEAST_MAGNITUDE

_BIAS = 2  # of filters' operands
_NORMALIZERS = {"MUL": "RSQRT", "DIV": "SQRT"}


def fold_factors(editor: ModelEditor) -> bool:
    """Fold all that can be, in place; whether something could.

    That is where only filters read the result, and nothing else reads the filters.
    """
    changed = False
    while True:
        graph = FloatGraph(editor)
        if not any([_folded(graph, step) for step in graph.steps]):
            return changed
        changed = True


def _folded(graph: FloatGraph, step: Step) -> bool:
    """Fold one MUL or ADD, if it can be."""
    constant = _channel_constant(graph, step)
    if constant is None:
        return False
    x, name, values = constant
    result = Site(step.graph, step.outputs[0])
    is_even = name == "ADD" or (values == values[0]).all() or _is_normalized(graph, x)
    if not is_even or not only_filters_read(graph, result, name):
        return False
    place, made = (1, _scaled) if name == "MUL" else (_BIAS, _shifted)
    new = [made(graph, user, values) for user in graph.users[result]]
    if not all(_is_kept(operand, place) for operand in new):
        return False
    for user, operand in zip(graph.users[result], new, strict=True):
        inputs = list(user.inputs)
        inputs[0] = x.tensor
        user.operator.inputs = inputs
        replace_operand(graph, user, place, operand)
    remove(graph, step)
    return True


def only_filters_read(graph: FloatGraph, site: Site, name: str) -> bool:
    """Whether all that read a tensor are filters that can scale it (name MUL) or shift it (ADD)."""
    users = graph.users.get(site, [])
    return (
        site not in graph.outputs and bool(users) and all(_takes(graph, user, site, name) for user in users)
    )


def _channel_constant(graph: FloatGraph, step: Step) -> tuple[Site, str, np.ndarray] | None:
    """The operand, MUL or ADD, and the constant, one value a channel of the last axis (float64).

    SUB and DIV by a constant count as what they are of the negative and of the inverse one.
    """
    options: Any = step.operator.builtin_options
    name = {"SUB": "ADD", "DIV": "MUL"}.get(step.name, step.name)
    if name not in ("MUL", "ADD") or (options is not None and options.fused_activation_function):
        return None
    sites = [Site(step.graph, t) for t in step.inputs]
    constants = [site for site in sites if graph.is_constant(site)]
    if len(constants) != 1 or (name != step.name and constants[0] != sites[1]):
        return None
    [x] = [site for site in sites if site not in constants]
    values, shape = graph.constant(constants[0]), _shape(graph, x)
    is_of_channels = values.size == 1 or (values.ndim > 0 and values.shape[-1] == values.size)
    if not shape or shape != _shape(graph, Site(step.graph, step.outputs[0])) or not is_of_channels:
        return None
    each = np.broadcast_to(values.reshape(-1).astype(np.float64), (shape[-1],))
    if step.name == "DIV" and not each.all():
        return None
    return x, name, {"SUB": np.negative, "DIV": np.reciprocal}.get(step.name, np.asarray)(each)


def _shape(graph: FloatGraph, site: Site) -> list[int]:
    shape = graph.tensor(site).shape
    return [] if shape is None else [int(size) for size in shape]


def _is_normalized(graph: FloatGraph, site: Site) -> bool:
    """Whether the tensor is a normalization's, perhaps scaled by channels already."""
    step = graph.producers.get(site)
    if step is not None and (constant := _channel_constant(graph, step)) is not None:
        return _is_normalized(graph, constant[0])
    if step is None or step.name not in _NORMALIZERS:
        return False
    makers = [graph.producers.get(Site(step.graph, t)) for t in step.inputs]
    return any(maker is not None and maker.name == _NORMALIZERS[step.name] for maker in makers)


def _takes(graph: FloatGraph, user: Step, site: Site, name: str) -> bool:
    """Whether a filter can scale its inputs (name MUL) or shift them (ADD) itself."""
    if user.name not in ("FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D") or user.inputs[0] != site.tensor:
        return False
    constants = [Site(user.graph, t) for t in user.inputs[1:] if t >= 0]
    if not all(graph.is_constant(c) and graph.is_float(c) for c in constants):
        return False
    # Another user would keep the filter as it was, beside the new one; biases are small.
    if len(graph.users[constants[0]]) > 1:
        return False
    shape, depth = graph.constant(constants[0]).shape, _shape(graph, site)[-1]
    if user.inputs.count(site.tensor) != 1 or shape[-1] != depth:
        return False
    if name == "MUL" or user.name == "FULLY_CONNECTED":
        return True
    # Zeros beyond an image's edges are not shifted.
    options: Any = user.operator.builtin_options
    return user.name == "CONV_2D" and (shape[1:3] == (1, 1) or options.padding == Padding.VALID)


def _scaled(graph: FloatGraph, user: Step, values: np.ndarray) -> np.ndarray:
    """The filter (float64) that makes good for the factors of its inputs."""
    return graph.constant(Site(user.graph, user.inputs[1])).astype(np.float64) * values


def _shifted(graph: FloatGraph, user: Step, values: np.ndarray) -> np.ndarray:
    """The bias (float64) that makes good for what was added to the filter's inputs."""
    filters = graph.constant(Site(user.graph, user.inputs[1])).astype(np.float64)
    shift = (filters * values).reshape(len(filters), -1).sum(axis=1)
    t = user.inputs[_BIAS] if len(user.inputs) > _BIAS else -1
    before = graph.constant(Site(user.graph, t)).reshape(-1) if t >= 0 else 0.0
    return np.asarray(before + shift)


def _is_kept(values: np.ndarray, place: int) -> bool:
    """Whether float32 holds a new operand, and the least scale of filters more of one than zeros."""
    most = np.abs(values).max(initial=0.0)
    least = 0.0 if place == _BIAS or not most else LEAST_MAGNITUDE
    return bool(least <= most <= np.finfo(np.float32).max)
