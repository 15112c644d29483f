"""Places of flat indices, as TensorFlow 2.21 gives them."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run


@pytest.mark.parametrize(
    ("indices", "dims", "wanted"),
    [
        ([-1, -4, -6, -8, 5], [2, 3], [[0, -1, 0, 0, 1], [-1, -1, 0, -2, 2]]),
        ([-13, -30], [2, 3, 4], [[-1, 0], [0, -1], [-1, -2]]),
        (-4, [2, 3], [-1, -1]),
        ([], [2, 3], [[], []]),
    ],
)
def test_negative_flat_indices_are_places_below_0(indices: object, dims: list[int], wanted: list) -> None:
    (places,) = run("UnravelIndex", [np.array(indices, np.int32), np.int32(dims)], Tidx="i32")
    assert places.dtype == np.int32
    assert places.tolist() == wanted


def test_flat_indices_beyond_the_tensor() -> None:
    with pytest.raises(InvalidArgumentError, match=r"is not in \[0, 6\)"):
        run("UnravelIndex", [np.int32([0, 6]), np.int32([2, 3])], Tidx="i32")
