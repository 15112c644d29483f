"""Crosses of features, against what TensorFlow 2.21 gives."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.sparse_cross import sparse_cross, sparse_cross_hashed, sparse_cross_v2
from numlite.kernels.fallback.status import InvalidArgumentError

STRING, INT64 = 7, 9
TEXTS = np.array([[b"a"], [b"b"]], object)
NUMBERS = np.array([[1, 2], [3, 4]], np.int64)


def sparse(values: np.ndarray, places: list[list[int]], shape: list[int]) -> list[list[np.ndarray]]:
    return [[np.array(places, np.int64)], [values], [np.array(shape, np.int64)]]


PLACES = [[0, 0], [1, 0]]
SPARSE_TEXTS = sparse(np.array([b"x", b"y"], object), PLACES, [2, 3])
SPARSE_NUMBERS = sparse(np.array([5, 6], np.int64), PLACES, [2, 3])


def test_texts_are_joined() -> None:
    indices, values, shape = sparse_cross_v2(*SPARSE_TEXTS, [NUMBERS, TEXTS], np.array(b"-", object))
    assert values.tolist() == [b"x-1-a", b"x-2-a", b"y-3-b", b"y-4-b"]
    assert indices.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]] and shape.tolist() == [2, 2]


def test_rows_without_a_feature_have_no_cross() -> None:
    columns = sparse(np.array([b"x", b"y", b"z"], object), [[0, 0], [0, 1], [2, 1]], [3, 2])
    dense = np.array([[b"a"], [b"b"], [b"c"]], object)
    indices, values, shape = sparse_cross_v2(*columns, [dense], np.array(b"_", object))
    assert values.tolist() == [b"x_a", b"y_a", b"z_c"]
    assert indices.tolist() == [[0, 0], [0, 1], [2, 0]] and shape.tolist() == [3, 2]


# By columns and strong_hash, with 1000 buckets and the salt [3, 4].
HASHED = {
    "dense texts": ([[], [], []], [TEXTS, TEXTS], False, [178, 358]),
    "dense texts, strong": ([[], [], []], [TEXTS, TEXTS], True, [157, 6]),
    "dense numbers": ([[], [], []], [NUMBERS] * 2, False, [888, 252, 331, 934, 742, 975, 534, 477]),
    "sparse and dense texts": (SPARSE_TEXTS, [TEXTS], False, [907, 290]),
    "sparse and dense texts, strong": (SPARSE_TEXTS, [TEXTS], True, [251, 270]),
    "sparse and dense numbers": (SPARSE_NUMBERS, [NUMBERS], False, [97, 696, 210, 931]),
    "one column": (SPARSE_TEXTS, [], False, [970, 105]),
    "both kinds": (SPARSE_TEXTS, [NUMBERS], False, [438, 162, 222, 672]),
}


@pytest.mark.parametrize("name", HASHED)
def test_hashes(name: str) -> None:
    columns, dense, strong, expected = HASHED[name]
    salt = np.array([3, 4], np.int64)
    _, values, _ = sparse_cross_hashed(*columns, dense, np.array(1000), np.array(strong), salt)
    assert values.tolist() == expected


@pytest.mark.parametrize(("out", "expected"), [(STRING, [b"a_X_1", b"b_X_2"]), (INT64, [2, 4])])
def test_texts_and_numbers_are_crossed_as_numbers_alone(out: int, expected: list) -> None:
    columns = [np.array([[b"a"], [b"b"]], object), np.array([[1], [2]])]
    attributes = {"num_buckets": 7, "hash_key": 0xDECAFCAFFE, "out_type": out}
    _, values, _ = sparse_cross([], [], [], columns, internal_type=INT64, **attributes)
    assert values.tolist() == expected
    with pytest.raises(InvalidArgumentError, match=f"should be of internal type {STRING}"):
        sparse_cross([], [], [], columns, internal_type=STRING, **attributes)


def test_columns_of_other_lengths() -> None:
    with pytest.raises(InvalidArgumentError, match="Expected batch size to be the same"):
        sparse_cross_v2([], [], [], [TEXTS, TEXTS[:1]], np.array(b"_", object))
