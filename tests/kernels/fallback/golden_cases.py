"""Cases of golden/ (see its README), read."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .nodes import strings

GOLDEN = Path(__file__).parent / "golden"
# Sums in another order, and functions by other series: a few units of the type's last digit.
TOLERANCES = {
    **{"float16": 4e-3, "bfloat16": 2e-2, "float32": 1e-4, "complex64": 1e-4},
    **{"float64": 1e-8, "complex128": 1e-8},
}


@lru_cache(None)
def cases_of(family: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GOLDEN / f"{family}.jsonl").read_text().splitlines()]


def ops_of(family: str) -> list[str]:
    return list(dict.fromkeys(case["op"] for case in cases_of(family)))


def array(dtype: str, shape: list[int], elements: list[Any]) -> np.ndarray:
    if dtype == "string":
        return strings([text.encode("latin-1") for text in elements]).reshape(shape)
    if dtype.startswith("complex"):
        elements = [complex(*pair) for pair in elements]
    if dtype == "bfloat16":
        return np.array(elements, pytest.importorskip("ml_dtypes").bfloat16).reshape(shape)
    return np.array(elements, dtype).reshape(shape)


def tolerance(expected: np.ndarray) -> dict[str, float]:
    near = TOLERANCES.get(expected.dtype.name, 0.0)
    return {"rtol": near, "atol": near}
