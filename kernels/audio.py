"""AudioSpectrogram and Mfcc: features of sound, by NumPy."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import TensorType
from ..schema.named_tuple import NamedTuple
from .custom_options import FlexOptions

_FLOOR = 1e-12
_LONGEST_WINDOW = 1 << 24
_MOST_CHANNELS = 1 << 12


class _Spectrogram(NamedTuple):
    """How an AudioSpectrogram looks at its samples; window is Hann's, float64."""

    window: np.ndarray
    stride: int
    length: int
    squared: bool


def prepare_spectrogram(context: Context, node: Node) -> None:
    """y [channels, windows, length / 2 + 1] of x [samples, channels].

    The length is the window's, rounded up to a power of two.
    Source: LiteRT tflite/kernels/audio_spectrogram.cc and internal/spectrogram.cc.
    """
    name = "AudioSpectrogram"
    x, y = context.input(node, 0), context.output(node, 0)
    if len(x.shape) != 2 or x.type != TensorType.FLOAT32 or y.type != TensorType.FLOAT32:
        raise PrepareError(f"{name}: input must be a float32 matrix and output float32, got {x!r} and {y!r}")
    options = FlexOptions(node)
    size, stride = options.integer("window_size"), options.integer("stride")
    if not 2 <= size <= _LONGEST_WINDOW or stride < 1:
        raise PrepareError(
            f"{name}: window_size must be from 2 to {_LONGEST_WINDOW} and stride at least 1, "
            f"got {size} and {stride}"
        )
    length = 1 << (size - 1).bit_length()
    window = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(size) / size)
    samples, channels = x.shape
    windows = 0 if samples < size else 1 + (samples - size) // stride
    context.resize_tensor(y, (channels, windows, length // 2 + 1))
    node.user_data = _Spectrogram(window, stride, length, options.flag("magnitude_squared"))


def invoke_spectrogram(context: Context, node: Node) -> None:
    settings, y = node.user_data, context.output(node, 0)
    assert isinstance(settings, _Spectrogram)
    if y.size == 0:
        return
    samples = np.ascontiguousarray(context.input(node, 0).array().T)
    windows = np.lib.stride_tricks.sliding_window_view(samples, len(settings.window), axis=1)
    frames = windows[:, :: settings.stride] * settings.window
    spectrum = np.fft.rfft(frames, settings.length)
    power = (spectrum.real**2 + spectrum.imag**2).astype(np.float32)
    y.array()[...] = power if settings.squared else np.sqrt(power)


class _Mfcc(NamedTuple):
    """An Mfcc's filter bank and how many coefficients it gives."""

    lower: int
    upper: int
    channels: int
    coefficients: int


def prepare_mfcc(context: Context, node: Node) -> None:
    """y [channels, windows, coefficients] of squared magnitudes x [channels, windows, frequencies].

    Input 1 is the sample rate in Hz.
    Source: LiteRT tflite/kernels/mfcc.cc.
    """
    x, rate, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if len(x.shape) != 3 or x.type != TensorType.FLOAT32 or y.type != TensorType.FLOAT32:
        raise PrepareError(
            f"Mfcc: input must be float32 with 3 dimensions and output float32, got {x!r} and {y!r}"
        )
    if rate.type != TensorType.INT32 or rate.size != 1:
        raise PrepareError(f"Mfcc: the sample rate must be one int32, got {rate!r}")
    options = FlexOptions(node)
    mfcc = _Mfcc(
        options.integer("lower_frequency_limit"),
        options.integer("upper_frequency_limit"),
        options.integer("filterbank_channel_count"),
        options.integer("dct_coefficient_count"),
    )
    if not 1 <= mfcc.coefficients <= mfcc.channels <= _MOST_CHANNELS or not 0 <= mfcc.lower < mfcc.upper:
        raise PrepareError(
            f"Mfcc: coefficients must be at least 1 and at most the channels, these at most "
            f"{_MOST_CHANNELS}, and the frequency limits ascend from 0, got {mfcc}"
        )
    if x.shape[2] < 2:
        raise PrepareError(f"Mfcc: input must have 2 frequencies or more, got {x!r}")
    context.resize_tensor(y, (*x.shape[:2], mfcc.coefficients))
    node.user_data = mfcc


def _mel(frequency: np.ndarray | float) -> np.ndarray:
    return np.asarray(1127.0 * np.log1p(frequency / 700.0))


def _filter_bank(mfcc: _Mfcc, frequencies: int, rate: float) -> np.ndarray | None:
    """Weights [frequencies, channels] of overlapping triangles, evenly spaced in mel.

    None when the input lacks frequencies below the upper limit.
    Source: LiteRT tflite/kernels/internal/mfcc_mel_filterbank.cc.
    """
    low, high = _mel(float(mfcc.lower)), _mel(float(mfcc.upper))
    edges = low + (high - low) / (mfcc.channels + 1) * np.arange(mfcc.channels + 2)
    hz = 0.5 * rate / (frequencies - 1)
    start, end = int(1.5 + mfcc.lower / hz), int(mfcc.upper / hz)
    if end >= frequencies:
        return None
    bank = np.zeros((frequencies, mfcc.channels + 2))
    bins = np.arange(start, end + 1)
    mels = _mel(bins * hz)
    # Bin b lies between edges[k] and edges[k + 1]: on the falling side of channel k - 1's
    # triangle and on the rising side of channel k's.
    k = np.minimum(np.searchsorted(edges[1:-1], mels, side="left"), mfcc.channels)
    falling = (edges[k + 1] - mels) / (edges[k + 1] - edges[k])
    bank[bins, k] = falling
    bank[bins, k + 1] = 1 - falling
    return bank[:, 1:-1]


def invoke_mfcc(context: Context, node: Node) -> None:
    mfcc, y = node.user_data, context.output(node, 0)
    assert isinstance(mfcc, _Mfcc)
    rate = int(context.input(node, 1).array().ravel()[0])
    if rate < 1:
        raise InvokeError(f"Mfcc: the sample rate must be positive, got {rate}")
    x = context.input(node, 0).array().astype(np.float64)
    bank = _filter_bank(mfcc, x.shape[2], float(rate))
    if bank is None:
        # LiteRT's filter bank then gives nothing, and the transform of nothing is zeros.
        y.array()[...] = 0
        return
    # Frequencies outside the limits do not count, whatever they hold.
    used = np.flatnonzero(bank.any(axis=1))
    with np.errstate(all="ignore"):
        sums = np.sqrt(x[..., used]) @ bank[used]
        logs = np.log(np.where(sums < _FLOOR, _FLOOR, sums))
    angles = np.outer(np.arange(mfcc.coefficients), np.arange(mfcc.channels) + 0.5)
    cosines = np.sqrt(2.0 / mfcc.channels) * np.cos(np.pi / mfcc.channels * angles)
    y.array()[...] = logs @ cosines.T


REGISTRATIONS = (
    Registration("AudioSpectrogram", prepare_spectrogram, invoke_spectrogram),
    Registration("Mfcc", prepare_mfcc, invoke_mfcc),
)
