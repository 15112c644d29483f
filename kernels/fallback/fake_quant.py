"""FakeQuantWithMinMaxArgs, Vars and VarsPerChannel, and their gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..requantize import round_half_away
from .registry import kernel
from .status import InvalidArgumentError


@dataclass(frozen=True)
class _Nudged:
    """A range moved so that 0 is one of its steps, their size and its inverse; scalars or by channel.

    empty where the range is 0 to 0: everything is 0 then.
    """

    low: np.ndarray
    high: np.ndarray
    scale: np.ndarray
    inverse: np.ndarray
    empty: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Steps:
    """How many steps a range has."""

    num_bits: int
    narrow_range: bool


def _nudged(op: str, low: np.ndarray, high: np.ndarray, steps: Steps) -> _Nudged:
    """The range with 0 among its steps; a min above max is taken as it is.

    Source: TensorFlow tensorflow/core/kernels/fake_quant_ops_functor.h, Nudge.
    """
    if not 2 <= steps.num_bits <= 16:
        raise InvalidArgumentError(f"{op}: num_bits must be from 2 to 16, got {steps.num_bits}")
    least, most = np.float32(steps.narrow_range), np.float32((1 << steps.num_bits) - 1)
    scale, inverse = (high - low) / (most - least), (most - least) / (high - low)
    zero = least - low / scale
    # What is no number (an infinite min) is 0 as TensorFlow's integer.
    rounded = np.where(np.isnan(zero), 0, np.clip(round_half_away(zero), least, most))
    ends = (least - rounded) * scale, (most - rounded) * scale
    return _Nudged(*ends, scale, inverse, (low == 0) & (high == 0))


def _quantized(x: np.ndarray, nudged: _Nudged, *, divided: bool = False) -> np.ndarray:
    """x on the steps, which a product tells or, divided, a quotient: halfway these differ."""
    half = np.float32(0.5)
    zero = np.floor(-nudged.low * nudged.inverse + half)
    # Of a range that is turned round, all is its low end.
    shifted = np.maximum(np.minimum(x, nudged.high), nudged.low) - nudged.low
    places = shifted / nudged.scale if divided else shifted * nudged.inverse
    steps = np.floor(places - zero + half)
    return np.where(nudged.empty, np.float32(0), steps * nudged.scale)


def _scalars(op: str, low: np.ndarray, high: np.ndarray) -> None:
    if low.ndim or high.ndim:
        message = "min and max must be scalars"
        raise InvalidArgumentError(f"{op}: {message}, got {list(low.shape)} and {list(high.shape)}")


def _channels(op: str, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    if x.ndim < 1 or low.shape != x.shape[-1:] or high.shape != x.shape[-1:]:
        message = "min and max must have an element for each channel"
        shapes = f"{list(low.shape)} and {list(high.shape)} for {list(x.shape)}"
        raise InvalidArgumentError(f"{op}: {message}, got {shapes}")


def _attributes(op: str, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    if not low < high:
        raise InvalidArgumentError(f"{op}: min must be below max, got {low} and {high}")
    return np.array(low, np.float32), np.array(high, np.float32)


def fake_quant_args(x: np.ndarray, *, min: float, max: float, steps: Steps) -> np.ndarray:
    """x as if quantized to so many bits from min to max and back, float32."""
    op = "FakeQuantWithMinMaxArgs"
    return _quantized(x, _nudged(op, *_attributes(op, min, max), steps))


def fake_quant_vars(x: np.ndarray, low: np.ndarray, high: np.ndarray, *, steps: Steps) -> np.ndarray:
    """x as if quantized to so many bits from low to high, scalars, and back."""
    op = "FakeQuantWithMinMaxVars"
    _scalars(op, low, high)
    return _quantized(x, _nudged(op, low, high, steps), divided=True)


def fake_quant_per_channel(x: np.ndarray, low: np.ndarray, high: np.ndarray, *, steps: Steps) -> np.ndarray:
    """x as if quantized and back, each channel, the last axis, from low to high of its own."""
    op = "FakeQuantWithMinMaxVarsPerChannel"
    _channels(op, x, low, high)
    return _quantized(x, _nudged(op, low, high, steps))


def _check_gradient(op: str, gradient: np.ndarray, x: np.ndarray) -> None:
    if gradient.shape != x.shape:
        message = "gradients and inputs must have one shape"
        raise InvalidArgumentError(f"{op}: {message}, got {list(gradient.shape)} and {list(x.shape)}")


def _gradients(
    gradient: np.ndarray, x: np.ndarray, nudged: _Nudged, axes: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """gradient within the range; what is below and above it, summed over the axes.

    Each is a product with 0 or 1, so that gradients that are infinite or NaN are NaN in all three.
    """
    none = np.float32(0)
    with np.errstate(invalid="ignore"):
        dx = np.where(nudged.empty, gradient, gradient * ((x >= nudged.low) & (x <= nudged.high)))
        below = np.where(nudged.empty, none, gradient * (x < nudged.low))
        above = np.where(nudged.empty, none, gradient * (x > nudged.high))
    return dx, np.asarray(below.sum(axis=axes)), np.asarray(above.sum(axis=axes))


def fake_quant_args_gradient(
    gradient: np.ndarray, x: np.ndarray, *, min: float, max: float, steps: Steps
) -> np.ndarray:
    """gradient where x is from min to max, else 0."""
    op = "FakeQuantWithMinMaxArgsGradient"
    _check_gradient(op, gradient, x)
    nudged = _nudged(op, *_attributes(op, min, max), steps)
    return _gradients(gradient, x, nudged, ())[0]


def fake_quant_vars_gradient(
    gradient: np.ndarray, x: np.ndarray, low: np.ndarray, high: np.ndarray, *, steps: Steps
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of x, low and high."""
    op = "FakeQuantWithMinMaxVarsGradient"
    _check_gradient(op, gradient, x)
    _scalars(op, low, high)
    nudged = _nudged(op, low, high, steps)
    return _gradients(gradient, x, nudged, tuple(range(x.ndim)))


def fake_quant_per_channel_gradient(
    gradient: np.ndarray, x: np.ndarray, low: np.ndarray, high: np.ndarray, *, steps: Steps
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of x, low and high, the latter by channel."""
    op = "FakeQuantWithMinMaxVarsPerChannelGradient"
    _check_gradient(op, gradient, x)
    _channels(op, x, low, high)
    nudged = _nudged(op, low, high, steps)
    return _gradients(gradient, x, nudged, tuple(range(x.ndim - 1)))


REGISTRATIONS = (
    kernel("FakeQuantWithMinMaxArgs", fake_quant_args),
    kernel("FakeQuantWithMinMaxArgsGradient", fake_quant_args_gradient),
    kernel("FakeQuantWithMinMaxVars", fake_quant_vars),
    kernel("FakeQuantWithMinMaxVarsGradient", fake_quant_vars_gradient),
    kernel("FakeQuantWithMinMaxVarsPerChannel", fake_quant_per_channel),
    kernel("FakeQuantWithMinMaxVarsPerChannelGradient", fake_quant_per_channel_gradient),
)
