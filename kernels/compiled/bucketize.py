"""BUCKETIZE: how many boundaries are not above each value."""

from numba import njit, types

from ..bucketize import BUCKETIZE_ARGS
from .driver.kernel_source import KernelSources
from .language.element_types import F32, F64, I32, I64
from .language.elements import read_back_i32, read_f32, write_i32

kernels = KernelSources()

_FEW = 32  # boundaries that are all compared with, in vector loops
_TOGETHER = 1024  # values, which stay in the first cache


def bucketize(read, type_):
    """A kernel for values that are compared as type_."""

    @njit(error_model="numpy")
    def searched(boundaries, count, x):
        """The first boundary above x, by halving; where nothing compares it goes on behind."""
        first = 0
        while count > 0:
            half = count >> 1
            if x < type_(read_f32(boundaries, first + half)):
                count = half
            else:
                first += half + 1
                count -= half + 1
        return first

    def kernel(a, chunk, chunks):
        x, y, boundaries, count = a.x, a.y, a.boundaries, a.count
        first, last = a.size * chunk // chunks, a.size * (chunk + 1) // chunks
        if count > _FEW:
            for i in range(first, last):
                write_i32(y, i, types.int32(searched(boundaries, count, type_(read(x, i)))))
            return 0
        for begin in range(first, last, _TOGETHER):
            end = min(begin + _TOGETHER, last)
            for i in range(begin, end):
                write_i32(y, i, types.int32(count))
            for k in range(count):
                boundary = type_(read_f32(boundaries, k))
                for i in range(begin, end):
                    above = types.int32(1) if type_(read(x, i)) < boundary else types.int32(0)
                    write_i32(y, i, types.int32(read_back_i32(y, i) - above))
        return 0

    return kernel


for _type, _compared in ((F32, F32), (F64, F64), (I32, F32), (I64, F32)):
    kernels.add(BUCKETIZE_ARGS, f"bucketize_{_type.name}")(bucketize(_type.read, _compared.width))
