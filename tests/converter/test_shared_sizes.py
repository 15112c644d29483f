"""Our models are no larger than TensorFlow's (../shared/convert/graphs), in operators and bytes."""

from __future__ import annotations

import pytest
from numlite.converter.target_spec import Settings

from .corpus import FOLDER, Case, cases

# Where TensorFlow's own model computes something else than its graph, or does not run at all.
OTHERWISE = {
    "op_NonMaxSuppression": "its model pads what the graph does not",
    "op_QuantizeAndDequantizeV2": "its model quantizes to another grid",
    "op_RFFT_2a": "its model does not run: the length is no power of two",
}
# At most as large: this part of all graphs; the others (but those above): at most this much larger.
PART, MOST = 0.95, 1.10


def sizes(case: Case) -> tuple[float, float]:
    """Our operators and bytes as multiples of TensorFlow's; nothing is once nothing."""
    conversion = case.convert(Settings())
    operators = sum(len(graph.operators) for graph in conversion.lite.graphs())
    theirs = case.described["tflite"]
    if theirs["total_ops"] == 0:
        return (float("inf") if operators else 1.0), len(conversion.model) / theirs["bytes"]
    return operators / theirs["total_ops"], len(conversion.model) / theirs["bytes"]


@pytest.mark.long
@pytest.mark.skipif(not FOLDER.exists(), reason="needs ../shared/convert")
def test_operators_and_bytes() -> None:
    measured = {case.name: sizes(case) for case in cases("builtins")}
    larger = {name: both for name, both in measured.items() if max(both) > 1}
    assert len(larger) <= (1 - PART) * len(measured)
    compared = {name: both for name, both in larger.items() if not name.startswith(tuple(OTHERWISE))}
    assert {name: both for name, both in compared.items() if max(both) > MOST} == {}
