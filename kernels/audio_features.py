"""Spectra and cepstra of sound, which TFLite's custom operators and TensorFlow's ops compute alike."""

from __future__ import annotations

import numpy as np

from ..schema.named_tuple import NamedTuple

LONGEST_WINDOW = 1 << 24
MOST_CHANNELS = 1 << 12
_FLOOR = 1e-12


def spectrum_sizes(samples: int, window_size: int, stride: int) -> tuple[int, int]:
    """Windows that fit into so many samples, and frequencies of each: half a power of two, and one."""
    windows = 0 if samples < window_size else 1 + (samples - window_size) // stride
    return windows, (1 << (window_size - 1).bit_length()) // 2 + 1


def hann(size: int) -> np.ndarray:
    """Hann's window, float64 [size], periodic."""
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)


def spectrum(samples: np.ndarray, window: np.ndarray, stride: int, squared: bool) -> np.ndarray:
    """float32 [channels, windows, frequencies] of samples [samples, channels], at least one window.

    Source: LiteRT tflite/kernels/internal/spectrogram.cc.
    """
    waves = np.ascontiguousarray(samples.T)
    frames = np.lib.stride_tricks.sliding_window_view(waves, len(window), axis=1)[:, ::stride]
    found = np.fft.rfft(frames * window, 1 << (len(window) - 1).bit_length())
    power = (found.real**2 + found.imag**2).astype(np.float32)
    return power if squared else np.sqrt(power)


class Cepstrum(NamedTuple):
    """Limits in Hz, channels between them, evenly spaced in mel, and how many coefficients are wanted."""

    lower: float
    upper: float
    channels: int
    coefficients: int

    def is_valid(self) -> bool:
        fits = 1 <= self.coefficients <= self.channels <= MOST_CHANNELS
        return fits and 0 <= self.lower < self.upper


def cepstrum(power: np.ndarray, rate: int, wanted: Cepstrum) -> np.ndarray:
    """float64 [..., coefficients] of squared magnitudes [..., frequencies, 2 or more], rate in Hz.

    Zeros where the upper limit is beyond the frequencies.
    Source: LiteRT tflite/kernels/internal/mfcc.cc and mfcc_dct.cc.
    """
    with np.errstate(all="ignore"):
        sums = _filtered(np.sqrt(power.astype(np.float64)), rate, wanted)
        if sums is None:
            return np.zeros((*power.shape[:-1], wanted.coefficients))
        logs = np.log(np.maximum(sums, _FLOOR))
        angles = np.outer(np.arange(wanted.coefficients), np.arange(wanted.channels) + 0.5)
        cosines = np.sqrt(2 / wanted.channels) * np.cos(np.pi / wanted.channels * angles)
        return np.asarray(logs @ cosines.T)


def _mel(frequency: np.ndarray | float) -> np.ndarray:
    return np.asarray(1127.0 * np.log1p(np.asarray(frequency) / 700.0))


def _filtered(magnitudes: np.ndarray, rate: int, wanted: Cepstrum) -> np.ndarray | None:
    """Sums [..., channels] of magnitudes under overlapping triangles; None beyond the frequencies.

    Frequencies outside the limits do not count, whatever they hold; those inside count in their two channels
    alone, but also where their weight is 0.
    Source: LiteRT tflite/kernels/internal/mfcc_mel_filterbank.cc.
    """
    low, high = _mel(wanted.lower), _mel(wanted.upper)
    edges = low + (high - low) / (wanted.channels + 1) * np.arange(wanted.channels + 2)
    hertz = 0.5 * rate / (magnitudes.shape[-1] - 1)
    start, end = int(1.5 + wanted.lower / hertz), int(wanted.upper / hertz)
    if end >= magnitudes.shape[-1]:
        return None
    bins = np.arange(start, end + 1)
    mels = _mel(bins * hertz)
    # A bin lies on the falling side of one channel's triangle and on the rising side of the next.
    at = np.minimum(np.searchsorted(edges[1:-1], mels, side="left"), wanted.channels)
    falling = (edges[at + 1] - mels) / (edges[at + 1] - edges[at])
    whole = np.moveaxis(magnitudes[..., start : end + 1], -1, 0)
    part = (whole.T * falling).T
    sums = np.zeros((wanted.channels + 2, *whole.shape[1:]))
    # A channel's rising side lies below its falling one, so that frequencies are added in their order.
    np.add.at(sums, at + 1, whole - part)
    np.add.at(sums, at, part)
    return np.ascontiguousarray(np.moveaxis(sums[1:-1], 0, -1))
