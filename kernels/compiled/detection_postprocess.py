"""TFLite_Detection_PostProcess of float32 inputs.

Source: LiteRT tflite/kernels/detection_postprocess.cc. Arithmetic is float32 or float64, as there,
and never fused.
"""

import numpy as np
from numba import int64, njit

from ...lite.native_blocks import STOPPED
from ..detection_postprocess import DETECTION, INSIDE_OUT
from .driver.cancellation import is_stopped, is_to_stop
from .driver.kernel_source import KernelSources
from .language.memory import float32_pointer, float64_pointer, int64_pointer
from .language.simd import Emitter, Value, f64, i32, i64, microkernel, vector
from .language.target import target

kernels = KernelSources()

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_LEAST, _MOST, _TERMS = -700.0, 709.0, 15
# Comparisons that are worth as much as taking one box from the heap in vain.
COMPARISONS_PER_BOX = 32
LANES = target().vector_bytes // 8
_jit = njit(error_model="numpy")


def _emit_exponentials(e: Emitter, values: Value, count: Value) -> None:
    b = e.builder
    floats, ints, longs = (vector(element, LANES) for element in (f64, i32, i64))
    values = e.pointer(values)
    zeros, ones = e.const(0.0, floats), e.const(1.0, floats)

    def body(at: Value, _: list[Value]) -> list[Value]:
        place = e.offset(values, b.mul(at, e.const(8)))
        x = e.load(place, floats)
        is_nan = b.fcmp_unordered("uno", x, x)
        within = e.clamp(b.select(is_nan, zeros, x), e.const(_LEAST, floats), e.const(_MOST, floats))
        turns = b.fadd(b.fmul(within, e.const(_LOG2_E, floats)), e.const(0.5, floats))
        cut = b.sitofp(b.fptosi(turns, ints), floats)
        k = b.select(b.fcmp_ordered(">", cut, turns), b.fsub(cut, ones), cut)
        r = b.fsub(within, b.fmul(k, e.const(_LN2_HIGH, floats)))
        r = b.fsub(r, b.fmul(k, e.const(_LN2_LOW, floats)))
        term, total = ones, ones
        for i in range(1, _TERMS):
            term = b.fdiv(b.fmul(term, r), e.const(float(i), floats))
            total = b.fadd(total, term)
        exponent = b.zext(b.add(b.fptosi(k, ints), e.const(1023, ints)), longs)
        found = b.fmul(total, b.bitcast(b.shl(exponent, e.const(52, longs)), floats))
        found = b.select(b.fcmp_ordered("<=", x, e.const(_LEAST, floats)), zeros, found)
        found = b.select(b.fcmp_ordered(">", x, e.const(_MOST, floats)), e.const(np.inf, floats), found)
        e.store(b.select(is_nan, x, found), place)
        return []

    e.loop(count, [], body, step=LANES)


# (values, count): e^x of float64 in place, within about a unit in the last place. What follows
# them in their last vector is changed, too.
exponentials = microkernel("exponentials_f64", [int64, int64], _emit_exponentials)


@_jit
def decode(a):
    """Boxes from encodings and anchors; False when one is turned inside out."""
    codes, anchors = float32_pointer(a.encodings), float32_pointer(a.anchors)
    boxes, grown = float32_pointer(a.boxes), float64_pointer(a.grown)
    for i in range(a.count):
        for axis in range(2):
            code = codes[i * a.code_size + axis + 2]
            grown[2 * i + axis] = np.float64(code) / np.float64(a.scales[axis + 2])
    exponentials(a.grown, 2 * a.count)
    right = True
    for i in range(a.count):
        for axis in range(2):
            code, anchor = i * a.code_size + axis, 4 * i + axis
            size = np.float64(anchors[anchor + 2])
            scaled = np.float64(codes[code]) / np.float64(a.scales[axis])
            center = np.float32(scaled * size + np.float64(anchors[anchor]))
            half = np.float32(0.5 * grown[2 * i + axis] * size)
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
def sink(heap, scores, size, hole, box):
    """Put a box at a hole of the heap's first `size` places, and let it sink below better ones."""
    while 2 * hole + 1 < size:
        child = 2 * hole + 1
        if child + 1 < size and is_better(scores, heap[child + 1], heap[child]):
            child += 1
        if is_better(scores, box, heap[child]):
            break
        heap[hole] = heap[child]
        hole = child
    heap[hole] = box


@_jit
def is_better(scores, i, j):
    """Whether box i comes before box j: by its score, then by its number."""
    return scores[i] > scores[j] or (scores[i] == scores[j] and i < j)


@_jit
def order(heap, scores, size):
    """Make a heap of boxes that lie in any order."""
    for at in range(size // 2 - 1, -1, -1):
        sink(heap, scores, size, at, heap[at])


@_jit
def is_suppressed(a, begin, end, box):
    """Whether one of the selected boxes `begin` to `end` overlaps the box too much."""
    boxes, selected = float32_pointer(a.boxes), int64_pointer(a.selected)
    k = begin
    while k < end and not overlap(boxes, selected[k], box) > a.iou_threshold:
        k += 1
    return k < end


@_jit
def suppress(a, scores, most, least):
    """Put the boxes to keep into `selected`, best scores first; how many.

    Only scores above `least` count, where it is not NaN.
    """
    heap, selected = int64_pointer(a.candidates), int64_pointer(a.selected)
    left = np.int64(0)
    for i in range(a.count):
        if scores[i] >= a.score_threshold and not scores[i] <= least:
            heap[left] = i
            left += 1
    order(heap, scores, left)
    # All that are left are known not to overlap the first `checked` selected boxes.
    found, checked, suppressed = np.int64(0), np.int64(0), np.int64(0)
    while found < most and left > 0 and not is_to_stop(a.cancellation, 1 + (found - checked) // 64):
        box = heap[0]
        left -= 1
        sink(heap, scores, left, 0, heap[left])
        if not is_suppressed(a, checked, found, box):
            selected[found] = box
            found += 1
            continue
        suppressed += 1
        if suppressed * COMPARISONS_PER_BOX > left * (found - checked):
            kept = np.int64(0)
            for at in range(left):
                if is_to_stop(a.cancellation, 1 + (found - checked) // 64):
                    break
                box = heap[at]
                if not is_suppressed(a, checked, found, box):
                    heap[kept] = box
                    kept += 1
            order(heap, scores, kept)
            left, checked, suppressed = kept, found, np.int64(0)
    return found


@_jit
def settle(ranked, scores, first, size, hole, number):
    """Put a class at a hole of the heap's first `size` places, whose root has the worst score.

    The hole sinks to the bottom, along the later one of two children of one score, and rises
    from there.
    """
    top = hole
    while 2 * hole + 1 < size:
        child = 2 * hole + 2
        if child == size or scores[first + ranked[child]] > scores[first + ranked[child - 1]]:
            child -= 1
        ranked[hole] = ranked[child]
        hole = child
    parent = (hole - 1) // 2
    while hole > top and scores[first + ranked[parent]] > scores[first + number]:
        ranked[hole] = ranked[parent]
        hole, parent = parent, (parent - 1) // 2
    ranked[hole] = number


@_jit
def rank(ranked, scores, first, classes, used):
    """Put the best classes into the first `used` places of ranked, the best first.

    Equal scores come in the order in which LiteRT's std::partial_sort (libstdc++'s) leaves them.
    Found by experiment.
    """
    for number in range(classes):
        ranked[number] = number
    if used == 1:
        for number in range(1, classes):
            if scores[first + number] > scores[first + ranked[0]]:
                ranked[0] = number
        return
    for at in range(used // 2 - 1, -1, -1):
        settle(ranked, scores, first, used, at, ranked[at])
    for number in range(used, classes):
        if scores[first + number] > scores[first + ranked[0]]:
            settle(ranked, scores, first, used, 0, number)
    for last in range(used - 1, 0, -1):
        worst, number = ranked[0], ranked[last]
        settle(ranked, scores, first, last, 0, number)
        ranked[last] = worst


@_jit
def write_box(a, place, box):
    boxes, out = float32_pointer(a.boxes), float32_pointer(a.out_boxes)
    for i in range(4):
        out[4 * place + i] = boxes[4 * box + i]


@_jit
def fast(a):
    scores, best = float32_pointer(a.scores), float32_pointer(a.class_scores)
    selected, ranked = int64_pointer(a.selected), int64_pointer(a.ranked)
    offset, stride = a.score_stride - a.classes, a.score_stride
    used = min(a.max_classes, a.classes)
    for i in range(a.count):
        first = i * stride + offset
        most = scores[first]
        for c in range(1, a.classes):
            most = scores[first + c] if scores[first + c] > most else most
        best[i] = most
    found = suppress(a, best, a.max_detections, np.float32(np.nan))
    for place in range(found):
        box = selected[place]
        first = box * stride + offset
        rank(ranked, scores, first, a.classes, used)
        for k in range(used):
            at = place * a.max_classes + k
            write_box(a, at, box)
            float32_pointer(a.out_classes)[at] = np.float32(ranked[k])
            float32_pointer(a.out_scores)[at] = scores[first + ranked[k]]
    return found


@_jit
def regular(a):
    scores, column = float32_pointer(a.scores), float32_pointer(a.class_scores)
    selected, owners = int64_pointer(a.selected), int64_pointer(a.owners)
    numbers, values = float32_pointer(a.out_classes), float32_pointer(a.out_scores)
    offset, stride = a.score_stride - a.classes, a.score_stride
    total = np.int64(0)
    for number in range(a.classes):
        if is_to_stop(a.cancellation, 1 + a.count // 256):
            break
        for i in range(a.count):
            column[i] = scores[i * stride + offset + number]
        least = values[total - 1] if total == a.max_detections else np.float32(np.nan)
        for k in range(suppress(a, column, min(a.detections_per_class, a.max_detections), least)):
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
    if is_stopped(a.cancellation):
        return STOPPED
    float32_pointer(a.out_count)[0] = np.float32(found)
    return 0
