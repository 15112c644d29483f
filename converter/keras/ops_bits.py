"""keras.ops on what numbers are made of: signs, bits, powers of two, imaginary parts."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...kernels.fallback.dtypes import numpy_dtype
from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT8, DT_INT16, DT_INT32, DT_UINT8
from ..building.elementwise import common_bits
from ..building.special import bessel_i0, erf_inv
from ..building.tensor import Tensor
from .call import Call, Rule
from .dtypes import type_of
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


def _of_bits(of: Callable[[Tensor, Tensor], Tensor]) -> Rule:
    """Bits that both have, or that one has, or that are moved."""

    def rule(c: Call) -> Tensor:
        x, y = pair(c, "x", "y")
        if x.type in (DT_FLOAT, DT_BOOL):
            raise UnsupportedError("x and y must be integers")
        return of(x, y)

    return rule


def _any_bits(x: Tensor, y: Tensor) -> Tensor:
    return x.body.op("BitwiseXor", x, y) + common_bits(x, y)


def _lower(x: Tensor, y: Tensor) -> Tensor:
    return x.body.op("RightShift", x, y)


def left_shift(c: Call) -> Tensor:
    """Bits moved up: times a power of 2, which wraps."""
    x, y = pair(c, "x", "y")
    if x.type != DT_INT32:
        raise UnsupportedError("x and y must be int32")
    powers = c.body.constant(np.left_shift(np.int32(1), np.arange(32, dtype=np.int32)))
    return x * c.make("GatherV2", powers, y, c.body.scalar(0, DT_INT32))


def angle(c: Call) -> Tensor:
    """Of real numbers: pi where they are negative."""
    x = c.floats(c.tensor(0, "x"))
    return (x < 0).choose(math.pi, x.apply("IsNan").choose(x, 0.0))


def saturated(c: Call) -> Tensor:
    """The nearest number that the type has, cut towards 0."""
    x, dtype = c.tensor(0, "x"), c.config.text("dtype")
    type = type_of(dtype)
    if type not in (DT_INT8, DT_UINT8, DT_INT16, DT_INT32):
        return c.body.cast(x, type)
    limits = np.iinfo(numpy_dtype(type))
    if x.type == DT_FLOAT:
        # The largest int32 has no float: what is above is told from the rest first.
        inside = x.maximum(float(limits.min)).minimum(float(limits.max))
        return (x >= float(limits.max)).choose(int(limits.max), c.body.cast(inside, type))
    return c.body.cast(x.maximum(int(limits.min)).minimum(int(limits.max)), type)


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
    "ops.Angle": Kind(angle, keeps_mask=True),
    "ops.BitwiseAnd": Kind(_of_bits(common_bits)),
    "ops.BitwiseLeftShift": Kind(left_shift),
    "ops.BitwiseOr": Kind(_of_bits(_any_bits)),
    "ops.BitwiseRightShift": Kind(_of_bits(_lower)),
    "ops.BitwiseInvert": Kind(inverted),
    "ops.BitwiseNot": Kind(inverted),
    "ops.BitwiseXor": Kind(different),
    "ops.Conj": Kind(lambda c: c.tensor(0, "x"), keeps_mask=True),
    "ops.Conjugate": Kind(lambda c: c.tensor(0, "x"), keeps_mask=True),
    "ops.EmptyLike": Kind(_zeros),
    "ops.Erfinv": Kind(lambda c: erf_inv(c.floats(c.tensor(0, "x"))), keeps_mask=True),
    "ops.I0": Kind(lambda c: bessel_i0(c.floats(c.tensor(0, "x"))), keeps_mask=True),
    "ops.Imag": Kind(_zeros),
    "ops.Isreal": Kind(lambda c: c.body.cast(c.tensor(0, "x").apply("OnesLike"), DT_BOOL)),
    "ops.Ldexp": Kind(load_exponent),
    "ops.LeftShift": Kind(left_shift),
    "ops.Logaddexp2": Kind(log_sum_of_powers),
    "ops.Real": Kind(lambda c: c.tensor(0, "x"), keeps_mask=True),
    "ops.RightShift": Kind(_of_bits(_lower)),
    "ops.SaturateCast": Kind(saturated),
    "ops.Signbit": Kind(sign_bit),
}
