"""Fourier transforms of real signals, and audio."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction
from .dimensions import ANY


def real_fft(c: ShapeContext) -> Results:
    """RFFT, IRFFT and their kin: the lengths are the second input, halved for the spectrum's last axis."""
    count = 1 + ("2D" in c.op) + 2 * ("3D" in c.op)
    shape, lengths = c.at_least(0, count), c.numbers(1)
    if shape is None:
        return [None]
    sizes = [ANY if n is None else n for n in lengths or [None] * count]
    if len(sizes) != count:
        raise c.fault(f"fft_length must have {count} elements, got {len(sizes)}")
    if c.op.startswith("RFFT") and sizes[-1] != ANY:
        sizes[-1] = sizes[-1] // 2 + 1 if sizes[-1] else 0
    return [(*shape[:-count], *sizes)]


def spectrogram(c: ShapeContext) -> Results:
    """AudioSpectrogram: channels, windows, half the next power of two and one more."""
    samples, channels = c.ranked(0, 2)
    window, stride = c.integer("window_size"), c.integer("stride")
    if window < 2 or stride < 1:
        raise c.fault(f"window_size and stride must be at least 2 and 1, got {window} and {stride}")
    rows = ANY if samples == ANY else max(samples - window, -stride) // stride + 1
    return [(channels, rows, (1 << (window - 1).bit_length()) // 2 + 1)]


def mfcc(c: ShapeContext) -> Results:
    x = c.ranked(0, 3)
    return [(x[0], x[1], c.integer("dct_coefficient_count"))]


REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(("RFFT", "RFFT2D", "RFFT3D", "IRFFT", "IRFFT2D", "IRFFT3D"), real_fft),
    "AudioSpectrogram": spectrogram,
    "Mfcc": mfcc,
}
