"""Sound as files, spectra and features."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

RANDOM = np.random.default_rng(21)
SOUND = (RANDOM.integers(-(1 << 15), 1 << 15, (20, 2)) / (1 << 15)).astype(np.float32)


def test_what_is_encoded_is_decoded() -> None:
    (data,) = run("EncodeWav", [SOUND, np.int32(8000)])
    audio, rate = run("DecodeWav", [data])
    np.testing.assert_array_equal(audio, SOUND)
    assert rate == 8000
    audio, _ = run("DecodeWav", [data], desired_channels="i64$3", desired_samples="i64$25")
    np.testing.assert_array_equal(audio[:20], SOUND[:, [0, 1, 1]])
    assert audio.shape == (25, 3) and not audio[20:].any()


@pytest.mark.parametrize("size", [0, 20, 43, 60])
def test_cut_files_are_refused(size: int) -> None:
    (data,) = run("EncodeWav", [SOUND, np.int32(8000)])
    cut = np.empty((), object)
    cut[()] = data.item()[:size]
    with pytest.raises(InvalidArgumentError):
        run("DecodeWav", [cut])


def test_spectrum_of_a_tone_has_one_peak() -> None:
    tone = np.sin(2 * np.pi * 8 * np.arange(192) / 64).astype(np.float32)[:, np.newaxis]
    (y,) = run("AudioSpectrogram", [tone], window_size="i64$64", stride="i64$64")
    assert y.shape == (1, 3, 33) and (y.argmax(axis=2) == 8).all()
    np.testing.assert_allclose(y[:, :, 8], 16, rtol=1e-4)


def test_features_of_silence() -> None:
    """Only the first cosine is not evened out: channels of log(1e-12)."""
    (y,) = run("Mfcc", [np.zeros((1, 2, 65), np.float32), np.int32(16000)])
    np.testing.assert_allclose(y[..., 0], np.log(1e-12) * np.sqrt(2 * 40), rtol=1e-5)
    np.testing.assert_allclose(y[..., 1:], 0, atol=1e-3)


def test_no_channels_can_be_asked_for() -> None:
    [wav] = run("EncodeWav", [SOUND, np.int32(8000)])
    samples, _ = run("DecodeWav", [wav], desired_channels="i64$0", desired_samples="i64$-1")
    assert samples.shape == (20, 0)


def test_bands_without_a_frequency_are_as_silence() -> None:
    """Of three frequencies none lies in a band; each band counts as its floor, 1e-12."""
    [y] = run("Mfcc", [np.ones((1, 2, 3), np.float32), np.int32(16000)], filterbank_channel_count="i64$20")
    np.testing.assert_allclose(y[0, :, 0], np.sqrt(2 / 20) * 20 * np.log(1e-12), rtol=1e-6)
    np.testing.assert_allclose(y[0, :, 1:], 0, atol=1e-12)


def test_a_frequency_without_weight_counts_where_it_is_no_number() -> None:
    """Of three frequencies the second alone lies within the limits, and below all bands: 0 of it is added."""
    x = np.array([[[np.inf, 1, 1], [1, np.inf, 1], [1, -1, 1], [1, 1, np.inf]]], np.float32)
    [y] = run("Mfcc", [x, np.int32(16000)], filterbank_channel_count="i64$6", dct_coefficient_count="i64$3")
    # TensorFlow 2.21's values.
    assert np.isnan(y[0, 1:3]).all()
    np.testing.assert_allclose(y[0, ::3], [[-95.716667, 0, 0]] * 2, rtol=1e-6, atol=1e-12)
