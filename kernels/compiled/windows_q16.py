"""int16 convolutions: a few pixels' windows at a time by every filter; depthwise, a pixel's channels."""

from __future__ import annotations

import numpy as np
from numba import carray, njit

from ..contraction.blocks import PLAIN_Q16, TILE_PIXELS
from .driver.kernel_source import KernelSources
from .language.memory import float64_pointer, int8_pointer, int16_pointer, int32_pointer, int64_pointer
from .requantize import requantize_q16
from .run_copy import copy_run, fill_run

kernels = KernelSources()


@njit(error_model="numpy")
def copy_window(a, pixel, first, to):
    """Bring the channels from `first` of a pixel's window to `to`, one tap after the other."""
    row = pixel // a.out_width
    image = row // a.out_height
    top = (row - image * a.out_height) * a.stride_h - a.pad_top
    left = (pixel - row * a.out_width) * a.stride_w - a.pad_left
    nbytes = a.filter_depth * 2
    for kh in range(a.filter_height):
        h = top + kh * a.dilation_h
        for kw in range(a.filter_width):
            v = left + kw * a.dilation_w
            if h < 0 or h >= a.in_height or v < 0 or v >= a.in_width:
                fill_run(to, 0, nbytes)
            else:
                at = ((image * a.in_height + h) * a.in_width + v) * a.in_depth + first
                copy_run(to, a.x + at * 2, nbytes)
            to += nbytes


@njit(error_model="numpy")
def run_sum(x, depth):
    total = np.int64(0)
    for k in range(depth):
        total += np.int64(x[k])
    return total


def add_conv(name, w_pointer, w_bytes, terms):
    """terms: how many products at least fit an int32 sum."""

    @njit(error_model="numpy")
    def dots(x0, x1, x2, x3, w, depth):
        s0, s1, s2, s3 = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        start = 0
        while start < depth:
            stop = min(start + terms, depth)
            p0, p1, p2, p3 = np.int32(0), np.int32(0), np.int32(0), np.int32(0)
            for k in range(start, stop):
                weight = np.int32(w[k])
                p0 += np.int32(np.int32(x0[k]) * weight)
                p1 += np.int32(np.int32(x1[k]) * weight)
                p2 += np.int32(np.int32(x2[k]) * weight)
                p3 += np.int32(np.int32(x3[k]) * weight)
            s0 += np.int64(np.int32(p0))
            s1 += np.int64(np.int32(p1))
            s2 += np.int64(np.int32(p2))
            s3 += np.int64(np.int32(p3))
            start = stop
        return s0, s1, s2, s3

    @kernels.add(PLAIN_Q16, name)
    def conv(a, chunk, chunks):
        multipliers = carray(int32_pointer(a.multipliers), a.out_depth)
        shifts = carray(int32_pointer(a.shifts), a.out_depth)
        real_scales = carray(float64_pointer(a.real_scales), a.out_depth)
        pixels = a.batch * a.out_height * a.out_width
        depth = a.filter_height * a.filter_width * a.filter_depth
        columns = a.out_depth // a.groups
        tiles = (pixels + TILE_PIXELS - 1) // TILE_PIXELS
        begin = tiles * chunk // chunks * TILE_PIXELS
        end = min(pixels, tiles * (chunk + 1) // chunks * TILE_PIXELS)
        scratch = a.scratch + chunk * a.scratch_bytes
        window_bytes = a.scratch_bytes // TILE_PIXELS
        y = carray(int16_pointer(a.y), (pixels, a.out_depth))
        for pixel in range(begin, end, TILE_PIXELS):
            count = min(TILE_PIXELS, end - pixel)
            for group in range(a.groups):
                at, step = scratch, window_bytes
                if a.reads_x:
                    at, step = a.x + pixel * depth * 2, depth * 2
                else:
                    for j in range(count):
                        copy_window(a, pixel + j, group * a.filter_depth, scratch + j * window_bytes)
                x0 = int16_pointer(at)
                x1 = int16_pointer(at + min(1, count - 1) * step)
                x2 = int16_pointer(at + min(2, count - 1) * step)
                x3 = int16_pointer(at + min(3, count - 1) * step)
                z0, z1, z2, z3 = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
                if a.w_zero_point != 0:
                    z0, z1 = a.w_zero_point * run_sum(x0, depth), a.w_zero_point * run_sum(x1, depth)
                    z2, z3 = a.w_zero_point * run_sum(x2, depth), a.w_zero_point * run_sum(x3, depth)
                for o in range(group * columns, (group + 1) * columns):
                    w = w_pointer(a.w + o * depth * w_bytes)
                    bias = np.int64(0)
                    if a.bias != 0:
                        if a.bias_is_wide:
                            bias = int64_pointer(a.bias)[o]
                        else:
                            bias = np.int64(int32_pointer(a.bias)[o])
                    s0, s1, s2, s3 = dots(x0, x1, x2, x3, w, depth)
                    m, n, real = multipliers[o], shifts[o], real_scales[o]
                    rounding, low, high = a.rounding, a.lowest, a.highest
                    y[pixel, o] = requantize_q16(s0 - z0 + bias, rounding, m, n, real, low, high)
                    if count > 1:
                        y[pixel + 1, o] = requantize_q16(s1 - z1 + bias, rounding, m, n, real, low, high)
                    if count > 2:
                        y[pixel + 2, o] = requantize_q16(s2 - z2 + bias, rounding, m, n, real, low, high)
                    if count > 3:
                        y[pixel + 3, o] = requantize_q16(s3 - z3 + bias, rounding, m, n, real, low, high)
        return 0


add_conv("conv_q16", int8_pointer, 1, 256)
add_conv("conv_q16_w16", int16_pointer, 2, 1)


# So many products fit an int32 sum.
TERMS = 256


@njit(error_model="numpy")
def add_tap(x, w, sums, channels, multiplier):
    """sums += x * w, each channel of x serving `multiplier` neighbours."""
    if multiplier == 1:
        for c in range(channels):
            sums[c] += np.int32(np.int32(x[c]) * np.int32(w[c]))
        return
    for o in range(channels):
        sums[o] += np.int32(np.int32(x[o // multiplier]) * np.int32(w[o]))


@kernels.add(PLAIN_Q16)
def depthwise_conv_q16(a, chunk, chunks):
    multipliers = carray(int32_pointer(a.multipliers), a.out_depth)
    shifts = carray(int32_pointer(a.shifts), a.out_depth)
    real_scales = carray(float64_pointer(a.real_scales), a.out_depth)
    pixels, multiplier = a.batch * a.out_height * a.out_width, a.out_depth // a.in_depth
    totals = carray(int64_pointer(a.scratch + chunk * a.scratch_bytes), a.out_depth)
    sums = carray(int32_pointer(a.scratch + chunk * a.scratch_bytes + a.out_depth * 8), a.out_depth)
    y = carray(int16_pointer(a.y), (pixels, a.out_depth))
    for pixel in range(pixels * chunk // chunks, pixels * (chunk + 1) // chunks):
        row = pixel // a.out_width
        image = row // a.out_height
        top = (row - image * a.out_height) * a.stride_h - a.pad_top
        left = (pixel - row * a.out_width) * a.stride_w - a.pad_left
        totals[:] = 0
        sums[:] = 0
        terms = 0
        for kh in range(a.filter_height):
            h = top + kh * a.dilation_h
            if h < 0 or h >= a.in_height:
                continue
            for kw in range(a.filter_width):
                v = left + kw * a.dilation_w
                if v < 0 or v >= a.in_width:
                    continue
                x = int16_pointer(a.x + ((image * a.in_height + h) * a.in_width + v) * a.in_depth * 2)
                w = int8_pointer(a.w + (kh * a.filter_width + kw) * a.out_depth)
                add_tap(x, w, sums, a.out_depth, multiplier)
                terms += 1
                if terms == TERMS:
                    for o in range(a.out_depth):
                        totals[o] += np.int64(sums[o])
                        sums[o] = 0
                    terms = 0
        for o in range(a.out_depth):
            total = totals[o] + np.int64(sums[o])
            if a.bias != 0:
                total += int64_pointer(a.bias)[o] if a.bias_is_wide else np.int64(int32_pointer(a.bias)[o])
            y[pixel, o] = requantize_q16(
                total, a.rounding, multipliers[o], shifts[o], real_scales[o], a.lowest, a.highest
            )
    return 0
