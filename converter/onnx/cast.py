"""Casts from one element type to another."""

from __future__ import annotations

import numpy as np

from ...kernels.fallback.dtypes import numpy_dtype
from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_BFLOAT16, DT_FLOAT, DT_HALF, DT_STRING
from ...schema.onnx import TensorProto
from ..building.tensor import Tensor
from .call import Call, Rule
from .element_types import inner_type

# Floats that values are rounded to, though they are computed in 32 bits.
_ROUNDED = {TensorProto.FLOAT16: DT_HALF, TensorProto.BFLOAT16: DT_BFLOAT16}


def cast(c: Call) -> Tensor:
    """The numbers in another type."""
    return cast_to(c.input(0), c.integer("to"))


def cast_to(x: Tensor, to: int) -> Tensor:
    """The numbers in ONNX's type; rounded to halves where those are meant, and kept in float."""
    if to in (TensorProto.INT4, TensorProto.UINT4):
        raise UnsupportedError("numbers of four bits: only constants have them")
    type = inner_type(to)
    if DT_STRING in (x.type, type) and x.type != type:
        raise UnsupportedError("no operator makes numbers of strings or strings of numbers")
    if to in _ROUNDED and x.type == DT_FLOAT:
        return x.body.cast(x.body.cast(x, _ROUNDED[to]), DT_FLOAT)
    return x.body.cast(x, type)


def cast_like(c: Call) -> Tensor:
    """The numbers in the other operand's type."""
    x, like = c.input(0), c.input(1)
    if DT_STRING in (x.type, like.type) and x.type != like.type:
        raise UnsupportedError("no operator makes numbers of strings or strings of numbers")
    return c.body.cast(x, like.type)


def bit_cast(c: Call) -> Tensor:
    """The same bits in another type of the same size."""
    x, type = c.input(0), inner_type(c.integer("to"))
    if numpy_dtype(x.type).itemsize != numpy_dtype(type).itemsize or c.integer("to") == TensorProto.DOUBLE:
        raise UnsupportedError("the types must be of one size, and not be computed in another")
    from ..ir.types import element_type

    if x.data is not None:
        return c.body.constant(np.ascontiguousarray(x.data).view(numpy_dtype(type)))
    return c.make("Bitcast", x, type=element_type(type))


REGISTRATIONS: dict[str, Rule] = {"BitCast": bit_cast, "Cast": cast, "CastLike": cast_like}
