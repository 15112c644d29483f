"""Random cases of the custom operators that LiteRT has built in."""

from __future__ import annotations

import numpy as np
from flatbuffers import flexbuffers

from .draw import Draw
from .entry import Entry
from .one_op import OneOp


def _options(**values: object) -> bytes:
    return bytes(flexbuffers.Dumps(values))


def _wave(draw: Draw, shape: tuple[int, ...]) -> np.ndarray:
    return draw.random.uniform(-1, 1, shape).astype(np.float32)


def _spectrogram(draw: Draw, op: OneOp) -> None:
    window = draw.pick(1, 2, 3, 8, 12, 16, 25, 40, 64, draw.number(1, 130))
    shape = (draw.number(0 if draw.chance(0.1) else 1, 400), draw.number(1, 3))
    x = op.input(shape, "float32", lambda shape: _wave(draw, shape), 0)
    op.output("float32")
    stride = draw.pick(1, window, draw.number(1, 50))
    options = {"window_size": window, "stride": stride, "magnitude_squared": draw.chance()}
    op.told.append(f"{options}")
    op.op([x], custom_options=_options(**options))


def _mfcc(draw: Draw, op: OneOp) -> None:
    frequencies = draw.pick(2, 5, 9, 33, 65, 129, 257, draw.number(2, 300))
    shape = (draw.number(1, 3), draw.number(0 if draw.chance(0.05) else 1, 6), frequencies)
    x = op.input(shape, "float32", lambda shape: np.abs(_wave(draw, shape)) * 9, 0)
    rate = op.numbers(draw.pick([16000], [8000], [44100], [1000], 16000), constant=0.6)
    op.output("float32")
    options = {
        "upper_frequency_limit": draw.pick(4000, 7000, 8000, 400, 20000),
        "lower_frequency_limit": draw.pick(20, 0, 125, 300),
        "filterbank_channel_count": draw.pick(40, 26, 20, 5, 1, draw.number(1, 60)),
        "dct_coefficient_count": draw.pick(13, 9, 1, 40, draw.number(1, 60)),
    }
    op.told.append(f"{options}")
    op.op([x, rate], custom_options=_options(**options))


def _detections(draw: Draw, op: OneOp) -> None:
    batch, anchors, classes = 1, draw.number(1, 30), draw.number(1, 5)
    background = draw.number(0, 1)
    boxes = (draw.random.standard_normal((batch, anchors, 4)) * 0.5).astype(np.float32)
    scores = draw.random.uniform(0, 1, (batch, anchors, classes + background)).astype(np.float32)
    if draw.chance(0.3):
        scores = np.round(scores, 1)
    centers = draw.random.uniform(0, 1, (anchors, 4)).astype(np.float32)
    inputs = [
        op.input(boxes.shape, "float32", lambda shape: boxes, 0),
        op.input(scores.shape, "float32", lambda shape: scores, 0),
        op.input(centers.shape, "float32", lambda shape: centers, 0.8),
    ]
    for _ in range(4):
        op.output("float32")
    options = {
        "max_detections": draw.number(1, 12),
        "max_classes_per_detection": draw.number(1, 3),
        "nms_score_threshold": draw.pick(0.0, 0.3, 0.9, -1.0),
        "nms_iou_threshold": draw.pick(0.1, 0.5, 0.6, 1.0),
        "num_classes": classes,
        **{f"{axis}_scale": draw.pick(1.0, 5.0, 10.0) for axis in "yxhw"},
    }
    if draw.chance(0.3):
        options["use_regular_nms"] = False
    op.told.append(f"{options}")
    op.op(inputs, custom_options=_options(**options))


ENTRIES = {
    "AudioSpectrogram": Entry(_spectrogram, rtol=1e-4, atol=1e-5),
    "Mfcc": Entry(_mfcc, rtol=1e-4, atol=1e-5),
    "TFLite_Detection_PostProcess": Entry(_detections, rtol=1e-4, atol=1e-5),
}
