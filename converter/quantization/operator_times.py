"""operator_times: how long each operator of a model takes here, by the names of first results."""

from __future__ import annotations

from typing import NamedTuple

from ...lite.model import Model
from ..model_runner import model_interpreter
from .calibrate import Sample, run_sample
from .layer_statistics import as_taken
from .rewrite import QUANTIZED

_RUNS = 15
_CONVERSIONS = ("QUANTIZE", "DEQUANTIZE")


class OperatorTimes(NamedTuple):
    """The median time in ns of each operator by its first result's name, of all together, and of those that
    only change types."""

    operators: dict[str, float]
    total: float
    conversions: float

    def of(self, name: str) -> float | None:
        """That of the operator that gives a float model's tensor, or the integers that stand for it."""
        found = self.operators.get(name + QUANTIZED)
        return self.operators.get(name) if found is None else found


def operator_times(model: Model, sample: Sample) -> OperatorTimes:
    """Of a run on a sample of the float model, in numlite on this machine.

    Bodies of loops and branches are in none of them, but in the total.
    """
    interpreter = model_interpreter(model)
    graph = run_sample(interpreter, as_taken(interpreter, sample), "sample 0")
    profile = interpreter.profile(_RUNS, graph)
    return OperatorTimes(
        {each.output: each.median_ns for each in profile if each.op not in _CONVERSIONS},
        sum(each.median_ns for each in profile),
        sum(each.median_ns for each in profile if each.op in _CONVERSIONS),
    )
