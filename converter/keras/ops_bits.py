"""keras.ops on what numbers are made of: signs, bits, powers of two, imaginary parts."""

from __future__ import annotations

import math

from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT
from ..building.special import erf_inv
from ..building.tensor import Tensor
from .call import Call
from .kind import Kind
from .ops_elementwise import logaddexp_of, pair


def inverted(c: Call) -> Tensor:
    """All bits the other way round; of truths their opposite."""
    x = c.tensor(0, "x")
    if x.type == DT_FLOAT:
        raise UnsupportedError("x must be integers or truths")
    return x.apply("LogicalNot") if x.type == DT_BOOL else -x - 1


def different(c: Call) -> Tensor:
    """The bits that are not alike."""
    x, y = pair(c, "x", "y")
    if x.type == DT_FLOAT:
        raise UnsupportedError("x and y must be integers or truths")
    return c.make("NotEqual" if x.type == DT_BOOL else "BitwiseXor", x, y)


def sign_bit(c: Call) -> Tensor:
    """Whether it is below 0, or the 0 that is."""
    x = c.tensor(0, "x")
    if x.type != DT_FLOAT:
        return x < 0
    return c.make("LogicalOr", x < 0, c.make("LogicalAnd", x.equals(0), 1 / x < 0))


def load_exponent(c: Call) -> Tensor:
    """x1 times a power of two."""
    x, y = (c.floats(c.tensor(place, name)) for place, name in enumerate(("x1", "x2")))
    return x * c.make("Pow", c.body.scalar(2, DT_FLOAT), y)


def log_sum_of_powers(c: Call) -> Tensor:
    """The logarithm to base 2 of the sum of two powers of 2."""
    x, y = (c.floats(each) * math.log(2) for each in pair(c))
    return logaddexp_of(x, y) * (1 / math.log(2))


def _zeros(c: Call) -> Tensor:
    return c.tensor(0, "x").apply("ZerosLike")


REGISTRATIONS: dict[str, Kind] = {
    "ops.BitwiseInvert": Kind(inverted),
    "ops.BitwiseNot": Kind(inverted),
    "ops.BitwiseXor": Kind(different),
    "ops.Conjugate": Kind(lambda c: c.tensor(0, "x"), keeps_mask=True),
    "ops.EmptyLike": Kind(_zeros),
    "ops.Erfinv": Kind(lambda c: erf_inv(c.floats(c.tensor(0, "x"))), keeps_mask=True),
    "ops.Imag": Kind(_zeros),
    "ops.Isreal": Kind(lambda c: c.body.cast(c.tensor(0, "x").apply("OnesLike"), DT_BOOL)),
    "ops.Ldexp": Kind(load_exponent),
    "ops.Logaddexp2": Kind(log_sum_of_powers),
    "ops.Real": Kind(lambda c: c.tensor(0, "x"), keeps_mask=True),
    "ops.Signbit": Kind(sign_bit),
}
