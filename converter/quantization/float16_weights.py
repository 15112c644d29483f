"""Models with float16 weights as the float models they were made from.

Given    y = CONV_2D(x, DEQUANTIZE(w f16))
Result   y = CONV_2D(x, w f32)
"""

from __future__ import annotations

import numpy as np

from ...lite.tensor import TensorType
from ...schema import tflite
from .model_editor import ModelEditor


def widen_float16(editor: ModelEditor) -> int:
    """Make constants that are float16 and dequantized float32 ones, in place; how many there were."""
    count = 0
    for subgraph in editor.subgraphs:
        outputs, places = set(subgraph.outputs or ()), dict[int, int]()
        kept = []
        for operator, name in editor.operators(subgraph):
            operator.inputs = [places.get(i, i) for i in operator.inputs or ()]
            widens = name == "DEQUANTIZE" and not outputs.intersection(operator.outputs or ())
            wide = _widened(editor, subgraph, operator) if widens else None
            if wide is None:
                kept.append(operator)
            else:
                places[(operator.outputs or ())[0]] = wide
        subgraph.operators = kept
        count += len(places)
    return count


def _widened(editor: ModelEditor, subgraph: tflite.SubGraphT, operator: tflite.OperatorT) -> int | None:
    """The float32 constant that a DEQUANTIZE gives, None where it gives another thing."""
    tensors = subgraph.tensors or []
    given = tensors[(operator.inputs or ())[0]]
    value = editor.constant(given) if given.type == TensorType.FLOAT16 else None
    if value is None:
        return None
    name = given.name or ""
    return editor.add_constant(subgraph, name, TensorType.FLOAT32, value.astype(np.float32))
