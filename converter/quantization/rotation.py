"""Rotations: weights of FULLY_CONNECTED are rotated before they are rounded, and inputs as the model runs.

Given    x -> FULLY_CONNECTED(w) -> y
Result   x -> aeq.hadamard_rotation -> FULLY_CONNECTED(w H) -> y            hadamard
         x -> RESHAPE -> FULLY_CONNECTED(H) -> RESHAPE -> FULLY_CONNECTED(w H) -> y    decomposed-hadamard

H is orthogonal, so that the values stay, and all of its elements are of one size: what is large in one weight
is spread over a run of them, whose scale then suits them all. Runs are as long as the largest power of two
that divides the depth.
Source: ai-edge-quantizer, algorithms HADAMARD_ROTATION and DECOMPOSED_HADAMARD_ROTATION.
"""

from __future__ import annotations

from math import gcd

import numpy as np

from ...lite.tensor import TensorType
from ...schema import tflite
from .model_editor import ModelEditor

CUSTOM, DECOMPOSED = "hadamard", "decomposed-hadamard"
ROTATIONS = (CUSTOM, DECOMPOSED)
# How the rotated weights are rounded, which lie as the formula expects; inputs behind a RELU do not stay so.
ROUNDING = "octav"
ROTATED = "FULLY_CONNECTED"
_X, _FILTER = 0, 1
_LONGEST = 1 << 30


def hadamard(size: int) -> np.ndarray:
    """The orthogonal matrix of a power of two: float64 [size, size], symmetric."""
    matrix = np.ones((1, 1))
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix / np.sqrt(size)


class Rotations:
    """Of one subgraph; operators that share an input or a weight share what is made of it."""

    def __init__(self, editor: ModelEditor, subgraph: tflite.SubGraphT) -> None:
        self._editor, self._subgraph = editor, subgraph
        self._inputs: dict[tuple[int, str, int], int] = {}
        self._weights: dict[int, int] = {}

    def obstacle(self, operator: tflite.OperatorT, algorithm: str) -> str:
        """What keeps a FULLY_CONNECTED of float32 weights from a rotation, "" where nothing does."""
        x, depth = self._tensor(operator, _X), self._depth(operator)
        shape = _shape(x)
        if x.type != TensorType.FLOAT32 or not shape or shape[-1] != depth:
            return f"its input's last dimension is not the {depth} of its weights"
        if depth % 2:
            return f"its weights' last dimension is odd, {depth}"
        if algorithm == CUSTOM and len(shape) not in (2, 3):
            return "the kernel of rotations takes 2 or 3 dimensions"
        open_sizes = sum(size < 0 for size in _signature(x))
        return (
            "several dimensions of its input are open" if algorithm == DECOMPOSED and open_sizes > 1 else ""
        )

    def rotate(self, operator: tflite.OperatorT, algorithm: str) -> None:
        """Rotate an operator's weights (still float32) and its input."""
        inputs = operator.inputs
        assert isinstance(inputs, list)
        size = gcd(self._depth(operator), _LONGEST)
        key = inputs[_X], algorithm, size
        if key not in self._inputs:
            make = self._custom if algorithm == CUSTOM else self._decomposed
            self._inputs[key] = make(operator, size)
        if inputs[_FILTER] not in self._weights:
            self._weights[inputs[_FILTER]] = self._rotated(self._tensor(operator, _FILTER), size)
        inputs[_X], inputs[_FILTER] = self._inputs[key], self._weights[inputs[_FILTER]]

    def _rotated(self, tensor: tflite.TensorT, size: int) -> int:
        values = self._editor.constant(tensor)
        assert values is not None
        turned = (values.astype(np.float64).reshape(-1, size) @ hadamard(size)).reshape(values.shape)
        name = tensor.name or ""
        return self._editor.add_constant(self._subgraph, name, TensorType.FLOAT32, turned.astype(np.float32))

    def _custom(self, operator: tflite.OperatorT, size: int) -> int:
        x = self._tensor(operator, _X)
        y = self._editor.add_tensor(self._subgraph, f"{x.name}_rotated", TensorType.FLOAT32, x)
        options = {"hadamard_size": size, "random_binary_vector": [1] * size}
        made = self._editor.custom_operator("aeq.hadamard_rotation", [self._number(operator)], [y], options)
        self._operators.insert(self._place(operator), made)
        return y

    def _decomposed(self, operator: tflite.OperatorT, size: int) -> int:
        editor, subgraph, x = self._editor, self._subgraph, self._tensor(operator, _X)
        matrix = hadamard(size).astype(np.float32)
        h = editor.add_constant(subgraph, f"hadamard_{size}", TensorType.FLOAT32, matrix)
        count = int(np.prod(_shape(x))) // size
        is_open = any(s < 0 for s in _signature(x))
        runs = tflite.TensorT(
            shape=[count, size], shape_signature=[-1, size] if is_open else None, has_rank=True
        )
        last = self._number(operator)
        steps = ((runs, [-1, size], "runs"), (runs, None, "turned"), (x, _signature(x), "rotated"))
        for like, shape, what in steps:
            y = editor.add_tensor(subgraph, f"{x.name}_{what}", TensorType.FLOAT32, like)
            place = self._place(operator)
            if shape is None:
                editor.insert(
                    subgraph, place, "FULLY_CONNECTED", [last, h, -1], [y], tflite.FullyConnectedOptionsT()
                )
            else:
                wanted = editor.add_constant(
                    subgraph, f"{x.name}_{what}_shape", TensorType.INT32, np.array(shape, np.int32)
                )
                editor.insert(
                    subgraph, place, "RESHAPE", [last, wanted], [y], tflite.ReshapeOptionsT(new_shape=shape)
                )
            last = y
        return last

    @property
    def _operators(self) -> list[tflite.OperatorT]:
        assert self._subgraph.operators is not None
        return self._subgraph.operators

    def _place(self, operator: tflite.OperatorT) -> int:
        return next(i for i, other in enumerate(self._operators) if other is operator)

    def _number(self, operator: tflite.OperatorT) -> int:
        return operator.inputs[_X]  # type: ignore[index]

    def _tensor(self, operator: tflite.OperatorT, place: int) -> tflite.TensorT:
        return self._subgraph.tensors[operator.inputs[place]]  # type: ignore[index]

    def _depth(self, operator: tflite.OperatorT) -> int:
        return _shape(self._tensor(operator, _FILTER))[-1]


def _shape(tensor: tflite.TensorT) -> list[int]:
    return [] if tensor.shape is None else [int(size) for size in tensor.shape]


def _signature(tensor: tflite.TensorT) -> list[int]:
    """The shape, -1 where it is open."""
    found = tensor.shape_signature
    return _shape(tensor) if found is None or not len(found) else [int(size) for size in found]
