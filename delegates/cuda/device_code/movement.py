"""Operators that move elements: strided copies, pads, gathers."""

import triton
import triton.language as tl


@triton.jit
def copy(
    x_ptr, y_ptr, size, x_start, y_start, n1, n2, n3, n4, n5,
    x0, x1, x2, x3, x4, x5, y0, y1, y2, y3, y4, y5,
    RANK: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Element [.., i] of loops [.., n1, .., n5], of which the last RANK count, from x's strides to y's."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    if RANK == 1:
        x_at = i * x5
        y_at = i * y5
    else:
        k = i % n5
        i = i // n5
        x_at = k * x5
        y_at = k * y5
        if RANK == 2:
            x_at += i * x4
            y_at += i * y4
        else:
            k = i % n4
            i = i // n4
            x_at += k * x4
            y_at += k * y4
            if RANK == 3:
                x_at += i * x3
                y_at += i * y3
            else:
                k = i % n3
                i = i // n3
                x_at += k * x3
                y_at += k * y3
                if RANK == 4:
                    x_at += i * x2
                    y_at += i * y2
                else:
                    k = i % n2
                    i = i // n2
                    x_at += k * x2 + i % n1 * x1 + i // n1 * x0
                    y_at += k * y2 + i % n1 * y1 + i // n1 * y0
    tl.store(y_ptr + y_start + y_at, tl.load(x_ptr + x_start + x_at, ok, 0), ok)


@triton.jit
def pad(
    x_ptr, y_ptr, value_ptr, size, n1, n2, n3, m0, m1, m2, m3, b0, b1, b2, b3, x0, x1, x2,
    RANK: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """y [.., n1, n2, n3] is x [m0, .., m3] from index (b0, .., b3) on, and the value elsewhere."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    k = i % n3 - b3
    rest = i // n3
    inside = ok & (k >= 0) & (k < m3)
    at = k
    if RANK > 1:
        k = rest % n2 - b2
        rest = rest // n2
        inside = inside & (k >= 0) & (k < m2)
        at += k * x2
    if RANK > 2:
        k = rest % n1 - b1
        rest = rest // n1
        inside = inside & (k >= 0) & (k < m1) & (rest >= b0) & (rest < b0 + m0)
        at += k * x1 + (rest - b0) * x0
    value = tl.load(value_ptr)
    tl.store(y_ptr + i, tl.where(inside, tl.load(x_ptr + at, inside, 0), value), ok)


@triton.jit
def gather(x_ptr, position_ptr, y_ptr, size, outer, axis_size, count, slice_size, BLOCK: tl.constexpr):
    """y [batch, outer, count, slice] is x [batch, outer, positions [batch, count], slice]."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    element = i % slice_size
    row = i // slice_size
    block = row // count
    position = tl.load(position_ptr + block // outer * count + row % count, ok, 0).to(tl.int32)
    at = (block * axis_size + position) * slice_size + element
    tl.store(y_ptr + i, tl.load(x_ptr + at, ok, 0), ok)


@triton.jit
def rescale(x_ptr, y_ptr, size, row_size, y_start, y_stride, scale, bias, zero_point, BLOCK: tl.constexpr):
    """Rows of uint8 with another scale, half away from zero."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    x = tl.load(x_ptr + i, ok, 0).to(tl.float32)
    real = (x.to(tl.float64) * scale).to(tl.float32) + bias
    magnitude = tl.abs(real)
    whole = tl.floor(magnitude)
    whole = (whole + tl.where(magnitude - whole >= 0.5, 1.0, 0.0)).to(tl.int32)
    y = tl.where(real < 0, -whole, whole) + zero_point
    y = tl.minimum(tl.maximum(y, 0), 255)
    tl.store(y_ptr + y_start + i // row_size * y_stride + i % row_size, y.to(tl.uint8), ok)
