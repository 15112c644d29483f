"""Activation functions that are layers."""

from __future__ import annotations

from ...schema.graph_def import DT_BOOL, DT_FLOAT
from ..building import elementwise as formulas
from ..building.tensor import Tensor
from . import activations
from .call import Call
from .config import integers_of
from .kind import Kind


def activation(c: Call) -> Tensor:
    """The function that the layer names."""
    return activations.activation_of(c)(c.x)


def relu(c: Call) -> Tensor:
    """Keras 2 and 3 have the same settings but for the slope's default."""
    highest = c.config.real("max_value") if c.config.has("max_value") else None
    return activations.relu(
        c.x, c.config.real("negative_slope", 0.0), highest, c.config.real("threshold", 0.0)
    )


def leaky_relu(c: Call) -> Tensor:
    return activations.leaky_relu(c.x, c.config.real("negative_slope", c.config.real("alpha", 0.3)))


def elu(c: Call) -> Tensor:
    return formulas.elu(c.x, c.config.real("alpha", 1.0))


def thresholded_relu(c: Call) -> Tensor:
    """x where it is larger than theta, else 0."""
    return (c.x > c.config.real("theta", 1.0)).choose(c.x, c.x * 0.0)


def p_relu(c: Call) -> Tensor:
    """x, below 0 times alpha, whose shared axes have the size 1."""
    x = c.x
    alpha = c.weight("alpha", [None] * (x.rank - 1))
    return x.apply("Relu") + x.minimum(0) * alpha


def softmax(c: Call) -> Tensor:
    """Along an axis or several; where the mask is false the share is 0."""
    x, mask = c.x, c.optional(1, "mask")
    if mask is not None:
        mask = c.body.cast(mask, DT_BOOL) if mask.type != DT_FLOAT else mask > 0.5
        x = mask.choose(x, -1e9)
    axis = c.config.get("axis")
    y = activations.softmax_over(x, integers_of(-1 if axis is None else axis, "axis"))
    return y if mask is None or c.importer.shared.is_keras_2 else mask.choose(y, 0.0)


REGISTRATIONS: dict[str, Kind] = {
    "Activation": Kind(activation, keeps_mask=True),
    "ELU": Kind(elu, keeps_mask=True),
    "LeakyReLU": Kind(leaky_relu, keeps_mask=True),
    "PReLU": Kind(p_relu, "alpha", keeps_mask=True),
    "ReLU": Kind(relu, keeps_mask=True),
    "Softmax": Kind(softmax, keeps_mask=True),
    "ThresholdedReLU": Kind(thresholded_relu, keeps_mask=True),
}
