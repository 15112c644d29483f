"""Parts of images at computed places, windows put back, and signals: by their definitions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter
from numlite.lite.errors import UnsupportedError
from numlite.schema.onnx import ModelProto

from ...onnx_builder import Size, model, node, value
from ..graphs import checked

RANDOM = np.random.default_rng(29)


def random(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def built(
    op: str,
    given: dict[str, Sequence[Size]],
    opset: int = 21,
    constants: dict[str, np.ndarray] | None = None,
    order: Sequence[str] = (),
    **attributes: object,
) -> ModelProto:
    """One node from x and what else there is, in order, to y; integers are those named b and i."""
    names = order or [*given, *(constants or {})]
    inputs = [value(name, shape, np.int64 if name in "bi" else np.float32) for name, shape in given.items()]
    return model([node(op, names, "y", **attributes)], inputs, [value("y", None)], constants, opset)


def run(made: ModelProto, **given: np.ndarray) -> np.ndarray:
    content = checked(Converter.from_onnx(made).convert())
    return Interpreter(model_content=content).get_signature_runner()(**given)["y"]


def pixel(image: np.ndarray, places: Sequence[float], around: str = "zeros") -> np.ndarray:
    """Linear, of an image [c, ...]: zeros outside, or what is nearest."""
    total = np.zeros(len(image))
    for corner in itertools.product((0, 1), repeat=len(places)):
        at = [math.floor(place) + step for place, step in zip(places, corner, strict=True)]
        share = math.prod(1 - abs(place - each) for place, each in zip(places, at, strict=True))
        kept = [min(max(each, 0), size - 1) for each, size in zip(at, image.shape[1:], strict=True)]
        if kept == at or around == "border":
            total += share * image[(slice(None), *kept)]
    return total


@pytest.mark.parametrize("count", [3, 1])
@pytest.mark.parametrize("half", ["half_pixel", "output_half_pixel"])
def test_regions(half: str, count: int) -> None:
    x, batch = random(2, 3, 6, 7), np.arange(count) % 2
    corners = RANDOM.uniform(0, 8, (count, 2, 2)).astype(np.float32)
    regions = np.concatenate([corners.min(1), corners.max(1)], 1) - 1
    made = built(
        "RoiAlign",
        {"x": [2, 3, 6, 7], "r": [None, 4], "b": [None]},
        sampling_ratio=2,
        output_height=2,
        output_width=3,
        spatial_scale=0.75,
        coordinate_transformation_mode=half,
    )
    wanted = np.zeros((count, 3, 2, 3))
    offset = 0.5 if half == "half_pixel" else 0
    for r, (x1, y1, x2, y2) in enumerate(0.75 * regions - offset):
        size = [y2 - y1, x2 - x1] if offset else [max(y2 - y1, 1), max(x2 - x1, 1)]
        for i, j in itertools.product(range(4), range(6)):
            at = [y1 + (i + 0.5) * size[0] / 4, x1 + (j + 0.5) * size[1] / 6]
            if all(-1 <= a <= n for a, n in zip(at, (6, 7), strict=True)):
                kept = [min(max(a, 0), n - 1) for a, n in zip(at, (6, 7), strict=True)]
                wanted[r, :, i // 2, j // 2] += pixel(x[batch[r]], kept, "border") / 4
    np.testing.assert_allclose(run(made, x=x, r=regions, b=batch), wanted, rtol=1e-5, atol=1e-5)


def test_regions_whose_sizes_say_how_many_samples_are_refused() -> None:
    made = built("RoiAlign", {"x": [2, 3, 6, 7], "r": [None, 4], "b": [None]})
    with pytest.raises(UnsupportedError, match="sampling_ratio 0"):
        Converter.from_onnx(made)


@pytest.mark.parametrize("batch", [2, None])
@pytest.mark.parametrize(
    ("groups", "sets", "masked"), [(1, 1, False), (2, 1, True), (1, 2, True), (2, 2, False)]
)
def test_convolutions_with_offsets(groups: int, sets: int, masked: bool, batch: int | None) -> None:
    x, w, bias = random(2, 4, 5, 6), random(6, 4 // groups, 2, 3), random(6)
    offset = (2 * random(2, sets * 6 * 2, 2, 5)).astype(np.float32)
    mask = random(2, sets * 6, 2, 5)
    given = {"x": x, "o": offset, **({"m": mask} if masked else {})}
    made = built(
        "DeformConv",
        {name: [batch, *array.shape[1:]] for name, array in given.items()},
        constants={"w": w, "k": bias},
        order=["x", "w", "o", "k", *(["m"] if masked else [])],
        group=groups,
        offset_group=sets,
        strides=[2, 1],
        dilations=[1, 2],
        pads=[0, 1, 1, 2],
    )
    wanted = np.zeros((2, 6, 2, 5)) + bias[:, None, None]
    moves = offset.reshape(2, sets, 6, 2, 2, 5)
    for n, o, i, j, k, ch in itertools.product(range(2), range(6), range(2), range(5), range(6), range(4)):
        if ch // (4 // groups) != o // (6 // groups):
            continue
        part = ch // (4 // sets)
        dy, dx = moves[n, part, k, :, i, j]
        at = [2 * i + k // 3 + dy, j - 1 + 2 * (k % 3) + dx]
        factor = mask.reshape(2, sets, 6, 2, 5)[n, part, k, i, j] if masked else 1
        wanted[n, o, i, j] += (
            w[o, ch % (4 // groups), k // 3, k % 3] * factor * pixel(x[n, ch : ch + 1], at)[0]
        )
    np.testing.assert_allclose(run(made, **given), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("aligned", [0, 1])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("sizes", [(4, 5), (3, 4, 2)], ids=str)
def test_a_grid_of_the_pixels_gives_the_image(sizes: tuple[int, ...], mode: str, aligned: int) -> None:
    """The batch is open; the grid is AffineGrid's of matrices that move nothing but the second image."""
    rank = len(sizes)
    theta = np.zeros((2, rank, rank + 1), np.float32)
    theta[:, range(rank), range(rank)] = 1
    # One pixel to the right.
    theta[1, 0, -1] = 2 / (sizes[-1] - 1) if aligned else 2 / sizes[-1]
    made = model(
        [
            node("AffineGrid", ["t", "s"], "g", align_corners=aligned),
            node("GridSample", ["x", "g"], "y", mode=mode, align_corners=aligned),
        ],
        [value("x", [None, 3, *sizes]), value("t", [None, rank, rank + 1])],
        [value("y", None)],
        {"s": np.array([2, 3, *sizes])},
    )
    x = random(2, 3, *sizes)
    found = run(made, x=x, t=theta)
    np.testing.assert_allclose(found[0], x[0], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found[1, ..., :-1], x[1, ..., 1:], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found[1, ..., -1], 0, atol=1e-4)


@pytest.mark.parametrize("image", [(7,), (6, 7), (3, 4, 5)], ids=str)
def test_windows_are_put_back(image: tuple[int, ...]) -> None:
    """The sum of products of windows and numbers is that of products of the image and the result."""
    rank = len(image)
    window, strides, pads = (2, 3, 2)[:rank], (2, 1, 1)[:rank], (1, 0, 1)[:rank]
    y = random(2, 2, *image)
    padded = np.pad(y, [(0, 0), (0, 0), *((p, p) for p in pads)])
    seen = np.lib.stride_tricks.sliding_window_view(padded, window, tuple(range(2, 2 + rank)))
    seen = seen[(slice(None), slice(None), *(slice(None, None, s) for s in strides))]
    rows = np.moveaxis(seen.reshape(*seen.shape[: 2 + rank], -1), -1, 2).reshape(2, 2 * math.prod(window), -1)
    x = random(*rows.shape)
    made = built(
        "Col2Im",
        {"x": [None, *x.shape[1:]]},
        constants={"image": np.array(image), "window": np.array(window)},
        strides=list(strides),
        pads=[*pads, *pads],
    )
    found = run(made, x=x)
    assert found.shape == y.shape
    np.testing.assert_allclose((found * y).sum(), (x * rows).sum(), rtol=1e-4, atol=1e-4)


def test_what_a_pooling_took_is_put_where_it_was() -> None:
    x, places = np.array([[[[1, 2], [3, 4]]]], np.float32), np.array([[[[5, 7], [13, 15]]]])
    wanted = np.zeros((1, 1, 4, 4), np.float32)
    wanted[0, 0, 1::2, 1::2] = x[0, 0]
    given = {"x": [1, 1, 2, 2], "i": [1, 1, 2, 2]}
    sizes = {"kernel_shape": [2, 2], "strides": [2, 2]}
    np.testing.assert_array_equal(run(built("MaxUnpool", given, **sizes), x=x, i=places), wanted)
    larger = built("MaxUnpool", given, constants={"s": np.array([1, 1, 5, 5])}, **sizes)
    np.testing.assert_array_equal(
        run(larger, x=x, i=places), np.pad(wanted, ((0, 0), (0, 0), (0, 1), (0, 1)))
    )


@pytest.mark.parametrize("length", [6, 4, 9])
@pytest.mark.parametrize("parts", [1, 2])
def test_fourier_transforms(parts: int, length: int) -> None:
    x = random(2, 6, 3, parts)
    signal = x[..., 0] + (1j * x[..., 1] if parts == 2 else 0)
    held = {"l": np.array(length), "a": np.array(1)}
    for inverse, transform in ((0, np.fft.fft), (1, np.fft.ifft)):
        found = run(built("DFT", {"x": [None, 6, 3, parts]}, 20, held, inverse=inverse), x=x)
        wanted = transform(signal, length, 1)
        np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], wanted, rtol=1e-5, atol=1e-5)
    if parts == 1:
        found = run(built("DFT", {"x": [None, 6, 3, 1]}, 17, {"l": held["l"]}, onesided=1, axis=1), x=x)
        wanted = np.fft.rfft(x[..., 0], length, 1)
        np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], wanted, rtol=1e-5, atol=1e-5)


def test_a_signal_of_half_its_spectrum() -> None:
    for length in (6, 7):
        signal = random(2, length)
        half = np.fft.rfft(signal)
        x = np.stack([half.real, half.imag], -1).astype(np.float32)
        held = {"l": np.array(length), "a": np.array(1)}
        made = built("DFT", {"x": list(x.shape)}, 20, held, inverse=1, onesided=1)
        np.testing.assert_allclose(run(made, x=x)[..., 0], signal, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("samples", [20, 33])
@pytest.mark.parametrize("windowed", [False, True])
def test_frames_of_an_open_length(windowed: bool, samples: int) -> None:
    x, window = (
        random(2, samples, 1),
        np.hanning(8).astype(np.float32) if windowed else np.ones(8, np.float32),
    )
    held = {"step": np.array(3), "w": window, "length": np.array(8)}
    made = built("STFT", {"x": [2, None, 1]}, 17, held)
    frames = np.lib.stride_tricks.sliding_window_view(x[..., 0], 8, 1)[:, ::3] * window
    found = run(made, x=x)
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], np.fft.rfft(frames), rtol=1e-5, atol=1e-5)
