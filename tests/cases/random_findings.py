"""Cases that tests/random_operators.py found, most of which LiteRT alone defines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.schema.tflite import BuiltinOperator

from .case import Case
from .single_op import Kind, single_op


def _case(
    operator: str,
    inputs: Sequence[Kind],
    output: Kind,
    values: Sequence[np.ndarray] | None = None,
    options: TableT | None = None,
    constants: dict[int, np.ndarray] | None = None,
) -> Case:
    """Random inputs unless values are given."""
    told = "-".join(f"{kind.dtype.__name__}{list(kind.shape)}" for kind in inputs)
    id = f"found-{operator}-{told}-{inputs[0].scale}-{options and repr(options)}"
    held = constants or {}
    given = [kind.random(f"{id}{i}") for i, kind in enumerate(inputs) if i not in held]
    return Case(
        id=id,
        make=lambda: single_op(BuiltinOperator[operator], inputs, output, options, constants=held),
        inputs=given if values is None else values,
    )


_AXES = Kind((1,), np.int32)
_COMPARISONS = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
_SIX = tflite.MulOptionsT(fused_activation_function=tflite.ActivationFunctionType.RELU6)

CASES = [
    # Scales of 1 and more are no business of LiteRT's multiplier, which keeps little but the sign.
    *(
        _case(name, [Kind((9, 40), dtype, scale, zero), Kind((1, 40), dtype, 0.01)], Kind((9, 40), np.bool_))
        for name in _COMPARISONS
        for dtype, scale, zero in ((np.int8, 1.1, 3), (np.int8, 1.7, -5), (np.uint8, 5.3, 120))
    ),
    _case("NOT_EQUAL", [Kind((99,), np.int16, 1.3), Kind((99,), np.int16, 1.3)], Kind((99,), np.bool_)),
    _case("RELU", [Kind((4000,), np.int16, 0.00466)], Kind((4000,), np.int16, 0.00392)),
    # Each sum of two terms comes up: 1 / sum goes through all samples of its table.
    _case(
        "SOFTMAX",
        [Kind((65536, 2), np.int16, 10 / 65535)],
        Kind((65536, 2), np.int16, 1 / 32768),
        [np.stack([np.full(65536, 32767, np.int16), np.arange(-32768, 32768).astype(np.int16)], 1)],
        tflite.SoftmaxOptionsT(beta=1.0),
    ),
    _case("MUL", [Kind((9,), np.uint32), Kind((9,), np.uint32)], Kind((9,), np.uint32), options=_SIX),
    _case(
        "SUM",
        [Kind((7, 3), np.int32), _AXES],
        Kind((3,), np.int32),
        [np.full((7, 3), 2**30, np.int32), np.array([0], np.int32)],
    ),
    _case(
        "SUM",
        [Kind((7,), np.int32), _AXES],
        Kind((), np.int32),
        [np.full(7, -(2**31), np.int32), np.array([0], np.int32)],
    ),
    _case(
        "MEAN",
        [Kind((7, 2), np.int64), _AXES],
        Kind((2,), np.int64),
        [np.array([[2**61 // 7 + 3, -(2**61) // 7]] * 7, np.int64), np.array([0], np.int32)],
    ),
    _case(
        "STRIDED_SLICE",
        [Kind((1, 7, 2), np.int16), *[Kind((1,), np.int32)] * 3],
        Kind((7, 2), np.int16),
        options=tflite.StridedSliceOptionsT(begin_mask=1, shrink_axis_mask=1),
        constants={1: np.array([7], np.int32), 2: np.array([8], np.int32), 3: np.array([1], np.int32)},
    ),
    _case(
        "STABLEHLO_PAD",
        [Kind((5, 4)), Kind(())],
        Kind((0, 0)),
        options=tflite.StablehloPadOptionsT(
            edge_padding_low=[2, -2], edge_padding_high=[1, -2], interior_padding=[0, 0]
        ),
    ),
    _case(
        "FAKE_QUANT", [Kind((50,))], Kind((50,)), options=tflite.FakeQuantOptionsT(min=-6, max=5, num_bits=1)
    ),
]
