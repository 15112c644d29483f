"""Cases of FULLY_CONNECTED in float32."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from .case import Case
from .conv import NONE, RELU, RELU6, SUMS
from .window_oracle import clamp


def fully_connected_case(
    id: str,
    x_shape: tuple[int, ...],
    w_shape: tuple[int, int],
    *,
    keep_num_dims: bool = False,
    fused: int = NONE,
    bias: bool = True,
    constant: bool = True,
    num_threads: int = 1,
) -> Case:
    """One FULLY_CONNECTED with weights [units, depth]."""
    random = np.random.default_rng(sum(map(ord, id)))
    x = random.standard_normal(x_shape).astype(np.float32)
    w = (random.standard_normal(w_shape) / np.sqrt(w_shape[1])).astype(np.float32)
    b = random.standard_normal(w_shape[0]).astype(np.float32) if bias else None

    def oracle(x: np.ndarray, *weights: np.ndarray) -> np.ndarray:
        rows = x if keep_num_dims else x.reshape(-1, w_shape[1])
        y = rows.astype(np.float64) @ (weights[0] if weights else w).astype(np.float64).T
        return clamp(y if b is None else y + b, fused)

    def make() -> bytes:
        model = ModelBuilder()
        inputs = [model.tensor(x.shape), model.constant(w) if constant else model.tensor(w.shape)]
        inputs.append(-1 if b is None else model.constant(b))
        y = model.tensor(oracle(x).shape)
        options = tflite.FullyConnectedOptionsT(keep_num_dims=keep_num_dims, fused_activation_function=fused)
        model.op(tflite.BuiltinOperator.FULLY_CONNECTED, inputs, [y], options)
        return model.build(inputs[:1] if constant else inputs[:2], [y])

    inputs = [x] if constant else [x, w]
    return Case(id=id, make=make, inputs=inputs, oracle=oracle, closeness=SUMS, num_threads=num_threads)


CASES = [
    fully_connected_case("fully-connected", (1, 64), (10, 64)),
    fully_connected_case("fully-connected-wide-relu", (1, 65), (100, 65), fused=RELU),
    fully_connected_case("fully-connected-depth-3", (1, 3), (33, 3)),
    fully_connected_case("fully-connected-one-unit", (1, 129), (1, 129)),
    fully_connected_case("fully-connected-batch-5", (5, 65), (100, 65), fused=RELU6),
    fully_connected_case("fully-connected-folds", (2, 3, 4, 5), (7, 20)),
    fully_connected_case("fully-connected-keeps-dims", (2, 3, 20), (7, 20), keep_num_dims=True),
    fully_connected_case("fully-connected-no-bias", (3, 20), (7, 20), bias=False),
    fully_connected_case("fully-connected-threads", (1, 640), (1000, 640), num_threads=4),
    fully_connected_case("fully-connected-weights-input", (2, 20), (35, 20), constant=False, bias=False),
]
