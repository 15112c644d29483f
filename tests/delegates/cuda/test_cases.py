"""The cases of tests/cases on the simulated device, against the CPU: 8-bit results are equal, bit for bit."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from ...cases.case import Case, Skip
from .simulation import interpreter_of, needs_triton, run, simulated, taken

# The modules whose operators have a family in delegates/cuda/families.py.
STEMS = (
    "activations",
    "arg_min_max",
    "batch_matmul",
    "binary",
    "binary_math",
    "cast",
    "comparison",
    "concatenation",
    "conv",
    "conv_q8",
    "cumsum",
    "depthwise_conv",
    "depthwise_conv_q8",
    "dynamic_update_slice",
    "elementwise",
    "embedding",
    "fill",
    "fully_connected",
    "fully_connected_q8",
    "gather",
    "gather_nd",
    "half_precision",
    "hybrid",
    "logical",
    "normalization",
    "pad",
    "pool",
    "prelu",
    "quantize",
    "reduce",
    "reshape",
    "resize",
    "reverse",
    "select",
    "slice",
    "softmax",
    "space_batch",
    "space_depth",
    "split",
    "tile",
    "top_k",
    "transpose",
    "transpose_conv",
    "unary_math",
)
# What is looked at when the whole suite is not run: every so many cases of a module.
_EVERY = 3
# By the bytes of a float: of float16 the last bit may differ.
_RTOL = {2: 1e-3, 4: 1e-5, 8: 1e-12}


def cases_of(stem: str) -> list[Case]:
    """CASES of a module, but for large ones that are there for the CPU's threads."""
    cases: list[Case] = getattr(import_module(f"...cases.{stem}", __package__), "CASES", [])
    return [case for case in cases if case.num_threads == 1]


def _parameters() -> list[object]:
    return [
        pytest.param(
            case, numerics, id=f"{case.id}-{numerics}", marks=[] if n % _EVERY == 0 else pytest.mark.long
        )
        for stem in STEMS
        for n, case in enumerate(cases_of(stem))
        for numerics in ("default", "reference")
    ]


@needs_triton
@pytest.mark.parametrize("case, numerics", _parameters())
def test_equals_the_cpu(case: Case, numerics: str) -> None:
    if isinstance(case.closeness, Skip):
        pytest.skip(case.closeness.reason)
    delegate = simulated()
    interpreter = interpreter_of(case.make(), delegate, numerics)
    got = run(interpreter, case.inputs)
    if not taken(delegate, interpreter):
        pytest.skip(f"left out: {', '.join(delegate._reasons.values())}")
    expected = run(interpreter_of(case.make(), None, numerics), case.inputs)
    for mine, theirs in zip(got, expected, strict=True):
        assert mine.shape == theirs.shape and mine.dtype == theirs.dtype
        if theirs.dtype.kind == "f":
            rtol = _RTOL[theirs.dtype.itemsize]
            largest = float(np.max(np.abs(theirs), initial=0, where=np.isfinite(theirs)))
            np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=rtol * largest)
        else:
            np.testing.assert_array_equal(mine, theirs)
