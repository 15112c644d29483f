"""Random cases of operators that make fewer elements of more: reductions, norms, pools, resizings."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from .draw import Draw, Kind
from .entry import Entry, Make
from .one_op import OneOp, activation

REDUCED = ("float32", "float32", "int8", "uint8", "int16", "int32", "int64", "float16")


def _reduce(*types: str) -> Make:
    def make(draw: Draw, op: OneOp) -> None:
        kind, shape = draw.kind(*types), draw.shape(0, 5, 2000)
        axes = [axis for axis in range(len(shape)) if draw.chance(draw.pick(0.3, 0.7))]
        if draw.chance(0.3) and len(shape) >= 3:
            axes = [1, 2]
        axes = [axis - (len(shape) if draw.chance(0.3) else 0) for axis in axes]
        if axes and draw.chance(0.05):
            axes.append(axes[0])
        form = axes[0] if len(axes) == 1 and draw.chance(0.4) else np.array(axes, np.int32)
        inputs = [op.input(shape, kind, constant=0.05), op.numbers(form)]
        op.output(kind if draw.chance(0.6) else draw.like(kind))
        op.op(inputs, tflite.ReducerOptionsT(keep_dims=draw.chance()))

    return make


def _arg(draw: Draw, op: OneOp) -> None:
    kind = draw.kind("float32", "float32", "int8", "uint8", "int32", "bool", "int16", "int64")
    shape = draw.shape(0 if draw.chance(0.05) else 1, 5, 2000)
    axis = draw.axis(len(shape))
    inputs = [op.input(shape, kind), op.numbers(draw.pick(axis, [axis]), ("int32", "int64"))]
    out = draw.pick("int32", "int64")
    op.output(out)
    table = tflite.ArgMaxOptionsT if op.name == "ARG_MAX" else tflite.ArgMinOptionsT
    op.op(inputs, table(output_type=tflite.TensorType[out.upper()]))


def _top_k(draw: Draw, op: OneOp) -> None:
    kind = draw.kind("float32", "int8", "uint8", "int16!", "int32", "int64", "int8!", "float16")
    shape = draw.shape(1, 4, 1500)
    k = draw.number(0, shape[-1] + draw.chance(0.03))
    inputs = [op.input(shape, kind), op.numbers(k, ("int32", "int32", "int16"))]
    op.output(kind)
    op.output(draw.pick("int32", "int32", "int16"))
    op.op(inputs)


def _softmax(draw: Draw, op: OneOp) -> None:
    kind = draw.kind("float32", "float32", "int8", "uint8", "int16", "float16")
    x = op.input(draw.shape(1, 5), kind, constant=0.03)
    result = kind
    if kind.scale:
        result = Kind(kind.type, (1 / 256,), -128 if kind.type == "int8" else 0)
        if kind.type == "int16":
            result = Kind("int16", (1 / 32768,))
        if op.name == "LOG_SOFTMAX":
            result = Kind(kind.type, (16 / 256,), 127 if kind.type == "int8" else 255)
        if kind.type == "int8" and draw.chance(0.1):
            result = Kind("int16", (1 / 65536,), -32768)
    op.output(result if draw.chance(0.95) else draw.like(result))
    beta = draw.pick(1.0, 1.0, 1.0, 0.1, 2.0, 10.0)
    op.op([x], tflite.SoftmaxOptionsT(beta=beta) if op.name == "SOFTMAX" else None)


def _l2_norm(draw: Draw, op: OneOp) -> None:
    kind = draw.kind("float32", "float32", "int8", "uint8", "float16")
    x = op.input(draw.shape(1, 5), kind)
    result = Kind(kind.type, (1 / 128,), 128 if kind.type == "uint8" else 0) if kind.scale else kind
    op.output(result)
    act = activation(draw) if draw.chance(0.05) else 0
    op.op([x], tflite.L2NormOptionsT(fused_activation_function=act))


def _lrn(draw: Draw, op: OneOp) -> None:
    x = op.input(draw.shape(4, 4), "float32")
    op.output("float32")
    op.op([x], tflite.LocalResponseNormalizationOptionsT(
        radius=draw.number(0, 6), bias=draw.pick(1.0, 0.5, 2.0),
        alpha=draw.pick(1.0, 0.1), beta=draw.pick(0.5, 0.75),
    ))  # fmt: skip


def _pool(draw: Draw, op: OneOp) -> None:
    types = (
        ("float32",)
        if op.name == "L2_POOL_2D"
        else ("float32", "float32", "int8", "uint8", "int16", "float16")
    )
    kind = draw.kind(*types)
    x = op.input(draw.shape(4, 4, 6000), kind, constant=0.03)
    op.output(kind if draw.chance(0.9) else draw.like(kind))
    op.op([x], tflite.Pool2DOptionsT(
        padding=tflite.Padding(draw.pick(0, 1)),
        stride_w=draw.number(1, 4),
        stride_h=draw.number(1, 4),
        filter_width=draw.number(1, 5),
        filter_height=draw.number(1, 5),
        fused_activation_function=activation(draw),
    ))  # fmt: skip


def _resize(draw: Draw, op: OneOp) -> None:
    kind = draw.kind("float32", "float32", "int8", "uint8", "int16", "float16")
    shape = draw.shape(4, 4, 2000)
    size = [draw.number(1, 12), draw.number(1, 12)]
    if draw.chance(0.2):
        size = [shape[1] * 2, shape[2] * 2]
    inputs = [op.input(shape, kind), op.numbers(size)]
    op.output(kind)
    corners = draw.chance(0.3)
    table = (
        tflite.ResizeBilinearOptionsT
        if op.name == "RESIZE_BILINEAR"
        else tflite.ResizeNearestNeighborOptionsT
    )
    halves = draw.chance(0.05) if corners else draw.chance()
    op.op(inputs, table(align_corners=corners, half_pixel_centers=halves))


def _cumsum(draw: Draw, op: OneOp) -> None:
    kind, shape = draw.kind("float32", "int32", "int64", "float16"), draw.shape(1, 5)
    inputs = [op.input(shape, kind), op.numbers(draw.axis(len(shape)))]
    op.output(kind)
    op.op(inputs, tflite.CumsumOptionsT(exclusive=draw.chance(), reverse=draw.chance()))


def _rfft2d(draw: Draw, op: OneOp) -> None:
    x = op.input(draw.shape(2, 4, 600), "float32")
    sizes = [draw.pick(1, 2, 4, 8, 16), draw.pick(1, 2, 4, 8, 16, 32)]
    inputs = [x, op.numbers(sizes)]
    op.output("complex64")
    op.op(inputs)


def _segment(draw: Draw, op: OneOp) -> None:
    kind, shape = draw.kind("float32", "int32"), draw.shape(1, 4, 800)
    if op.name == "SEGMENT_SUM":
        ids = np.cumsum(draw.random.integers(0, 2, shape[:1]))
        ids -= ids[:1].sum()
        inputs = [op.input(shape, kind), op.numbers(ids.astype(np.int32), constant=0.5)]
    else:
        axes = draw.number(1, len(shape))
        segments = draw.number(1, 6)
        ids = draw.random.integers(-1, segments, shape[:axes])
        inputs = [op.input(shape, kind), op.numbers(ids, constant=0.5), op.numbers(segments)]
    op.output(kind)
    op.op(inputs)


ENTRIES = {
    "MEAN": Entry(_reduce(*REDUCED)),
    "SUM": Entry(_reduce(*REDUCED)),
    "REDUCE_PROD": Entry(_reduce(*REDUCED)),
    "REDUCE_MAX": Entry(_reduce(*REDUCED), nan=True),
    "REDUCE_MIN": Entry(_reduce(*REDUCED), nan=True),
    "REDUCE_ANY": Entry(_reduce("bool")),
    "REDUCE_ALL": Entry(_reduce("bool")),
    "ARG_MAX": Entry(_arg),
    "ARG_MIN": Entry(_arg),
    "TOPK_V2": Entry(_top_k),
    "SOFTMAX": Entry(_softmax),
    "LOG_SOFTMAX": Entry(_softmax),
    "L2_NORMALIZATION": Entry(_l2_norm),
    "LOCAL_RESPONSE_NORMALIZATION": Entry(_lrn),
    "AVERAGE_POOL_2D": Entry(_pool, nan=True),
    "MAX_POOL_2D": Entry(_pool, nan=True),
    "L2_POOL_2D": Entry(_pool),
    "RESIZE_BILINEAR": Entry(_resize),
    "RESIZE_NEAREST_NEIGHBOR": Entry(_resize),
    "CUMSUM": Entry(_cumsum),
    "RFFT2D": Entry(_rfft2d, atol=1e-5),
    "SEGMENT_SUM": Entry(_segment),
    "UNSORTED_SEGMENT_SUM": Entry(_segment),
    "UNSORTED_SEGMENT_PROD": Entry(_segment),
    "UNSORTED_SEGMENT_MIN": Entry(_segment),
    "UNSORTED_SEGMENT_MAX": Entry(_segment),
}
