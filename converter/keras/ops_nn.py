"""keras.ops that are activation functions."""

from __future__ import annotations

from ..building import elementwise as formulas
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


REGISTRATIONS: dict[str, Kind] = {
    **{f"ops.{op}": Kind(_function(name), keeps_mask=True) for op, name in _NAMED.items()},
    "ops.Elu": Kind(elu, keeps_mask=True),
    "ops.Gelu": Kind(gelu, keeps_mask=True),
    "ops.LeakyRelu": Kind(leaky_relu, keeps_mask=True),
}
