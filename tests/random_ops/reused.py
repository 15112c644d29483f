"""The models of tests/cases that are more than one operator, with other values than theirs."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from ..cases.case import Dies, Differs
from .draw import Draw, Kind
from .entry import Entry, Make
from .one_op import OneOp, Trial

STEMS = (
    *("lstm_basic", "lstm_bidirectional", "control_flow", "densify", "hashtable", "resource", "tensor_list"),
    *("packed_weights", "packed_movement", "legacy_weights", "numeric_verify", "pool_argmax", "svdf"),
    *("transpose_conv_bias", "stablehlo_elementwise", "stablehlo_movement", "stablehlo_contraction"),
)


def _redrawn(draw: Draw, array: np.ndarray) -> np.ndarray:
    """Other elements of the same kind: those of the array in another order, or any."""
    if array.dtype.kind == "f" and draw.chance():
        return draw.values(Kind(array.dtype.name), array.shape)
    return draw.random.permutation(array.reshape(-1)).reshape(array.shape)


def _of(stem: str) -> Make:
    def make(draw: Draw, op: OneOp) -> Trial:
        cases = import_module(f"tests.cases.{stem}").CASES
        unlike = (Differs, Dies)  # which tests/test_cases.py asserts
        case = draw.pick(*(
            each for each in cases
            if not isinstance(each.litert_default, unlike) and not isinstance(each.litert_reference, unlike)
        ))  # fmt: skip
        runs = [tuple(case.inputs)]
        runs += [tuple(_redrawn(draw, each) for each in case.inputs) for _ in range(draw.number(1, 2))]
        return Trial(case.make(), tuple(runs), case.id + draw.special)

    return make


ENTRIES = {
    f"cases {stem}": Entry(_of(stem), rtol=1e-4, atol=1e-4, hybrid=1e-3, nudges=True) for stem in STEMS
}
