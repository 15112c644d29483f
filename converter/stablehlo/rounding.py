"""Floats of fewer bits: numbers of 32 bits that are rounded to what the narrow type holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_BFLOAT16, DT_FLOAT, DT_HALF, DT_INT32
from ..building.tensor import Tensor
from ..ir.types import element_type
from .held import Held, joined
from .program import FLOATS_OF_8_BITS, ArrayType
from .step import Step

# Bits of a float's mantissa, and what is added to its exponent.
_MANTISSA, _BIAS = 23, 127
# From here on what is added to round would be infinite, so numbers are scaled down before.
_LARGE, _SCALE = 2.0**60, 2.0**80


class Narrowed(Held):
    """float32 numbers of a narrower type, which are rounded to it only if they become wider again at once."""

    __slots__ = ("element",)

    def __init__(self, held: Held, element: str) -> None:
        super().__init__(held.tensor, held.shape, held.stretched, held.sizes)
        self.element = element


@dataclass(frozen=True)
class Format:
    """A float's mantissa bits, least exponent of full precision, largest number, and what larger ones become.

    Numbers below the least exponent are multiples of the least one, or 0 where the format has none of these.
    """

    mantissa: int
    least_exponent: int
    largest: float
    beyond: float = np.inf
    has_subnormals: bool = True


_FORMATS = {
    "f8E5M2": Format(2, -14, 57344.0),
    "f8E4M3FN": Format(3, -6, 448.0, np.nan),
    "f8E4M3FNUZ": Format(3, -7, 240.0, np.nan),
    "f8E4M3B11FNUZ": Format(3, -10, 30.0, np.nan),
    "f8E5M2FNUZ": Format(2, -15, 57344.0, np.nan),
}
assert _FORMATS.keys() == FLOATS_OF_8_BITS.keys()
_WIDE = ("f32", "f64")
_CAST = {"bf16": DT_BFLOAT16, "f16": DT_HALF}


def rounded_to(x: Tensor, element: str) -> Tensor:
    """float32 numbers that the element type holds, the nearest to those given (the even of two)."""
    if element in _CAST:
        return x.body.cast(x.body.cast(x, _CAST[element]), DT_FLOAT)
    return _rounded(x, _FORMATS[element])


def as_told(held: Held) -> Tensor:
    """The numbers of a value that is converted: those of its type, where it was made so just before."""
    return rounded_to(held.tensor, held.element) if isinstance(held, Narrowed) else held.tensor


def converted(step: Step, made: Held) -> Held:
    """The numbers of a conversion between floats, rounded where the program asks for no more than that.

    Given:  y = convert(convert(x) : f32 -> bf16) : bf16 -> f32
    Result: y = CAST(CAST(x))

    Constants and floats of 8 bits are always rounded. Others of 16 bits are computed in 32, and rounded
    where they are outputs.
    """
    given, wanted = step.operation.operands[0].type, step.result_type().element
    if not isinstance(given, ArrayType) or given.element == wanted or made.tensor.type != DT_FLOAT:
        return made
    tensor = made.tensor
    if wanted in FLOATS_OF_8_BITS or (wanted in _CAST and tensor.data is not None):
        tensor = rounded_to(tensor, wanted)
    result = Held(tensor, made.shape, made.stretched, made.sizes)
    return Narrowed(result, wanted) if wanted in _CAST and given.element in _WIDE else result


def reduce_precision(step: Step) -> Held | Tensor:
    """Rounds mantissas; numbers that are too small become 0, too large ones infinite."""
    exponent, mantissa = step.integer("exponent_bits"), step.integer("mantissa_bits")
    if exponent >= 8 and mantissa >= _MANTISSA:
        return step.held(0)
    x = step.held(0).tensor
    if x.type != DT_FLOAT or exponent < 2:
        raise UnsupportedError(f"a precision of {exponent} and {mantissa} bits of {step.result_type()}")
    if exponent >= 8 and mantissa == 7:
        return joined(rounded_to(x, "bf16"), step.operands, step.shape)
    bias = (1 << (min(exponent, 8) - 1)) - 1
    largest = (2 - 2.0 ** -min(mantissa, _MANTISSA)) * 2.0**bias
    form = Format(min(mantissa, _MANTISSA), 1 - bias, largest, has_subnormals=False)
    return joined(_rounded(x, form), step.operands, step.shape)


def _rounded(x: Tensor, form: Format) -> Tensor:
    """The nearest numbers: what is added and taken off again leaves no more bits than the format has."""
    body = x.body
    size = body.op("Abs", x)
    made = size
    if form.mantissa < _MANTISSA:
        is_large = body.op("Greater", size, body.scalar(_LARGE, DT_FLOAT))
        if form.largest > _LARGE:
            made = body.op(
                "SelectV2", is_large, body.op("Mul", size, body.scalar(1 / _SCALE, DT_FLOAT)), size
            )
        made = _without_bits(made, form)
        if form.largest > _LARGE:
            made = body.op("SelectV2", is_large, body.op("Mul", made, body.scalar(_SCALE, DT_FLOAT)), made)
    is_beyond = body.op("Greater", made, body.scalar(form.largest, DT_FLOAT))
    made = body.op("SelectV2", is_beyond, body.scalar(form.beyond, DT_FLOAT), made)
    if not form.has_subnormals:
        is_small = body.op("Less", made, body.scalar(2.0**form.least_exponent, DT_FLOAT))
        made = body.op("SelectV2", is_small, body.scalar(0.0, DT_FLOAT), made)
    is_negative = body.op("Less", x, body.scalar(0.0, DT_FLOAT))
    return body.op("SelectV2", is_negative, body.op("Neg", made), made)


def _without_bits(size: Tensor, form: Format) -> Tensor:
    """Numbers from 0 on, with as many bits of mantissa as the format has."""
    body = size.body
    bits = body.op("Bitcast", size, type=element_type(DT_INT32))
    exponents = body.op("RightShift", bits, body.scalar(_MANTISSA, DT_INT32))
    whole = body.op("Mul", exponents, body.scalar(1 << _MANTISSA, DT_INT32))
    power = body.op("Bitcast", whole, type=element_type(DT_FLOAT))
    least = 2.0**form.least_exponent if form.has_subnormals else 0.0
    power = body.op(
        "Minimum", body.op("Maximum", power, body.scalar(least, DT_FLOAT)), body.scalar(_LARGE, DT_FLOAT)
    )
    added = body.op("Mul", power, body.scalar(2.0 ** (_MANTISSA - form.mantissa), DT_FLOAT))
    return body.op("Sub", body.op("AddV2", size, added), added)
