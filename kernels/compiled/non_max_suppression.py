"""NON_MAX_SUPPRESSION, with a heap of the boxes that wait."""

import numpy as np
from numba import njit

from ...lite.native_blocks import RESIZE, STOPPED
from ..non_max_suppression import NEGATIVE_SIGMA, NMS_ARGS
from .driver.cancellation import is_to_stop
from .driver.kernel_source import KernelSources
from .language.elements import read_f32, read_i32
from .language.memory import float32_pointer, int32_pointer
from .language.scalar_math import exp_f32

kernels = KernelSources()

_ZERO = np.float32(0)


@njit(error_model="numpy")
def overlap(boxes, i, j):
    """Intersection over union of two boxes [y1, x1, y2, x2]."""
    area_i, area_j, shared = np.float32(1), np.float32(1), np.float32(1)
    for axis in range(2):
        a, b = read_f32(boxes, 4 * i + axis), read_f32(boxes, 4 * i + axis + 2)
        c, d = read_f32(boxes, 4 * j + axis), read_f32(boxes, 4 * j + axis + 2)
        low_i, high_i = min(a, b), max(a, b)
        low_j, high_j = min(c, d), max(c, d)
        area_i *= high_i - low_i
        area_j *= high_j - low_j
        shared *= max(min(high_i, high_j) - max(low_i, low_j), _ZERO)
    if area_i <= 0 or area_j <= 0:
        return _ZERO
    return shared / (area_i + area_j - shared)


@njit(error_model="numpy")
def put(heap, hole, box, score, compared):
    """Put an item into the heap at a hole, and let it rise."""
    boxes, scores, seen = heap
    while hole > 0 and scores[(hole - 1) // 2] < score:
        parent = (hole - 1) // 2
        boxes[hole], scores[hole], seen[hole] = boxes[parent], scores[parent], seen[parent]
        hole = parent
    boxes[hole], scores[hole], seen[hole] = box, score, compared


@njit(error_model="numpy")
def close_top(heap, size):
    """Take the first of size + 1 items away; the last one takes a place among the others.

    Which of equal scores comes first is as in libstdc++'s priority queue.
    """
    boxes, scores, seen = heap
    hole = 0
    while 2 * hole + 1 < size:
        child = 2 * hole + 2
        if child == size or scores[child] < scores[child - 1]:
            child -= 1
        boxes[hole], scores[hole], seen[hole] = boxes[child], scores[child], seen[child]
        hole = child
    if size > 0:
        put(heap, hole, boxes[size], scores[size], seen[size])


@kernels.add(NMS_ARGS)
def non_max_suppression(a, chunk, chunks):
    if a.most < 0 or read_i32(a.size, 0) != a.most:
        return RESIZE
    threshold, least = read_f32(a.iou_threshold, 0), read_f32(a.score_threshold, 0)
    sigma = read_f32(a.sigma, 0) if a.soft else _ZERO
    if sigma < 0:
        return NEGATIVE_SIGMA
    scale = np.float32(-0.5 / sigma) if sigma > 0 else _ZERO
    heap = (int32_pointer(a.heap_boxes), float32_pointer(a.heap_scores), int32_pointer(a.heap_compared))
    selected = int32_pointer(a.selected)
    waiting = 0
    for i in range(a.boxes_count):
        score = read_f32(a.scores, i)
        if score > least:
            put(heap, waiting, i, score, 0)
            waiting += 1
    room = min(waiting, a.most)
    count = 0
    while count < room and waiting > 0:
        if is_to_stop(a.cancellation, 1 + count // 64):
            return STOPPED
        box, first_score, compared = heap[0][0], heap[1][0], heap[2][0]
        waiting -= 1
        close_top(heap, waiting)
        score = first_score
        hard = False
        for k in range(count - 1, compared - 1, -1):
            shared = overlap(a.boxes, box, selected[k])
            if shared >= threshold:
                hard = True
                break
            if sigma > 0:
                score = np.float32(score * exp_f32(np.float32(np.float32(scale * shared) * shared)))
            if score <= least:
                break
        if hard:
            continue
        seen = count
        if score == first_score:
            selected[count] = box
            if a.soft:
                float32_pointer(a.selected_scores)[count] = score
            count += 1
        if score > least:
            put(heap, waiting, box, score, seen)
            waiting += 1
    int32_pointer(a.count)[0] = count
    for k in range(count, a.most):
        selected[k] = 0
        if a.soft:
            float32_pointer(a.selected_scores)[k] = _ZERO
    return 0
