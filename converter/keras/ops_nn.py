"""keras.ops that are activation functions."""

from __future__ import annotations

from ...lite.errors import ModelError
from ..building import elementwise as formulas
from ..building.movement import axis_of
from ..building.tensor import Tensor
from . import activations
from .activations import function_of
from .call import Call, Rule
from .kind import Kind

_NAMED = {
    **{"Celu": "celu", "Glu": "glu", "HardSigmoid": "hard_sigmoid", "HardSilu": "hard_silu"},
    **{"HardShrink": "hard_shrink", "HardTanh": "hard_tanh", "LogSigmoid": "log_sigmoid"},
    **{"LogSoftmax": "log_softmax", "Relu": "relu", "Relu6": "relu6", "Selu": "selu", "Sigmoid": "sigmoid"},
    **{"Silu": "silu", "SoftShrink": "soft_shrink", "Softplus": "softplus", "Softsign": "softsign"},
    **{"SparsePlus": "sparse_plus", "SparseSigmoid": "sparse_sigmoid", "Sparsemax": "sparsemax"},
    **{"Squareplus": "squareplus", "TanhShrink": "tanh_shrink"},
}


def _function(name: str) -> Rule:
    return lambda c: function_of(c, name)(c.floats(c.tensor(0, "x")))


def elu(c: Call) -> Tensor:
    return formulas.elu(c.tensor(0, "x"), c.config.real("alpha", 1.0))


def gelu(c: Call) -> Tensor:
    return activations.gelu(c.tensor(0, "x"), c.config.flag("approximate", True))


def leaky_relu(c: Call) -> Tensor:
    return activations.leaky_relu(c.tensor(0, "x"), c.config.real("negative_slope", 0.2))


def layer_norm(c: Call) -> Tensor:
    """By mean and variance over the axes, then scaled and moved."""
    x, axes = _normalized(c)
    away = x - _mean(x, axes)
    y = away / (_mean(away * away, axes) + c.config.real("epsilon", 1e-3)).apply("Sqrt")
    return _moved(c, y, axes, ("gamma", "beta"))


def rms_norm(c: Call) -> Tensor:
    """By the root of the mean of squares over the axes, then scaled."""
    x, axes = _normalized(c)
    y = x / (_mean(x * x, axes) + c.config.real("epsilon", 1e-7)).apply("Sqrt")
    return _moved(c, y, axes, ("scale",))


def _normalized(c: Call) -> tuple[Tensor, list[int]]:
    x = c.floats(c.tensor(0, "x"))
    return x, sorted(axis_of(axis, x.rank) for axis in c.config.integers("axis", [-1]))


def _mean(x: Tensor, axes: list[int]) -> Tensor:
    return x.body.op("Mean", x, x.body.integers(axes), keep_dims=True)


def _moved(c: Call, y: Tensor, axes: list[int], names: tuple[str, ...]) -> Tensor:
    """y times the first, plus the second argument, where they are given; they are of the axes."""
    for place, name in enumerate(names):
        held = c.optional(1 + place, name)
        if held is not None:
            sizes = [y.sizes[axis] if axis in axes else 1 for axis in range(y.rank)]
            held = c.body.reshaped(c.floats(held), sizes)
            y = y + held if place else y * held
    return y


def batch_norm(c: Call) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon), then scaled and moved; all are of one axis."""
    x = c.floats(c.tensor(0, "x"))
    axis = axis_of(c.config.integer("axis"), x.rank)
    sizes = [-1 if each == axis else 1 for each in range(x.rank)]
    names = ("mean", "variance", "offset", "scale")
    found = [c.optional(1 + place, name) for place, name in enumerate(names)]
    mean, variance, offset, scale = (
        None if each is None else c.body.reshaped(c.floats(each), sizes) for each in found
    )
    if mean is None or variance is None:
        raise ModelError("mean and variance must be given")
    factor = 1 / (variance + c.config.real("epsilon", 1e-3)).apply("Sqrt")
    y = (x - mean) * (factor if scale is None else factor * scale)
    return y if offset is None else y + offset


REGISTRATIONS: dict[str, Kind] = {
    "ops.BatchNorm": Kind(batch_norm),
    "ops.LayerNorm": Kind(layer_norm),
    "ops.RMSNorm": Kind(rms_norm),
    **{f"ops.{op}": Kind(_function(name), keeps_mask=True) for op, name in _NAMED.items()},
    "ops.Elu": Kind(elu, keeps_mask=True),
    "ops.Gelu": Kind(gelu, keeps_mask=True),
    "ops.LeakyRelu": Kind(leaky_relu, keeps_mask=True),
}
