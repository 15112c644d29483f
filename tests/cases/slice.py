"""Cases of SLICE and STRIDED_SLICE."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .movement_case import EVERY_SIZE, index, movement_case, random_array


def slice_case(begin: tuple[int, ...], size: tuple[int, ...], dtype: type, constant: bool = True) -> Case:
    id = f"SLICE-{np.dtype(dtype).name}-{list(begin)}-{list(size)}-{constant}"
    stops = [None if s == -1 else b + s for b, s in zip(begin, size, strict=True)]
    return movement_case(
        id,
        BuiltinOperator.SLICE,
        [random_array(id, (4, 5, 6), dtype), index(*begin), index(*size)],
        lambda x, *_: x[tuple(map(slice, begin, stops))],
        tflite.SliceOptionsT(),
        constants=(1, 2) if constant else (),
        version=2,
    )


Entries = tuple[int | slice | None, ...]


def strided_slice_case(shape: tuple[int, ...], entries: tuple, dtype: type, constant: bool = True) -> Case:
    """A NumPy index expression; an int shrinks its axis, None adds one."""
    text = ",".join(str(e).replace(" ", "") for e in entries)
    id = f"STRIDED_SLICE-{np.dtype(dtype).name}-{list(shape)}-{text}-{constant}"
    begin, end, strides = [], [], []
    masks = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)
    for i, entry in enumerate(entries):
        step = 1
        start = stop = 0
        if entry is Ellipsis:
            masks["ellipsis_mask"] |= 1 << i
        elif entry is None:
            masks["new_axis_mask"] |= 1 << i
        elif isinstance(entry, slice):
            step = 1 if entry.step is None else entry.step
            masks["begin_mask"] |= (entry.start is None) << i
            masks["end_mask"] |= (entry.stop is None) << i
            start, stop = entry.start or 0, entry.stop or 0
        else:
            masks["shrink_axis_mask"] |= 1 << i
            start, stop = entry, entry + 1
        begin.append(start)
        end.append(stop)
        strides.append(step)
    return movement_case(
        id,
        BuiltinOperator.STRIDED_SLICE,
        [random_array(id, shape, dtype), index(*begin), index(*end), index(*strides)],
        lambda x, *_: np.array(x[entries]),
        tflite.StridedSliceOptionsT(**masks),
        constants=(1, 2, 3) if constant else (),
        version=2,
    )


_IN_RANK_3 = [
    (slice(1, 3), slice(None), slice(0, 4)),
    (slice(None, None, 2), slice(4, 0, -2), slice(None, None, -1)),
    (slice(-2, None), 3, slice(-3, -1)),
    (-1, 0, 2),
    (..., slice(1, 3)),
    (slice(1, 2), ..., slice(0, 6, 4)),
    (None, slice(1, 3), ..., 2),
    (slice(0, 2), None, slice(1, 9)),
    (slice(2, 2),),
    (1,),
]

CASES = [
    *(slice_case((1, 0, 2), (2, 5, 3), dtype) for dtype in EVERY_SIZE),
    *(slice_case(b, s, np.float32) for b, s in (((0, 0, 0), (-1, -1, -1)), ((3, 4, 5), (1, 1, -1)))),
    slice_case((1, 0, 2), (2, -1, 3), np.int8, constant=False),
    *(strided_slice_case((4, 5, 6), entries, np.float32) for entries in _IN_RANK_3),
    *(strided_slice_case((4, 5, 6), _IN_RANK_3[1], dtype) for dtype in EVERY_SIZE if dtype is not np.float32),
    strided_slice_case((4, 5, 6), _IN_RANK_3[0], np.int8, constant=False),
    strided_slice_case((9,), (slice(7, 1, -3),), np.uint8),
    strided_slice_case((2, 8, 8, 3, 4), (slice(None), slice(1, 8, 2), slice(0, 8, 3)), np.float32),
]
