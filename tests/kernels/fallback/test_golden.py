"""Small nodes against what TensorFlow gives for them (golden/README.md)."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite.kernels.fallback.node_runner import run_node
from numlite.kernels.fallback.status import OpError
from numlite.lite.errors import ModelError

from ...shared_arrays import difference
from .nodes import node, strings

GOLDEN = Path(__file__).parent / "golden"
# Sums in another order, and functions by other series: a few units of the type's last digit.
TOLERANCES = {
    **{"float16": 4e-3, "bfloat16": 2e-2, "float32": 1e-4, "complex64": 1e-4},
    **{"float64": 1e-8, "complex128": 1e-8},
}


@lru_cache(None)
def cases_of(family: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GOLDEN / f"{family}.jsonl").read_text().splitlines()]


def family_and_op() -> list[tuple[str, str]]:
    families = sorted(path.stem for path in GOLDEN.glob("*.jsonl"))
    return [
        (family, op) for family in families for op in dict.fromkeys(case["op"] for case in cases_of(family))
    ]


def array(dtype: str, shape: list[int], elements: list[Any]) -> np.ndarray:
    if dtype == "string":
        return strings([text.encode("latin-1") for text in elements]).reshape(shape)
    if dtype.startswith("complex"):
        elements = [complex(*pair) for pair in elements]
    if dtype == "bfloat16":
        return np.array(elements, pytest.importorskip("ml_dtypes").bfloat16).reshape(shape)
    return np.array(elements, dtype).reshape(shape)


@pytest.mark.parametrize(("family", "op"), family_and_op())
def test_nodes_give_what_tensorflow_gives(family: str, op: str) -> None:
    for case in (case for case in cases_of(family) if case["op"] == op):
        made = node(op, **case["attributes"])
        inputs = [array(*tensor) for tensor in case["inputs"]]
        before = [value.copy() for value in inputs]
        if case["outputs"] is None:
            with pytest.raises((OpError, ModelError)):
                run_node(made, inputs)
            continue
        wanted = [array(*tensor) for tensor in case["outputs"]]
        for found, expected in zip(run_node(made, inputs), wanted, strict=True):
            near = TOLERANCES.get(expected.dtype.name, 0.0)
            assert not difference(found, expected, {"rtol": near, "atol": near}), case
        for value, kept in zip(inputs, before, strict=True):
            assert not difference(value, kept, {"rtol": 0, "atol": 0})
