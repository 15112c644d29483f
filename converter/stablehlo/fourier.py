"""Fourier transforms."""

from __future__ import annotations

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT
from ..building.fourier import Rows, along, of_real, to_real
from .complex_numbers import parts
from .held import Complex, Held, known_shape
from .step import Result, Rule, Step


def fft(step: Step) -> Result:
    """Along the last axes; of real numbers half of the result is given, or taken."""
    kind, lengths = step.text("fft_type"), step.integers("fft_length")
    held = step.held(0)
    if not lengths or len(lengths) > len(held.shape):
        raise ModelError(f"fft_length must be of one to {len(held.shape)} axes, got {lengths}")
    if min(lengths) < 1:
        raise ModelError(f"fft_length must be positive, got {lengths}")
    axes = list(range(len(held.shape) - len(lengths), len(held.shape)))
    inverse = kind.startswith("I")
    rows: Rows = _whole(held)
    if kind == "RFFT":
        rows = of_real(rows[0], lengths[-1])
    others = [] if kind in ("RFFT", "IRFFT") else [axes[-1]]
    for axis, length in zip([*axes[:-1], *others], lengths, strict=False):
        rows = along(rows, axis, length, inverse)
    if kind == "IRFFT":
        return known_shape(to_real(rows, lengths[-1]), step.shape)
    return Complex(*(Held(known_shape(each, step.shape), step.shape) for each in rows))


def _whole(held: Held) -> Rows:
    real, imaginary = (each.whole for each in parts(held))
    if real.type != DT_FLOAT:
        raise UnsupportedError("Fourier transforms of other numbers than floats")
    return real, imaginary


REGISTRATIONS: dict[str, Rule] = {"fft": fft}
