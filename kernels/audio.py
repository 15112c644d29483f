"""AudioSpectrogram and Mfcc: features of sound, by NumPy."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import TensorType
from ..schema.named_tuple import NamedTuple
from .audio_features import LONGEST_WINDOW, MOST_CHANNELS, Cepstrum, cepstrum, hann, spectrum, spectrum_sizes
from .custom_options import FlexOptions


class _Spectrogram(NamedTuple):
    """How an AudioSpectrogram looks at its samples; window is Hann's, float64."""

    window: np.ndarray
    stride: int
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
    if not 2 <= size <= LONGEST_WINDOW or stride < 1:
        raise PrepareError(
            f"{name}: window_size must be from 2 to {LONGEST_WINDOW} and stride at least 1, "
            f"got {size} and {stride}"
        )
    samples, channels = x.shape
    context.resize_tensor(y, (channels, *spectrum_sizes(samples, size, stride)))
    node.user_data = _Spectrogram(hann(size), stride, options.flag("magnitude_squared"))


def invoke_spectrogram(context: Context, node: Node) -> None:
    settings, y = node.user_data, context.output(node, 0)
    assert isinstance(settings, _Spectrogram)
    if y.size == 0:
        return
    y.array()[...] = spectrum(context.input(node, 0).array(), *settings)


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
    mfcc = Cepstrum(
        options.integer("lower_frequency_limit"),
        options.integer("upper_frequency_limit"),
        options.integer("filterbank_channel_count"),
        options.integer("dct_coefficient_count"),
    )
    if not mfcc.is_valid():
        raise PrepareError(
            f"Mfcc: coefficients must be at least 1 and at most the channels, these at most "
            f"{MOST_CHANNELS}, and the frequency limits ascend from 0, got {mfcc}"
        )
    if x.shape[2] < 2:
        raise PrepareError(f"Mfcc: input must have 2 frequencies or more, got {x!r}")
    context.resize_tensor(y, (*x.shape[:2], mfcc.coefficients))
    node.user_data = mfcc


def invoke_mfcc(context: Context, node: Node) -> None:
    mfcc, y = node.user_data, context.output(node, 0)
    assert isinstance(mfcc, Cepstrum)
    rate = int(context.input(node, 1).array().ravel()[0])
    if rate < 1:
        raise InvokeError(f"Mfcc: the sample rate must be positive, got {rate}")
    y.array()[...] = cepstrum(context.input(node, 0).array(), rate, mfcc)


REGISTRATIONS = (
    Registration("AudioSpectrogram", prepare_spectrogram, invoke_spectrogram),
    Registration("Mfcc", prepare_mfcc, invoke_mfcc),
)
