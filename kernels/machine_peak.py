"""What the kernels of machine_peak take, and how much work one of their rounds is."""

from __future__ import annotations

from ..lite.kernel_call import argument_block
from .compiled.language.target import target

# values is the address of SUMS lines of 64 bytes, out of a line for each chunk; data has nbytes.
PEAK_ARGS = argument_block("values rounds out data nbytes")

# As many independent sums as hide the latency of a multiply-add, two of which start in each cycle.
SUMS = 12
LINE_BYTES = 64

# The same of products of registers for matrices, one of which takes 16 cycles and makes so many.
MATRICES, MATRIX_MACS = 4, 16 * 16 * 64

# int32 lanes of the instruction for four products of bytes each, by the targets that have one on x86.
VNNI_LANES = {"vnni256": 8, "vnni512": 16}


def float_macs() -> int:
    """Multiply-adds of a round of peak_f32."""
    return SUMS * target().vector_bytes // 4


def byte_macs() -> int:
    """Multiply-adds of a round of peak_i8, of bytes where the processor has such, else of 16-bit integers."""
    if target().matrices:
        return MATRICES * MATRIX_MACS
    return SUMS * (4 * VNNI_LANES.get(target().traits.dot, 0) or 16)
