"""SCATTER_ND by type, and SPARSE_TO_DENSE by runs of bytes."""

from numba import njit

from ...lite.native_blocks import STOPPED
from ..scatter import OUT_OF_RANGE, SCATTER_ND_ARGS, SPARSE_TO_DENSE_ARGS
from .driver.cancellation import COST, TURNS, is_to_stop
from .driver.kernel_source import KernelSources
from .fill import fill_elements
from .gather import slice_offset
from .language.element_types import F32, I8, I32, I64, ElementType
from .run_copy import copy_run, fill_run

kernels = KernelSources()


def _sum(a, b):
    return a + b


def _either(a, b):
    return a | b


def scatter(type_: ElementType, fold):
    """A kernel that folds slices into zeros, in order; integers wrap."""
    pointer, width, item_bytes = type_.pointer, type_.width, type_.bytes
    fold = njit(error_model="numpy")(fold)

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
                y[k] = width(fold(y[k], x[k]))
        return 0

    return scatter_nd


for _type in (F32, I32, I64, I8):
    kernels.add(SCATTER_ND_ARGS, f"scatter_nd_{_type.name}")(scatter(_type, _sum))
kernels.add(SCATTER_ND_ARGS, "scatter_nd_bool")(scatter(I8, _either))


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
