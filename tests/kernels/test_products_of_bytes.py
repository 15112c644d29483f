"""Products of bytes at the ends of their ranges: sums are those of the definition in every form."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op

SCALE = 2.0**-5  # of both sides and, with a shift, of the result: what is rounded is exact


def ends(shape: tuple[int, ...], seed: int, dtype: type = np.int8) -> np.ndarray:
    """Half of the elements at the ends, the rest anywhere."""
    random, limits = np.random.default_rng(seed), np.iinfo(dtype)
    values = random.integers(limits.min, limits.max, shape, endpoint=True)
    extremes = random.choice([limits.min, limits.min + 1, 0, limits.max], shape)
    return np.where(random.random(shape) < 0.5, extremes, values).astype(dtype)


def rounded(sums: np.ndarray, depth: int, dtype: type, zero: int) -> np.ndarray:
    limits = np.iinfo(dtype)
    return np.clip(np.rint(sums / shift(depth)) + zero, limits.min, limits.max).astype(dtype)


def shift(depth: int) -> float:
    return 2.0 ** np.ceil(np.log2(128 * np.sqrt(depth)))


# Depths and columns that end within and at the ends of what is multiplied together.
SIZES = [(1, 5), (37, 16), (64, 49), (65, 33), (192, 64), (206, 70)]


@pytest.mark.parametrize("lowest", [-128, -127])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize(("depth", "columns"), SIZES)
def test_rows_alone_and_together(depth: int, columns: int, dtype: type, lowest: int) -> None:
    """Kernels of one row, of several and of many take other forms; weights are packed for those asked for."""
    zero = -9 if dtype is np.int8 else 119
    weights = np.maximum(ends((columns, depth), depth), lowest).astype(np.int8)
    if dtype is np.uint8:
        weights = (weights.astype(np.int16) + 128).astype(np.uint8)
    w_zero = 0 if dtype is np.int8 else 128
    kinds = [Kind((1, depth), dtype, SCALE, zero), Kind(weights.shape, dtype, SCALE, w_zero)]
    result = Kind((1, columns), dtype, SCALE * SCALE * shift(depth), zero)
    options = tflite.FullyConnectedOptionsT()
    content = single_op(BuiltinOperator.FULLY_CONNECTED, kinds, result, options, constants={1: weights})
    interpreter = Interpreter(model_content=content)
    for rows in (1, 7, 1, 2, 8, 17, 32, 49, 65):
        x = ends((rows, depth), rows, dtype)
        interpreter.resize_tensor_input(0, x.shape)
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, x)
        interpreter.invoke()
        found = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        sums = (x.astype(np.int64) - zero) @ (weights.astype(np.int64) - w_zero).T
        np.testing.assert_array_equal(found, rounded(sums, depth, dtype, zero))


@pytest.mark.parametrize("lowest", [-128, -127])
@pytest.mark.parametrize(("dtype", "w_zero"), [(np.int8, 0), (np.uint8, 0), (np.uint8, 3)])
@pytest.mark.parametrize(("depth", "columns", "side"), [(1, 3, 5), (5, 33, 7), (16, 16, 8), (64, 40, 6)])
def test_windows(depth: int, columns: int, side: int, dtype: type, w_zero: int, lowest: int) -> None:
    """Windows of images with padding; a zero point of the weights makes sums of x count, too."""
    flip = 0 if dtype is np.int8 else 128
    zero, w_zero = flip - 9, w_zero + flip
    stored = np.maximum(ends((columns, 3, 3, depth), depth), lowest).astype(np.int16) + flip
    weights = stored.astype(dtype)
    x = ends((2, side, side, depth), columns, dtype)
    kinds = [Kind(x.shape, dtype, SCALE, zero), Kind(weights.shape, dtype, SCALE, w_zero)]
    kinds.append(Kind((columns,), np.int32, SCALE * SCALE))
    biases = np.arange(columns, dtype=np.int32) * 100
    result = Kind((2, side, side, columns), dtype, SCALE * SCALE * shift(9 * depth), zero)
    options = tflite.Conv2DOptionsT(stride_w=1, stride_h=1)
    content = single_op(BuiltinOperator.CONV_2D, kinds, result, options, constants={1: weights, 2: biases})
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, x)
    interpreter.invoke()
    found = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    padded = np.pad(x.astype(np.int64) - zero, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    sums = np.einsum("bhwdij,cijd->bhwc", windows, weights.astype(np.int64) - w_zero)
    wanted = rounded(sums + biases, 9 * depth, dtype, zero)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize("rows", [6, 37])
@pytest.mark.parametrize(("depth", "columns"), [(3, 7), (16, 16), (37, 32), (70, 49)])
def test_pairs_of_matrices(depth: int, columns: int, rows: int, is_constant: bool, by_columns: bool) -> None:
    """Matrices that are packed in each invoke, or before; the second invoke has other weights."""
    zero = 5
    shape = (2, columns, depth) if by_columns else (2, depth, columns)
    kinds = [Kind((2, rows, depth), np.int8, SCALE, zero), Kind(shape, np.int8, SCALE, 0)]
    result = Kind((2, rows, columns), np.int8, SCALE * SCALE * shift(depth), zero)
    options = tflite.BatchMatMulOptionsT(adj_y=by_columns)
    constants = {1: ends(shape, 3)} if is_constant else {}
    content = single_op(BuiltinOperator.BATCH_MATMUL, kinds, result, options, constants=constants)
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    for seed in (3, 4):
        x, w = ends((2, rows, depth), seed + 10), ends(shape, 3 if is_constant else seed)
        interpreter.set_tensor(0, x)
        if not is_constant:
            interpreter.set_tensor(1, w)
        interpreter.invoke()
        found = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        matrices = w.astype(np.int64).transpose(0, 2, 1) if by_columns else w.astype(np.int64)
        sums = (x.astype(np.int64) - zero) @ matrices
        np.testing.assert_array_equal(found, rounded(sums, depth, np.int8, zero))


@pytest.mark.parametrize("lowest", [-128, -127])
@pytest.mark.parametrize(("depth", "columns"), SIZES)
def test_rows_of_floats_alone_and_together(depth: int, columns: int, lowest: int) -> None:
    """Each row is quantized for itself; those with an element 0 and 255 quanta above are of whole quanta."""
    weights = np.maximum(ends((columns, depth), depth), lowest).astype(np.int8)
    kinds = [Kind((1, depth), np.float32), Kind(weights.shape, np.int8, SCALE)]
    options = tflite.FullyConnectedOptionsT(asymmetric_quantize_inputs=True)
    content = single_op(
        BuiltinOperator.FULLY_CONNECTED, kinds, Kind((1, columns)), options, constants={1: weights}
    )
    interpreter = Interpreter(model_content=content)
    for rows in (7, 1, 7, 2, 33):
        x = ends((rows, depth), rows).astype(np.float32)
        x[:, 0], x[:, -1] = -128, 127
        if depth == 1:
            x[:, 0] = 127
        interpreter.resize_tensor_input(0, x.shape)
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, x)
        interpreter.invoke()
        found = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        wanted = x.astype(np.float64) @ (weights.astype(np.float64) * SCALE).T
        # The row's scale is rounded once, its products twice.
        np.testing.assert_allclose(found, wanted, rtol=4e-7, atol=2e-3 * SCALE)
