"""int4 filters beside int8 activations: of the operators whose kernels take them, the same in LiteRT."""

from collections.abc import Sequence

import numpy as np
import pytest
from numlite.converter.quantization import recipes
from numlite.converter.quantization.quantized_model import QuantizedModel
from numlite.converter.quantization.quantizer import Quantizer
from numlite.lite.model import Model
from numlite.model_comparison import sqnr_db
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import outputs, weights

Op, Type = tflite.BuiltinOperator, tflite.TensorType


def chain() -> bytes:
    """A convolution, a depthwise one, and FULLY_CONNECTED, of 27, 9 and 160 inputs to an output."""
    model = ModelBuilder()
    x = model.tensor((1, 6, 6, 3), name="x")
    a, b = (model.tensor((1, 6, 6, 10), name=name) for name in "ab")
    flat, y = model.tensor((1, 360), name="flat"), model.tensor((1, 7), name="y")
    w, bias = model.constant(weights((10, 3, 3, 3)), name="w"), model.constant(weights((10,), 1))
    options = tflite.Conv2DOptionsT(stride_w=1, stride_h=1, fused_activation_function=1)
    model.op(Op.CONV_2D, [x, w, bias], [a], options)
    v, bias = model.constant(weights((1, 3, 3, 10), 2), name="v"), model.constant(weights((10,), 3))
    depthwise = tflite.DepthwiseConv2DOptionsT(stride_w=1, stride_h=1, depth_multiplier=1)
    model.op(Op.DEPTHWISE_CONV_2D, [a, v, bias], [b], depthwise)
    shape = model.constant(np.array([1, 360], np.int32))
    model.op(Op.RESHAPE, [b, shape], [flat], tflite.ReshapeOptionsT())
    u = model.constant(weights((7, 360), 4), name="u")
    model.op(Op.FULLY_CONNECTED, [flat, u, -1], [y], tflite.FullyConnectedOptionsT())
    return model.build([x], [y])


DATA = [[np.random.default_rng(k).normal(size=(1, 6, 6, 3)).astype(np.float32)] for k in range(24)]


def made(per_channel: bool = True, improve: str | None = None) -> QuantizedModel:
    quantizer = Quantizer(chain(), recipes.static_int4(per_channel))
    return quantizer.quantize(quantizer.calibrate(DATA), improve=improve)


def error_db(content: bytes, data: Sequence[list[np.ndarray]] = DATA) -> float:
    real, integer = (np.array([outputs(m, sample)[0] for sample in data]) for m in (chain(), content))
    return float(sqnr_db(real, integer))


@pytest.mark.parametrize("per_channel", [True, False])
def test_filters_have_four_bits_where_kernels_take_them(per_channel: bool) -> None:
    found = made(per_channel, "none")
    graph = Model(found.quantized_model).root.subgraphs[0]
    types = {t.name: t.type for t in graph.tensors if t.name in ("w", "v", "u")}
    assert types == {"w": Type.INT4, "v": Type.INT8, "u": Type.INT4}
    bits = {o.operation: o.scheme.weight_bits for o in found.outcomes if o.scheme is not None}
    assert bits["CONV_2D"] == bits["FULLY_CONNECTED"] == 4
    assert bits["DEPTHWISE_CONV_2D"] == 8
    assert error_db(found.quantized_model) > (15 if per_channel else 10)


def test_rounding_by_samples_errs_less() -> None:
    assert error_db(made().quantized_model) > error_db(made(improve="none").quantized_model)


def test_litert_gives_the_same() -> None:
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    for per_channel in (True, False):
        content = made(per_channel).quantized_model
        for sample in DATA[:4]:
            ours, theirs = outputs(content, sample), outputs(content, sample, litert.Interpreter)
            np.testing.assert_array_equal(ours[0], theirs[0])
