"""Cases of NON_MAX_SUPPRESSION_V4 and V5."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import EXACT, Case, Close
from .movement_case import movement_case

_FLOATS = Close(rtol=1e-6, atol=0)


def _overlap(a: np.ndarray, b: np.ndarray) -> float:
    """Intersection over union of boxes [y1, x1, y2, x2]."""
    low, high = np.minimum(a[:2], a[2:]), np.maximum(a[:2], a[2:])
    other_low, other_high = np.minimum(b[:2], b[2:]), np.maximum(b[:2], b[2:])
    shared = np.prod(np.maximum(np.minimum(high, other_high) - np.maximum(low, other_low), 0))
    total = np.prod(high - low) + np.prod(other_high - other_low) - shared
    return float(shared / total) if total > 0 else 0.0


def nms_case(
    count: int, most: int, overlap: float, least: float, sigma: float | None, constant: bool = True
) -> Case:
    """Boxes of different scores; without sigma it is V4. Unused places hold zeros."""
    name = "NON_MAX_SUPPRESSION_V4" if sigma is None else "NON_MAX_SUPPRESSION_V5"
    random = np.random.default_rng(count)
    corners = random.random((count, 2))
    boxes = np.hstack([corners, corners + random.uniform(-0.4, 0.4, (count, 2))]).astype(np.float32)
    scores = random.random(count).astype(np.float32)

    def oracle(boxes: np.ndarray, scores: np.ndarray, most: np.ndarray, *_: np.ndarray) -> list[np.ndarray]:
        boxes = boxes.astype(np.float64)
        left = {i: float(score) for i, score in enumerate(scores) if score > least}
        selected, kept = np.zeros(most, np.int32), np.zeros(most, np.float32)
        found = 0
        while left and found < most:
            best = max(left, key=lambda i: left[i])
            selected[found], kept[found] = best, left.pop(best)
            found += 1
            for i in list(left):
                shared = _overlap(boxes[best], boxes[i])
                if sigma:
                    left[i] *= np.exp(-0.5 * shared * shared / sigma)
                if shared >= overlap or left[i] <= least:
                    del left[i]
        outputs = [selected, np.array(found, np.int32)]
        return outputs if sigma is None else [selected, kept, outputs[1]]

    scalars = [np.array(most, np.int32), np.array(overlap, np.float32), np.array(least, np.float32)]
    soft = [] if sigma is None else [np.array(sigma, np.float32)]
    options = tflite.NonMaxSuppressionV4OptionsT() if sigma is None else tflite.NonMaxSuppressionV5OptionsT()
    return movement_case(
        f"{name}-{count}-{most}-{overlap}-{least}-{sigma}-{constant}",
        BuiltinOperator[name],
        [boxes, scores, *scalars, *soft],
        oracle,
        options,
        constants=(2,) if constant else (),
        closeness=EXACT if sigma is None else _FLOATS,
    )


CASES = [
    nms_case(count, most, overlap, least, sigma, constant)
    for count, most, overlap, least in ((60, 12, 0.5, 0.0), (40, 40, 0.3, 0.4), (0, 3, 0.5, 0.0))
    for sigma in (None, 0.0, 0.5)
    for constant in (True, False)
]
