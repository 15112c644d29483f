"""Cases of AudioSpectrogram and Mfcc."""

from __future__ import annotations

import numpy as np

from .case import Case, Close
from .custom_case import custom_model


def spectrogram_case(samples: int, size: int, stride: int, squared: bool) -> Case:
    x = np.random.default_rng(1).uniform(-1, 1, (samples, 2)).astype(np.float32)
    length = 1 << (size - 1).bit_length()
    windows = 0 if samples < size else 1 + (samples - size) // stride
    shape = (2, windows, length // 2 + 1)
    options = {"window_size": size, "stride": stride, "magnitude_squared": squared}

    def oracle(x: np.ndarray) -> np.ndarray:
        hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
        waves = np.exp(-2j * np.pi * np.outer(np.arange(length // 2 + 1), np.arange(size)) / length)
        y = np.zeros(shape)
        for k in range(windows):
            spectrum = waves @ (x[k * stride : k * stride + size].astype(np.float64) * hann[:, np.newaxis])
            y[:, k] = np.abs(spectrum.T) ** (2 if squared else 1)
        return y.astype(np.float32)

    return Case(
        id=f"AudioSpectrogram-{samples}-{size}-{stride}-{'squared' if squared else 'magnitude'}",
        make=lambda: custom_model("AudioSpectrogram", [x], [(shape, np.float32)], options),
        inputs=[x],
        oracle=oracle,
        closeness=Close(rtol=1e-5, atol=1e-4),
    )


def mfcc_case(frequencies: int, lower: int, upper: int, channels: int) -> Case:
    x = np.random.default_rng(2).uniform(0, 30, (2, 3, frequencies)).astype(np.float32)
    rate, coefficients = 16000, 9
    options = {
        "upper_frequency_limit": upper,
        "lower_frequency_limit": lower,
        "filterbank_channel_count": channels,
        "dct_coefficient_count": coefficients,
    }

    def mel(hz: float) -> float:
        return float(1127 * np.log1p(hz / 700))

    def oracle(x: np.ndarray) -> np.ndarray:
        step = rate / 2 / (frequencies - 1)
        edges = np.linspace(mel(lower), mel(upper), channels + 2)
        bank = np.zeros((frequencies, channels))
        for b in range(int(1.5 + lower / step), int(upper / step) + 1):
            for c in range(channels):
                left, middle, right = edges[c : c + 3]
                rising, falling = (
                    (mel(b * step) - left) / (middle - left),
                    (right - mel(b * step)) / (right - middle),
                )
                bank[b, c] = max(0.0, min(rising, falling))
        logs = np.log(np.maximum(np.sqrt(x.astype(np.float64)) @ bank, 1e-12))
        cosines = np.cos(np.pi / channels * np.outer(np.arange(coefficients), np.arange(channels) + 0.5))
        return (logs @ (np.sqrt(2 / channels) * cosines).T).astype(np.float32)

    shape = (2, 3, coefficients)
    return Case(
        id=f"Mfcc-{frequencies}-{lower}-{upper}-{channels}",
        make=lambda: custom_model(
            "Mfcc", [x], [(shape, np.float32)], options, constants=[np.array([rate], np.int32)]
        ),
        inputs=[x],
        oracle=oracle,
        closeness=Close(rtol=1e-5, atol=1e-4),
    )


CASES = [
    spectrogram_case(50, 12, 5, True),
    spectrogram_case(40, 16, 20, False),
    spectrogram_case(10, 16, 4, True),
    mfcc_case(129, 20, 4000, 26),
    mfcc_case(65, 300, 7900, 12),
]
