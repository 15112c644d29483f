"""Bytes of strings as numbers."""

from __future__ import annotations

import numpy as np
import pytest

from .nodes import run


@pytest.mark.parametrize(("texts", "rows"), [([], (0, 2)), ([b"\1", b"\1\2\3\4\5"], (2, 2))])
def test_padded_rows_have_their_length_even_of_no_strings(texts: list[bytes], rows: tuple[int, int]) -> None:
    (y,) = run(
        "DecodePaddedRaw", [np.array(texts, object), np.int32(4)], out_type="i16", little_endian="bool$true"
    )
    wanted = np.int16([[1, 0], [0x201, 0x403]])[: len(texts)]
    assert y.shape == rows
    np.testing.assert_array_equal(y, wanted)


def test_rows_of_no_strings_are_empty() -> None:
    (y,) = run("DecodeRaw", [np.zeros((0, 3), object)], out_type="i16", little_endian="bool$true")
    assert (y.shape, y.dtype) == ((0, 3, 0), np.int16)
