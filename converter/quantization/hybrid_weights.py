"""widen_hybrid: operators that quantize their inputs themselves as the float operators they stand for.

Given    y = CONV_2D(x f32, w i8)
Result   y = CONV_2D(x f32, w f32)      w keeps the scales that it was quantized with
"""

from __future__ import annotations

import numpy as np

from ...lite.tensor import TensorType
from ...schema import tflite
from .constraints import CONSTRAINTS, Weights
from .model_editor import ModelEditor
from .parameters import Parameters
from .scheme import WEIGHTS

_INT8 = WEIGHTS[8]._replace(low=-128)


def widen_hybrid(editor: ModelEditor) -> int:
    """Make int8 filters beside float32 operands float32 ones, in place; how many there were.

    Their tensors keep the table of scales, with which they become the same integers again.
    """
    count = 0
    for subgraph in editor.subgraphs:
        for operator, name in editor.operators(subgraph):
            rule = CONSTRAINTS.get(name)
            if rule is not None and rule.weights is not None:
                count += _widen(editor, subgraph, operator, rule.weights, (rule.operands or (0,))[0])
    return count


def _widen(
    editor: ModelEditor, subgraph: tflite.SubGraphT, operator: tflite.OperatorT, weights: Weights, place: int
) -> bool:
    tensors, operands = subgraph.tensors or [], list(operator.inputs or ())
    if len(operands) <= max(weights.place, place) or min(operands[weights.place], operands[place]) < 0:
        return False
    x, w = tensors[operands[place]], tensors[operands[weights.place]]
    value = editor.constant(w) if w.type == TensorType.INT8 and x.type == TensorType.FLOAT32 else None
    scales = None if value is None else filter_scales(w, value, weights.dimension)
    if value is None or scales is None:
        return False
    parameters = Parameters(_INT8, scales, np.zeros(len(scales), np.int64), weights.dimension)
    real = parameters.real(value)
    operands[weights.place] = editor.add_constant(
        subgraph, w.name or "", TensorType.FLOAT32, real, parameters.table()
    )
    operator.inputs = operands
    return True


def filter_scales(tensor: tflite.TensorT, values: np.ndarray, dimension: int) -> np.ndarray | None:
    """The float32 scales that a filter's table has for the dimension, None where it has no symmetric ones."""
    table = tensor.quantization
    if table is None or table.scale is None or table.details is not None:
        return None
    scales = np.asarray(table.scale, np.float32)
    is_single = len(scales) == 1
    fits = is_single or (len(scales) == values.shape[dimension] and table.quantized_dimension == dimension)
    return scales if fits and np.all(scales > 0) and not np.any(table.zero_point) else None
