"""Permutations computed an index at a time, against what TensorFlow 2.21 gives."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.random_index_shuffle import random_index_shuffle
from numlite.kernels.fallback.status import InvalidArgumentError

SEED = np.array([1, 2, 3], np.int32)


def test_one_index() -> None:
    assert random_index_shuffle(np.array(2, np.int32), SEED, np.array(20, np.int32)) == 6


@pytest.mark.parametrize("most", [0, 1, 20, 255, 4000])
@pytest.mark.parametrize("rounds", [4, 6])
def test_all_indices_are_permuted(most: int, rounds: int) -> None:
    every = np.arange(most + 1, dtype=np.int64)
    shuffled = random_index_shuffle(every, SEED, np.array(most), rounds=rounds)
    assert sorted(shuffled.tolist()) == every.tolist() and shuffled.dtype == np.int64


def test_wide_numbers() -> None:
    """Blocks of 64 bits."""
    index, most = np.array([0, 5, 1 << 61], np.uint64), np.array(1 << 62, np.uint64)
    shuffled = random_index_shuffle(index, SEED.astype(np.uint64), most)
    assert len(set(shuffled.tolist())) == 3 and (shuffled <= most).all()


def test_what_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="index must be in"):
        random_index_shuffle(np.array(21), SEED, np.array(20))
    with pytest.raises(InvalidArgumentError, match="rounds must be even"):
        random_index_shuffle(np.array(2), SEED, np.array(20), rounds=5)
    with pytest.raises(InvalidArgumentError, match="seed"):
        random_index_shuffle(np.array(2), SEED[:2], np.array(20))
