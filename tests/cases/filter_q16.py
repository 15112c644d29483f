"""Cases of CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED in int16."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from .conv_q8 import conv_case
from .depthwise_conv_q8 import depthwise_case
from .filter_case import INT16, RELU, RELU6
from .fully_connected_q8 import fully_connected_case
from .window_oracle import VALID

# Biases that count beside sums of products of 16 by 8 bits.
_conv, _depthwise, _fully_connected = (
    partial(builder, bias_range=2_000_000) for builder in (conv_case, depthwise_case, fully_connected_case)
)
_BIAS_I32 = replace(INT16, bias_dtype=np.int32, names_bias=True)
_ONE_SCALE = replace(INT16, per_channel=False)
_W16 = replace(INT16, w_dtype=np.int16, names_bias=True)

CASES = [
    _conv("plain", INT16, (1, 9, 8, 5), (7, 3, 3, 5)),
    _conv("stride-2-valid", INT16, (2, 9, 8, 16), (9, 3, 3, 16), stride=(2, 2), padding=VALID, fused=RELU),
    _conv("pointwise", INT16, (1, 5, 7, 600), (33, 1, 1, 600)),
    _conv("groups", INT16, (1, 5, 7, 8), (6, 3, 3, 4)),
    _conv("dilation", INT16, (1, 9, 9, 4), (6, 3, 3, 4), dilation=(2, 2)),
    _conv("bias-i32", _BIAS_I32, (1, 9, 8, 5), (7, 3, 3, 5)),
    _conv("groups-bias-i32", _BIAS_I32, (1, 9, 8, 8), (6, 3, 3, 4)),
    _conv("threads", INT16, (1, 30, 30, 16), (16, 3, 3, 16), num_threads=4),
    _conv("columns-40", INT16, (1, 15, 1, 33), (40, 1, 1, 33), fused=RELU),
    _conv("rgb-stride-2", INT16, (2, 17, 16, 3), (8, 3, 3, 3), stride=(2, 2), fused=RELU6),
    _conv("many-parts", INT16, (1, 4, 4, 256), (20, 3, 3, 256)),
    _conv("wide-filter", INT16, (1, 3, 2, 5), (7, 5, 7, 5)),
    _conv("whole-image", INT16, (3, 4, 4, 32), (20, 4, 4, 32), padding=VALID),
    _conv("groups-1x1-threads", INT16, (1, 31, 30, 24), (36, 1, 1, 8), num_threads=3),
    _conv("given-weights", INT16, (1, 5, 7, 8), (6, 3, 3, 8), constant=False),
    _depthwise("plain", INT16, (1, 9, 8, 5), (3, 3)),
    _depthwise("channels-77", INT16, (2, 7, 9, 77), (3, 3), fused=RELU),
    _depthwise("narrow", INT16, (1, 5, 2, 33), (3, 7)),
    _depthwise("dilation", INT16, (1, 11, 12, 40), (3, 2), dilation=(2, 3)),
    _depthwise("threads", INT16, (1, 40, 41, 64), (3, 3), stride=(2, 1), num_threads=3),
    _depthwise("stride-2", INT16, (2, 9, 8, 16), (5, 5), stride=(2, 2), fused=RELU6),
    _depthwise("multiplier", INT16, (1, 9, 8, 3), (3, 3), multiplier=4, dilation=(2, 2)),
    _depthwise("many-taps", INT16, (1, 20, 20, 2), (17, 17)),
    _fully_connected("plain", INT16, (3, 300), 17),
    _fully_connected("many-parts", INT16, (3, 2101), 50),
    _fully_connected("relu", _ONE_SCALE, (1, 700), 17, fused=RELU),
    _fully_connected("no-bias", INT16, (3, 30), 17, bias=False),
    _fully_connected("bias-i32", _BIAS_I32, (3, 30), 17),
    _fully_connected("w16", _W16, (3, 30), 17),
]
