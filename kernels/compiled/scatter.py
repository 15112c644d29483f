"""SCATTER_ND by type, and SPARSE_TO_DENSE by runs of bytes."""

from numba import types

from ...lite.native_blocks import STOPPED
from ..scatter import OUT_OF_RANGE, SCATTER_ND_ARGS, SPARSE_TO_DENSE_ARGS
from .driver.cancellation import COST, TURNS, is_to_stop
from .driver.kernel_source import KernelSources
from .fill import fill_elements
from .gather import slice_offset
from .language.memory import float32_pointer, int8_pointer, int32_pointer, int64_pointer
from .run_copy import copy_run, fill_run

kernels = KernelSources()


def scatter(pointer, type_, item_bytes):
    """A kernel that adds slices to zeros, in order; integers wrap."""

    def scatter_nd(a, chunk, chunks):
        fill_run(a.y, 0, a.nbytes)
        elements = a.slice_bytes // item_bytes
        left = turns = max(1, TURNS // max(1, elements))
        for i in range(a.count):
            left -= 1
            if left == 0:
                left = turns
                if is_to_stop(a.cancellation, COST):
                    return STOPPED
            offset = slice_offset(a, i)
            if offset < 0:
                return OUT_OF_RANGE
            y = pointer(a.y + offset)
            x = pointer(a.updates + i * a.slice_bytes)
            for k in range(elements):
                y[k] = type_(y[k] + x[k])
        return 0

    return scatter_nd


for _name, _pointer, _type, _item_bytes in (
    ("f32", float32_pointer, types.float32, 4),
    ("i32", int32_pointer, types.int32, 4),
    ("i64", int64_pointer, types.int64, 8),
    ("i8", int8_pointer, types.int8, 1),
):
    kernels.add(SCATTER_ND_ARGS, f"scatter_nd_{_name}")(scatter(_pointer, _type, _item_bytes))


@kernels.add(SCATTER_ND_ARGS)
def scatter_nd_bool(a, chunk, chunks):
    fill_run(a.y, 0, a.nbytes)
    left = turns = max(1, TURNS // max(1, a.slice_bytes))
    for i in range(a.count):
        left -= 1
        if left == 0:
            left = turns
            if is_to_stop(a.cancellation, COST):
                return STOPPED
        offset = slice_offset(a, i)
        if offset < 0:
            return OUT_OF_RANGE
        y = int8_pointer(a.y + offset)
        x = int8_pointer(a.updates + i * a.slice_bytes)
        for k in range(a.slice_bytes):
            y[k] |= x[k]
    return 0


@kernels.add(SPARSE_TO_DENSE_ARGS)
def sparse_to_dense(a, chunk, chunks):
    fill_elements(a.y, a.default, a.slice_bytes, a.size)
    left = turns = TURNS
    for i in range(a.count):
        left -= 1
        if left == 0:
            left = turns
            if is_to_stop(a.cancellation, COST):
                return STOPPED
        offset = slice_offset(a, i)
        if offset < 0:
            return OUT_OF_RANGE
        copy_run(a.y + offset, a.values + i * a.value_step, a.slice_bytes)
    return 0
