"""TFLite_Detection_PostProcess: boxes from encodings and anchors, thinned out by non-max suppression."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from .custom_options import FlexOptions
from .requantize import quantization_of

_NAME = "TFLite_Detection_PostProcess"
_DETECTIONS_PER_CLASS = 100
_VECTOR_BYTES = 64


# Scratch: boxes float32 [count, 4], grown float64 [count, 2] and a vector more, class_scores
# float32 [count], candidates and selected int64 [count], owners int64 [max_detections]. scales
# are y, x, h, w.
DETECTION = np.dtype(
    [
        *(
            (name, np.int64)
            for name in (
                "encodings",
                "scores",
                "anchors",
                "out_boxes",
                "out_classes",
                "out_scores",
                "out_count",
                "boxes",
                "grown",
                "class_scores",
                "candidates",
                "selected",
                "owners",
                "count",
                "code_size",
                "score_stride",
                "classes",
                "max_detections",
                "max_classes",
                "detections_per_class",
                "regular",
                "cancellation",
            )
        ),
        ("scales", np.float32, (4,)),
        ("score_threshold", np.float32),
        ("iou_threshold", np.float32),
    ],
    align=True,
)
INSIDE_OUT = 1
_TURNED = "boxes must not end before they begin (an anchor has a negative size)"


class _Options(NamedTuple):
    max_detections: int
    max_classes: int
    detections_per_class: int
    regular: bool
    score_threshold: np.float32
    iou_threshold: np.float32
    classes: int
    scales: np.ndarray  # y, x, h, w


def _options(node: Node) -> _Options:
    options = FlexOptions(node)
    found = _Options(
        options.integer("max_detections"),
        options.integer("max_classes_per_detection"),
        options.integer("detections_per_class", _DETECTIONS_PER_CLASS),
        options.flag("use_regular_nms"),
        np.float32(options.number("nms_score_threshold")),
        np.float32(options.number("nms_iou_threshold")),
        options.integer("num_classes"),
        np.array([options.number(f"{axis}_scale") for axis in "yxhw"], np.float32).astype(np.float64),
    )
    if found.max_detections < 0 or found.max_classes < 1 or found.classes < 1:
        raise PrepareError(
            f"{_NAME}: max_detections must not be negative, max_classes_per_detection and num_classes "
            f"at least 1, got {found.max_detections}, {found.max_classes} and {found.classes}"
        )
    if found.regular and min(found.detections_per_class, found.max_detections) < 1:
        raise PrepareError(
            f"{_NAME}: regular suppression needs detections_per_class and max_detections of at least 1, "
            f"got {found.detections_per_class} and {found.max_detections}"
        )
    if not 0 < found.iou_threshold <= 1:
        raise PrepareError(f"{_NAME}: nms_iou_threshold must be in (0, 1], got {found.iou_threshold}")
    return found


def prepare(context: Context, node: Node) -> list[KernelCall] | None:
    """Inputs: encodings [1, n, >= 4], scores [1, n, classes (+ 1)], anchors [n, 4].

    Outputs, all float32: boxes [1, m, 4], classes [1, m], scores [1, m], how many [1], with
    m = max_detections * max_classes_per_detection.
    Source: LiteRT tflite/kernels/detection_postprocess.cc, Prepare.
    """
    if len(node.inputs) != 3 or len(node.outputs) != 4:
        raise PrepareError(
            f"{_NAME}: must have 3 inputs and 4 outputs, got {len(node.inputs)} and {len(node.outputs)}"
        )
    encodings, scores, anchors = (context.input(node, i) for i in range(3))
    outputs = [context.output(node, i) for i in range(4)]
    options = _options(node)
    for tensor in (encodings, scores):
        if tensor.type not in (TensorType.FLOAT32, TensorType.UINT8):
            raise UnsupportedError(f"{_NAME}: inputs must be float32 or uint8, got {tensor!r}")
    if anchors.type != encodings.type or any(t.type != TensorType.FLOAT32 for t in outputs):
        raise PrepareError(
            f"{_NAME}: anchors must have the encodings' type and outputs be float32, "
            f"got {anchors!r} and {outputs}"
        )
    count = encodings.shape[1] if len(encodings.shape) == 3 else -1
    if count < 0 or encodings.shape[0] != 1 or encodings.shape[2] < 4 or anchors.shape != (count, 4):
        raise PrepareError(
            f"{_NAME}: encodings must be [1, n, 4 or more] and anchors [n, 4], "
            f"got {encodings!r} and {anchors!r}"
        )
    if scores.shape not in ((1, count, options.classes), (1, count, options.classes + 1)):
        raise PrepareError(
            f"{_NAME}: scores must be [1, {count}, {options.classes} or one more], got {scores!r}"
        )
    detections = options.max_detections * options.max_classes
    for tensor, shape in zip(
        outputs, ((1, detections, 4), (1, detections), (1, detections), (1,)), strict=True
    ):
        context.resize_tensor(tensor, shape)
    node.user_data = options
    if any(tensor.type != TensorType.FLOAT32 for tensor in (encodings, scores)):
        return None
    return [_call(context, node, options, count)]


def _call(context: Context, node: Node, options: _Options, count: int) -> KernelCall:
    args = np.zeros(1, DETECTION)
    inputs = ("encodings", "scores", "anchors")
    outputs = ("out_boxes", "out_classes", "out_scores", "out_count")
    tensors = {name: context.input(node, i) for i, name in enumerate(inputs)}
    tensors |= {name: context.output(node, i) for i, name in enumerate(outputs)}
    scratch = {"boxes": 16, "class_scores": 4, "candidates": 8, "selected": 8}
    tensors |= {name: context.add_temporary(node, size * count) for name, size in scratch.items()}
    tensors["grown"] = context.add_temporary(node, 16 * count + _VECTOR_BYTES)
    tensors["owners"] = context.add_temporary(node, 8 * options.max_detections)
    args["count"], args["code_size"] = count, tensors["encodings"].shape[2]
    args["score_stride"], args["classes"] = tensors["scores"].shape[2], options.classes
    args["max_detections"], args["max_classes"] = options.max_detections, options.max_classes
    args["detections_per_class"], args["regular"] = options.detections_per_class, options.regular
    args["scales"] = options.scales
    args["score_threshold"], args["iou_threshold"] = options.score_threshold, options.iou_threshold
    messages = {INSIDE_OUT: f"{_NAME}: {_TURNED}"}
    return KernelCall("detection_postprocess", "detection_f32", args, tensors, messages=messages)


def _real(tensor: Tensor) -> np.ndarray:
    """float32 values of a float32 or uint8 tensor."""
    values = tensor.array()
    if tensor.type == TensorType.FLOAT32:
        return values
    quantization = quantization_of(_NAME, tensor)
    return (values.astype(np.float32) - np.float32(quantization.zero_point)) * np.float32(quantization.scale)


def _boxes(encodings: np.ndarray, anchors: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """float32 [n, 4] of ymin, xmin, ymax, xmax. InvokeError when one is turned inside out."""
    anchor = anchors.astype(np.float64)
    with np.errstate(all="ignore"):
        scaled = encodings[:, :4].astype(np.float64) / scales
        centers = (scaled[:, :2] * anchor[:, 2:] + anchor[:, :2]).astype(np.float32)
        halves = (0.5 * np.exp(scaled[:, 2:]) * anchor[:, 2:]).astype(np.float32)
        boxes = np.concatenate([centers - halves, centers + halves], axis=1)
    if np.any(boxes[:, :2] > boxes[:, 2:]):
        raise InvokeError(f"{_NAME}: {_TURNED}")
    return boxes


def _overlaps(boxes: np.ndarray, areas: np.ndarray, one: int, others: np.ndarray) -> np.ndarray:
    """Intersection over union of one box and others, 0 where a box has no area."""
    low = np.maximum(boxes[others, :2], boxes[one, :2])
    high = np.minimum(boxes[others, 2:], boxes[one, 2:])
    sides = np.maximum(high - low, np.float32(0))
    shared = sides[:, 0] * sides[:, 1]
    with np.errstate(all="ignore"):
        found = shared / (areas[one] + areas[others] - shared)
    return np.where((areas[others] <= 0) | (areas[one] <= 0), np.float32(0), found)


def _suppressed(boxes: np.ndarray, scores: np.ndarray, options: _Options, most: int) -> list[int]:
    """Boxes in the order of their scores, none overlapping a better one by more than the threshold."""
    kept = np.flatnonzero(scores >= options.score_threshold)
    left = kept[np.argsort(-scores[kept], kind="stable")]
    sizes = boxes[:, 2:] - boxes[:, :2]
    areas = sizes[:, 0] * sizes[:, 1]
    selected: list[int] = []
    while len(left) and len(selected) < most:
        best, left = int(left[0]), left[1:]
        selected.append(best)
        left = left[~(_overlaps(boxes, areas, best, left) > options.iou_threshold)]
    return selected


class _Outputs(NamedTuple):
    """Views of the outputs: boxes [m, 4], classes [m], scores [m], how many [1]."""

    boxes: np.ndarray
    classes: np.ndarray
    scores: np.ndarray
    found: np.ndarray


def _fast(boxes: np.ndarray, scores: np.ndarray, options: _Options, out: _Outputs) -> None:
    """Suppression by each box's best class alone; every box that is left gives its best classes."""
    used = min(options.max_classes, options.classes)
    best = scores.max(axis=1) if len(scores) else np.zeros(0, np.float32)
    selected = _suppressed(boxes, best, options, options.max_detections)
    for place, box in enumerate(selected):
        order = np.argsort(-scores[box], kind="stable")[:used]
        first = place * options.max_classes
        out.boxes[first : first + used] = boxes[box]
        out.classes[first : first + used] = order
        out.scores[first : first + used] = scores[box, order]
    out.found[0] = len(selected)


def _regular(boxes: np.ndarray, scores: np.ndarray, options: _Options, out: _Outputs) -> None:
    """Suppression class by class; the best of all classes are kept."""
    most = min(options.detections_per_class, options.max_detections)
    found: list[tuple[int, int]] = []  # (box, class), best scores first
    for number in range(options.classes):
        selected = _suppressed(boxes, scores[:, number], options, most)
        if selected:
            found += [(box, number) for box in selected]
            found.sort(key=lambda pair: -scores[pair])
            del found[options.max_detections :]
    for place, (box, number) in enumerate(found):
        out.boxes[place], out.classes[place], out.scores[place] = boxes[box], number, scores[box, number]
    out.found[0] = len(found)


def invoke(context: Context, node: Node) -> None:
    options = node.user_data
    assert isinstance(options, _Options)
    encodings, scores, anchors = (_real(context.input(node, i)) for i in range(3))
    boxes = _boxes(encodings[0], anchors, options.scales)
    arrays = [context.output(node, i).array() for i in range(4)]
    for array in arrays:
        array[...] = 0
    out = _Outputs(arrays[0][0], arrays[1][0], arrays[2][0], arrays[3])
    # A background class, where there is one, comes first.
    of_classes = scores[0][:, scores.shape[2] - options.classes :]
    (_regular if options.regular else _fast)(boxes, of_classes, options, out)


REGISTRATIONS = (Registration(_NAME, prepare, invoke),)
