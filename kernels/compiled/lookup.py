"""Table lookup of single bytes."""

from ..lookup import LOOKUP
from .elements import read_u8, write_u8
from .family import KernelFamily

kernels = KernelFamily()


@kernels.add(LOOKUP)
def lookup_8(a, chunk, chunks):
    x, y, table = a.x, a.y, a.table
    for i in range(a.size * chunk // chunks, a.size * (chunk + 1) // chunks):
        write_u8(y, i, read_u8(table, read_u8(x, i)))
    return 0
