"""Clamps, and copies between types."""

import triton
import triton.language as tl

from .requantize import clamp


@triton.jit
def clamp_float(x_ptr, y_ptr, size, low, high, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    y = clamp(tl.load(x_ptr + i, ok, 0).to(tl.float32), low, high)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), ok)


@triton.jit
def convert(x_ptr, y_ptr, size, BLOCK: tl.constexpr):
    """Between float types, or a copy."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    tl.store(y_ptr + i, tl.load(x_ptr + i, ok, 0).to(y_ptr.dtype.element_ty), ok)
