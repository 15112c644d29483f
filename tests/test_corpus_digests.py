"""How far outputs of two checkouts are apart, in words."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from numlite.tests import corpus_digests
from numlite.tests.corpus_digests import CORPUS, NUMERICS, apart, bits_of, cases_of, distances


def told(one: np.ndarray, other: np.ndarray) -> str:
    return apart(*({f"0 {array.dtype} {array.shape}": bits_of(array)} for array in (one, other)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ml_dtypes.bfloat16])
def test_floats_are_so_many_units_in_the_last_place_apart(dtype: str) -> None:
    one = np.array([1, -1, 0.5, 0], dtype)
    nearest = np.nextafter(one, np.array(2, dtype))
    farther = np.nextafter(nearest, np.array(2, dtype))
    other = np.array([farther[0], nearest[1], one[2], one[3]], dtype)
    name = np.dtype(dtype).name
    assert told(one, other) == f"2 of 4 {name} differ, by 2 units in the last place at most"


def test_the_zeros_are_apart_by_nothing_and_small_numbers_by_what_lies_between() -> None:
    zero, least = np.float32(0), np.nextafter(np.float32(0), np.float32(1))
    assert told(np.array([zero]), np.array([-zero])).endswith(", by 0 units in the last place at most")
    assert told(np.array([least]), np.array([-least])).endswith(", by 2 units in the last place at most")


def test_nans_are_counted_where_the_other_is_a_number() -> None:
    one = np.array([np.nan, np.inf, 1], np.float32)
    other = np.array([-np.nan, np.nan, 1], np.float32)
    words = "2 of 3 float32 differ, by 0 units in the last place at most, 1 NaN in one of them"
    assert told(one, other) == words


def test_complex_numbers_are_two_floats() -> None:
    one = np.array([1 + 1j], np.complex64)
    other = one + np.complex64(np.spacing(np.float32(1)) * 1j)
    assert told(one, other) == "1 of 2 complex64 differ, by 1 units in the last place at most"


def test_integers_text_and_shapes() -> None:
    one = np.array([1, 2, 3], np.int8)
    assert told(one, one + np.int8(1)) == "3 of 3 int8 differ"
    assert told(np.array([b"a", b"b"], object), np.array([b"a", b"c"], object)) == "1 of 2 object differ"
    assert told(one, one.reshape(3, 1)) == "other outputs, types or shapes"
    assert told(one, one) == "the same elements when they were run again"


@pytest.mark.skipif(not CORPUS.exists(), reason="no ../shared beside the repository")
def test_a_case_is_run_in_both_checkouts() -> None:
    checkout = Path(__file__).resolve().parents[1]
    if not (checkout / ".venv" / "bin" / "python").exists():
        pytest.skip("this checkout has no .venv")
    case = next(name for name in cases_of(CORPUS) if name.startswith("abs/"))
    found = distances([checkout, checkout], CORPUS, [case], NUMERICS[0])
    assert found == {case: "the same elements when they were run again"}


def test_a_line_is_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several processes write to one file, each without a buffer where PYTHONUNBUFFERED is set."""
    written = list[str]()

    class Unbuffered(io.StringIO):
        def write(self, text: str) -> int:
            written.append(text)
            return len(text)

    monkeypatch.setattr(corpus_digests, "cases_of", lambda corpus: {"abs/0": {}, "add/1": {}})
    monkeypatch.setattr(corpus_digests, "outputs", lambda *_: [np.arange(3, dtype=np.int8)])
    monkeypatch.setattr(sys, "stdin", io.StringIO("abs/0\nadd/1\n"))
    monkeypatch.setattr(sys, "stdout", Unbuffered())
    corpus_digests.child(Path(), NUMERICS[0])
    assert [line.split(" ")[0] for line in written] == ["abs/0", "add/1"]
    assert all(line.endswith("\n") for line in written)
