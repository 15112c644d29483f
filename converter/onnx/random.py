"""Random numbers, which differ from run to run but where a seed is given; they are not onnxruntime's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...lite.errors import ModelError
from ...schema.graph_def import DT_FLOAT, DT_INT32, DT_INT64
from ...schema.onnx import TensorProto
from ..building.tensor import Tensor
from ..ir.types import element_type
from .call import Call, Rule
from .cast import cast_to


def _seed(c: Call) -> dict[str, int]:
    """The op's seed: the bits of ONNX's, a float or (Dropout) an integer; none is another each time."""
    if not c.has("seed"):
        return {}
    number = c.integer("seed") if c.op == "Dropout" else c.real("seed")
    bits = int(np.float32(number).view(np.uint32))
    return {"seed": bits or 1, "seed2": 1}


def uniform(c: Call, shape: Tensor) -> Tensor:
    """float32 numbers from 0 up to 1."""
    return c.make("RandomUniform", shape, dtype=element_type(DT_FLOAT), **_seed(c))


def _normal(c: Call, shape: Tensor) -> Tensor:
    made = c.make("RandomStandardNormal", shape, dtype=element_type(DT_FLOAT), **_seed(c))
    return made * c.real("scale", 1.0) + c.real("mean", 0.0)


def _between(c: Call, shape: Tensor) -> Tensor:
    low, high = c.real("low", 0.0), c.real("high", 1.0)
    if not low <= high:
        raise ModelError(f"low must not be above high, got {low} and {high}")
    return uniform(c, shape) * (high - low) + low


def _drawn(draw: Callable[[Call, Tensor], Tensor], is_like: bool) -> Rule:
    """The rule of numbers of a shape that is told, or that another tensor has."""

    def rule(c: Call) -> Tensor:
        shape = c.body.shape(c.input(0)) if is_like else c.body.integers(c.integers("shape"))
        numbers = draw(c, shape)
        type = c.integer("dtype", 0 if is_like else TensorProto.FLOAT)
        return cast_to(numbers, type) if type else numbers

    return rule


def bernoulli(c: Call) -> Tensor:
    """1 with the probability that each element is, else 0."""
    p = c.input(0)
    hits = uniform(c, c.body.shape(p)) < p
    type = c.integer("dtype", 0)
    return cast_to(hits, type) if type else c.body.cast(hits, p.type)


def multinomial(c: Call) -> Tensor:
    """Classes drawn for each row, by the logarithms of what they weigh."""
    x = c.input(0)
    count = c.body.scalar(c.integer("sample_size", 1), DT_INT32)
    wide = element_type(DT_INT64)
    drawn = c.make("Multinomial", x, count, output_dtype=wide, **_seed(c))
    return cast_to(drawn, c.integer("dtype", TensorProto.INT32))


REGISTRATIONS: dict[str, Rule] = {
    "Bernoulli": bernoulli,
    "Multinomial": multinomial,
    "RandomNormal": _drawn(_normal, is_like=False),
    "RandomNormalLike": _drawn(_normal, is_like=True),
    "RandomUniform": _drawn(_between, is_like=False),
    "RandomUniformLike": _drawn(_between, is_like=True),
}
