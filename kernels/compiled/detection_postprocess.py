"""TFLite_Detection_PostProcess of float32 inputs.

Source: LiteRT tflite/kernels/detection_postprocess.cc. Arithmetic is float32 or float64, as there,
and never fused.
"""

import numpy as np
from numba import njit

from ..detection_postprocess import DETECTION, INSIDE_OUT
from .family import KernelFamily
from .memory import float32_pointer, int64_pointer

kernels = KernelFamily()

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_jit = njit(error_model="numpy")


@_jit
def exp_f64(x):
    """e^x within about a unit in the last place."""
    if not x > -700.0:
        return x if x != x else 0.0
    if x > 709.0:
        return np.inf
    k = np.floor(x * _LOG2_E + 0.5)
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    term, total = 1.0, 1.0
    for i in range(1, 15):
        term = term * r / i
        total += term
    power = 1.0
    base = 2.0 if k >= 0 else 0.5
    for _ in range(abs(np.int64(k))):
        power *= base
    return total * power


@_jit
def decode(a):
    """Boxes from encodings and anchors; False when one is turned inside out."""
    codes, anchors = float32_pointer(a.encodings), float32_pointer(a.anchors)
    boxes = float32_pointer(a.boxes)
    right = True
    for i in range(a.count):
        for axis in range(2):
            code, anchor = i * a.code_size + axis, 4 * i + axis
            size = np.float64(anchors[anchor + 2])
            scaled = np.float64(codes[code]) / np.float64(a.scales[axis])
            center = np.float32(scaled * size + np.float64(anchors[anchor]))
            grown = exp_f64(np.float64(codes[code + 2]) / np.float64(a.scales[axis + 2]))
            half = np.float32(0.5 * grown * size)
            boxes[4 * i + axis] = np.float32(center - half)
            boxes[4 * i + 2 + axis] = np.float32(center + half)
            if boxes[4 * i + axis] > boxes[4 * i + 2 + axis]:
                right = False
    return right


@_jit
def area(boxes, i):
    return np.float32(
        np.float32(boxes[4 * i + 2] - boxes[4 * i]) * np.float32(boxes[4 * i + 3] - boxes[4 * i + 1])
    )


@_jit
def overlap(boxes, i, j):
    """Intersection over union, 0 where a box has no area."""
    area_i, area_j = area(boxes, i), area(boxes, j)
    if area_i <= 0 or area_j <= 0:
        return np.float32(0)
    height = np.float32(min(boxes[4 * i + 2], boxes[4 * j + 2]) - max(boxes[4 * i], boxes[4 * j]))
    width = np.float32(min(boxes[4 * i + 3], boxes[4 * j + 3]) - max(boxes[4 * i + 1], boxes[4 * j + 1]))
    shared = np.float32(max(height, np.float32(0)) * max(width, np.float32(0)))
    return np.float32(shared / np.float32(np.float32(area_i + area_j) - shared))


@_jit
def suppress(a, scores, most):
    """Put the boxes to keep into `selected`, best scores first; how many."""
    boxes, candidates = float32_pointer(a.boxes), int64_pointer(a.candidates)
    selected = int64_pointer(a.selected)
    left = np.int64(0)
    for i in range(a.count):
        if scores[i] >= a.score_threshold:
            candidates[left] = i
            left += 1
    chosen, found = np.int64(-1), np.int64(0)
    while found < most:
        kept, best = np.int64(0), np.int64(-1)
        for at in range(left):
            box = candidates[at]
            if box == chosen or (chosen >= 0 and overlap(boxes, chosen, box) > a.iou_threshold):
                continue
            candidates[kept] = box
            kept += 1
            if best < 0 or scores[box] > scores[best]:
                best = box
        if best < 0:
            break
        left, chosen = kept, best
        selected[found] = best
        found += 1
    return found


@_jit
def next_class(scores, first, classes, previous):
    """The class with the best score after `previous` in falling order; ties by number."""
    best = np.int64(-1)
    for c in range(classes):
        if previous >= 0:
            before = scores[first + c] > scores[first + previous]
            tied = scores[first + c] == scores[first + previous] and c <= previous
            if before or tied:
                continue
        if best < 0 or scores[first + c] > scores[first + best]:
            best = c
    return max(best, np.int64(0))


@_jit
def write_box(a, place, box):
    boxes, out = float32_pointer(a.boxes), float32_pointer(a.out_boxes)
    for i in range(4):
        out[4 * place + i] = boxes[4 * box + i]


@_jit
def fast(a):
    scores, best = float32_pointer(a.scores), float32_pointer(a.class_scores)
    selected = int64_pointer(a.selected)
    offset, stride = a.score_stride - a.classes, a.score_stride
    for i in range(a.count):
        first = i * stride + offset
        best[i] = scores[first + next_class(scores, first, a.classes, -1)]
    found = suppress(a, best, a.max_detections)
    for place in range(found):
        box, number = selected[place], np.int64(-1)
        first = box * stride + offset
        for k in range(min(a.max_classes, a.classes)):
            number = next_class(scores, first, a.classes, number)
            at = place * a.max_classes + k
            write_box(a, at, box)
            float32_pointer(a.out_classes)[at] = np.float32(number)
            float32_pointer(a.out_scores)[at] = scores[first + number]
    return found


@_jit
def regular(a):
    scores, column = float32_pointer(a.scores), float32_pointer(a.class_scores)
    selected, owners = int64_pointer(a.selected), int64_pointer(a.owners)
    numbers, values = float32_pointer(a.out_classes), float32_pointer(a.out_scores)
    offset, stride = a.score_stride - a.classes, a.score_stride
    total = np.int64(0)
    for number in range(a.classes):
        for i in range(a.count):
            column[i] = scores[i * stride + offset + number]
        for k in range(suppress(a, column, min(a.detections_per_class, a.max_detections))):
            score = column[selected[k]]
            if total == a.max_detections:
                if not score > values[total - 1]:
                    break
                total -= 1
            place = total
            while place > 0 and score > values[place - 1]:
                values[place], numbers[place] = values[place - 1], numbers[place - 1]
                owners[place] = owners[place - 1]
                place -= 1
            values[place], numbers[place], owners[place] = score, np.float32(number), selected[k]
            total += 1
    for place in range(total):
        write_box(a, place, owners[place])
    return total


@kernels.add(DETECTION)
def detection_f32(a, chunk, chunks):
    places = a.max_detections * a.max_classes
    for i in range(places):
        float32_pointer(a.out_classes)[i] = np.float32(0)
        float32_pointer(a.out_scores)[i] = np.float32(0)
    for i in range(4 * places):
        float32_pointer(a.out_boxes)[i] = np.float32(0)
    if not decode(a):
        return INSIDE_OUT
    found = regular(a) if a.regular else fast(a)
    float32_pointer(a.out_count)[0] = np.float32(found)
    return 0
