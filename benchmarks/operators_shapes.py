"""Models of filters, products and transforms whose shapes are not those of common networks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from flatbuffers import flexbuffers
from numlite.schema import tflite
from operator_model import (
    FLOAT,
    Operand,
    OperatorModel,
    Result,
    constant,
    floats,
    indices,
    integers,
    model_of,
    quantized,
)

SAME, VALID = tflite.Padding.SAME, tflite.Padding.VALID


def shapes() -> Iterator[OperatorModel]:
    """Weights in blocks, convolutions of one dimension or one channel, detections, transforms."""
    yield from _blockwise()
    yield from _float_filters()
    yield from _one_channel()
    yield from _detections()
    yield from _transforms()


def _blockwise() -> Iterator[OperatorModel]:
    for batch, depth, units, block in (
        (1, 1024, 1024, 32),
        (1, 2048, 512, 64),
        (1, 256, 256, 128),
        (1, 768, 1001, 256),
        (1, 2048, 8192, 32),
        (2, 1024, 1024, 32),
        (4, 1024, 1024, 32),
        (7, 768, 250, 64),
        (64, 768, 768, 32),
        (64, 768, 768, 256),
    ):
        w = Operand(integers(np.int8, -8, 7, units, depth).value, is_constant=True)
        scales = np.random.default_rng(units).uniform(0.01, 0.1, (units, depth // block))
        operands = [floats(batch, depth), replace(w, block_scales=scales), constant(floats(units))]
        options = tflite.FullyConnectedOptionsT()
        yield model_of(f"FULLY_CONNECTED int4 blocks of {block} {units}", operands, FLOAT, options, 12)


def _float_filters() -> Iterator[OperatorModel]:
    """(height, width, depth), (filter height, width), (stride h, w), padding, columns or multiplier."""
    for image, size, stride, padding, count in (
        ((49, 1, 64), (9, 1), (1, 1), SAME, 64),
        ((98, 1, 40), (9, 1), (2, 1), SAME, 24),
        ((98, 1, 40), (3, 1), (1, 1), SAME, 16),
        ((1, 100, 32), (1, 9), (1, 1), SAME, 32),
        ((1, 1000, 1), (1, 16), (1, 4), SAME, 16),
        ((1, 1000, 8), (1, 5), (1, 2), VALID, 12),
        ((1, 37, 100), (1, 7), (1, 1), VALID, 20),
        ((300, 1, 16), (25, 1), (1, 1), SAME, 16),
        ((17, 5, 48), (9, 1), (1, 1), SAME, 48),
        ((28, 28, 32), (3, 1), (1, 1), SAME, 32),
        ((28, 28, 32), (1, 7), (1, 1), SAME, 32),
        ((28, 28, 3), (5, 5), (2, 2), SAME, 10),
    ):
        x = floats(1, *image)
        text = f"{size[0]}x{size[1]} s{max(stride)} {padding.name}"
        options = tflite.Conv2DOptionsT(padding=padding, stride_h=stride[0], stride_w=stride[1])
        w = constant(floats(count, *size, image[2]))
        yield model_of(f"CONV_2D {text} {count}", [x, w, constant(floats(count))], FLOAT, options, 1)
        yield _depthwise(x, text, size, stride, padding, 1)
    for multiplier in (2, 4, 8):
        x = floats(1, 96, 96, 1)
        yield _depthwise(x, f"7x7 s2 times {multiplier}", (7, 7), (2, 2), SAME, multiplier)
        x = floats(1, 49, 40, 1)
        yield _depthwise(x, f"10x8 s2 times {multiplier}", (10, 8), (2, 2), SAME, multiplier)
    yield _depthwise(floats(1, 49, 1, 64), "9x1 d2", (9, 1), (1, 1), SAME, 1, 2)
    yield _depthwise(floats(1, 14, 14, 96), "7x7 s1", (7, 7), (1, 1), SAME, 1)
    yield _depthwise(floats(1, 14, 14, 96), "7x7 s2", (7, 7), (2, 2), SAME, 1)


def _depthwise(
    x: Operand,
    text: str,
    size: tuple[int, int],
    stride: tuple[int, int],
    padding: tflite.Padding,
    multiplier: int,
    dilation: int = 1,
) -> OperatorModel:
    channels = x.value.shape[3] * multiplier
    options = tflite.DepthwiseConv2DOptionsT(
        padding=padding,
        stride_h=stride[0],
        stride_w=stride[1],
        depth_multiplier=multiplier,
        dilation_h_factor=dilation,
        dilation_w_factor=1,
    )
    name = f"DEPTHWISE_CONV_2D {text}"
    if x.scale is None:
        w, bias = constant(floats(1, *size, channels)), constant(floats(channels))
        return model_of(name, [x, w, bias], FLOAT, options, 2)
    w = replace(integers(np.int8, -127, 127, 1, *size, channels), scale=0.01, is_constant=True)
    bias = replace(integers(np.int32, -999, 999, channels), scale=x.scale * 0.01, is_constant=True)
    return model_of(name, [x, w, bias], Result(np.int8, 0.5, 3), options, 3)


def _one_channel() -> Iterator[OperatorModel]:
    """int8 depthwise convolutions of few channels, each several times."""
    for image, size, stride, multiplier in (
        ((96, 96, 1), (7, 7), (2, 2), 8),
        ((96, 96, 1), (7, 7), (1, 1), 8),
        ((96, 96, 1), (3, 3), (2, 2), 8),
        ((96, 96, 1), (3, 3), (2, 2), 16),
        ((49, 40, 1), (3, 3), (2, 2), 16),
        ((24, 24, 2), (3, 3), (2, 2), 8),
        ((48, 48, 3), (3, 3), (2, 2), 8),
        ((96, 96, 1), (5, 5), (2, 2), 8),
        ((96, 96, 1), (7, 7), (2, 2), 4),
        ((96, 96, 1), (7, 7), (2, 2), 16),
        ((49, 40, 1), (10, 8), (2, 2), 8),
        ((96, 96, 3), (7, 7), (2, 2), 8),
        ((49, 1, 8), (9, 1), (1, 1), 1),
        ((49, 1, 64), (9, 1), (1, 1), 1),
        ((1, 100, 32), (1, 9), (1, 2), 1),
        ((28, 28, 12), (7, 7), (2, 2), 1),
        ((14, 14, 96), (7, 7), (1, 1), 1),
    ):
        text = f"{size[0]}x{size[1]} s{max(stride)} times {multiplier}"
        yield _depthwise(quantized(np.int8, 1, *image), text, size, stride, SAME, multiplier)


def _detections() -> Iterator[OperatorModel]:
    for anchors, classes, regular, threshold in (
        (26880, 1, False, -20.0),
        (26880, 1, True, -20.0),
        (26880, 3, False, -20.0),
        (26880, 3, True, -20.0),
        (1917, 90, False, 1e-8),
        (1917, 90, True, 1e-8),
        (1917, 90, False, 0.9),
        (100, 4, False, -20.0),
    ):
        random = np.random.default_rng(anchors)
        centers = random.uniform(0, 1, (anchors, 2))
        boxes = np.concatenate([centers, random.uniform(0.01, 0.3, (anchors, 2))], axis=1)
        scores = random.normal(-4, 3, (1, anchors, classes + 1))
        scores = scores if threshold < 0 else 1 / (1 + np.exp(-scores))
        options = {
            "max_detections": 100,
            "max_classes_per_detection": 1,
            "detections_per_class": 100,
            "use_regular_nms": regular,
            "nms_score_threshold": threshold,
            "nms_iou_threshold": 0.5,
            "num_classes": classes,
            **{"y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0},
        }
        operands = [
            floats(1, anchors, 4),
            Operand(scores.astype(np.float32)),
            Operand(boxes.astype(np.float32), is_constant=True),
        ]
        kind = "regular" if regular else "fast"
        yield OperatorModel(
            f"TFLite_Detection_PostProcess {kind} {anchors} of {classes} above {threshold:g}",
            tflite.BuiltinOperator.CUSTOM,
            operands,
            [FLOAT] * 4,
            custom_code="TFLite_Detection_PostProcess",
            custom_options=bytes(flexbuffers.Dumps(options)),
        )


def _transforms() -> Iterator[OperatorModel]:
    for shape, lengths in (
        ((43, 1, 2048), (1, 2048)),
        ((43, 2048), (64, 2048)),
        ((43, 2048), (32, 2048)),
        ((98, 1, 480), (1, 512)),
        ((1, 1, 256), (1, 256)),
        ((16, 16), (16, 16)),
        ((256, 256), (256, 256)),
        ((1, 2048, 64), (2048, 64)),
        ((1, 65536), (1, 65536)),
        ((500, 1, 64), (1, 64)),
    ):
        operands = [floats(*shape), indices(*lengths)]
        yield model_of(f"RFFT2D {lengths[0]}x{lengths[1]}", operands, Result(np.complex64))
