"""Cases of int8 DEPTHWISE_CONV_2D whose results often lie between two, where XNNPACK does not take the node.

LiteRT rounds vectors of 8 channels upwards there, and what is left one by one, away from zero.
"""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from .case import Case
from .packed_weights import packed

_CHANNELS = 21
_HALF = 0.5  # of all tensors: so a sum is halved
_INT4 = tflite.TensorType.INT4


def _case(
    id: str,
    *,
    constant: bool = True,
    tanh: bool = False,
    int4: bool = False,
    per_channel: bool = False,
    multiplier: int = 1,
    size: tuple[int, int] = (2, 2),
) -> Case:
    random = np.random.default_rng(sum(map(ord, id)))
    out = _CHANNELS * multiplier
    x = random.integers(-20, 20, (2, 5, 6, _CHANNELS)).astype(np.int8)
    w = random.integers(-7, 8, (1, *size, out)).astype(np.int8)

    def make() -> bytes:
        model = ModelBuilder()
        kind = {"scale": _HALF, "zero_point": 0}
        scales = {"scale": [_HALF] * out if per_channel else _HALF, "zero_point": 0, "quantized_dimension": 3}
        tensors = [model.tensor(x.shape, np.int8, **kind)]
        if int4:
            tensors.append(model.tensor(w.shape, _INT4, packed(w, _INT4), **scales))
        else:
            tensors.append(model.tensor(w.shape, np.int8, w if constant else None, **scales))
        values = np.arange(out, dtype=np.int32) - 9
        tensors.append(model.tensor((out,), np.int32, values, **(scales | {"quantized_dimension": 0})))
        y = model.tensor((*x.shape[:3], out), np.int8, scale=_HALF, zero_point=0)
        options = tflite.DepthwiseConv2DOptionsT(stride_w=1, stride_h=1, depth_multiplier=multiplier)
        if tanh:
            options.fused_activation_function = tflite.ActivationFunctionType.TANH
        model.op(tflite.BuiltinOperator.DEPTHWISE_CONV_2D, tensors, [y], options, 7 if int4 else 3)
        return model.build(tensors[: 1 if constant else 2], [y])

    inputs = [x] if constant else [x, w]
    # LiteRT's reference refuses version 7, and there is no oracle.
    numerics = ("default",) if int4 else ("default", "reference")
    return Case(id=f"depthwise-ties-{id}", make=make, inputs=inputs, numerics=numerics)


CASES = [
    _case("given", constant=False),
    _case("given-channels", constant=False, per_channel=True),
    _case("tanh", tanh=True),
    _case("tanh-channels-3x3", tanh=True, per_channel=True, size=(3, 3)),
    _case("tanh-multiplier", tanh=True, multiplier=2),
    _case("int4", int4=True, per_channel=True),
]
