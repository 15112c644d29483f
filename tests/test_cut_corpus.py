"""Kernels that threads share give the bytes that one thread gives, whatever pieces a row is cut into."""

from __future__ import annotations

from typing import Any

import ml_dtypes  # noqa: F401  (bfloat16 results have NumPy's type where this has been imported)
import pytest
from numlite.lite import kernel_call
from numlite.tests.corpus_digests import CORPUS, NUMERICS, cases_of, content_of, outputs

pytestmark = pytest.mark.skipif(not CORPUS.exists(), reason="no ../shared beside the repository")

_STEP = 12  # of the cases, those of the default suite


def contents(case: dict[str, Any], numerics: str, num_threads: int) -> list[bytes] | type[Exception]:
    """What the outputs are, or what the case is refused with."""
    try:
        return [content_of(array) for array in outputs(CORPUS, case, numerics, num_threads)]
    except (ValueError, RuntimeError) as error:
        return type(error)


def different(step: int, numerics: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The cases whose outputs depend on the pieces: all work, however small, is cut for three threads."""
    cases = list(cases_of(CORPUS).values())[::step]
    alone = [contents(case, numerics, 1) for case in cases]
    monkeypatch.setattr(kernel_call, "_LEAST_SHARE_NS", 0)
    monkeypatch.setattr(kernel_call, "_PIECE_NS", 1e-3)
    cut = [contents(case, numerics, 3) for case in cases]
    return [case["id"] for case, one, other in zip(cases, alone, cut, strict=True) if one != other]


@pytest.mark.parametrize("numerics", NUMERICS)
def test_a_sample_of_the_corpus_in_pieces(numerics: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not different(_STEP, numerics, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("numerics", NUMERICS)
def test_the_corpus_in_pieces(numerics: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not different(1, numerics, monkeypatch)
