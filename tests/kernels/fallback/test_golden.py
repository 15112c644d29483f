"""Small nodes against what TensorFlow gives for them (golden/README.md)."""

from __future__ import annotations

import pytest
from numlite.kernels.fallback.node_runner import run_node
from numlite.kernels.fallback.status import OpError
from numlite.lite.errors import ModelError

from ...shared_arrays import difference
from .golden_cases import GOLDEN, array, cases_of, ops_of, tolerance
from .nodes import node

FAMILIES = sorted(path.stem for path in GOLDEN.glob("*.jsonl") if path.stem != "variables")


@pytest.mark.parametrize(("family", "op"), [(family, op) for family in FAMILIES for op in ops_of(family)])
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
            assert not difference(found, expected, tolerance(expected)), case
        for value, kept in zip(inputs, before, strict=True):
            assert not difference(value, kept, {"rtol": 0, "atol": 0})
