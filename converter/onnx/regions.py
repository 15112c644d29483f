"""Parts of images at computed places: grids, regions, kernels with offsets; and windows put back."""

from __future__ import annotations

import math

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT, DT_INT32
from ..building.contraction import product, scattered
from ..building.movement import channels_first, padded
from ..building.tensor import Tensor
from .call import Call, Rule
from .conv import dilated
from .pixels import Image, Tap, sampled, taps_of


def grid_sample(c: Call) -> Tensor:
    """Pixels at places of [-1, 1] of two or three dimensions: the nearest, or between 2 or 4 of each axis."""
    x, grid = c.inputs()
    if x.rank not in (4, 5) or grid.rank != x.rank or grid.sizes[-1] != x.rank - 2:
        raise ModelError(f"grid must have {x.rank - 2} numbers for each place, got {list(grid.sizes)}")
    aligned, around = c.flag("align_corners"), c.text("padding_mode", "zeros")
    mode = c.text("mode", "linear").removeprefix("bi")
    image = Image(x)
    places = c.body.ops("Unpack", grid, num=x.rank - 2, axis=x.rank - 1)[::-1]
    taps = [
        taps_of(
            (v + 1) * ((size - 1) / 2) if aligned else ((v + 1) * size - 1) * 0.5, size, mode, around, aligned
        )
        for v, size in zip(places, x.sizes[2:], strict=True)
    ]
    return channels_first(sampled(image, image.batches(x.rank - 1), taps))


def affine_grid(c: Call) -> Tensor:
    """Places of [-1, 1] for each pixel of a size, moved by matrices [n, 2, 3] or [n, 3, 4]."""
    theta, size = c.input(0), c.constants(1, "the size")
    rank = len(size) - 2
    if rank not in (2, 3) or tuple(theta.sizes[1:]) != (rank, rank + 1):
        raise ModelError(f"theta must be [n, 2, 3] or [n, 3, 4], got {list(theta.sizes)} for size {size}")
    lines = [_line(count, c.flag("align_corners")) for count in size[2:]]
    at = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(size[2:])], -1).reshape(1, -1, rank + 1)
    moved = c.make("BatchMatMulV2", c.body.constant(at.astype(np.float32)), theta, adj_y=True)
    return c.body.reshaped(moved, [c.body.sizes_of(theta)[0], *size[2:], rank])


def _line(count: int, aligned: bool) -> np.ndarray:
    """The middles of so many parts of [-1, 1]; its ends and what is between where aligned."""
    if aligned:
        return np.linspace(-1, 1, count) if count > 1 else np.zeros(1)
    return (2 * np.arange(count) + 1) / count - 1


def roi_align(c: Call) -> Tensor:
    """Regions [x1, y1, x2, y2] of images, each as so many cells, of samples between four pixels."""
    x, regions, batch = c.inputs()
    half = c.text("coordinate_transformation_mode", "half_pixel" if c.opset >= 16 else "output_half_pixel")
    samples, mode = c.integer("sampling_ratio", 0), c.text("mode", "avg")
    if samples < 1:
        raise UnsupportedError(
            "sampling_ratio 0 (as many samples as the regions' sizes say): it must be positive"
        )
    if mode not in ("avg", "max") or x.rank != 4 or regions.rank != 2:
        raise ModelError(f"mode must be avg or max, x [n, c, h, w] and regions [r, 4], got {mode!r}")
    cells = c.integer("output_height", 1), c.integer("output_width", 1)
    ends = c.body.ops("Unpack", regions * c.real("spatial_scale", 1.0), num=4, axis=1)
    taps = []
    for axis, (low, high) in enumerate(((ends[1], ends[3]), (ends[0], ends[2]))):
        at = _samples(c, low, high, cells[axis], samples, half == "half_pixel")
        order = [-1, at.sizes[1], 1] if axis == 0 else [-1, 1, at.sizes[1]]
        taps.append(_region_taps(c.body.reshaped(at, order), x.sizes[2 + axis]))
    image = Image(x)
    which = c.body.reshaped(c.body.as_int32(batch), [-1, 1, 1])
    found = sampled(image, which, taps, Tensor.maximum if mode == "max" else Tensor.__add__)
    apart = c.body.reshaped(found, [-1, cells[0], samples, cells[1], samples, x.sizes[1]])
    op = "Mean" if mode == "avg" else "Max"
    return channels_first(c.make(op, apart, c.body.integers([2, 4]), keep_dims=False))


def _samples(c: Call, low: Tensor, high: Tensor, cells: int, samples: int, is_half: bool) -> Tensor:
    """Where samples lie along an axis: [r, cells * samples]."""
    size = high - low
    if is_half:
        low = low - 0.5
    else:
        size = size.maximum(1)
    count = cells * samples
    parts = c.body.constant(((np.arange(count) + 0.5) / count).astype(np.float32))
    low, size = (c.make("ExpandDims", each, c.body.scalar(1, DT_INT32)) for each in (low, size))
    return low + size * parts


def _region_taps(at: Tensor, size: int) -> list[Tap]:
    """As of a border, but nothing of what is farther than one pixel outside."""
    if size == -1:
        raise UnsupportedError("the image's sizes must be known")
    near = at.body.op("LogicalAnd", at >= -1, at <= size)
    share = at.body.cast(near, DT_FLOAT)
    return [
        Tap(tap.place, share if tap.share is None else tap.share * share)
        for tap in taps_of(at, size, "linear", "border")
    ]


def deform_conv(c: Call) -> Tensor:
    """A convolution whose kernel takes its pixels at offsets of their own, perhaps with a factor for each."""
    x, weights, offset, bias, mask = c.input(0), c.input(1), c.input(2), c.optional(3), c.optional(4)
    if x.rank != 4 or not weights.is_known or -1 in offset.sizes[1:]:
        raise UnsupportedError("images of two dimensions, whose sizes are known, are built")
    groups, sets = c.integer("group", 1), c.integer("offset_group", 1)
    kernel = c.integers("kernel_shape", weights.sizes[2:])
    count, (height, width) = math.prod(kernel), offset.sizes[2:]
    if offset.sizes[1] != sets * count * 2 or x.sizes[1] % (sets * groups):
        raise ModelError(f"offset must have {sets * count * 2} channels, got {list(offset.sizes)}")
    # [n, oh, ow, kernel, sets]
    split = c.body.transposed(c.body.reshaped(offset, [-1, sets, count, 2, height * width]), (0, 4, 2, 1, 3))
    split = c.body.reshaped(split, [-1, height * width, count, sets, 2])
    moves = c.body.ops("Unpack", split, num=2, axis=4)
    taps = [
        taps_of(
            moves[axis] + c.body.constant(_base(c, kernel, (height, width), axis)), size, "linear", "zeros"
        )
        for axis, size in enumerate(x.sizes[2:])
    ]
    image = Image(x, sets)
    if sets > 1:
        taps.append([Tap(c.body.constant(np.arange(sets, dtype=np.int32)), None)])
    found = sampled(image, image.batches(4), taps)
    if mask is not None:
        factors = c.body.transposed(c.body.reshaped(mask, [-1, sets, count, height * width]), (0, 3, 2, 1))
        found = found * c.make("ExpandDims", factors, c.body.scalar(4, DT_INT32))
    rows = c.body.reshaped(found, [-1, height * width, count * x.sizes[1]])
    y = product(rows, _dense(c, weights, groups, x.sizes[1]))
    y = c.body.reshaped(y if bias is None else y + bias, [-1, height, width, weights.sizes[0]])
    return channels_first(y)


def _base(c: Call, kernel: list[int], sizes: tuple[int, int], axis: int) -> np.ndarray:
    """Where the kernel's pixels are without offsets: [1, oh * ow, kernel, 1]."""
    steps, gaps = c.integers("strides", [1, 1]), c.integers("dilations", [1, 1])
    begin = c.integers("pads", [0] * 4)[axis]
    outer = np.indices(sizes)[axis].reshape(-1, 1) * steps[axis] - begin
    inner = np.indices(tuple(kernel))[axis].reshape(1, -1) * gaps[axis]
    return (outer + inner)[None, :, :, None].astype(np.float32)


def _dense(c: Call, weights: Tensor, groups: int, channels: int) -> Tensor:
    """Weights [o, i / groups, kh, kw] as a matrix [kh * kw * i, o], zeros between the groups."""
    o, depth, height, width = weights.sizes
    if depth * groups != channels or o % groups:
        raise ModelError(
            f"group: {groups} groups do not fit {channels} channels and weights {list(weights.sizes)}"
        )
    moved = c.body.transposed(weights, (2, 3, 1, 0))
    if groups > 1:
        parts = c.body.reshaped(moved, [height * width, 1, depth, groups, o // groups])
        own = np.eye(groups, dtype=np.float32).reshape(1, groups, 1, groups, 1)
        moved = parts * c.body.constant(own)
    return c.body.reshaped(moved, [height * width * channels, o])


def col_to_image(c: Call) -> Tensor:
    """Windows [n, c * window, count] put where they were in an image, added up where they overlap."""
    x, image, window = c.input(0), c.constants(1, "the image's shape"), c.constants(2, "the window")
    rank, whole = len(image), math.prod(window)
    gaps, steps = c.integers("dilations", [1] * rank), c.integers("strides", [1] * rank)
    pads = c.integers("pads", [0] * 2 * rank)
    if not len(window) == len(gaps) == len(steps) == rank <= 3 or x.rank != 3 or x.sizes[1] % whole:
        raise ModelError(f"x must be [n, c * {whole}, count] for a window of {window}, got {list(x.sizes)}")
    reach = [(k - 1) * gap + 1 for k, gap in zip(window, gaps, strict=True)]
    counts = [
        (size + pads[axis] + pads[axis + rank] - reach[axis]) // steps[axis] + 1
        for axis, size in enumerate(image)
    ]
    cuts = [
        (pads[axis], (counts[axis] - 1) * steps[axis] + reach[axis] - pads[axis] - image[axis])
        for axis in range(rank)
    ]
    channels = x.sizes[1] // whole
    one = np.eye(whole, dtype=np.float32).reshape(whole, 1, *window)
    weights = dilated(c.body.constant(one), gaps)
    rows = c.body.reshaped(x, [-1, whole, *counts])
    if rank == 1:
        rows, weights = (
            c.body.reshaped(each, [*each.sizes[:2], 1, *each.sizes[2:]]) for each in (rows, weights)
        )
        steps, cuts = [1, *steps], [(0, 0), *cuts]
    made = scattered(rows, weights, steps, 1, cuts, None)
    return c.body.reshaped(made, [-1, channels, *image])


def max_unpool(c: Call) -> Tensor:
    """What MaxPool took, put where it was; zeros elsewhere."""
    x, places = c.input(0), c.input(1)
    kernel = c.integers("kernel_shape")
    rank = len(kernel)
    steps, pads = c.integers("strides", [1] * rank), c.integers("pads", [0] * 2 * rank)
    if x.rank != rank + 2 or not x.is_known:
        raise UnsupportedError("x must have a known shape, with an axis for each of the kernel's")
    own = [
        (size - 1) * steps[axis] - pads[axis] - pads[axis + rank] + kernel[axis]
        for axis, size in enumerate(x.sizes[2:])
    ]
    shape = [*x.sizes[:2], *own]
    count = math.prod(shape)
    flat, index = c.body.reshaped(x, [-1]), c.body.reshaped(c.body.as_int32(places), [-1, 1])
    zeros = c.body.constant(np.zeros(count, np.float32))
    made = c.body.reshaped(c.make("TensorScatterUpdate", zeros, index, flat), shape)
    if c.optional(2) is None:
        return made
    wanted = c.constants(2, "the output's shape")
    more = [(0, new - old) for new, old in zip(wanted, shape, strict=True)]
    if min(behind for _, behind in more) < 0:
        raise UnsupportedError(f"output_shape {wanted} is smaller than {shape}, the places' own")
    return padded(made, more, c.body.scalar(0, x.type))


REGISTRATIONS: dict[str, Rule] = {
    "AffineGrid": affine_grid,
    "Col2Im": col_to_image,
    "DeformConv": deform_conv,
    "GridSample": grid_sample,
    "MaxUnpool": max_unpool,
    "RoiAlign": roi_align,
}
