"""Models of reductions and of operators that move data, at sizes common in networks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numlite.schema import tflite
from operator_model import (
    FLOAT,
    LARGE,
    MAP,
    QUANTIZED,
    Operand,
    OperatorModel,
    Result,
    constant,
    floats,
    indices,
    integers,
    model_of,
    quantized,
    scalar,
)


def reductions() -> Iterator[OperatorModel]:
    """Reductions of all kinds, and what is sorted or counted."""
    for keep, axes in (("spatial", (1, 2)), ("channels", (3,)), ("all", (0, 1, 2, 3)), ("height", (1,))):
        for name in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
            for dtype in (np.float32, np.int8, np.uint8, np.int16, np.int32):
                if name == "REDUCE_PROD" and dtype is not np.float32 and dtype is not np.int32:
                    continue
                x = quantized(dtype, *LARGE) if dtype in QUANTIZED else integers(dtype, -3, 3, *LARGE)
                y = QUANTIZED.get(dtype, Result(dtype))
                if name in ("REDUCE_MAX", "REDUCE_MIN") and dtype in QUANTIZED:
                    y = Result(dtype, x.scale, x.zero_point)
                options = tflite.ReducerOptionsT(keep_dims=False)
                yield model_of(f"{name} {keep}", [x, indices(*axes)], y, options, 2)
        for name in ("REDUCE_ANY", "REDUCE_ALL"):
            x = integers(np.bool_, int(name == "REDUCE_ALL"), int(name == "REDUCE_ALL"), *LARGE)
            yield model_of(f"{name} {keep}", [x, indices(*axes)], Result(np.bool_), tflite.ReducerOptionsT())
    for name in ("ARG_MAX", "ARG_MIN"):
        options = getattr(tflite, f"{'ArgMax' if name == 'ARG_MAX' else 'ArgMin'}OptionsT")
        for text, x, axis in (
            ("last", floats(*LARGE), 3),
            ("flat", floats(1, 1001), 1),
            ("height", floats(*LARGE), 1),
            ("last", quantized(np.int8, *LARGE), 3),
            ("flat", quantized(np.uint8, 1, 1001), 1),
            ("segments", quantized(np.int8, 1, 129, 129, 21), 3),
        ):
            kind = tflite.TensorType.INT32
            yield model_of(
                f"{name} {text}", [x, indices(axis)], Result(np.int32), options(output_type=kind), 2
            )
    for text, x in (("", floats(1, 1001)), ("rows", floats(64, 1001)), ("wide", floats(1, 30000))):
        yield model_of(f"TOPK_V2 {text}", [x, scalar(10)], [FLOAT, Result(np.int32)])
    x8 = quantized(np.uint8, 1, 1001)
    yield model_of("TOPK_V2", [x8, scalar(5)], [Result(np.uint8, x8.scale, x8.zero_point), Result(np.int32)])
    for axis in (1, 3):
        yield model_of(f"CUMSUM {axis}", [floats(*MAP), indices(axis)], FLOAT, tflite.CumsumOptionsT())
    for text, shape in (
        ("flat", (1, 1001)),
        ("rows", (128, 128)),
        ("attention", (1, 8, 196, 196)),
        ("few", (1, 10)),
    ):
        options = tflite.SoftmaxOptionsT(beta=1.0)
        yield model_of(f"SOFTMAX {text}", [floats(*shape)], FLOAT, options)
        for dtype, zero in ((np.int8, -128), (np.uint8, 0)):
            yield model_of(
                f"SOFTMAX {text}", [quantized(dtype, *shape)], Result(dtype, 1 / 256, zero), options, 2
            )
        y16 = Result(np.int16, 1 / 32768)
        yield model_of(f"SOFTMAX {text}", [quantized(np.int16, *shape, scale=0.0003)], y16, options, 3)
        yield model_of(f"LOG_SOFTMAX {text}", [floats(*shape)], FLOAT)
        yield model_of(
            f"LOG_SOFTMAX {text}", [quantized(np.int8, *shape)], Result(np.int8, 16 / 256, 127), version=2
        )
    yield model_of("L2_NORMALIZATION", [floats(1, 28, 28, 96)], FLOAT, tflite.L2NormOptionsT())
    yield model_of("L2_NORMALIZATION flat", [floats(1, 1024)], FLOAT, tflite.L2NormOptionsT())
    q = [Operand(quantized(np.int8, 1, 28, 28, 96).value, 0.05, 3)]
    yield model_of("L2_NORMALIZATION", q, Result(np.int8, 1 / 128, 0), tflite.L2NormOptionsT(), 2)
    lrn = tflite.LocalResponseNormalizationOptionsT(radius=5, bias=1.0, alpha=1e-4, beta=0.75)
    yield model_of("LOCAL_RESPONSE_NORMALIZATION", [floats(*MAP)], FLOAT, lrn)
    yield model_of(
        "SEGMENT_SUM", [floats(256, 64), Operand(np.sort(integers(np.int32, 0, 31, 256).value))], FLOAT
    )
    for name in (
        "UNSORTED_SEGMENT_SUM",
        "UNSORTED_SEGMENT_MAX",
        "UNSORTED_SEGMENT_MIN",
        "UNSORTED_SEGMENT_PROD",
    ):
        yield model_of(name, [floats(256, 64), integers(np.int32, 0, 31, 256), scalar(32)], FLOAT)
    bounds = tflite.BucketizeOptionsT(boundaries=[-1.0, -0.5, 0.0, 0.5, 1.0])
    yield model_of("BUCKETIZE", [floats(*MAP)], Result(np.int32), bounds)
    for dtype in (np.bool_, np.float32):
        yield model_of("WHERE", [integers(dtype, 0, 1, *MAP)], Result(np.int64), version=2)
    yield model_of("WHERE small", [integers(np.bool_, 0, 1, 1, 100)], Result(np.int64), version=2)
    for dtype in (np.int32, np.float32):
        x = integers(dtype, 0, 99, 10000)
        yield model_of(
            "UNIQUE", [x], [Result(dtype), Result(np.int32)], tflite.UniqueOptionsT(idx_out_type=2)
        )
    few = integers(np.int32, 0, 9, 100)
    yield model_of("UNIQUE small", [few], [Result(np.int32)] * 2, tflite.UniqueOptionsT(idx_out_type=2))


def movement() -> Iterator[OperatorModel]:
    """Operators that move elements."""
    for dtype in (np.float32, np.int8):
        x = floats(*LARGE) if dtype is np.float32 else quantized(dtype, *LARGE)
        y = Result(dtype, x.scale, x.zero_point)
        for order in ((0, 3, 1, 2), (0, 2, 1, 3), (0, 2, 3, 1), (3, 2, 1, 0)):
            text = f"TRANSPOSE {''.join(map(str, order))}"
            yield model_of(text, [x, indices(*order)], y, tflite.TransposeOptionsT(), 2)
        attention = Operand(np.resize(x.value, (1, 196, 12, 64)), x.scale, x.zero_point)
        yield model_of("TRANSPOSE heads", [attention, indices(0, 2, 1, 3)], y, tflite.TransposeOptionsT(), 2)
        matrix = Operand(np.resize(x.value, (512, 512)), x.scale, x.zero_point)
        yield model_of("TRANSPOSE matrix", [matrix, indices(1, 0)], y, tflite.TransposeOptionsT(), 2)
        pads = Operand(np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32), is_constant=True)
        yield model_of("PAD", [x, pads], y, tflite.PadOptionsT(), 2)
        image = Operand(np.resize(x.value, (1, 224, 224, 3)), x.scale, x.zero_point)
        yield model_of("PAD image", [image, pads], y, tflite.PadOptionsT(), 2)
        yield model_of("MIRROR_PAD", [x, pads], y, tflite.MirrorPadOptionsT(mode=0), 2)
        for axis in (1, 3):
            options = tflite.ConcatenationOptionsT(axis=axis)
            yield model_of(f"CONCATENATION {axis}", [x, x], y, options, 2)
            yield model_of(f"SPLIT {axis}", [scalar(axis), x], [y, y], tflite.SplitOptionsT(num_splits=2), 2)
            yield model_of(f"PACK {axis}", [x, x], y, tflite.PackOptionsT(values_count=2, axis=axis), 2)
            yield model_of(f"REVERSE_V2 {axis}", [x, indices(axis)], y, version=3)
            yield model_of(
                f"GATHER {axis}",
                [x, indices(*range(0, 56, 2))],
                y,
                tflite.GatherOptionsT(axis=axis, batch_dims=0),
                2,
            )
        yield model_of("REVERSE_V2 image", [image, indices(3)], y, version=3)
        yield model_of(
            "UNPACK 1",
            [
                x,
            ],
            [y] * 56,
            tflite.UnpackOptionsT(num=56, axis=1),
            2,
        )
        last = [x, indices(36, 36), scalar(3)]
        yield model_of("SPLIT_V 3", last, [y, y], tflite.SplitVOptionsT(num_splits=2), 2)
        yield model_of(
            "SLICE", [x, indices(0, 4, 4, 8), indices(1, 40, 40, 32)], y, tflite.SliceOptionsT(), 2
        )
        crop = [x, indices(0, 4, 4, 8), indices(1, 44, 44, 40)]
        steps = tflite.StridedSliceOptionsT()
        yield model_of("STRIDED_SLICE", [*crop, indices(1, 1, 1, 1)], y, steps, 2)
        yield model_of("STRIDED_SLICE 2", [*crop, indices(1, 2, 2, 1)], y, steps, 2)
        yield model_of("STRIDED_SLICE channels", [*crop, indices(1, 1, 1, 2)], y, steps, 2)
        yield model_of("TILE", [x, indices(1, 2, 1, 2)], y, version=2)
        yield model_of("SPACE_TO_DEPTH", [x], y, tflite.SpaceToDepthOptionsT(block_size=2), 2)
        yield model_of("DEPTH_TO_SPACE", [x], y, tflite.DepthToSpaceOptionsT(block_size=2), 2)
        none = Operand(np.zeros((2, 2), np.int32), is_constant=True)
        yield model_of("SPACE_TO_BATCH_ND", [x, indices(2, 2), none], y, version=2)
        four = Operand(np.resize(x.value, (4, 28, 28, 72)), x.scale, x.zero_point)
        yield model_of("BATCH_TO_SPACE_ND", [four, indices(2, 2), none], y, version=2)
        yield model_of("RESHAPE", [x, indices(1, -1)], y, tflite.ReshapeOptionsT())
        yield model_of(
            "BROADCAST_TO", [Operand(x.value[:, :1], x.scale, x.zero_point), indices(*LARGE)], y, version=3
        )
        table = Operand(np.resize(x.value, (1000, 64)), x.scale, x.zero_point)
        rows = integers(np.int32, 0, 999, 128)
        yield model_of("GATHER rows", [table, rows], y, tflite.GatherOptionsT(axis=0), 2)
        yield model_of("GATHER_ND", [table, integers(np.int32, 0, 63, 256, 2)], y, version=2)
        yield model_of("GATHER_ND rows", [table, integers(np.int32, 0, 999, 256, 1)], y, version=2)
        yield model_of("EMBEDDING_LOOKUP", [rows, constant(table)], y, version=2)
        for name, op in (
            ("RESIZE_BILINEAR", tflite.ResizeBilinearOptionsT),
            ("RESIZE_NEAREST_NEIGHBOR", tflite.ResizeNearestNeighborOptionsT),
        ):
            yield model_of(name, [four, indices(56, 56)], y, op(half_pixel_centers=True), 3)
            yield model_of(f"{name} plain", [four, indices(56, 56)], y, op(), 3)
        yield model_of(
            "SCATTER_ND",
            [integers(np.int32, 0, 999, 256, 1), Operand(table.value[:256]), indices(1000, 64)],
            Result(dtype),
        )
    sequence = [floats(4, 64, 128), Operand(np.array([64, 10, 33, 50], np.int32))]
    yield model_of(
        "REVERSE_SEQUENCE", sequence, FLOAT, tflite.ReverseSequenceOptionsT(seq_dim=1, batch_dim=0)
    )
    one_hot = [integers(np.int32, 0, 99, 256), scalar(100), scalar(1, np.float32), scalar(0, np.float32)]
    yield model_of("ONE_HOT", one_hot, FLOAT, tflite.OneHotOptionsT(axis=-1))
    yield model_of("FILL", [Operand(np.array(MAP, np.int32), is_constant=True), floats()], FLOAT)
    yield model_of("ZEROS_LIKE", [floats(*MAP)], FLOAT)
    yield model_of("RANGE", [Operand(np.array(v, np.int32)) for v in (0, 10000, 1)], Result(np.int32))
    yield model_of("SHAPE", [floats(*MAP)], Result(np.int32), tflite.ShapeOptionsT(out_type=2))
    yield model_of("MATRIX_DIAG", [floats(8, 128)], FLOAT)
    yield model_of("MATRIX_SET_DIAG", [floats(8, 128, 128), floats(8, 128)], FLOAT)
    update = [floats(*MAP), floats(1, 8, 8, 96), Operand(np.array([0, 3, 4, 0], np.int32))]
    yield model_of("DYNAMIC_UPDATE_SLICE", update, FLOAT)
    complex_map = Operand((floats(*MAP).value + 1j * floats(*MAP).value).astype(np.complex64))
    for name in ("REAL", "IMAG", "COMPLEX_ABS"):
        yield model_of(name, [complex_map], FLOAT)
    yield model_of("RFFT2D", [floats(8, 64, 64), indices(64, 64)], Result(np.complex64))
