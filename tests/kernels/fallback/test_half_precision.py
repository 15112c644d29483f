"""Half and bfloat16 where TensorFlow rounds at every step: golden values of TensorFlow 2.21's kernels.

They were computed on x86-64 with TF_ENABLE_ONEDNN_OPTS=0; the sums are also held to their definition.
"""

from __future__ import annotations

import sys

import ml_dtypes
import numpy as np
import pytest
from numlite.kernels.fallback.dtypes import numpy_dtype
from numlite.kernels.fallback.half_precision import total
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import DT_BFLOAT16

from .nodes import run

TYPES = {"f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}

GOLDEN = {
    "f16": {
        "x": [0.377197265625, -0.396240234375, 1.9208984375, 0.314697265625],
        "y": [0.65087890625, 2.580078125, 1.71484375, 0.2142333984375],
        "a": [-0.245361328125, 2.638671875, 4.8125, 1.0791015625],
        "Softsign": [0.27392578125, -0.28369140625, 0.6572265625, 0.2393798828125],
        "SquaredDifference": [0.3876953125, 9.2109375, 8.359375, 0.58447265625],
        "Xlogy": [-0.1619873046875, -0.37548828125, 1.0361328125, -0.48486328125],
        "Selu": [0.396240234375, -0.5751953125, 2.017578125, 0.33056640625],
        "Softplus": [0.8994140625, 0.5146484375, 2.05859375, 0.86279296875],
        "Sigmoid": [0.59326171875, 0.402099609375, 0.8720703125, 0.57763671875],
        "positive": [
            *(0.300048828125, 1.044921875, 1.7890625, 2.533203125, 3.27734375, 4.0234375, 4.765625),
            *(5.51171875, 6.25390625, 7.0),
        ],
        "Rsqrt": [
            *(1.8251953125, 0.97802734375, 0.74755859375, 0.62841796875, 0.55224609375, 0.49853515625),
            *(0.4580078125, 0.426025390625, 0.39990234375, 0.3779296875),
        ],
        "row": [-4.22265625, 1.9716796875, 1.462890625, 2.009765625, 0.7744140625, -3.29296875, 1.814453125],
        "Softmax": [
            *(0.0005350112915039062, 0.2626953125, 0.157958984375, 0.27294921875),
            *(0.079345703125, 0.0013561248779296875, 0.224609375),
        ],
        "LogSoftmax": [
            *(-7.53125, -1.3359375, -1.8447265625, -1.2978515625, -2.533203125),
            *(-6.6015625, -1.4931640625),
        ],
    },
    "bf16": {
        "x": [1.296875, -3.3125, -1.15625, 1.9921875],
        "y": [2.296875, 1.7109375, 2.90625, 0.75390625],
        "a": [-3.5625, -3.28125, 2.78125, 7.125],
        "Softsign": [0.56640625, -0.76953125, -0.53515625, 0.6640625],
        "SquaredDifference": [23.75, 0.0009765625, 15.5, 26.25],
        "Xlogy": [1.078125, -1.7734375, -1.234375, -0.5625],
        "Selu": [1.359375, -1.6953125, -1.2109375, 2.078125],
        "Softplus": [1.5390625, 0.036376953125, 0.2734375, 2.125],
        "Sigmoid": [0.78515625, 0.034912109375, 0.2392578125, 0.875],
        "positive": [
            *(0.30078125, 1.046875, 1.7890625, 2.53125, 3.28125, 4.03125, 4.78125, 5.5, 6.25, 7.0),
        ],
        "Rsqrt": [
            *(1.8203125, 0.9765625, 0.74609375, 0.62890625, 0.55078125, 0.498046875, 0.45703125),
            *(0.42578125, 0.400390625, 0.37890625),
        ],
        "row": [1.4765625, -2.375, 1.84375, -1.0625, -3.15625, -1.390625, -2.984375],
        "Softmax": [
            *(0.380859375, 0.00811767578125, 0.55078125, 0.0301513671875),
            *(0.0037078857421875, 0.0216064453125, 0.004486083984375),
        ],
        "LogSoftmax": [-0.9609375, -4.8125, -0.59375, -3.5, -5.59375, -3.828125, -5.40625],
    },
}
INPUTS = {
    "Rsqrt": ["positive"],
    "SquaredDifference": "xa",
    "Xlogy": "xy",
    "Softmax": ["row"],
    "LogSoftmax": ["row"],
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("op", [op for op in GOLDEN["f16"] if op[0].isupper()])
def test_equals_tensorflow_to_the_bit(op: str, kind: str) -> None:
    golden = {name: np.array(values, TYPES[kind]) for name, values in GOLDEN[kind].items()}
    (found,) = run(op, [golden[name] for name in INPUTS.get(op, "x")], T=kind)
    assert found.dtype == TYPES[kind]
    np.testing.assert_array_equal(found.astype(np.float64), golden[op].astype(np.float64))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("count", [0, 1, 7, 8, 40, 43])
def test_sums_go_by_eight_lanes(count: int, kind: str) -> None:
    """By the definition: element i goes to lane i % 8, what fills no lane is added up first."""
    dtype = TYPES[kind]
    x = np.random.default_rng(count).normal(size=(3, count)).astype(dtype)

    def rounded_sum(values: np.ndarray) -> np.generic:
        found = dtype.type(0)
        for value in values:
            found = dtype.type(np.float32(found) + np.float32(value))
        return found

    for row, found in zip(x, total(x), strict=True):
        whole = count // 8 * 8
        lanes = np.array([rounded_sum(row[lane:whole:8]) for lane in range(8)], np.float32)
        wanted = np.float32(rounded_sum(row[whole:])) + np.float32(dtype.type(lanes.sum()))
        assert found[0] == dtype.type(wanted)


def test_wide_types_are_summed_as_they_are() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(total(x), [[3], [12]])


@pytest.mark.parametrize("kind", TYPES)
def test_a_sigmoid_does_not_overflow(kind: str) -> None:
    (found,) = run("Sigmoid", [np.array([200, -200, 0], TYPES[kind])], T=kind)
    assert found.astype(np.float32).tolist() == [1, 0, 0.5]


def test_types_that_numpy_lacks_need_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(UnsupportedError, match="tensors of bfloat16 need the package ml_dtypes"):
        numpy_dtype.__wrapped__(DT_BFLOAT16)
