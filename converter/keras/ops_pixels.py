"""keras.ops that compute new pixels: colours, edges, blurs, likeness, windows as columns and back."""

from __future__ import annotations

import math

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_INT32
from ..building.contraction import scattered
from ..building.movement import padded
from ..building.tensor import Tensor
from ..building.window import Window as Windows
from ..building.window import window_parts
from .call import Call, Rule
from .conv import by_channel
from .images import as_batch
from .kind import Kind
from .ops_elementwise import pair
from .window import Window

_SOBEL = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]], np.float32)


def _channels(x: Tensor) -> list[Tensor]:
    if x.sizes[-1] != 3:
        raise ModelError(f"images must have 3 channels, got {x.sizes[-1]}")
    return x.body.ops("Unpack", x, num=3, axis=x.rank - 1)


def _colours(change: object) -> Rule:
    """New channels of three."""

    def rule(c: Call) -> Tensor:
        assert callable(change)
        return as_batch(c, lambda x: c.make("Pack", *change(*_channels(c.floats(x))), axis=x.rank - 1))

    return rule


def _to_hsv(red: Tensor, green: Tensor, blue: Tensor) -> list[Tensor]:
    value = red.maximum(green).maximum(blue)
    span = value - red.minimum(green).minimum(blue)
    saturation = (value > 0).choose(span / (value > 0).choose(value, 1.0), 0.0)
    unit = 1 / ((span > 0).choose(span, 1.0) * 6.0)
    others = value.equals(green).choose((blue - red) * unit + 2 / 6, (red - green) * unit + 4 / 6)
    hue = (span > 0).choose(value.equals(red).choose((green - blue) * unit, others), 0.0)
    return [(hue < 0).choose(hue + 1.0, hue), saturation, value]


def _to_rgb(hue: Tensor, saturation: Tensor, value: Tensor) -> list[Tensor]:
    sixth = hue * 6.0
    ramps = [(sixth - 3.0).apply("Abs") - 1.0, *(2.0 - (sixth - at).apply("Abs") for at in (2.0, 4.0))]
    inside = [ramp.maximum(0.0).minimum(1.0) for ramp in ramps]
    return [((1.0 - saturation) + saturation * each) * value for each in inside]


def _by_each_channel(x: Tensor, kernels: np.ndarray, padding: str) -> Tensor:
    """Each channel by kernels [h, w, m] of its own: [n, h, w, c * m]."""
    if x.sizes[-1] < 1:
        raise UnsupportedError("the number of channels must be known")
    wide = np.repeat(kernels[:, :, None], x.sizes[-1], 2).astype(np.float32)
    window = Window(kernels.shape[:2], (1, 1), (1, 1), padding)
    return by_channel(x, x.body.constant(wide), window)


def sobel_edges(c: Call) -> Tensor:
    """How much pixels rise downwards and to the right, along a new last axis."""
    x = c.last(c.floats(c.x))
    around = padded(x, [(0, 0), (1, 1), (1, 1), (0, 0)], c.body.scalar(0, x.type), "reflect")
    made = _by_each_channel(around, np.stack([_SOBEL, _SOBEL.T], -1), "VALID")
    y = c.body.reshaped(made, [*c.body.sizes_of(x), 2])
    return c.body.transposed(y, (0, 3, 1, 2, 4)) if c.is_channels_first else y


def _bell(size: int, sigma: float) -> np.ndarray:
    x = np.arange(size, dtype=np.float32) - np.float32((size - 1) / 2)
    bell = np.exp(np.float32(-0.5) * (x / np.float32(sigma)) ** 2)
    return bell / bell.sum(dtype=np.float32)


def gaussian_blur(c: Call) -> Tensor:
    sizes, sigmas = c.config.sizes("kernel_size", 2), [float(str(each)) for each in c.config.list("sigma")]
    kernel = np.outer(_bell(sizes[1], sigmas[1]), _bell(sizes[0], sigmas[0])).reshape(*sizes, 1)
    return as_batch(c, lambda x: _by_each_channel(c.floats(x), kernel, "SAME"))


def structural_similarity(c: Call) -> Tensor:
    """Of two images, by means and variances in windows: one number for each pair."""
    x, y = (c.floats(each) for each in pair(c, "image1", "image2"))
    alone = x.rank == 3
    if alone:
        x, y = (c.make("ExpandDims", each, c.body.scalar(0, DT_INT32)) for each in (x, y))
    x, y = c.last(x), c.last(y)
    bell = _bell(c.config.positive("filter_size", 11), c.config.real("filter_sigma", 1.5))
    kernel = np.outer(bell, bell)[:, :, None]

    def mean(each: Tensor) -> Tensor:
        return _by_each_channel(each, kernel, "VALID")

    most = c.config.real("max_val", 1.0)
    first, second = ((c.config.real(name, k) * most) ** 2 for name, k in (("k1", 0.01), ("k2", 0.03)))
    mu, nu = mean(x), mean(y)
    both, squares = mu * nu, (mu * mu, nu * nu)
    spread = mean(x * x) - squares[0] + (mean(y * y) - squares[1])
    top = (both * 2.0 + first) * ((mean(x * y) - both) * 2.0 + second)
    found = top / ((squares[0] + squares[1] + first) * (spread + second))
    y = c.make("Mean", found, c.body.integers([1, 2, 3]), keep_dims=False)
    return c.make("Squeeze", y, squeeze_dims=[0]) if alone else y


def _pairs(c: Call) -> list[tuple[int, int]]:
    """Window, gaps, edges and steps along height and width."""
    names = (("kernel_size", None, 1), ("dilation", 1, 1), ("padding", 0, 0), ("stride", 1, 1))
    return [_pair(c, name, default, least) for name, default, least in names]


def _pair(c: Call, name: str, default: int | None, least: int) -> tuple[int, int]:
    first, second = c.config.sizes(name, 2, default, least)
    return first, second


def unfold(c: Call) -> Tensor:
    """The windows of [n, c, h, w] as columns [n, c * window, count]."""
    x = c.x
    if x.rank != 4 or -1 in x.sizes[1:]:
        raise UnsupportedError("x must be [n, c, h, w] of known sizes")
    window, gaps, edges, steps = _pairs(c)
    around = padded(x, [(0, 0), (0, 0), *((edge, edge) for edge in edges)], c.body.scalar(0, x.type))
    parts = window_parts(around, Windows(window, steps, gaps, ((0, 0), (0, 0))))
    wide = c.make("Pack", *parts, axis=2)
    return c.body.reshaped(wide, [-1, x.sizes[1] * math.prod(window), math.prod(parts[0].sizes[2:])])


def fold(c: Call) -> Tensor:
    """Columns put where they were in an image [n, c, h, w], added up where they overlap."""
    x = c.floats(c.x)
    window, gaps, edges, steps = _pairs(c)
    image, whole = _pair(c, "output_size", None, 1), math.prod(window)
    if x.rank != 3 or x.sizes[1] < 1 or x.sizes[1] % whole:
        raise ModelError(f"x must be [n, c * {whole}, count] for windows of {window}, got {list(x.sizes)}")
    reach = [(k - 1) * gap + 1 for k, gap in zip(window, gaps, strict=True)]
    rows = list(zip(image, edges, reach, steps, strict=True))
    counts = [(size + 2 * edge - far) // step + 1 for size, edge, far, step in rows]
    cuts = [
        (edge, (count - 1) * step + far - edge - size)
        for (size, edge, far, step), count in zip(rows, counts, strict=True)
    ]
    weights = np.zeros((whole, 1, *reach), np.float32)
    weights[:, :, :: gaps[0], :: gaps[1]] = np.eye(whole).reshape(whole, 1, *window)
    flat = c.body.reshaped(x, [-1, whole, *counts])
    made = scattered(flat, c.body.constant(weights), steps, 1, cuts, None)
    return c.body.reshaped(made, [-1, x.sizes[1] // whole, *image])


REGISTRATIONS: dict[str, Kind] = {
    "ops.Fold": Kind(fold),
    "ops.GaussianBlur": Kind(gaussian_blur),
    "ops.HSVToRGB": Kind(_colours(_to_rgb)),
    "ops.RGBToHSV": Kind(_colours(_to_hsv)),
    "ops.SSIM": Kind(structural_similarity),
    "ops.SobelEdges": Kind(sobel_edges),
    "ops.Unfold": Kind(unfold),
}
