"""DecodeWav, EncodeWav, AudioSpectrogram and Mfcc."""

from __future__ import annotations

import struct

import numpy as np

from ..audio_features import LONGEST_WINDOW, MOST_CHANNELS, Cepstrum, cepstrum, hann, spectrum, spectrum_sizes
from ..requantize import round_half_away
from .decoded_size import check_decoded
from .kernel import checked_shape
from .registry import kernel
from .status import InvalidArgumentError, ResourceExhaustedError

_PCM = 1
_HEADER_BYTES = 36


def decode_wav(
    contents: np.ndarray, *, desired_channels: int, desired_samples: int
) -> tuple[np.ndarray, np.ndarray]:
    """float32 [samples, channels] from -1 to 1 of a WAV file of 16-bit samples, and its rate in Hz.

    Of -1, the file's own; else samples are cut or zeros follow, and channels are left out or the
    last is repeated.
    Source: TensorFlow tensorflow/core/lib/wav/wav_io.cc.
    """
    op = "DecodeWav"
    if contents.ndim:
        raise InvalidArgumentError(f"{op}: contents must be a scalar, got {list(contents.shape)}")
    samples, rate = _wav_samples(contents.item())
    check_decoded(op, 4 * samples.size)
    found = samples.astype(np.float32) / np.float32(1 << 15)
    if desired_samples >= 0:
        shape = checked_shape((desired_samples, found.shape[1]), found.dtype)
        check_decoded(op, 4 * desired_samples * found.shape[1])
        kept = np.zeros(shape, np.float32)
        kept[: len(found)] = found[:desired_samples]
        found = kept
    if desired_channels >= 0:
        checked_shape((len(found), desired_channels), found.dtype)
        check_decoded(op, 4 * len(found) * desired_channels)
        found = found[:, np.minimum(np.arange(desired_channels), found.shape[1] - 1)]
    return np.ascontiguousarray(found), np.array(rate, np.int32)


def _wav_samples(data: bytes) -> tuple[np.ndarray, int]:
    """int16 [samples, channels] and the rate."""
    op = "DecodeWav"
    if data[:4] != b"RIFF" or data[8:16] != b"WAVEfmt " or len(data) < _HEADER_BYTES:
        raise InvalidArgumentError(f"{op}: contents must be a WAV file, got {data[:16]!r}")
    size, kind, channels, rate, _, step, bits = struct.unpack_from("<IHHIIHH", data, 16)
    if size not in (16, 18) or kind != _PCM or bits != 16 or not channels or step != 2 * channels:
        message = "samples must be PCM of 16 bits"
        found = f"format {kind}, {bits} bits, {channels} channels, {step} bytes a step"
        raise InvalidArgumentError(f"{op}: {message}, got {found}")
    at = 20 + size
    while at + 8 <= len(data):
        name, (length,) = data[at : at + 4], struct.unpack_from("<I", data, at + 4)
        at += 8
        if name == b"data":
            count = length // step
            if at + count * step > len(data):
                message = f"{count} steps of {step} bytes must be there"
                raise InvalidArgumentError(f"{op}: {message}, got {len(data) - at} bytes")
            samples = np.frombuffer(data, "<i2", count * channels, at)
            return samples.reshape(count, channels), rate
        at += length
    raise InvalidArgumentError(f"{op}: contents must have a data chunk")


def encode_wav(audio: np.ndarray, sample_rate: np.ndarray) -> np.ndarray:
    """audio, float32 [samples, channels] from -1 to 1, as a WAV file of 16-bit samples."""
    op = "EncodeWav"
    if audio.ndim != 2 or sample_rate.ndim or not 0 < audio.shape[1] < 1 << 15:
        message = "audio must be [samples, channels] and sample_rate a scalar"
        raise InvalidArgumentError(f"{op}: {message}, got {list(audio.shape)}, {list(sample_rate.shape)}")
    rate, channels = int(sample_rate), audio.shape[1]
    if rate < 1 or 2 * channels * rate >= 1 << 32 or 2 * audio.size + _HEADER_BYTES + 8 >= 1 << 32:
        raise InvalidArgumentError(f"{op}: a file must hold it, got {list(audio.shape)} of {rate} Hz")
    whole = round_half_away(np.nan_to_num(audio) * np.float32(1 << 15))
    samples = np.clip(whole, -(1 << 15), (1 << 15) - 1).astype("<i2").tobytes()
    head = struct.pack("<4sI8sI", b"RIFF", _HEADER_BYTES + len(samples), b"WAVEfmt ", 16)
    format = struct.pack("<HHIIHH", _PCM, channels, rate, 2 * channels * rate, 2 * channels, 16)
    made = np.empty((), object)
    made[()] = head + format + b"data" + struct.pack("<I", len(samples)) + samples
    return made


def audio_spectrogram(
    samples: np.ndarray, *, window_size: int, stride: int, magnitude_squared: bool
) -> np.ndarray:
    """float32 [channels, windows, length / 2 + 1] of samples [samples, channels].

    The length is window_size rounded up to a power of two; windows are Hann's.
    Source: TensorFlow tensorflow/core/kernels/spectrogram.cc.
    """
    op = "AudioSpectrogram"
    if samples.ndim != 2 or window_size < 2 or stride < 1:
        message = "input must be [samples, channels], window_size 2 or more and stride positive"
        raise InvalidArgumentError(f"{op}: {message}, got {list(samples.shape)}, {window_size}, {stride}")
    if window_size > LONGEST_WINDOW:
        raise ResourceExhaustedError(f"{op}: window_size must be at most {LONGEST_WINDOW}, got {window_size}")
    sizes = spectrum_sizes(len(samples), window_size, stride)
    shape = checked_shape((samples.shape[1], *sizes), np.dtype(np.complex128))
    if 0 in shape:
        return np.zeros(shape, np.float32)
    return spectrum(samples, hann(window_size), stride, magnitude_squared)


def mfcc(
    spectrogram: np.ndarray,
    sample_rate: np.ndarray,
    *,
    upper_frequency_limit: float,
    lower_frequency_limit: float,
    filterbank_channel_count: int,
    dct_coefficient_count: int,
) -> np.ndarray:
    """float32 [channels, windows, coefficients] of squared magnitudes [channels, windows, frequencies].

    sample_rate is in Hz.
    Source: TensorFlow tensorflow/core/kernels/mfcc.cc.
    """
    op = "Mfcc"
    if spectrogram.ndim != 3 or spectrogram.shape[2] < 2 or sample_rate.ndim:
        message = "spectrogram must be [channels, windows, 2 or more] and sample_rate a scalar"
        shapes = f"{list(spectrogram.shape)}, {list(sample_rate.shape)}"
        raise InvalidArgumentError(f"{op}: {message}, got {shapes}")
    wanted = Cepstrum(
        lower_frequency_limit, upper_frequency_limit, filterbank_channel_count, dct_coefficient_count
    )
    if not wanted.is_valid():
        message = f"coefficients must be at most channels, these at most {MOST_CHANNELS}, limits ascend"
        raise InvalidArgumentError(f"{op}: {message}, got {wanted}")
    rate = int(sample_rate)
    if rate < 1:
        raise InvalidArgumentError(f"{op}: sample_rate must be positive, got {rate}")
    return cepstrum(spectrogram, rate, wanted).astype(np.float32)


REGISTRATIONS = (
    kernel("DecodeWav", decode_wav),
    kernel("EncodeWav", encode_wav),
    kernel("AudioSpectrogram", audio_spectrogram),
    kernel("Mfcc", mfcc),
)
