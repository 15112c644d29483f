"""Images in other sizes: by an operator that computes them, else by matrices or places along each axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...kernels.resize import nearest
from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT, DT_INT32
from ..building.contraction import product
from ..building.movement import axis_of, channels_first, channels_last
from ..building.tensor import Tensor
from .call import Call, Rule


@dataclass(frozen=True)
class Sampling:
    """How places of the result are those of x; along each axis its old and new size and its scale."""

    mode: str
    transform: str
    nearest: str
    cubic: float
    excludes_outside: bool
    antialias: bool
    outside: float


@dataclass(frozen=True)
class Line:
    """One axis: its sizes, its scale, and the part of it that is cropped to."""

    old: int
    new: int
    scale: float
    start: float = 0.0
    end: float = 1.0


def resize(c: Call) -> Tensor:
    """Sizes by scales or told; all of ONNX's modes where the sizes are known."""
    x = c.input(0)
    if c.op == "Upsample":
        scales = c.reals("scales") if c.opset < 9 else [float(n) for n in c.constant(1, "the scales")]
        return _resized(c, x, list(range(x.rank)), scales, None, [])
    if c.opset < 11:
        return _resized(c, x, list(range(x.rank)), [float(n) for n in c.constant(1, "the scales")], None, [])
    axes = [axis_of(axis, x.rank) for axis in c.integers("axes", list(range(x.rank)))]
    roi = c.optional(1)
    scales_given, sizes_given = c.optional(2), c.optional(3)
    crop = [float(n) for n in roi.data.reshape(-1)] if roi is not None and roi.data is not None else []
    if sizes_given is not None:
        if sizes_given.data is None:
            return _open_resized(c, x, axes, sizes_given, [])
        sizes = c.constants(3, "the sizes")
        sizes, scales = _by_policy(c, [x.sizes[axis] for axis in axes], sizes)
        return _resized(c, x, axes, scales, sizes, crop)
    if scales_given is None:
        raise ModelError("sizes or scales must be there")
    return _resized(c, x, axes, [float(n) for n in c.constant(2, "the scales").reshape(-1)], None, crop)


def _by_policy(c: Call, old: Sequence[int], sizes: Sequence[int]) -> tuple[list[int], list[float]]:
    """The sizes and scales, one scale for all where the aspect ratio stays."""
    if -1 in old:
        raise UnsupportedError("the sizes of x must be known")
    policy = c.text("keep_aspect_ratio_policy", "stretch")
    scales = [new / size for new, size in zip(sizes, old, strict=True)]
    if policy == "stretch":
        return list(sizes), scales
    scale = min(scales) if policy == "not_larger" else max(scales)
    return [math.floor(size * scale + 0.5) for size in old], [scale] * len(old)


def _resized(
    c: Call,
    x: Tensor,
    axes: Sequence[int],
    scales: Sequence[float],
    sizes: Sequence[int] | None,
    crop: list[float],
) -> Tensor:
    if len(scales) != len(axes) or (crop and len(crop) not in (2 * len(axes), 0)):
        raise ModelError(f"scales must be one for each of {len(axes)} axes, got {len(scales)}")
    sampling = _sampling(c)
    if sizes is None and any(x.sizes[axis] == -1 and scales[place] != 1 for place, axis in enumerate(axes)):
        return _open_resized(c, x, axes, None, scales)
    lines: dict[int, Line] = {}
    for place, axis in enumerate(axes):
        if scales[place] == 1 and sampling.transform != "tf_crop_and_resize":
            continue
        old = x.sizes[axis]
        if old == -1:
            raise UnsupportedError("the sizes that are changed must be known")
        new = sizes[place] if sizes is not None else math.floor(old * scales[place])
        if new < 1:
            raise ModelError(f"sizes must be positive, got {new}")
        ends = (crop[place], crop[place + len(axes)]) if len(crop) == 2 * len(axes) else (0.0, 1.0)
        lines[axis] = Line(old, new, scales[place], *ends)
    if not lines:
        return x
    return _by_operator(c, x, sampling, lines) or _by_axes(x, sampling, lines)


def _sampling(c: Call) -> Sampling:
    """What the node's attributes say."""
    default = "half_pixel" if c.opset >= 11 else "asymmetric"
    return Sampling(
        c.text("mode", "nearest"),
        c.text("coordinate_transformation_mode", default),
        c.text("nearest_mode", "round_prefer_floor" if c.opset >= 11 else "floor"),
        c.real("cubic_coeff_a", -0.75),
        c.flag("exclude_outside"),
        c.flag("antialias"),
        c.real("extrapolation_value", 0.0),
    )


def _open_resized(
    c: Call, x: Tensor, axes: Sequence[int], sizes: Tensor | None, scales: Sequence[float]
) -> Tensor:
    """Height and width by sizes that are computed, or whole multiples of those that are not known."""
    sampling = _sampling(c)
    told = dict(zip(axes, scales, strict=False))
    others = sizes is None and any(scale != 1 for axis, scale in told.items() if axis not in (2, 3))
    corners = _corners(sampling, all(scale == int(scale) for scale in told.values()), False)
    if x.rank != 4 or others or corners is None or sampling.antialias or x.type != DT_FLOAT:
        raise UnsupportedError(
            "sizes and what they become must be constant, but for modes and scales of one operator"
        )
    if sizes is not None and (
        not {2, 3} <= set(axes) or c.text("keep_aspect_ratio_policy", "stretch") != "stretch"
    ):
        raise UnsupportedError("sizes that are computed must be those of height and width, and stretch them")
    both = []
    for axis in (2, 3):
        if sizes is not None:
            both.append(c.body.element(c.body.as_int32(sizes), list(axes).index(axis)))
        else:
            both.append(c.body.size(x, axis) * int(told.get(axis, 1)))
    last = channels_last(x)
    if sizes is not None and sampling.transform == "pytorch_half_pixel" and sampling.mode == "linear":
        last = _first_of_one(c, last, both)
    op = "ResizeBilinear" if sampling.mode == "linear" else "ResizeNearestNeighbor"
    return channels_first(c.make(op, last, c.make("Pack", *both, axis=0), **corners))


def _first_of_one(c: Call, last: Tensor, sizes: Sequence[Tensor]) -> Tensor:
    """The image; of an axis that gets one element the first alone, which is what that is then."""
    ends = [
        size.equals(1).choose(c.body.scalar(1, DT_INT32), c.body.size(last, axis))
        for axis, size in zip((1, 2), sizes, strict=True)
    ]
    bounds = [
        c.body.integers([0] * 4),
        c.make("Pack", c.body.scalar(0, DT_INT32), *ends, c.body.scalar(0, DT_INT32), axis=0),
    ]
    return c.make("StridedSlice", last, *bounds, c.body.integers([1] * 4), begin_mask=15, end_mask=9)


def _by_operator(c: Call, x: Tensor, sampling: Sampling, lines: dict[int, Line]) -> Tensor | None:
    """One operator, None where it computes something else."""
    if x.rank != 4 or not set(lines) <= {2, 3} or sampling.antialias or x.type != DT_FLOAT:
        return None
    plain = all(math.isclose(line.new, line.old * line.scale) for line in lines.values())
    is_point = sampling.transform == "pytorch_half_pixel" and any(line.new == 1 for line in lines.values())
    corners = _corners(sampling, plain, is_point) or _nearest_corners(sampling, lines)
    if corners is None:
        return None
    sizes = c.body.integers([lines[axis].new if axis in lines else x.sizes[axis] for axis in (2, 3)])
    if -1 in (sizes.data if sizes.data is not None else ()):
        return None
    op = "ResizeBilinear" if sampling.mode == "linear" else "ResizeNearestNeighbor"
    return channels_first(c.make(op, channels_last(x), sizes, **corners))


def _corners(sampling: Sampling, plain: bool, is_point: bool) -> dict[str, bool] | None:
    """The operator's options."""
    if sampling.mode == "linear":
        if plain and sampling.transform == "align_corners":
            return {"align_corners": True, "half_pixel_centers": False}
        if plain and sampling.transform in ("half_pixel", "pytorch_half_pixel") and not is_point:
            return {"align_corners": False, "half_pixel_centers": True}
        if plain and sampling.transform == "asymmetric":
            return {"align_corners": False, "half_pixel_centers": False}
    if (
        sampling.mode == "nearest"
        and plain
        and (sampling.transform, sampling.nearest) == ("asymmetric", "floor")
    ):
        return {"align_corners": False, "half_pixel_centers": False}
    return None


def _nearest_corners(sampling: Sampling, lines: dict[int, Line]) -> dict[str, bool] | None:
    """The operator's options with which it takes the same elements, though it has them by other formulas."""
    if sampling.mode != "nearest" or sampling.transform == "tf_crop_and_resize":
        return None
    wanted = [(line, _places(sampling, line)) for line in lines.values()]
    for corners in ((False, False), (False, True), (True, False)):
        if all(np.array_equal(nearest(line.old, line.new, *corners), places) for line, places in wanted):
            return {"align_corners": corners[0], "half_pixel_centers": corners[1]}
    return None


def _places(sampling: Sampling, line: Line) -> np.ndarray:
    """Which element of x each one of the result is."""
    at = _nearest(sampling.nearest)(_coordinates(sampling, line))
    return np.clip(at, 0, line.old - 1).astype(np.int32)


def _by_axes(x: Tensor, sampling: Sampling, lines: dict[int, Line]) -> Tensor:
    """One axis after the other: places for the nearest, a matrix of weights for the other modes."""
    body, type = x.body, x.type
    outside = None
    for axis, line in lines.items():
        at = _coordinates(sampling, line)
        if sampling.mode == "nearest":
            places = body.constant(_places(sampling, line))
            x = body.op("GatherV2", x, places, body.scalar(axis, DT_INT32))
        else:
            x = _weighted(body.cast(x, DT_FLOAT), _weights(sampling, line, at), axis)
        if sampling.transform == "tf_crop_and_resize":
            beyond = (at < 0) | (at > line.old - 1)
            beyond = beyond.reshape([-1 if each == axis else 1 for each in range(x.rank)])
            outside = beyond if outside is None else outside | beyond
    if outside is not None and outside.any():
        x = body.constant(outside).choose(body.scalar(sampling.outside, x.type), x)
    if x.type == type:
        return x
    return body.cast(x.apply("Round"), type) if type != DT_FLOAT else x


def _weighted(x: Tensor, weights: np.ndarray, axis: int) -> Tensor:
    """The axis multiplied by a matrix [new, old]; of an image with its channels last."""
    body = x.body
    if axis == x.rank - 1 and x.rank < 4:
        return product(x, body.constant(np.ascontiguousarray(weights.T.astype(np.float32))))
    is_image = x.rank == 4 and axis > 1
    last, place = (channels_last(x), axis - 1) if is_image else (x, axis)
    sizes = body.sizes_of(last)
    before, behind = (math.prod(last.sizes[:place]), math.prod(last.sizes[place + 1 :]))
    if -1 in last.sizes[place + 1 :]:
        raise UnsupportedError("the sizes behind one that is changed must be known")
    rows = body.reshaped(last, [-1 if -1 in last.sizes[:place] else before, last.sizes[place], behind])
    made = body.op("BatchMatMulV2", body.constant(weights[None].astype(np.float32)), rows)
    y = body.reshaped(made, [*sizes[:place], len(weights), *sizes[place + 1 :]])
    return channels_first(y) if is_image else y


def _coordinates(sampling: Sampling, line: Line) -> np.ndarray:
    """Where each place of the result is in x."""
    place, scale = np.arange(line.new, dtype=np.float64), line.scale
    long = line.old * scale
    if sampling.transform == "half_pixel":
        return (place + 0.5) / scale - 0.5
    if sampling.transform == "half_pixel_symmetric":
        center = line.old / 2
        return center * (1 - line.new / long) + (place + 0.5) / scale - 0.5
    if sampling.transform == "pytorch_half_pixel":
        return (place + 0.5) / scale - 0.5 if line.new > 1 else place * 0
    if sampling.transform == "align_corners":
        return place * (line.old - 1) / (long - 1) if long > 1 else place * 0
    if sampling.transform == "asymmetric":
        return place / scale
    if sampling.transform == "tf_crop_and_resize":
        if long == 1:
            return place * 0 + 0.5 * (line.start + line.end) * (line.old - 1)
        step = (line.end - line.start) * (line.old - 1) / (long - 1)
        return line.start * (line.old - 1) + place * step
    raise ModelError(f"coordinate_transformation_mode: {sampling.transform!r} is none of ONNX's")


def _nearest(mode: str) -> Callable[[np.ndarray], np.ndarray]:
    modes: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "round_prefer_floor": lambda at: np.ceil(at - 0.5),
        "round_prefer_ceil": lambda at: np.floor(at + 0.5),
        "floor": np.floor,
        "ceil": np.ceil,
    }
    if mode not in modes:
        raise ModelError(f"nearest_mode: {mode!r} is none of ONNX's")
    return modes[mode]


def _weights(sampling: Sampling, line: Line, at: np.ndarray) -> np.ndarray:
    """The share [new, old] of each element of x in each of the result."""
    stretch = max(1 / line.scale, 1.0) if sampling.antialias else 1.0
    reach = {"linear": 1.0, "cubic": 2.0}.get(sampling.mode)
    if reach is None:
        raise ModelError(f"mode: {sampling.mode!r} is none of ONNX's")
    half = math.ceil(reach * stretch)
    offsets = np.arange(-half, half + 1)
    places = np.floor(at)[:, None].astype(np.int64) + offsets
    distance = np.abs(places - at[:, None]) / stretch
    share = np.maximum(1 - distance, 0) if sampling.mode == "linear" else _cubic(distance, sampling.cubic)
    inside = (places >= 0) & (places < line.old)
    if sampling.excludes_outside:
        share = np.where(inside, share, 0)
    if sampling.excludes_outside or sampling.antialias:
        share = share / share.sum(1, keepdims=True)
    matrix = np.zeros((line.new, line.old))
    rows = np.broadcast_to(np.arange(line.new)[:, None], places.shape)
    np.add.at(matrix, (rows, np.clip(places, 0, line.old - 1)), share)
    return matrix


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))


REGISTRATIONS: dict[str, Rule] = {"Resize": resize, "Upsample": resize}
