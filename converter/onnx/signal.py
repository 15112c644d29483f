"""Signals: Fourier transforms as products with matrices, and mel weights."""

from __future__ import annotations

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT
from ...schema.onnx import TensorProto
from ..building.computed_types import inner_array
from ..building.contraction import product
from ..building.movement import axis_of, sliced
from ..building.tensor import Tensor
from .call import Call, Rule
from .element_types import outside_type, stored_dtype

# Numbers of a matrix, 64 MB.
_MOST = 1 << 24


def _angles(length: int, taken: int, bins: int, numbers: int) -> np.ndarray:
    """2 pi t k / length of each time and frequency [taken, bins], each due so many numbers."""
    if taken * bins * numbers > _MOST:
        raise UnsupportedError(f"a length of {length}: the matrix would have more than {_MOST} numbers")
    return 2 * np.pi * (np.outer(np.arange(taken), np.arange(bins)) % length) / length


def _waves(length: int, taken: int, inverse: bool, onesided: bool, parts: int) -> np.ndarray:
    """Factors [taken, parts, bins, 2] of real and imaginary parts for real and imaginary results.

    parts is 1 for real numbers. The signal has taken numbers, the rest of length are zeros.
    """
    bins = length // 2 + 1 if onesided else length
    angle = _angles(length, taken, bins, 2 * parts) * (1 if inverse else -1)
    waves = np.stack([np.cos(angle), np.sin(angle)], -1)[:, None]
    if parts == 2:
        waves = np.concatenate([waves, np.stack([-np.sin(angle), np.cos(angle)], -1)[:, None]], 1)
    return waves / length if inverse else waves


def _one_sided(length: int, taken: int) -> np.ndarray:
    """Factors [taken, 2, length, 1] of a real signal of half of its spectrum, whose other half mirrors it."""
    angle = _angles(length, taken, length, 2)
    twice = np.full((taken, 1), 2.0)
    twice[0] = 1
    if length % 2 == 0 and taken == length // 2 + 1:
        twice[-1] = 1
    return np.stack([np.cos(angle) * twice, -np.sin(angle) * twice], 1)[..., None] / length


def dft(c: Call) -> Tensor:
    """Fourier transform along an axis of [..., 1] or [..., 2] (real and imaginary parts)."""
    x = c.input(0)
    given = c.optional(1)
    if c.opset >= 20:
        axis = c.constants(2, "the axis")[0] if c.optional(2) is not None else -2
    else:
        axis = c.integer("axis", 1)
    axis, inverse, onesided = axis_of(axis, x.rank), c.flag("inverse"), c.flag("onesided")
    size, parts = x.sizes[axis], x.sizes[-1]
    if axis == x.rank - 1 or parts not in (1, 2) or (onesided and parts == 2 and not inverse):
        raise ModelError(f"x must be [..., 1] or [..., 2] (only real where onesided), got {list(x.sizes)}")
    if size == -1:
        raise UnsupportedError("the size of the axis must be known")
    mirrors = inverse and onesided
    length = c.constants(1, "the length")[0] if given is not None else 2 * (size - 1) if mirrors else size
    taken = min(size, length // 2 + 1 if mirrors else length)
    if mirrors and parts == 1:
        raise ModelError("half of a spectrum must have real and imaginary parts")
    waves = _one_sided(length, taken) if mirrors else _waves(length, taken, inverse, onesided, parts)
    x = sliced(x, [axis], [0], [taken], [1])
    order = [*(each for each in range(x.rank) if each not in (axis, x.rank - 1)), axis, x.rank - 1]
    moved = c.body.transposed(c.body.cast(x, DT_FLOAT), order)
    sizes = c.body.sizes_of(moved)[:-2]
    rows = c.body.reshaped(moved, [*sizes, taken * parts])
    matrix = waves.reshape(taken * parts, -1).astype(np.float32)
    y = c.body.reshaped(product(rows, c.body.constant(matrix)), [*sizes, *waves.shape[2:]])
    return c.body.cast(c.body.transposed(y, list(np.argsort(order))), x.type)


def stft(c: Call) -> Tensor:
    """Fourier transforms of frames of [n, length], [n, length, 1] or [n, length, 2], by one CONV_2D."""
    x, step = c.input(0), c.constants(1, "the step")[0]
    window = c.constant(2, "the window").astype(np.float64) if c.optional(2) is not None else None
    if c.optional(3) is not None:
        length = c.constants(3, "the length of a frame")[0]
    elif window is not None:
        length = len(window)
    else:
        raise ModelError("a window or the length of a frame must be there")
    if window is not None and len(window) != length:
        raise ModelError(f"window must have {length} numbers, as a frame has, got {len(window)}")
    parts = x.sizes[2] if x.rank == 3 else 1
    onesided = c.flag("onesided", True) and parts == 1
    if x.rank not in (2, 3) or parts not in (1, 2) or step < 1:
        raise ModelError(
            f"x must be [n, length] or [n, length, 1 or 2], the step positive, got {list(x.sizes)}"
        )
    waves = _waves(length, length, False, onesided, parts)
    if window is not None:
        waves = waves * window.reshape(-1, 1, 1, 1)
    filters = c.body.constant(waves.reshape(1, length, parts, -1).astype(np.float32))
    n, long = c.body.sizes_of(x)[:2]
    row = c.body.reshaped(c.body.cast(x, DT_FLOAT), [n, 1, long, parts])
    made = c.make("Conv2D", row, filters, strides=[1, 1, step, 1], padding="VALID")
    count = c.body.sizes_of(made)[2]
    return c.body.cast(c.body.reshaped(made, [n, count, *waves.shape[2:]]), x.type)


def mel_weight_matrix(c: Call) -> Tensor:
    """Weights [bins of a spectrum, mel bins]: triangles whose corners are equally far on the mel scale."""
    what = "the settings"
    bins, length, rate = (c.constants(place, what)[0] for place in range(3))
    low, high = (float(np.ravel(c.constant(place, what))[0]) for place in (3, 4))
    ends = [2595 * np.log10(1 + hertz / 700) for hertz in (low, high)]
    mels = ends[0] + np.arange(bins + 2) * (ends[1] - ends[0]) / (bins + 2)
    corners = (length + 1) * (700 * (10 ** (mels / 2595) - 1)) // rate
    at = np.arange(length // 2 + 1)[:, None]
    left, middle, right = (corners[k : k + bins][None] for k in range(3))
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(middle > left, (at - left) / (middle - left), 1.0 * (at == middle))
        down = np.where(right > middle, (right - at) / (right - middle), 0.0)
    data = np.where((at >= left) & (at <= middle), up, np.where((at > middle) & (at < right), down, 0.0))
    type = c.integer("output_datatype", TensorProto.FLOAT)
    outside_type(type)
    return c.body.constant(inner_array(data.astype(stored_dtype(type))))


REGISTRATIONS: dict[str, Rule] = {"DFT": dft, "MelWeightMatrix": mel_weight_matrix, "STFT": stft}
