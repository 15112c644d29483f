"""aeq.hadamard_rotation: the Walsh-Hadamard transform of runs of elements, by NumPy."""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import TensorType
from .custom_options import FlexOptions

_NAME = "aeq.hadamard_rotation"


def prepare(context: Context, node: Node) -> None:
    """y = every hadamard_size elements of x [features, depth] or [batch, features, depth], transformed.

    Source: LiteRT tflite/kernels/hadamard_rotation.cc.
    """
    if len(node.inputs) != 1 or len(node.outputs) != 1:
        raise PrepareError(
            f"{_NAME}: must have 1 input and 1 output, got {len(node.inputs)} and {len(node.outputs)}"
        )
    x, y = context.input(node, 0), context.output(node, 0)
    if x.type != TensorType.FLOAT32 or y.type != TensorType.FLOAT32 or len(x.shape) not in (2, 3):
        raise PrepareError(
            f"{_NAME}: input and output must be float32 with 2 or 3 dimensions, got {x!r} and {y!r}"
        )
    size = FlexOptions(node).integer("hadamard_size")
    if size < 1 or size & (size - 1):
        raise PrepareError(f"{_NAME}: hadamard_size must be a power of two, got {size}")
    context.resize_tensor(y, x.shape)
    node.user_data = size


def invoke(context: Context, node: Node) -> None:
    x, y, size = context.input(node, 0), context.output(node, 0), node.user_data
    assert isinstance(size, int)
    result = y.array()
    result[...] = x.array()
    runs = 0 if x.size == 0 else x.size // x.shape[-1] * (x.shape[-1] // size)
    if runs == 0:
        return
    values = result.reshape(-1)[: runs * size]
    half = 1
    while half < size:
        pairs = values.reshape(-1, 2, half)
        low, high = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
        pairs[:, 0], pairs[:, 1] = low, high
        half *= 2
    values *= np.float32(1 / sqrt(size))


REGISTRATIONS = (Registration(_NAME, prepare, invoke),)
