"""Keras's activation functions, by the names and settings that layers have for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT, DT_INT32
from ...schema.shown import shown
from ..building import elementwise as formulas
from ..building.movement import along, axis_of, split_of
from ..building.tensor import Tensor
from .call import Call, Value
from .config import Config, cut

Function = Callable[[Tensor], Tensor]
_SELU_ALPHA, _SELU_SCALE = 1.67326324, 1.05070098


def activation_of(c: Call, setting: str = "activation", default: str = "linear") -> Function:
    """The function that a setting of the layer names: a text, or a function or layer with settings."""
    told = c.config.get(setting)
    if isinstance(told, Mapping):
        settings = Config(told)
        kind = settings.text("class_name")
        if kind != "function":
            if isinstance(told.get("config"), Mapping):
                return lambda x: _by_layer(c, settings, x)
            raise ModelError(f"{setting} must name a function, got {cut(told)}")
        told = settings.get("config")
        if isinstance(told, Mapping):
            told = told.get("name")
    if told is None:
        told = default
    if not isinstance(told, str):
        raise ModelError(f"{setting} must name a function, got {cut(told)}")
    return function_of(c, told)


def function_of(c: Call, name: str) -> Function:
    """The function of a name."""
    name = name.rpartition(">")[2]
    hook = c.importer.custom.get(name)
    if hook is not None:
        return lambda x: c.importer.hooked(hook, c, x)
    if name == "hard_sigmoid" and c.importer.shared.is_keras_2:
        return lambda x: formulas.hard_sigmoid(x, 0.2, 0.5)
    found = _FUNCTIONS.get(name)
    if found is None:
        raise UnsupportedError(
            f"activation {shown(name)} is not known; custom_layers={{{name!r}: function}} tells what it gives"
        )
    return found


def _by_layer(c: Call, told: Config, x: Tensor) -> Tensor:
    """A layer that stands as an activation function."""
    result = c.importer.called(c.importer.layer(told.values), [Value(x)], {}, x.body)
    return c.importer.tensor(result)


def relu(x: Tensor, slope: float = 0.0, highest: float | None = None, threshold: float = 0.0) -> Tensor:
    """x, below the threshold slope times its distance from it, at most the highest."""
    if threshold == 0 and slope == 0 and highest == 6:
        return x.apply("Relu6")
    if x.type != DT_FLOAT:
        y = x.maximum(0)
    elif threshold == 0:
        y = x.body.op("LeakyRelu", x, alpha=slope) if slope else x.apply("Relu")
    else:
        below = (x - threshold) * slope if slope else x * 0.0
        y = (x >= threshold).choose(x, below)
    return y if highest is None else y.minimum(highest)


def leaky_relu(x: Tensor, slope: float = 0.2) -> Tensor:
    return x.body.op("LeakyRelu", x, alpha=slope)


def gelu(x: Tensor, approximate: bool = False) -> Tensor:
    """GELU, exact or by tanh."""
    if approximate:
        return formulas.gelu_by_tanh(x)
    return ((x * math.sqrt(0.5)).apply("Erf") + 1) * x * 0.5


def softmax(x: Tensor, axis: int = -1, op: str = "Softmax") -> Tensor:
    """SOFTMAX or LogSoftmax along any axis."""
    return along(x, op, axis_of(axis, x.rank))


def softmax_over(x: Tensor, axes: list[int]) -> Tensor:
    """Shares of all elements of several axes."""
    if len(axes) == 1:
        return softmax(x, axes[0])
    places = x.body.integers([axis_of(axis, x.rank) for axis in axes])
    powers = (x - x.body.op("Max", x, places, keep_dims=True)).apply("Exp")
    return powers / x.body.op("Sum", powers, places, keep_dims=True)


def shrunk(x: Tensor, by: float = 0.5) -> Tensor:
    """Nearer to 0, at most to 0."""
    return (x - by).apply("Relu") - (-x - by).apply("Relu")


def glu(x: Tensor, axis: int = -1) -> Tensor:
    """One half of the axis, with the other half as its gate."""
    axis = axis_of(axis, x.rank)
    size = x.sizes[axis]
    if size == -1 or size % 2:
        raise ModelError(f"glu: the axis must have an even size, got {size}")
    value, gate = split_of(x, [size // 2] * 2, axis)
    return value * gate.apply("Sigmoid")


def sparsemax(x: Tensor, axis: int = -1) -> Tensor:
    """The nearest point of the simplex."""
    axis = axis_of(axis, x.rank)
    if axis != x.rank - 1:
        order = [*(each for each in range(x.rank) if each != axis), axis]
        return x.body.transposed(sparsemax(x.body.transposed(x, order)), list(np.argsort(order)))
    size = x.sizes[-1]
    if size == -1:
        raise UnsupportedError("sparsemax: the size of the axis must be known")
    body = x.body
    largest = body.ops("TopKV2", x, body.scalar(size, DT_INT32))[0]
    last = body.scalar(x.rank - 1, DT_INT32)
    sums = body.op("Cumsum", largest, last)
    ranks = body.constant(np.arange(1, size + 1, dtype=np.float32))
    inside = body.cast(largest - (sums - 1) / ranks > 0, DT_FLOAT)
    places = body.integers([x.rank - 1])
    count = body.op("Sum", inside, places, keep_dims=True)
    total = body.op("Sum", largest * inside, places, keep_dims=True)
    return (x - (total - 1) / count).apply("Relu")


_FUNCTIONS: dict[str, Function] = {
    "linear": lambda x: x,
    "celu": formulas.celu,
    "elu": formulas.elu,
    "exponential": lambda x: x.apply("Exp"),
    "gelu": gelu,
    "glu": glu,
    "hard_shrink": lambda x: (x.apply("Abs") > 0.5).choose(x, x * 0.0),
    "hard_sigmoid": lambda x: formulas.hard_sigmoid(x, 1 / 6, 0.5),
    "hard_silu": formulas.hard_swish,
    "hard_tanh": lambda x: x.maximum(-1).minimum(1),
    "leaky_relu": leaky_relu,
    "log_sigmoid": formulas.log_sigmoid,
    "log_softmax": lambda x: softmax(x, -1, "LogSoftmax"),
    "mish": formulas.mish,
    "relu": relu,
    "relu6": lambda x: x.apply("Relu6"),
    "selu": lambda x: formulas.selu(x, _SELU_ALPHA, _SELU_SCALE),
    "sigmoid": lambda x: x.apply("Sigmoid"),
    "silu": lambda x: x * x.apply("Sigmoid"),
    "soft_shrink": shrunk,
    "softmax": softmax,
    "softplus": formulas.softplus,
    "softsign": lambda x: x / (x.apply("Abs") + 1),
    "sparse_plus": lambda x: (x >= 1).choose(x, (x.maximum(-1) + 1).apply("Square") * 0.25),
    "sparse_sigmoid": lambda x: ((x + 1) * 0.5).maximum(0).minimum(1),
    "sparsemax": sparsemax,
    "squareplus": lambda x: (x + (x * x + 4).apply("Sqrt")) * 0.5,
    "tanh": lambda x: x.apply("Tanh"),
    "tanh_shrink": lambda x: x - x.apply("Tanh"),
}
_FUNCTIONS["swish"] = _FUNCTIONS["silu"]
_FUNCTIONS["hard_swish"] = _FUNCTIONS["hard_silu"]
_FUNCTIONS["softmax_v2"] = softmax
NAMES = tuple(sorted(_FUNCTIONS))
