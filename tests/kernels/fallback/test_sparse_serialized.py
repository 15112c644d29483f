"""Sparse tensors written as texts and read again, and candidates that were true all along."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

INDICES, VALUES, SHAPE = np.array([[0, 1], [2, 0], [2, 3]]), np.float32([5, 6, 7]), np.array([3, 4])


def test_a_sparse_tensor_comes_back() -> None:
    [texts] = run("SerializeSparse", [INDICES, VALUES, SHAPE], T="f32", out_type="string")
    assert texts.shape == (3,)
    again = run("DeserializeSparse", [texts], dtype="f32", Tserialized="string")
    for found, wanted in zip(again, (INDICES, VALUES, SHAPE), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_rows_come_back_together_as_large_as_the_largest() -> None:
    [texts] = run("SerializeManySparse", [INDICES, VALUES, SHAPE], T="f32", out_type="string")
    assert texts.shape == (3, 3)
    [wider] = run(
        "SerializeSparse", [np.array([[6]]), np.float32([8]), np.array([7])], T="f32", out_type="string"
    )
    texts[1] = wider
    for op in ("DeserializeManySparse", "DeserializeSparse"):
        indices, values, shape = run(op, [texts], dtype="f32", Tserialized="string")
        np.testing.assert_array_equal(indices, [[0, 1], [1, 6], [2, 0], [2, 3]])
        np.testing.assert_array_equal(values, [5, 8, 6, 7])
        np.testing.assert_array_equal(shape, [3, 7])


def test_texts_of_other_tensors_are_refused() -> None:
    [texts] = run("SerializeSparse", [INDICES, VALUES, SHAPE], T="f32", out_type="string")
    for wrong in (texts[:2], texts[::-1], np.array([b"x"] * 3, object), texts.reshape(3, 1)):
        with pytest.raises(InvalidArgumentError):
            run("DeserializeSparse", [wrong], dtype="f32", Tserialized="string")


def test_candidates_that_are_true() -> None:
    classes, candidates = np.array([[4, 9], [9, 2]]), np.array([9, 4, 7, 4])
    rows, places, weights = run("ComputeAccidentalHits", [classes, candidates], num_true="i64$2")
    np.testing.assert_array_equal(rows, [0, 0, 1])
    np.testing.assert_array_equal(places, [3, 0, 0])
    np.testing.assert_array_equal(weights, np.full(3, np.finfo(np.float32).min))


def test_texts_are_packed_after_their_lengths() -> None:
    words = np.array([b"a", b"\x80" * 130], object)
    [texts] = run(
        "SerializeSparse", [np.array([[0], [2]]), words, np.array([3])], T="string", out_type="string"
    )
    assert texts[1] == b'\x08\x07\x12\x04\x12\x02\x08\x02"\x86\x01\x01\x82\x01a' + words[1]
    _, again, _ = run("DeserializeSparse", [texts], dtype="string", Tserialized="string")
    assert again.tolist() == words.tolist()
