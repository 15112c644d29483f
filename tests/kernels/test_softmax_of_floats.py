"""SOFTMAX of float32 gives LiteRT's bytes where both compute on AVX-512, and nearly so elsewhere."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import numlite
import numpy as np
import pytest
from numlite.kernels.compiled.language.target import target
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op


def result(module: ModuleType, model: bytes, x: np.ndarray) -> np.ndarray:
    interpreter = module.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    return np.asarray(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))


def softmax(kind: Kind, beta: float) -> bytes:
    return single_op(BuiltinOperator.SOFTMAX, [kind], kind, tflite.SoftmaxOptionsT(beta=beta), 1)


def test_powers_of_a_negative_beta_may_be_infinite() -> None:
    """Source: LiteRT's results."""
    rows = np.array([[0, -100, -3], [0, -88.5, -88.2], [1, 2, 3], [0, -np.inf, -3]], np.float32)
    nan = [0, np.nan, 0]
    expected = np.array([nan, [0, 0, 0], [0.66524096, 0.24472847, 0.09003057], nan])
    np.testing.assert_allclose(result(numlite, softmax(Kind(rows.shape), -1), rows), expected, rtol=1e-5)


@pytest.mark.skipif(find_spec("ai_edge_litert") is None, reason="ai-edge-litert is not installed")
@pytest.mark.parametrize("depth", [1, 5, 16, 63, 64, 128, 333, 1000])
def test_its_bytes_are_litert_s(depth: int) -> None:
    kind = Kind((7, depth))
    model = softmax(kind, 1)
    # The last row has results that are subnormal, and zero.
    sizes = np.array([0.01, 1, 3, 10, 20, 40, 110], np.float32)[:, None]
    x = np.random.default_rng(depth).uniform(-1, 1, kind.shape).astype(np.float32) * sizes
    ours, theirs = (result(each, model, x) for each in (numlite, import_module("ai_edge_litert.interpreter")))
    if target().avx512:
        np.testing.assert_array_equal(ours.view(np.int32), theirs.view(np.int32))
    else:
        np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=1e-37)


@pytest.mark.parametrize("depth", [5, 48, 1024, 1025])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 9])
def test_each_row_is_as_if_it_were_alone(rows: int, depth: int) -> None:
    """Short rows are divided by their sums when later rows have theirs."""
    x = np.random.default_rng(rows).standard_normal((rows, depth)).astype(np.float32)
    alone = [result(numlite, softmax(Kind((1, depth)), 1), row[None]) for row in x]
    together = result(numlite, softmax(Kind(x.shape), 1), x)
    np.testing.assert_array_equal(together, np.concatenate(alone))
    np.testing.assert_allclose(together.sum(1, dtype=np.float64), 1, rtol=1e-5)
