"""Functions of images as the custom operators that do them: unpooling, warping, detected boxes.

Source of names, attributes and signatures: TensorFlow compiler/mlir/lite/utils/perception_ops_utils.cc and
nms_utils.cc.
"""

from __future__ import annotations

import numpy as np

from ....lite.tensor import TensorType
from ...ir.attributes import Attribute
from ...lite_graph import PartialShape
from ..flex import flexbuffer_map
from .call import CompositeCall
from .custom import CustomComposite, no_options, takes_two

_FLOAT = frozenset((TensorType.FLOAT32,))
_INDEX = frozenset((TensorType.INT32, TensorType.INT64))
# TfLitePadding.
_PADDINGS = {b"SAME": 1, b"VALID": 2}
# Anchors with which a body is tried, where their number is not known.
_SOME_ANCHORS = 12


def _pair(value: Attribute | None) -> tuple[int, int] | None:
    if not isinstance(value, tuple) or len(value) != 2:
        return None
    a, b = value
    return (a, b) if isinstance(a, int) and isinstance(b, int) and min(a, b) >= 1 else None


def _pool(call: CompositeCall) -> tuple[tuple[int, int], tuple[int, int], int] | None:
    """Sizes and strides (rows, columns) and TfLitePadding."""
    held = call.attributes
    sizes, strides, padding = _pair(held.get("pool_size")), _pair(held.get("strides")), held.get("padding")
    if sizes is None or strides is None or not isinstance(padding, bytes) or padding not in _PADDINGS:
        return None
    return sizes, strides, _PADDINGS[padding]


def _unpool_options(call: CompositeCall) -> bytes | None:
    """TfLitePoolParams: padding, strides and sizes (columns first), no activation, no computed padding."""
    pool = _pool(call)
    if pool is None:
        return None
    sizes, strides, padding = pool
    return np.array([padding, *strides[::-1], *sizes[::-1], *[0] * 5], "<i4").tobytes()


def _unpool_trial(call: CompositeCall) -> list[np.ndarray] | None:
    """Values, and for each a place in its window, no place twice."""
    shape, pool = call.sizes(0), _pool(call)
    if pool is None or call.sizes(1) != shape:
        return None
    sizes, strides, padding = pool
    random = np.random.default_rng(0)
    rows, columns = (
        np.arange(n) * stride + random.integers(0, min(stride, size), n)
        for n, stride, size in zip(shape[1:3], strides, sizes, strict=True)
    )
    width = shape[2] * strides[1] if padding == _PADDINGS[b"SAME"] else (shape[2] - 1) * strides[1] + sizes[1]
    places = (rows[:, np.newaxis] * width + columns)[..., np.newaxis] * shape[3] + np.arange(shape[3])
    mask = np.broadcast_to(places, shape)
    index = np.int32 if call.inputs[1].type == TensorType.INT32 else np.int64
    return [random.standard_normal(shape).astype(np.float32), mask.astype(index)]


def _shapes_of_unpooled(call: CompositeCall) -> list[PartialShape]:
    shape, pool = call.inputs[0].shape, _pool(call)
    assert shape is not None and pool is not None
    sizes, strides, padding = pool
    wide = [
        -1 if n == -1 else n * stride if padding == _PADDINGS[b"SAME"] else max(0, (n - 1) * stride + size)
        for n, stride, size in zip(shape[1:3], strides, sizes, strict=True)
    ]
    return [(shape[0], *wide, shape[3])]


MAX_UNPOOLING = CustomComposite(
    "MaxUnpooling2D",
    ((_FLOAT, 4), (_INDEX, 4)),
    (_FLOAT,),
    _unpool_options,
    _unpool_trial,
    takes_two,
    _shapes_of_unpooled,
    casts={1: TensorType.INT32},
)


def _warp_trial(call: CompositeCall) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    return [random.standard_normal(call.sizes(i)).astype(np.float32) for i in range(2)]


def _shapes_of_warped(call: CompositeCall) -> list[PartialShape]:
    return [call.inputs[0].shape]


DENSE_IMAGE_WARP = CustomComposite(
    "DenseImageWarp",
    ((_FLOAT, 4), (_FLOAT, 4)),
    (_FLOAT,),
    no_options,
    _warp_trial,
    takes_two,
    _shapes_of_warped,
)

_WHOLE = ("max_detections", "max_classes_per_detection", "num_classes")
_REAL = ("nms_score_threshold", "nms_iou_threshold", "y_scale", "x_scale", "h_scale", "w_scale")


def _detection_options(call: CompositeCall) -> bytes | None:
    held = call.attributes
    if not all(isinstance(held.get(name), int) for name in _WHOLE):
        return None
    if not all(isinstance(held.get(name), float) for name in _REAL) or "use_regular_nms" not in held:
        return None
    options = {name: held[name] for name in (*_WHOLE, *_REAL)}
    return flexbuffer_map({**options, "use_regular_nms": int(held["use_regular_nms"] is True)})


def _detection_trial(call: CompositeCall) -> list[np.ndarray]:
    """Encodings near 0 of anchors in an image, and scores."""
    encodings, scores, anchors = (
        tuple(_SOME_ANCHORS if size == -1 else size for size in x.shape or ()) for x in call.inputs
    )
    random = np.random.default_rng(0)
    boxes = np.concatenate(
        [random.uniform(0.2, 0.8, (*anchors[:-1], 2)), np.full((*anchors[:-1], 2), 0.3)], -1
    )
    made = [random.normal(0, 0.3, encodings), random.uniform(0, 1, scores), boxes]
    return [array.astype(np.float32) for array in made]


def _gives_four(call: CompositeCall, operands: int, results: int) -> bool:
    return operands == 3 and results == 4


def _shapes_of_detections(call: CompositeCall) -> list[PartialShape]:
    most, each = call.attributes["max_detections"], call.attributes["max_classes_per_detection"]
    assert isinstance(most, int) and isinstance(each, int)
    return [(1, most * each, 4), (1, most * each), (1, most * each), (1,)]


DETECTION = CustomComposite(
    "TFLite_Detection_PostProcess",
    ((_FLOAT, 3), (_FLOAT, 3), (_FLOAT, 2)),
    (_FLOAT,),
    _detection_options,
    _detection_trial,
    _gives_four,
    _shapes_of_detections,
    is_everywhere=True,
)
