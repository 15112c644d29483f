"""The cases of tests/cases on the simulated device, against the CPU: 8-bit results are equal, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from ...cases.case import Case
from .replays import PATH, STEMS, cases_of, claimed, is_left_out, replays
from .simulation import interpreter_of, needs_triton, run, simulated, taken

__all__ = ["STEMS", "cases_of"]

# What is looked at when the whole suite is not run: every so many cases of a module.
_EVERY = 5
# By the bytes of a float: of float16 the last bit may differ.
_RTOL = {2: 1e-3, 4: 1e-5, 8: 1e-12}


def _parameters() -> list[object]:
    return [
        pytest.param(
            case,
            numerics,
            id=f"{case.id}-{numerics}",
            marks=[] if n // len(case.numerics) % _EVERY == 0 else pytest.mark.long,
        )
        for stem in STEMS
        for n, (case, numerics) in enumerate(replays(stem))
        if not is_left_out(case, numerics)
    ]


@pytest.mark.long
def test_what_the_gpu_leaves_to_the_cpu_is_as_pinned() -> None:
    assert PATH.read_text() == claimed(), "where that is meant: python -m tests.delegates.cuda.replays"


@needs_triton
@pytest.mark.parametrize("case, numerics", _parameters())
def test_equals_the_cpu(case: Case, numerics: str) -> None:
    delegate = simulated()
    interpreter = interpreter_of(case.make(), delegate, numerics)
    got = run(interpreter, case.inputs)
    assert taken(delegate, interpreter), delegate._reasons
    expected = run(interpreter_of(case.make(), None, numerics), case.inputs)
    for mine, theirs in zip(got, expected, strict=True):
        assert mine.shape == theirs.shape and mine.dtype == theirs.dtype
        if theirs.dtype.kind == "f":
            rtol = _RTOL[theirs.dtype.itemsize]
            largest = float(np.max(np.abs(theirs), initial=0, where=np.isfinite(theirs)))
            np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=rtol * largest)
        else:
            np.testing.assert_array_equal(mine, theirs)
