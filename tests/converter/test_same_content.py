"""Equal arrays have one number, others their own."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter.same_content import SameContent


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 5000])
def test_equal_arrays(size: int) -> None:
    known = SameContent()
    data = np.arange(size, dtype=np.float32)
    assert [known.number(array) for array in (data, data.copy(), data[::-1][::-1])] == [0, 0, 0]
    assert known.count == 1


@pytest.mark.parametrize("place", [0, 20, 2500, 4999])
def test_a_single_element_makes_two(place: int) -> None:
    known = SameContent()
    data = np.zeros(5000, np.int32)
    other = data.copy()
    other[place] = 1
    third = other.copy()
    third[2501] = 7
    numbers = [known.number(array) for array in (data, other, third, data.copy(), other.copy(), third)]
    assert numbers == [0, 1, 2, 0, 1, 2]
    assert known.count == 3


def test_what_is_said_of_them_counts() -> None:
    known = SameContent()
    data = np.zeros((2, 3), np.int8)
    assert [known.number(data, said) for said in ("a", "b", "a", None)] == [0, 1, 0, 2]


def test_signs_of_zero_differ() -> None:
    known = SameContent()
    assert known.number(np.float32([0.0])) != known.number(np.float32([-0.0]))
