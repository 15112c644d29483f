"""Cases of TFLite_Detection_PostProcess."""

from __future__ import annotations

import numpy as np

from .case import Case, Close
from .custom_case import custom_model

_NAME = "TFLite_Detection_PostProcess"
_SCALES = {"y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0}


def _overlap(a: np.ndarray, b: np.ndarray) -> float:
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    shared = float(np.prod(np.maximum(sides, 0)))
    areas = [float(np.prod(box[2:] - box[:2])) for box in (a, b)]
    return 0.0 if min(areas) <= 0 else shared / (sum(areas) - shared)


def _chosen(boxes: np.ndarray, scores: np.ndarray, least: float, most_overlap: float, most: int) -> list[int]:
    chosen: list[int] = []
    for box in sorted(np.flatnonzero(scores >= least), key=lambda i: -scores[i]):
        if len(chosen) < most and all(_overlap(boxes[box], boxes[c]) <= most_overlap for c in chosen):
            chosen.append(int(box))
    return chosen


def case(
    regular: bool,
    per_box: int,
    background: bool,
    detections: int = 6,
    quantized: bool = False,
    count: int = 24,
    levels: int = 0,
) -> Case:
    """levels: how many different scores there are, where not all differ."""
    classes = 4
    random = np.random.default_rng(8)
    # Centres close together, so that there is something to suppress.
    anchors = np.concatenate(
        [random.uniform(0.2, 0.6, (count, 2)), random.uniform(0.2, 0.5, (count, 2))], axis=1
    ).astype(np.float32)
    encodings = random.uniform(-1.5, 1.5, (1, count, 4)).astype(np.float32)
    scores = random.permutation(count * (classes + background)).reshape(1, count, -1)
    scores = scores % levels / levels if levels else scores / (6.25 * count)
    scores = scores.astype(np.float32)
    inputs, quantization = [encodings, scores, anchors], []
    if quantized:
        steps = [(3 / 255, 128), (1 / 255, 0), (1 / 255, 0)]
        inputs = [
            np.clip(np.rint(x / scale) + zero, 0, 255).astype(np.uint8)
            for x, (scale, zero) in zip(inputs, steps, strict=True)
        ]
        quantization = [{"scale": scale, "zero_point": zero} for scale, zero in steps]
    options = {
        "max_detections": detections,
        "max_classes_per_detection": per_box,
        "detections_per_class": 4,
        "use_regular_nms": regular,
        "nms_score_threshold": 0.3,
        "nms_iou_threshold": 0.5,
        "num_classes": classes,
        **_SCALES,
    }
    m = detections * per_box
    outputs = [((1, m, 4), np.float32), ((1, m), np.float32), ((1, m), np.float32), ((1,), np.float32)]

    def oracle(*given: np.ndarray) -> list[np.ndarray]:
        real = list(given)
        if quantized:
            real = [
                (x.astype(np.float32) - np.float32(zero)) * np.float32(scale)
                for x, (scale, zero) in zip(given, steps, strict=True)
            ]
        codes, found, centers = real[0][0].astype(np.float64), real[1][0], real[2].astype(np.float64)
        middles = codes[:, :2] / 10 * centers[:, 2:] + centers[:, :2]
        halves = np.exp(codes[:, 2:] / 5) * centers[:, 2:] / 2
        boxes = np.concatenate([middles - halves, middles + halves], axis=1)
        found = found[:, background:]
        results: list[tuple[int, int, int]] = []  # place, box, class
        if regular:
            pairs = [(b, c) for c in range(classes) for b in _chosen(boxes, found[:, c], 0.3, 0.5, 4)]
            pairs.sort(key=lambda pair: -found[pair])
            results = [(place, *pair) for place, pair in enumerate(pairs[:detections])]
            counted = len(results)
        else:
            chosen = _chosen(boxes, found.max(axis=1), 0.3, 0.5, detections)
            counted = len(chosen)
            for place, box in enumerate(chosen):
                best = np.argsort(-found[box], kind="stable")[: min(per_box, classes)]
                results += [(place * per_box + k, box, int(c)) for k, c in enumerate(best)]
        filled = [np.zeros(shape, np.float32) for shape, _ in outputs]
        for place, box, number in results:
            filled[0][0, place], filled[1][0, place] = boxes[box], number
            filled[2][0, place] = found[box, number]
        filled[3][0] = counted
        return filled

    near = Close(rtol=1e-5, atol=1e-6)
    kind = f"{'regular' if regular else 'fast'}{'-background' * background}{'-uint8' * quantized}"
    kind += f"-{count}-ties" if levels else ""
    return Case(
        id=f"{_NAME}-{kind}-{per_box}-{detections}",
        make=lambda: custom_model(_NAME, inputs, outputs, options, quantization=quantization),
        inputs=inputs,
        oracle=None if levels and per_box > 1 else oracle,  # LiteRT alone says which equal class is first
        closeness=near,
    )


# As many detections as are found: what LiteRT leaves behind the last one is not defined.
CASES = [
    case(False, 1, True),
    case(False, 3, False, detections=4),
    case(True, 1, True),
    case(True, 1, False, detections=40),
    case(False, 2, True, detections=4, quantized=True),
    case(False, 1, False, detections=9, count=200, levels=5),
    case(True, 1, True, detections=9, count=200, levels=3),
    case(True, 1, False, detections=7, count=1),
    *(case(False, per_box, False, detections=20, count=200, levels=3) for per_box in (2, 3, 4)),
    case(False, 3, True, detections=5, count=60, levels=2, quantized=True),
]
