"""Cases of packed 2- and 4-bit tensors in operators that move elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.schema.tflite import BuiltinOperator, TensorType

from ..model_builder import ModelBuilder
from .case import EXACT, Case, Differs, Refuses, Relation

_X = ((np.arange(15) % 15 - 7) * 0.5).reshape(3, 5).astype(np.float32)
_NO_INT4 = Refuses("(is|are) (currently )?not supported by|currently not supported")
_WRONG_BYTES = Differs("LiteRT gathers packed rows from whole bytes")


class _Movement(NamedTuple):
    """What becomes of x, and how LiteRT's results stand to it."""

    function: Callable[[np.ndarray], np.ndarray]
    constants: Sequence[np.ndarray] = ()
    options: TableT | None = None
    litert: Relation | None = None
    twice: bool = False  # x is both inputs


def _integers(*values: object) -> np.ndarray:
    return np.array(values, np.int32)


_MOVEMENTS = {
    "RESHAPE": _Movement(lambda x: x.reshape(5, 3), (_integers(5, 3),)),
    "TRANSPOSE": _Movement(lambda x: x.T, (_integers(1, 0),)),
    "SLICE": _Movement(lambda x: x[1:3, 1:4], (_integers(1, 1), _integers(2, 3))),
    "EXPAND_DIMS": _Movement(lambda x: x[None], (np.array(0, np.int32),)),
    "CONCATENATION": _Movement(
        lambda x: np.concatenate([x, x], 1), (), tflite.ConcatenationOptionsT(axis=1), twice=True
    ),
    "GATHER": _Movement(lambda x: x[[2, 0]], (_integers(2, 0),), tflite.GatherOptionsT(), _WRONG_BYTES),
    "PAD": _Movement(lambda x: np.pad(x, [(1, 0), (0, 2)]), (_integers([1, 0], [0, 2]),), litert=_NO_INT4),
    "TILE": _Movement(lambda x: np.tile(x, (1, 2)), (_integers(1, 2),), litert=_NO_INT4),
    "REVERSE_V2": _Movement(lambda x: x[:, ::-1], (_integers(1),), litert=_NO_INT4),
    "STRIDED_SLICE": _Movement(
        lambda x: x[:, ::2],
        (_integers(0, 0), _integers(3, 5), _integers(1, 2)),
        tflite.StridedSliceOptionsT(),
        _NO_INT4,
    ),
}


def _case(name: str, movement: _Movement, shapes_given: bool = False) -> Case:
    """float32 to int4, the operator, and back. shapes_given: the constants are inputs of the model."""
    out = movement.function(_X).shape

    def make() -> bytes:
        model = ModelBuilder()
        x, y = model.tensor(_X.shape), model.tensor(out)
        stored, moved = (model.tensor(s, TensorType.INT4, scale=0.5, zero_point=0) for s in (_X.shape, out))
        model.op(BuiltinOperator.QUANTIZE, [x], [stored], tflite.QuantizeOptionsT(), 4)
        others = [
            model.tensor(c.shape, c.dtype) if shapes_given else model.constant(c) for c in movement.constants
        ]
        inputs = [stored, stored] if movement.twice else [stored, *others]
        model.op(BuiltinOperator[name], inputs, [moved], movement.options)
        model.op(BuiltinOperator.DEQUANTIZE, [moved], [y], tflite.DequantizeOptionsT(), 9)
        return model.build([x, *others] if shapes_given else [x], [y])

    return Case(
        f"{name}-int4{'-given' if shapes_given else ''}",
        make,
        [_X, *movement.constants] if shapes_given else [_X],
        lambda x, *_: np.ascontiguousarray(movement.function(x)),
        EXACT,
        movement.litert,
        movement.litert,
    )


CASES = [
    *(_case(name, movement) for name, movement in _MOVEMENTS.items()),
    *(_case(name, _MOVEMENTS[name], True) for name in ("RESHAPE", "SLICE", "TILE")),
]
