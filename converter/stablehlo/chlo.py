"""Operations of CHLO, which only texts have: artifacts have what they are made of."""

from __future__ import annotations

import math

from ..building.elementwise import acos, acosh, asin, asinh, atan, atanh, cosh, erf, sinh, tan
from ..building.special import digamma, erf_inv, erfc
from ..building.tensor import Tensor
from .calls import top_k
from .elementwise import elementwise, of_floats
from .shape import constant, splat
from .step import Result, Rule, Step


def _square(x: Tensor) -> Tensor:
    return x * x


def _constant_like(step: Step) -> Result:
    """The number for each of the operand's elements."""
    like = step.held(0)
    scalar = step.body.scalar(step.real("value"), like.tensor.type)
    return splat(step, scalar, like.shape, like.whole_sizes())


REGISTRATIONS: dict[str, Rule] = {
    "chlo.acos": of_floats(acos),
    "chlo.acosh": of_floats(acosh),
    "chlo.asin": of_floats(asin),
    "chlo.asinh": of_floats(asinh),
    "chlo.atan": of_floats(atan),
    "chlo.atanh": of_floats(atanh),
    "chlo.constant": constant,
    "chlo.constant_like": _constant_like,
    "chlo.cosh": of_floats(cosh),
    "chlo.digamma": of_floats(digamma),
    "chlo.erf": of_floats(erf),
    "chlo.erf_inv": of_floats(erf_inv),
    "chlo.erfc": of_floats(erfc),
    "chlo.is_inf": of_floats(lambda x: x.apply("Abs").equals(math.inf)),
    "chlo.is_neg_inf": of_floats(lambda x: x.equals(-math.inf)),
    "chlo.is_pos_inf": of_floats(lambda x: x.equals(math.inf)),
    "chlo.lgamma": of_floats(lambda x: x.apply("Lgamma")),
    "chlo.sinh": of_floats(sinh),
    "chlo.square": elementwise(_square),
    "chlo.tan": of_floats(tan),
    "chlo.top_k": lambda step: top_k(step, step.operation.attributes),
}
