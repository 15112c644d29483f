"""Activations, those that one operator computes and those that are formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...lite.errors import ModelError
from ...schema.graph_def import DT_FLOAT, DT_INT32
from ..building import elementwise as formulas
from ..building.movement import along, axis_of
from ..building.tensor import Tensor
from ..ir.types import element_type
from .call import Call, Rule
from .elementwise import erf_for_gelu, of_input


def relu(c: Call) -> Tensor:
    """RELU, of integers the larger of them and 0."""
    x = c.input(0)
    return c.make("Relu", x) if x.type == DT_FLOAT else x.maximum(0)


def leaky_relu(c: Call) -> Tensor:
    return c.make("LeakyRelu", c.input(0), alpha=c.real("alpha", 0.01))


def elu(c: Call) -> Tensor:
    """alpha (e^x - 1) below 0."""
    return formulas.elu(c.input(0), c.real("alpha", 1.0))


def celu(c: Call) -> Tensor:
    """max(0, x) + min(0, alpha (e^(x / alpha) - 1))."""
    return formulas.celu(c.input(0), c.real("alpha", 1.0))


def selu(c: Call) -> Tensor:
    """gamma times x, below 0 times alpha (e^x - 1)."""
    alpha, gamma = c.real("alpha", 1.67326319217681884765625), c.real("gamma", 1.05070102214813232421875)
    return formulas.selu(c.input(0), alpha, gamma)


def hard_sigmoid(c: Call) -> Tensor:
    """alpha x + beta between 0 and 1."""
    return formulas.hard_sigmoid(c.input(0), c.real("alpha", 0.2), c.real("beta", 0.5))


def swish(c: Call) -> Tensor:
    """x sigmoid(alpha x)."""
    x, alpha = c.input(0), c.real("alpha", 1.0)
    return x * (x if alpha == 1 else x * alpha).apply("Sigmoid")


def gelu(c: Call) -> Tensor:
    """GELU, exact or by tanh."""
    x, approximate = c.input(0), c.text("approximate", "none")
    if approximate == "tanh":
        return formulas.gelu_by_tanh(x)
    if approximate != "none":
        raise ModelError(f"approximate must be none or tanh, got {approximate!r}")
    return (erf_for_gelu(c, x * math.sqrt(0.5)) + 1) * x * 0.5


def thresholded_relu(c: Call) -> Tensor:
    """x where it is larger than alpha, else 0."""
    x = c.input(0)
    return (x > c.real("alpha", 1.0)).choose(x, 0)


def shrink(c: Call) -> Tensor:
    """x nearer to 0 by the bias where it is farther than lambd from it, else 0."""
    x, bias, limit = c.input(0), c.real("bias", 0.0), c.real("lambd", 0.5)
    shrunk = (x > limit).choose(x - bias, x.body.scalar(0, x.type)) if bias else (x > limit).choose(x, 0)
    return (x < -limit).choose(x + bias if bias else x, shrunk)


def prelu(c: Call) -> Tensor:
    """x, below 0 times the slope."""
    x, slope = c.inputs()
    if x.type != DT_FLOAT:
        return (x < 0).choose(x * slope, x)
    return x.apply("Relu") + x.minimum(0) * slope


def swi_glu(c: Call) -> Tensor:
    """The gate made a Swish, times the value."""
    gate, value = c.inputs()
    alpha = c.real("alpha", 1.0)
    return gate * (gate if alpha == 1 else gate * alpha).apply("Sigmoid") * value


def _of_rows(op: str) -> Rule:
    """SOFTMAX or LOG_SOFTMAX over an axis; before opset 13 over it and all behind it."""

    def rule(c: Call) -> Tensor:
        x = c.input(0)
        if c.opset >= 13:
            return along(x, op, axis_of(c.integer("axis", -1), x.rank))
        axis = axis_of(c.integer("axis", 1), x.rank) if x.rank else 0
        rows = flattened(x, axis)
        return c.body.reshaped(c.make(op, rows), c.body.sizes_of(x))

    return rule


def flattened(x: Tensor, axis: int) -> Tensor:
    """[all axes before the axis, the others] as a matrix."""
    body = x.body
    rows, columns = (_product(sizes) for sizes in (x.sizes[:axis], x.sizes[axis:]))
    if columns > 0:
        return body.reshaped(x, [rows, columns])
    if rows > 0:
        return body.reshaped(x, [rows, columns])
    rest = body.op("Slice", body.shape(x), body.integers([axis]), body.integers([-1]))
    return body.reshaped(x, [-1, body.op("Prod", rest, body.integers([0]))])


def _product(sizes: Sequence[int]) -> int:
    """How many elements, -1 where a size is not known."""
    return -1 if -1 in sizes else math.prod(int(size) for size in sizes)


def hardmax(c: Call) -> Tensor:
    """1 at the first of the largest along the axis, else 0."""
    x = c.input(0)
    if c.opset >= 13:
        axis = axis_of(c.integer("axis", -1), x.rank)
        return _hardmax(c, x, axis)
    rows = flattened(x, axis_of(c.integer("axis", 1), x.rank))
    return c.body.reshaped(_hardmax(c, rows, 1), c.body.sizes_of(x))


def _hardmax(c: Call, x: Tensor, axis: int) -> Tensor:
    place = c.make("ArgMax", x, c.body.scalar(axis, DT_INT32), output_type=element_type(DT_INT32))
    depth = c.body.size(x, axis)
    return c.make("OneHot", place, depth, c.body.scalar(1, x.type), c.body.scalar(0, x.type), axis=axis)


REGISTRATIONS: dict[str, Rule] = {
    "Celu": celu,
    "Elu": elu,
    "Gelu": gelu,
    "HardSigmoid": hard_sigmoid,
    "HardSwish": of_input(formulas.hard_swish),
    "Hardmax": hardmax,
    "LeakyRelu": leaky_relu,
    "LogSoftmax": _of_rows("LogSoftmax"),
    "Mish": of_input(formulas.mish),
    "PRelu": prelu,
    "Relu": relu,
    "Selu": selu,
    "Shrink": shrink,
    "Softmax": _of_rows("Softmax"),
    "Softplus": of_input(formulas.softplus),
    "SwiGLU": swi_glu,
    "Swish": swish,
    "ThresholdedRelu": thresholded_relu,
}
