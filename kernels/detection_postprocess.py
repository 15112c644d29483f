"""TFLite_Detection_PostProcess: boxes from encodings and anchors, thinned out by non-max suppression."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from ..schema.named_tuple import NamedTuple
from .custom_options import FlexOptions
from .quantize import dequantize_calls

_NAME = "TFLite_Detection_PostProcess"
_DETECTIONS_PER_CLASS = 100
_VECTOR_BYTES = 64


# Scratch: boxes float32 [count, 4], grown float64 [count, 2] and a vector more, class_scores
# float32 [count], candidates and selected int64 [count], owners int64 [max_detections],
# ranked int64 [classes]. scales are y, x, h, w.
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
                "ranked",
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


def prepare(context: Context, node: Node) -> list[KernelCall]:
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
    calls: list[KernelCall] = []
    tensors = {
        name: _real(context, node, context.input(node, i), calls)
        for i, name in enumerate(("encodings", "scores", "anchors"))
    }
    args = np.zeros(1, DETECTION)
    args["code_size"], args["score_stride"] = encodings.shape[2], scores.shape[2]
    return [*calls, _call(context, node, options, count, tensors, args)]


def _real(context: Context, node: Node, x: Tensor, calls: list[KernelCall]) -> Tensor:
    """The input as float32, by a call that is added where it is uint8."""
    if x.type == TensorType.FLOAT32:
        return x
    real = context.add_temporary(node, 4 * x.size)
    calls += dequantize_calls(_NAME, context, x, real)
    return real


def _call(
    context: Context, node: Node, options: _Options, count: int, inputs: dict[str, Tensor], args: np.ndarray
) -> KernelCall:
    outputs = ("out_boxes", "out_classes", "out_scores", "out_count")
    tensors = inputs | {name: context.output(node, i) for i, name in enumerate(outputs)}
    scratch = {"boxes": 16, "class_scores": 4, "candidates": 8, "selected": 8}
    tensors |= {name: context.add_temporary(node, size * count) for name, size in scratch.items()}
    tensors["grown"] = context.add_temporary(node, 16 * count + _VECTOR_BYTES)
    tensors["owners"] = context.add_temporary(node, 8 * options.max_detections)
    tensors["ranked"] = context.add_temporary(node, 8 * options.classes)
    args["count"], args["classes"] = count, options.classes
    args["max_detections"], args["max_classes"] = options.max_detections, options.max_classes
    args["detections_per_class"], args["regular"] = options.detections_per_class, options.regular
    args["scales"] = options.scales
    args["score_threshold"], args["iou_threshold"] = options.score_threshold, options.iou_threshold
    messages = {INSIDE_OUT: f"{_NAME}: {_TURNED}"}
    return KernelCall("detection_postprocess", "detection_f32", args, tensors, messages=messages)


REGISTRATIONS = (Registration(_NAME, prepare),)
