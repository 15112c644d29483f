"""Nodes that take long by themselves are stopped too, between their chunks or in them.

The limits are far below what the nodes take, so that without a look in them they would run to their end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.errors import TimedOutError
from numlite.lite.string_tensor import pack_strings
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .cases.custom_case import custom_model
from .model_builder import ModelBuilder

TIMEOUT_S = 0.01
_DETECTION = "TFLite_Detection_PostProcess"


def multinomial() -> bytes:
    model = ModelBuilder()
    samples = 2**26
    logits, count = model.tensor((1, 4)), model.constant(np.array(samples, np.int32))
    y = model.tensor((1, samples), np.int32)
    model.op(BuiltinOperator.MULTINOMIAL, [logits, count], [y], tflite.RandomOptionsT(seed=1))
    return model.build([logits], [y])


def filled(code: BuiltinOperator) -> bytes:
    model = ModelBuilder()
    size = 2**26
    y = model.tensor((size,))
    model.op(code, [model.constant([size])], [y], tflite.RandomOptionsT(seed=1))
    return model.build([], [y])


def convolution(dtype: type) -> bytes:
    model = ModelBuilder()
    quantized = {} if dtype is np.float32 else {"scale": 1.0, "zero_point": 0}
    x, y = (model.tensor((1, 256, 256, 256), dtype, **quantized) for _ in range(2))
    w = model.tensor((256, 5, 5, 256), dtype, np.ones(1, dtype), **quantized)
    bias = model.constant(np.zeros(256, np.float32 if dtype is np.float32 else np.int32))
    options = tflite.Conv2DOptionsT(stride_w=1, stride_h=1)
    model.op(BuiltinOperator.CONV_2D, [x, w, bias], [y], options)
    return model.build([x], [y])


def batches() -> bytes:
    """Two products of large 8-bit matrices."""
    model = ModelBuilder()
    q = {"scale": 1.0, "zero_point": 0}
    x, w, y = (model.tensor((2, 4096, 4096), np.int8, **q) for _ in range(3))
    model.op(BuiltinOperator.BATCH_MATMUL, [x, w], [y], tflite.BatchMatMulOptionsT())
    return model.build([x, w], [y])


def recurrent() -> bytes:
    """A cell of 256 units over many times."""
    model = ModelBuilder()
    time, units, depth = 50_000, 256, 4
    x, y = model.tensor((1, time, depth)), model.tensor((1, time, units))
    state = model.tensor((1, units), is_variable=True)
    weights = [model.constant(np.zeros((units, k), np.float32)) for k in (depth, units)]
    bias = model.constant(np.zeros(units, np.float32))
    model.op(
        BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_RNN,
        [x, *weights, bias, state],
        [y],
        tflite.SequenceRNNOptionsT(),
    )
    return model.build([x], [y])


def lstm() -> bytes:
    model = ModelBuilder()
    time, cells, depth = 30_000, 256, 4
    x, y = model.tensor((1, time, depth)), model.tensor((1, time, cells))
    states = [model.tensor((1, cells), is_variable=True) for _ in range(2)]
    weights = [model.constant(np.zeros((cells, k), np.float32)) for k in [depth] * 4 + [cells] * 4]
    bias = model.constant(np.zeros(cells, np.float32))
    options = tflite.UnidirectionalSequenceLSTMOptionsT(fused_activation_function=4)
    inputs = [x, *weights, -1, -1, -1, *[bias] * 4, -1, -1, *states]
    model.op(BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM, inputs, [y], options)
    return model.build([x], [y])


def top_k() -> bytes:
    model = ModelBuilder()
    size = 2**24
    x, values, places = model.tensor((size,)), model.tensor((size,)), model.tensor((size,), np.int32)
    model.op(BuiltinOperator.TOPK_V2, [x, model.constant(np.array(size, np.int32))], [values, places])
    return model.build([x], [values, places])


def suppression() -> bytes:
    """Boxes without an area, which overlap nothing: each is compared with all before it."""
    model = ModelBuilder()
    size = 150_000
    boxes, scores = model.tensor((size, 4)), model.tensor((size,))
    most, one, least = (
        model.constant(np.asarray(x)) for x in (np.int32(size), np.float32(0.5), np.float32(-1))
    )
    chosen, count = model.tensor((size,), np.int32), model.tensor((), np.int32)
    model.op(BuiltinOperator.NON_MAX_SUPPRESSION_V4, [boxes, scores, most, one, least], [chosen, count])
    return model.build([boxes, scores], [chosen, count])


def detection() -> bytes:
    """Boxes that are all the same one, which the threshold lets pass: each is compared with all before it."""
    count = 100_000
    inputs = [np.zeros(shape, np.float32) for shape in ((1, count, 4), (1, count, 1))]
    anchors = np.ones((count, 4), np.float32)
    shapes = [(1, count, 4), (1, count), (1, count), (1,)]
    options = {"max_detections": count, "max_classes_per_detection": 1, "detections_per_class": count}
    options |= {"use_regular_nms": False, "num_classes": 1, "nms_score_threshold": -1.0}
    options |= {"nms_iou_threshold": 1.0, "y_scale": 1.0, "x_scale": 1.0, "h_scale": 1.0, "w_scale": 1.0}
    outputs = [(shape, np.float32) for shape in shapes]
    return custom_model(_DETECTION, inputs, outputs, options, constants=[anchors])


def single_elements(code: BuiltinOperator) -> bytes:
    """Many elements, one after the other."""
    model = ModelBuilder()
    size = 2**25
    x, i = model.tensor((size,), np.int32), model.tensor((size, 1), np.int32)
    if code == BuiltinOperator.UNIQUE:
        y, places = model.tensor((1,), np.int32), model.tensor((size,), np.int32)
        options = tflite.UniqueOptionsT(idx_out_type=tflite.TensorType.INT32)
        model.op(code, [x], [y, places], options)
        return model.build([x], [y, places])
    y = model.tensor((4,), np.int32)
    if code == BuiltinOperator.SCATTER_ND:
        model.op(code, [i, x, model.constant([4])], [y])
        return model.build([i, x], [y])
    ids = model.tensor((size,), np.int32)
    model.op(code, [x, ids, model.constant(np.array(4, np.int32))], [y])
    return model.build([x, ids], [y])


def hashes() -> bytes:
    model = ModelBuilder()
    seeds, items = model.tensor((10**6, 8)), model.constant(np.zeros((1, 4), np.float32))
    y = model.tensor((10**6,), np.int32)
    options = tflite.LSHProjectionOptionsT(type=tflite.LSHProjectionType.SPARSE)
    model.op(BuiltinOperator.LSH_PROJECTION, [seeds, items], [y], options)
    return model.build([seeds], [y])


def runs_of_words() -> bytes:
    """Each choice of six words of sixty."""
    model = ModelBuilder()
    sentence = model.tensor((1,), tflite.TensorType.STRING, pack_strings([b"w " * 60]).tobytes())
    y = model.tensor((1,), tflite.TensorType.STRING)
    options = tflite.SkipGramOptionsT(ngram_size=6, max_skip_size=60, include_all_ngrams=True)
    model.op(BuiltinOperator.SKIP_GRAM, [sentence], [y], options)
    return model.build([], [y])


_ONE_BY_ONE = (BuiltinOperator.SCATTER_ND, BuiltinOperator.UNIQUE, BuiltinOperator.UNSORTED_SEGMENT_SUM)
MODELS: dict[str, Callable[[], bytes]] = {
    "MULTINOMIAL": multinomial,
    "RANDOM_UNIFORM": lambda: filled(BuiltinOperator.RANDOM_UNIFORM),
    "RANDOM_STANDARD_NORMAL": lambda: filled(BuiltinOperator.RANDOM_STANDARD_NORMAL),
    "CONV_2D": lambda: convolution(np.float32),
    "CONV_2D-int8": lambda: convolution(np.int8),
    "BATCH_MATMUL": batches,
    "UNIDIRECTIONAL_SEQUENCE_RNN": recurrent,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": lstm,
    "TOPK_V2": top_k,
    "LSH_PROJECTION": hashes,
    "SKIP_GRAM": runs_of_words,
    "NON_MAX_SUPPRESSION_V4": suppression,
    _DETECTION: detection,
    **{code.name: partial(single_elements, code) for code in _ONE_BY_ONE},
}


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("name", MODELS)
def test_a_long_node_is_stopped(name: str, num_threads: int) -> None:
    interpreter = Interpreter(model_content=MODELS[name](), num_threads=num_threads)
    interpreter.allocate_tensors()
    for _ in range(2):
        operator = name.removesuffix("-int8")
        with pytest.raises(
            TimedOutError, match=rf"node 0 \({operator}\).*the run must end within its timeout_s"
        ):
            interpreter.invoke(timeout_s=TIMEOUT_S)
