"""Weights that lie on a grid, as training for integers leaves them: grid_scales, fold_grids."""

from __future__ import annotations

import numpy as np

from ...lite.tensor import NUMPY_DTYPES, TensorType
from ...schema import tflite
from .model_editor import ModelEditor
from .parameters import Parameters, magnitude_scales
from .scheme import WEIGHTS, Integers

# Of the largest magnitude, in steps; at 128 it is the one value that int8 weights do not have.
_MOST = 128
# How far from a whole number a weight may be that float32 has rounded, in steps.
_NEAR = 2e-3
_FIRST = 256


def grid_scales(rows: np.ndarray, single: bool) -> np.ndarray | None:
    """float32 scales whose multiples, to +-128, all weights are; None where there are none.

    rows are [channels, values]. One scale for all where that is possible, or single asks for it; else one
    for each channel. Of several grids it is the finest.
    """
    values = rows.astype(np.float64)
    whole = _step(values.reshape(-1))
    if whole is not None or single:
        return None if whole is None else np.array([whole], np.float32)
    found = [_step(row) for row in values]
    known = [each for each in found if each is not None]
    return np.array(known, np.float32) if len(known) == len(found) else None


def _step(values: np.ndarray) -> float | None:
    """The step of the finest grid that all values are on, None where there is none; of zeros any."""
    most = float(np.abs(values).max(initial=0.0))
    if most == 0.0:
        return float(magnitude_scales(np.zeros(1), WEIGHTS[8])[0])
    counts = np.arange(_MOST, 0, -1, dtype=np.float64)
    spread = values[:: max(1, len(values) // _FIRST)]
    for count in counts[_are_whole(spread[None, :] * (counts[:, None] / most)).all(axis=1)]:
        if _are_whole(values * (count / most)).all():
            return float(most / count)
    return None


def _are_whole(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(values - np.rint(values)) < _NEAR)


def fold_grids(editor: ModelEditor) -> None:
    """Compute QUANTIZE and DEQUANTIZE of constants, in place.

    Given    CONV_2D(x, DEQUANTIZE(QUANTIZE(w)))     CONV_2D(x, DEQUANTIZE(q))
    Result   CONV_2D(x, w on its grid)               CONV_2D(x, w that q stands for)
    """
    for subgraph in editor.subgraphs:
        kept = []
        outputs, places = set(subgraph.outputs or ()), dict[int, int]()
        for operator, name in editor.operators(subgraph):
            operator.inputs = [places.get(t, t) for t in operator.inputs or ()]
            folds = name in ("QUANTIZE", "DEQUANTIZE") and not outputs.intersection(operator.outputs or ())
            made = _folded(editor, subgraph, operator) if folds else None
            if made is None:
                kept.append(operator)
            else:
                places[(operator.outputs or ())[0]] = made
        subgraph.operators = kept


def _folded(editor: ModelEditor, subgraph: tflite.SubGraphT, operator: tflite.OperatorT) -> int | None:
    """The constant that QUANTIZE or DEQUANTIZE gives, None where it gives another thing."""
    tensors = subgraph.tensors or []
    given, result = (tensors[(ends or ())[0]] for ends in (operator.inputs, operator.outputs))
    value = editor.constant(given)
    is_real = given.type == TensorType.FLOAT32
    parameters = _parameters(result if is_real else given)
    if value is None or parameters is None or is_real == (result.type == TensorType.FLOAT32):
        return None
    type_, table = TensorType(result.type), result.quantization
    made = parameters.quantized(value) if is_real else parameters.real(value)
    return editor.add_constant(subgraph, result.name or "", type_, made.astype(NUMPY_DTYPES[type_]), table)


def _parameters(tensor: tflite.TensorT) -> Parameters | None:
    """Those of a tensor of integers, None where it has none or is of another type."""
    type_, table = TensorType(tensor.type), tensor.quantization
    if type_ not in (TensorType.INT8, TensorType.UINT8, TensorType.INT16):
        return None
    if table is None or table.scale is None or not len(table.scale):
        return None
    limits = np.iinfo(NUMPY_DTYPES[type_])
    integers = Integers(type_, limits.bits, int(limits.min), int(limits.max), symmetric=False)
    zeros = np.zeros(len(table.scale)) if table.zero_point is None else np.asarray(table.zero_point)
    scales = np.asarray(table.scale, np.float32)
    return Parameters(integers, scales, zeros.astype(np.int64), int(table.quantized_dimension))
