"""The segment operators, a slice at a time."""

from numba import njit, types

from ...lite.native_blocks import RESIZE, STOPPED
from ..segment import OUT_OF_RANGE, SEGMENT_ARGS
from .driver.cancellation import COST, TURNS, is_to_stop
from .driver.kernel_source import KernelSources
from .language.element_types import F32, I32, ElementType
from .language.elements import read_i32, write_i32

kernels = KernelSources()


def _sum(a, b):
    return a + b


def _prod(a, b):
    return a * b


def _max(a, b):
    return b if a < b else a


def _min(a, b):
    return b if b < a else a


def segments(fold, type_: ElementType):
    """A function (block) that folds the slices of each segment, in order; integers wrap."""
    read, read_back, write, width = type_.read, type_.read_back, type_.write, type_.width
    fold = njit(error_model="numpy")(fold)

    @njit(error_model="numpy")
    def folded(a):
        for i in range(a.count):
            if read_i32(a.ids, i) >= a.segments:
                return OUT_OF_RANGE
        for k in range(a.segments * a.size):
            write_i32(a.y, k, types.int32(a.initial))
        left = turns = max(1, TURNS // max(1, a.size))
        for i in range(a.count):
            left -= 1
            if left == 0:
                left = turns
                if is_to_stop(a.cancellation, COST):
                    return STOPPED
            segment = int(read_i32(a.ids, i))
            if segment < 0:
                continue
            x = a.data + i * a.size * 4
            y = a.y + segment * a.size * 4
            for k in range(a.size):
                write(y, k, width(fold(read_back(y, k), read(x, k))))
        return 0

    return folded


def unsorted(folded):
    """A kernel for segments in any order."""

    def unsorted_segment(a, chunk, chunks):
        if a.number != 0 and (a.segments < 0 or read_i32(a.number, 0) != a.segments):
            return RESIZE
        return folded(a)

    return unsorted_segment


def rising(folded):
    """A kernel for segments that must be 0 or more and never fall; others are never sized."""

    def segment(a, chunk, chunks):
        last = 0
        for i in range(a.count):
            segment = int(read_i32(a.ids, i))
            if segment < last:
                return RESIZE
            last = segment
        if a.segments != (last + 1 if a.count else 0):
            return RESIZE
        return folded(a)

    return segment


for _type in (F32, I32):
    for _name, _fold in (("sum", _sum), ("prod", _prod), ("max", _max), ("min", _min)):
        _folded = segments(_fold, _type)
        kernels.add(SEGMENT_ARGS, f"unsorted_segment_{_name}_{_type.name}")(unsorted(_folded))
        if _name == "sum":
            kernels.add(SEGMENT_ARGS, f"segment_{_name}_{_type.name}")(rising(_folded))
