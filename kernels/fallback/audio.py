"""DecodeWav, EncodeWav, AudioSpectrogram and Mfcc."""

from __future__ import annotations

import struct

import numpy as np

from ..requantize import round_half_away
from .decoded_size import check_decoded
from .kernel import checked_shape
from .registry import kernel
from .status import InvalidArgumentError, ResourceExhaustedError

_PCM = 1
_HEADER_BYTES = 36
_MOST_CHANNELS = 1 << 12
_FLOOR = 1e-12


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
    if window_size > 1 << 24:
        raise ResourceExhaustedError(f"{op}: window_size must be at most {1 << 24}, got {window_size}")
    length = 1 << (window_size - 1).bit_length()
    count = 0 if len(samples) < window_size else 1 + (len(samples) - window_size) // stride
    shape = checked_shape((samples.shape[1], count, length // 2 + 1), np.dtype(np.complex128))
    if 0 in shape:
        return np.zeros(shape, np.float32)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window_size) / window_size)
    frames = np.lib.stride_tricks.sliding_window_view(samples.T, window_size, axis=1)[:, ::stride]
    spectrum = np.fft.rfft(frames * window, length)
    power = (spectrum.real**2 + spectrum.imag**2).astype(np.float32)
    return power if magnitude_squared else np.sqrt(power)


def _mel(frequency: np.ndarray | float) -> np.ndarray:
    return np.asarray(1127.0 * np.log1p(np.asarray(frequency) / 700.0))


def _filtered(magnitudes: np.ndarray, low: float, high: float, channels: int, rate: int) -> np.ndarray | None:
    """Sums [..., channels] of magnitudes [..., frequencies] under overlapping triangles, evenly spaced in mel.

    Frequencies outside the limits do not count, whatever they hold; those inside count in their two channels
    alone, but also where their weight is 0. None when there are no frequencies up to the higher limit.
    Source: TensorFlow tensorflow/core/kernels/mfcc_mel_filterbank.cc.
    """
    frequencies = magnitudes.shape[-1]
    edges = _mel(low) + (_mel(high) - _mel(low)) / (channels + 1) * np.arange(channels + 2)
    hertz = 0.5 * rate / (frequencies - 1)
    start, end = int(1.5 + low / hertz), int(high / hertz)
    if end >= frequencies:
        return None
    bins = np.arange(start, end + 1)
    mels = _mel(bins * hertz)
    # A bin lies on the falling side of one channel's triangle and on the rising side of the next.
    at = np.minimum(np.searchsorted(edges[1:-1], mels, side="left"), channels)
    falling = (edges[at + 1] - mels) / (edges[at + 1] - edges[at])
    sums = np.zeros((*magnitudes.shape[:-1], channels + 2))
    for bin, channel, weight in zip(bins, at, falling, strict=True):
        whole = magnitudes[..., bin]
        part = whole * weight
        sums[..., channel] += part
        sums[..., channel + 1] += whole - part
    return sums[..., 1:-1]


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
    low, high = lower_frequency_limit, upper_frequency_limit
    if spectrogram.ndim != 3 or spectrogram.shape[2] < 2 or sample_rate.ndim:
        message = "spectrogram must be [channels, windows, 2 or more] and sample_rate a scalar"
        shapes = f"{list(spectrogram.shape)}, {list(sample_rate.shape)}"
        raise InvalidArgumentError(f"{op}: {message}, got {shapes}")
    if not 1 <= dct_coefficient_count <= filterbank_channel_count <= _MOST_CHANNELS or not 0 <= low < high:
        message = f"coefficients must be at most channels, these at most {_MOST_CHANNELS}, limits ascend"
        found = f"{dct_coefficient_count}, {filterbank_channel_count}, {low} to {high}"
        raise InvalidArgumentError(f"{op}: {message}, got {found}")
    rate = int(sample_rate)
    if rate < 1:
        raise InvalidArgumentError(f"{op}: sample_rate must be positive, got {rate}")
    magnitudes = np.sqrt(spectrogram.astype(np.float64))
    sums = _filtered(magnitudes, low, high, filterbank_channel_count, rate)
    if sums is None:
        return np.zeros((*spectrogram.shape[:2], dct_coefficient_count), np.float32)
    logs = np.log(np.maximum(sums, _FLOOR))
    angles = np.outer(np.arange(dct_coefficient_count), np.arange(filterbank_channel_count) + 0.5)
    cosines = np.cos(np.pi / filterbank_channel_count * angles) * np.sqrt(2 / filterbank_channel_count)
    return (logs @ cosines.T).astype(np.float32)


REGISTRATIONS = (
    kernel("DecodeWav", decode_wav),
    kernel("EncodeWav", encode_wav),
    kernel("AudioSpectrogram", audio_spectrogram),
    kernel("Mfcc", mfcc),
)
