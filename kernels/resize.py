"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR: which input pixels make an output pixel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, argument_block, chunk_count
from ..lite.node import Node
from ..lite.tensor import AllocationType, Shape, Tensor, TensorType
from ..schema.named_tuple import NamedTuple
from .index_vector import check_counts, check_index_type, check_sizes, integers, output_of
from .operators import check_type, registration
from .reshape import flat_copy_calls
from .strided_copy import COPY_BYTES_PER_NS, element_bytes
from .xnnpack_nodes import takes_images

# Addresses of int32 or float32 tables have an entry for each output row or column. left and
# right count elements (column times depth), top and bottom count rows.
RESIZE_BILINEAR_ARGS = argument_block(
    "x y scratch top bottom row_weight left right column_weight batch in_height in_row out_height "
    "out_width depth"
)
RESIZE_NEAREST_ARGS = argument_block(
    "x y rows columns batch in_height in_width out_height out_width pixel_bytes"
)
_ELEMENTS_PER_NS = 2
_REFERENCE_ELEMENTS_PER_NS = 0.5
_HALF = np.float32(0.5)


class Taps(NamedTuple):
    """For each output position along an axis: two input positions, and the weight of the second."""

    low: np.ndarray
    high: np.ndarray
    weight: np.ndarray


def _scale(in_size: int, out_size: int, align_corners: bool) -> np.float32:
    if align_corners and out_size > 1:
        return np.float32(in_size - 1) / np.float32(out_size - 1)
    return np.float32(in_size) / np.float32(out_size)


def default_taps(in_size: int, out_size: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """Taps with the position clamped to the input first; weights float32 in [0, 1).

    Source: XNNPACK src/indirection.c, xnn_indirection_init_resize_bilinear2d_hwc_f32.
    """
    scale = _scale(in_size, out_size, align_corners)
    at = np.arange(out_size, dtype=np.float32) * scale
    if half_pixel_centers:
        at = np.maximum(at + (_HALF * scale - _HALF), np.float32(0))
    at = np.minimum(at, np.float32(in_size - 1))
    low = at.astype(np.int32)
    return Taps(low, np.minimum(low + 1, in_size - 1).astype(np.int32), at - low.astype(np.float32))


def eleven_bit_taps(in_size: int, out_size: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """default_taps with weights in 1/2048 as int32, ties to even."""
    taps = default_taps(in_size, out_size, align_corners, half_pixel_centers)
    return taps._replace(weight=np.rint(taps.weight * np.float32(2048)).astype(np.int32))


def reference_taps(in_size: int, out_size: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """Taps of the reference kernels; a weight may be negative before the first pixel's centre.

    Source: LiteRT tflite/kernels/internal/reference/resize_bilinear.h, ComputeInterpolationValues.
    """
    scale = _scale(in_size, out_size, align_corners)
    at = np.arange(out_size, dtype=np.float32)
    at = (at + _HALF) * scale - _HALF if half_pixel_centers else at * scale
    low = np.maximum(np.floor(at).astype(np.int32), 0).astype(np.int32)
    high = np.minimum(np.ceil(at).astype(np.int32), in_size - 1).astype(np.int32)
    # Rounding can carry the last position past the last pixel.
    low = np.minimum(low, in_size - 1).astype(np.int32)
    return Taps(low, high, at - low.astype(np.float32))


def integer_taps(in_size: int, out_size: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """Taps of the reference kernels for int8 and int16, with weights in 1/1024 as int32.

    Source: LiteRT tflite/kernels/internal/reference/resize_bilinear.h, ResizeBilinearInteger.
    """
    if align_corners and out_size > 1:
        scale = (1024 * (in_size - 1) + (out_size - 1) // 2) // (out_size - 1)
    else:
        scale = (1024 * in_size + out_size // 2) // out_size
    at = np.arange(out_size, dtype=np.int64) * scale
    if half_pixel_centers:
        at += scale // 2 - 512
    # C's division goes towards zero, which matters before the first pixel's centre.
    low = np.clip(np.trunc(at / 1024).astype(np.int64), 0, in_size - 1)
    high = np.clip(np.trunc((at + 1023) / 1024).astype(np.int64), 0, in_size - 1)
    return Taps(low.astype(np.int32), high.astype(np.int32), (at - 1024 * low).astype(np.int32))


def nearest(in_size: int, out_size: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    """The input position (int32) that each output position copies.

    Source: LiteRT tflite/kernels/internal/reference/resize_nearest_neighbor.h, GetNearestNeighbor.
    """
    scale = _scale(in_size, out_size, align_corners)
    at = (np.arange(out_size, dtype=np.float32) + (_HALF if half_pixel_centers else np.float32(0))) * scale
    chosen = np.floor(at + _HALF) if align_corners else np.floor(at)
    return np.clip(chosen, 0, in_size - 1).astype(np.int32)


TapRule = Callable[[int, int, bool, bool], Taps]

# By type: the kernel, its taps, and bytes of scratch for each element of a row.
_Ways = dict[int, tuple[str, TapRule, int]]
_BY_XNNPACK: _Ways = {
    TensorType.FLOAT32: ("resize_bilinear_f32", default_taps, 4),
    TensorType.UINT8: ("resize_bilinear_u8", eleven_bit_taps, 4),
    TensorType.INT8: ("resize_bilinear_i8", eleven_bit_taps, 4),
    TensorType.INT16: ("resize_bilinear_integer_i16", integer_taps, 0),
}
_BY_LITERT: _Ways = {
    TensorType.FLOAT32: ("resize_bilinear_products_f32", reference_taps, 0),
    TensorType.UINT8: ("resize_bilinear_products_u8", reference_taps, 0),
    TensorType.INT8: ("resize_bilinear_integer_i8", integer_taps, 0),
    TensorType.INT16: ("resize_bilinear_integer_i16", integer_taps, 0),
}
_BY_REFERENCE: _Ways = _BY_LITERT | {
    TensorType.FLOAT32: ("resize_bilinear_reference_f32", reference_taps, 0),
    TensorType.UINT8: ("resize_bilinear_reference_u8", reference_taps, 0),
}


class _Resize(NamedTuple):
    x: Tensor
    y: Tensor
    size: Tensor
    align_corners: bool
    half_pixel_centers: bool


def _checked(context: Context, node: Node, operator: str) -> _Resize:
    check_counts(operator, node, 2)
    x, size = context.input(node, 0), context.input(node, 1)
    y = output_of(context, node, operator, x)
    check_index_type(operator, "size", size, (TensorType.INT32,))
    if len(x.shape) != 4 or size.shape != (2,):
        raise PrepareError(
            f"{operator}: input must have 4 dimensions and size 2 entries, got {x!r} and {size!r}"
        )
    align_corners = bool(getattr(node.options, "align_corners", False))
    half_pixel_centers = bool(getattr(node.options, "half_pixel_centers", False))
    return _Resize(x, y, size, align_corners, half_pixel_centers)


def _output_shape(operator: str, resize: _Resize) -> Shape:
    height, width = integers(resize.size)
    batch, in_height, in_width, depth = resize.x.shape
    if min(height, width) < 1 or min(in_height, in_width) < 1:
        raise PrepareError(
            f"{operator}: heights and widths must be at least 1, got {resize.x!r} and size {height}x{width}"
        )
    return check_sizes(operator, (batch, height, width, depth))


def _check_corners(resize: _Resize) -> None:
    if resize.align_corners and resize.half_pixel_centers:
        raise PrepareError("RESIZE_BILINEAR: align_corners and half_pixel_centers must not both be true")


def _bilinear_taps(resize: _Resize, rule: TapRule, shape: Shape) -> tuple[Taps, Taps]:
    _, in_height, in_width, _ = resize.x.shape
    flags = (resize.align_corners, resize.half_pixel_centers)
    return rule(in_height, shape[1], *flags), rule(in_width, shape[2], *flags)


def _copies(taps: Taps) -> bool:
    """Whether output positions are the input's own, so that integers come out as they went in."""
    return not taps.weight.any() and np.array_equal(taps.low, np.arange(len(taps.low)))


def _ways(context: Context, resize: _Resize) -> _Ways:
    """Whose arithmetic it is: XNNPACK's delegate wants images, and a size that the file holds."""
    if context.numerics is not Numerics.DEFAULT:
        return _BY_REFERENCE
    by_xnnpack = resize.size.allocation_type == AllocationType.MMAP_RO and takes_images(resize.x, resize.y)
    return _BY_XNNPACK if by_xnnpack else _BY_LITERT


def _prepare_bilinear(context: Context, node: Node) -> Sequence[KernelCall] | None:
    resize = _checked(context, node, "RESIZE_BILINEAR")
    x, y = resize.x, resize.y
    check_type("RESIZE_BILINEAR", x)
    if not resize.size.is_constant:
        context.set_dynamic(y)
        return None
    _check_corners(resize)
    kernel, rule, scratch_bytes = _ways(context, resize)[x.type]
    shape = _output_shape("RESIZE_BILINEAR", resize)
    context.resize_tensor(y, shape)
    if y.size == 0:
        return []
    rows, columns = _bilinear_taps(resize, rule, shape)
    if shape == x.shape and x.type != TensorType.FLOAT32 and _copies(rows) and _copies(columns):
        return flat_copy_calls(context, x, y, y.nbytes)
    batch, height, width, depth = shape
    if scratch_bytes and len(np.union1d(rows.low, rows.high)) > height:
        # Too few output rows share their input rows for keeping those to pay.
        kernel, scratch_bytes = kernel.replace("bilinear", "bilinear_direct"), 0
    left, right = columns.low * np.int32(depth), columns.high * np.int32(depth)
    keep = [rows.low, rows.high, rows.weight, left, right, columns.weight]
    args = np.zeros(1, RESIZE_BILINEAR_ARGS)
    names = ("top", "bottom", "row_weight", "left", "right", "column_weight")
    for name, table in zip(names, keep, strict=True):
        args[name] = table.ctypes.data
    args["batch"], args["in_height"], args["in_row"] = batch, x.shape[1], x.shape[2] * depth
    args["out_height"], args["out_width"], args["depth"] = height, width, depth
    speed = _ELEMENTS_PER_NS if scratch_bytes else _REFERENCE_ELEMENTS_PER_NS
    chunks = chunk_count(context, y.size / speed, batch * height)
    tensors = {"x": x, "y": y}
    if scratch_bytes:
        tensors["scratch"] = context.add_temporary(node, chunks * 2 * scratch_bytes * width * depth)
    return [KernelCall("resize", kernel, args, tensors, chunks, keep)]


def _invoke_bilinear(context: Context, node: Node) -> None:
    """LiteRT's own arithmetic, for what it does not leave to XNNPACK: a size known only at run time."""
    resize = _checked(context, node, "RESIZE_BILINEAR")
    shape = _output_shape("RESIZE_BILINEAR", resize)
    context.resize_tensor(resize.y, shape)
    integer = resize.x.type in (TensorType.INT8, TensorType.INT16)
    rows, columns = _bilinear_taps(resize, integer_taps if integer else reference_taps, shape)
    unit = np.int64(1024) if integer else np.float32(1)
    x = resize.x.array()
    x = x.astype(np.int64 if integer else np.float32)
    v, h = rows.weight[:, None, None], columns.weight[:, None]
    low, high = x[:, rows.low], x[:, rows.high]
    if not integer and context.numerics is Numerics.DEFAULT:
        total = low[:, :, columns.low] * ((unit - v) * (unit - h))
        total += low[:, :, columns.high] * ((unit - v) * h)
        total += high[:, :, columns.low] * (v * (unit - h))
        total += high[:, :, columns.high] * (v * h)
    else:
        total = low[:, :, columns.low] * (unit - v) * (unit - h)
        total += high[:, :, columns.low] * v * (unit - h)
        total += low[:, :, columns.high] * (unit - v) * h
        total += high[:, :, columns.high] * v * h
    if integer:
        total = np.trunc((total + np.where(total > 0, 1 << 19, -(1 << 19))) / (1 << 20))
    elif resize.x.type == TensorType.UINT8:
        total = total + _HALF
    resize.y.array()[...] = total.astype(resize.y.dtype)


def _nearest_tables(resize: _Resize, shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    _, in_height, in_width, _ = resize.x.shape
    flags = (resize.align_corners, resize.half_pixel_centers)
    return nearest(in_height, shape[1], *flags), nearest(in_width, shape[2], *flags)


def _prepare_nearest(context: Context, node: Node) -> Sequence[KernelCall] | None:
    resize = _checked(context, node, "RESIZE_NEAREST_NEIGHBOR")
    x, y = resize.x, resize.y
    item_bytes = element_bytes(x, "RESIZE_NEAREST_NEIGHBOR")
    if not resize.size.is_constant:
        context.set_dynamic(y)
        return None
    shape = _output_shape("RESIZE_NEAREST_NEIGHBOR", resize)
    context.resize_tensor(y, shape)
    if y.size == 0:
        return []
    rows, columns = _nearest_tables(resize, shape)
    batch, height, width, depth = shape
    args = np.zeros(1, RESIZE_NEAREST_ARGS)
    args["rows"], args["columns"] = rows.ctypes.data, columns.ctypes.data
    args["batch"], args["in_height"], args["in_width"] = x.shape[:3]
    args["out_height"], args["out_width"], args["pixel_bytes"] = height, width, depth * item_bytes
    chunks = chunk_count(context, y.size * item_bytes / COPY_BYTES_PER_NS, batch * height)
    return [KernelCall("resize", "resize_nearest", args, {"x": x, "y": y}, chunks, [rows, columns])]


def _invoke_nearest(context: Context, node: Node) -> None:
    resize = _checked(context, node, "RESIZE_NEAREST_NEIGHBOR")
    shape = _output_shape("RESIZE_NEAREST_NEIGHBOR", resize)
    context.resize_tensor(resize.y, shape)
    rows, columns = _nearest_tables(resize, shape)
    resize.y.array()[...] = resize.x.array()[:, rows][:, :, columns]


REGISTRATIONS = (
    registration("RESIZE_BILINEAR", _prepare_bilinear, _invoke_bilinear),
    registration("RESIZE_NEAREST_NEIGHBOR", _prepare_nearest, _invoke_nearest),
)
