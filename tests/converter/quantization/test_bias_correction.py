"""Bias correction: the mean of each channel stays what it was, whatever the weights were rounded to."""

import numpy as np
import pytest
from numlite.converter.quantization.bias_correction import filter_inputs
from numlite.converter.quantization.calibrate import calibrate
from numlite.converter.quantization.float_graph import FloatGraph
from numlite.converter.quantization.full_integer import quantize_activations, sites_to_observe
from numlite.converter.quantization.mending import PLAIN, Knowledge, Mending
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.interpreter import Interpreter
from numlite.lite.model import Model
from numlite.schema import tflite

from .float_models import IMAGE, Case, build, outputs, schemes, weights

SAME, VALID = 0, 1


def coarse(shape: tuple[int, ...]) -> np.ndarray:
    """Weights of which one in each channel is large, so that the others are rounded much."""
    values = weights(shape)
    values[..., 0] *= 100
    return values


CASES = {
    "conv": Case(
        *("CONV_2D", [(1, 7, 7, 3)], [(1, 4, 4, 5)], {1: coarse((5, 3, 3, 3)), 2: weights((5,))}),
        tflite.Conv2DOptionsT(stride_w=2, stride_h=2, padding=SAME),
    ),
    "pointwise": Case(
        *("CONV_2D", [(1, 6, 6, 4)], [(1, 6, 6, 5)], {1: coarse((5, 1, 1, 4)), 2: weights((5,))}),
        tflite.Conv2DOptionsT(stride_w=1, stride_h=1),
    ),
    "pointwise, strides": Case(
        *("CONV_2D", [(1, 7, 6, 4)], [(1, 4, 3, 5)], {1: coarse((5, 1, 1, 4)), 2: weights((5,))}),
        tflite.Conv2DOptionsT(stride_w=2, stride_h=2, padding=SAME),
    ),
    "dilated": Case(
        *("CONV_2D", [(1, 7, 7, 3)], [(1, 3, 3, 5)], {1: coarse((5, 3, 3, 3)), 2: weights((5,))}),
        tflite.Conv2DOptionsT(
            stride_w=1, stride_h=1, dilation_h_factor=2, dilation_w_factor=2, padding=VALID
        ),
    ),
    "groups": Case(
        *("CONV_2D", [(1, 4, 4, 4)], [(1, 4, 4, 6)], {1: coarse((6, 3, 3, 2)), 2: weights((6,))}),
        tflite.Conv2DOptionsT(stride_w=1, stride_h=1),
    ),
    "depthwise": Case(
        *("DEPTHWISE_CONV_2D", [IMAGE], [(1, 4, 4, 6)], {1: coarse((1, 3, 3, 6)), 2: weights((6,))}),
        tflite.DepthwiseConv2DOptionsT(stride_w=1, stride_h=1, depth_multiplier=2),
    ),
    "dense": Case(
        *("FULLY_CONNECTED", [(2, 6)], [(2, 5)], {1: coarse((5, 6)), 2: weights((5,))}),
        tflite.FullyConnectedOptionsT(),
    ),
}


@pytest.mark.parametrize("per_channel", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_channels_keep_their_means(name: str, per_channel: bool) -> None:
    content = build(CASES[name])
    model = Model(content)
    random = np.random.default_rng(3)
    shape = CASES[name].inputs[0]
    data = [[random.uniform(0.5, 4, shape).astype(np.float32)] for _ in range(30)]
    [entry] = filter_inputs(FloatGraph(ModelEditor(model)))
    found = calibrate(
        *(Interpreter(model_content=model).core, data, sites_to_observe(FloatGraph(ModelEditor(model)))),
        watchers={entry.site: [entry.update]},
    )
    means = entry.means()
    assert means is not None

    def error(mending: Mending) -> float:
        # Of 16 bits, so that the weights are what is rounded most.
        made = (
            quantize_activations(model, found, schemes(16, per_channel=per_channel), mending=mending)
            .editor.finish()
            .content()
        )
        real, integer = (np.concatenate([outputs(c, sample)[0] for sample in data]) for c in (content, made))
        axes = tuple(range(real.ndim - 1))
        return float(np.abs(real.mean(axis=axes) - integer.mean(axis=axes)).max())

    assert error(Mending(knowledge=Knowledge({entry.result: means}, {}))) < 0.4 * error(PLAIN)
